//! MySQL and MariaDB: `mysql_async` as the driver, `diesel-async` over it as the model.

mod batch;
mod config;
mod error;
mod tables;

pub(crate) use config::MySqlConfig;

use crate::Access;
use crate::builder;
use crate::error::DataError;
use crate::model::{self, Fortune, Item, World};
use crate::network;
use batch::Batch;
use diesel::prelude::*;
use diesel_async::{AsyncMysqlConnection, RunQueryDsl};
use error::{classify, classify_model};
use mysql_async::prelude::Queryable;
use mysql_async::{Conn, Params, Statement, Value};
use sea_query::{MysqlQueryBuilder, Values};
use tokio::sync::Mutex;

const WORLD: &str = "SELECT id, randomnumber FROM world WHERE id = ?";
const ITEM: &str = "SELECT id, name, number FROM item WHERE id = ?";
const FORTUNES: &str = "SELECT id, message FROM fortune";

/// An open connection. The pool leases a connection to one operation at a time, so the lock is always free.
pub(crate) struct MySqlConnection(Mutex<Handle>);

enum Handle {
    Driver(Box<Driver>),
    Model(Box<AsyncMysqlConnection>),
}

struct Driver {
    conn: Conn,
    world: Statement,
    item: Statement,
    fortunes: Statement,
}

impl Driver {
    async fn new(mut conn: Conn) -> Result<Self, mysql_async::Error> {
        let (world, item) = (conn.prep(WORLD).await?, conn.prep(ITEM).await?);
        let fortunes = conn.prep(FORTUNES).await?;
        Ok(Self { conn, world, item, fortunes })
    }
}

fn bound(values: Values) -> Params {
    match builder::integers(values).map(Value::from).collect::<Vec<_>>() {
        values if values.is_empty() => Params::Empty,
        values => Params::Positional(values),
    }
}

fn world((id, random_number): (i32, i32)) -> World {
    World { id, random_number }
}

fn item((id, name, number): (i32, String, i32)) -> Item {
    Item { id, name, number }
}

fn fortune((id, message): (i32, String)) -> Fortune {
    Fortune { id, message }
}

impl network::Connection for MySqlConnection {
    type Config = MySqlConfig;

    async fn connect(config: &MySqlConfig, access: Access) -> Result<Self, DataError> {
        let conn = config.connect().await?;
        let handle = if access == Access::Model {
            let model = AsyncMysqlConnection::try_from(conn).await;
            Handle::Model(Box::new(model.map_err(|error| error::classify_model_connect(&error))?))
        } else {
            Handle::Driver(Box::new(Driver::new(conn).await.map_err(classify)?))
        };
        Ok(Self(Mutex::new(handle)))
    }

    fn is_closed(&self) -> bool {
        // It is known only to who tries.
        false
    }

    async fn ping(&mut self) -> Result<(), DataError> {
        match self.0.get_mut() {
            Handle::Driver(driver) => driver.conn.ping().await.map_err(classify),
            Handle::Model(model) => {
                let one = diesel::select(diesel::dsl::sql::<diesel::sql_types::Integer>("1"));
                one.execute(model.as_mut()).await.map(drop).map_err(classify_model)
            }
        }
    }

    async fn world(&self, access: Access, id: i32) -> Result<Option<World>, DataError> {
        let row = match &mut *self.0.lock().await {
            Handle::Driver(driver) if access == Access::Raw => driver.conn.exec_first(&driver.world, (id,)).await,
            Handle::Driver(driver) => {
                let (sql, values) = builder::world(id, MysqlQueryBuilder);
                driver.conn.exec_first(sql, bound(values)).await
            }
            Handle::Model(model) => {
                return model::world::table
                    .find(id)
                    .get_result(model.as_mut())
                    .await
                    .optional()
                    .map_err(classify_model);
            }
        };
        row.map(|row| row.map(world)).map_err(classify)
    }

    async fn item(&self, access: Access, id: i32) -> Result<Option<Item>, DataError> {
        let row = match &mut *self.0.lock().await {
            Handle::Driver(driver) if access == Access::Raw => driver.conn.exec_first(&driver.item, (id,)).await,
            Handle::Driver(driver) => {
                let (sql, values) = builder::item(id, MysqlQueryBuilder);
                driver.conn.exec_first(sql, bound(values)).await
            }
            Handle::Model(model) => {
                return model::item::table.find(id).get_result(model.as_mut()).await.optional().map_err(classify_model);
            }
        };
        row.map(|row| row.map(item)).map_err(classify)
    }

    async fn fortunes(&self, access: Access) -> Result<Vec<Fortune>, DataError> {
        let rows = match &mut *self.0.lock().await {
            Handle::Driver(driver) if access == Access::Raw => {
                driver.conn.exec_map(&driver.fortunes, (), fortune).await
            }
            Handle::Driver(driver) => {
                let (sql, values) = builder::fortunes(MysqlQueryBuilder);
                driver.conn.exec_map(sql, bound(values), fortune).await
            }
            Handle::Model(model) => return model::fortune::table.load(model.as_mut()).await.map_err(classify_model),
        };
        rows.map_err(classify)
    }

    /// Writes the rows. InnoDB locks them in the order of their ids, so that two updates cannot deadlock.
    async fn write(&self, access: Access, rows: &[World]) -> Result<(), DataError> {
        let rows = batch::padded(rows);
        let written = match &mut *self.0.lock().await {
            Handle::Driver(driver) if access == Access::Raw => {
                driver.conn.exec_drop(batch::sql(rows.len()), batch::values(&rows)).await
            }
            Handle::Driver(driver) => {
                let (sql, values) = builder::write(&rows, false, MysqlQueryBuilder);
                driver.conn.exec_drop(sql, bound(values)).await
            }
            Handle::Model(model) => {
                return Batch(&rows).execute(model.as_mut()).await.map(drop).map_err(classify_model);
            }
        };
        written.map_err(classify)
    }
}
