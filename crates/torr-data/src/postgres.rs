//! PostgreSQL: `tokio-postgres` as the driver, `diesel-async` over it as the model.

mod batch;
mod config;
mod error;
mod tables;

pub(crate) use config::PostgresConfig;

use crate::Access;
use crate::builder;
use crate::connection_task::ConnectionTask;
use crate::error::DataError;
use crate::model::{self, Fortune, Item, World};
use crate::network;
use batch::Batch;
use diesel::prelude::*;
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use error::{classify, classify_model};
use sea_query::{PostgresQueryBuilder, Values};
use std::cell::RefCell;
use std::collections::HashMap;
use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, Row, Statement};

const WORLD: &str = "SELECT id, randomnumber FROM world WHERE id = $1";
const ITEM: &str = "SELECT id, name, number FROM item WHERE id = $1";
const FORTUNES: &str = "SELECT id, message FROM fortune";
/// The most statements of the builder that a connection keeps prepared. Only a mix of many update sizes needs more.
const MAX_BUILT: usize = 128;

/// An open connection.
pub(crate) struct PostgresConnection {
    handle: Handle,
    task: ConnectionTask,
}

/// The library that uses the connection. Both are boxed, so that a pool moves only a pointer.
enum Handle {
    Driver(Box<Driver>),
    Model(Box<AsyncPgConnection>),
}

struct Driver {
    client: Client,
    world: Statement,
    item: Statement,
    fortunes: Statement,
    write: Statement,
    /// The builder's prepared statements by their SQL.
    built: RefCell<HashMap<String, Statement>>,
}

impl Driver {
    async fn new(client: Client) -> Result<Self, tokio_postgres::Error> {
        let (world, item, fortunes, write) = tokio::try_join!(
            client.prepare(WORLD),
            client.prepare(ITEM),
            client.prepare(FORTUNES),
            client.prepare(batch::WRITE)
        )?;
        Ok(Self { client, world, item, fortunes, write, built: RefCell::default() })
    }

    /// Returns the prepared statement of an SQL text.
    async fn prepared(&self, sql: String) -> Result<Statement, tokio_postgres::Error> {
        if let Some(statement) = self.built.borrow().get(&sql) {
            return Ok(statement.clone());
        }
        let statement = self.client.prepare(&sql).await?;
        let mut built = self.built.borrow_mut();
        if built.len() >= MAX_BUILT {
            built.clear();
        }
        built.insert(sql, statement.clone());
        Ok(statement)
    }

    async fn built_rows(&self, (sql, values): (String, Values)) -> Result<Vec<Row>, tokio_postgres::Error> {
        let statement = self.prepared(sql).await?;
        let values: Vec<_> = builder::integers(values).collect();
        let values: Vec<_> = values.iter().map(|value| value as &(dyn ToSql + Sync)).collect();
        self.client.query(&statement, &values).await
    }
}

fn world(row: &Row) -> Result<World, tokio_postgres::Error> {
    Ok(World { id: row.try_get(0)?, random_number: row.try_get(1)? })
}

fn item(row: &Row) -> Result<Item, tokio_postgres::Error> {
    Ok(Item { id: row.try_get(0)?, name: row.try_get(1)?, number: row.try_get(2)? })
}

fn fortune(row: &Row) -> Result<Fortune, tokio_postgres::Error> {
    Ok(Fortune { id: row.try_get(0)?, message: row.try_get(1)? })
}

impl network::Connection for PostgresConnection {
    type Config = PostgresConfig;

    async fn connect(config: &PostgresConfig, access: Access) -> Result<Self, DataError> {
        let (client, task) = config.connect().await?;
        let connection = |handle| Self { handle, task };
        if access == Access::Model {
            let model = AsyncPgConnection::try_from(client).await;
            model
                .map(Box::new)
                .map(Handle::Model)
                .map(connection)
                .map_err(|error| error::classify_model_connect(&error))
        } else {
            Driver::new(client)
                .await
                .map(Box::new)
                .map(Handle::Driver)
                .map(connection)
                .map_err(|error| classify(&error))
        }
    }

    fn is_closed(&self) -> bool {
        self.task.has_ended()
    }

    async fn ping(&mut self) -> Result<(), DataError> {
        match &self.handle {
            Handle::Driver(driver) => {
                driver.client.query_one("SELECT 1", &[]).await.map(drop).map_err(|error| classify(&error))
            }
            Handle::Model(model) => {
                let one = diesel::select(diesel::dsl::sql::<diesel::sql_types::Integer>("1"));
                one.execute(&mut &**model).await.map(drop).map_err(classify_model)
            }
        }
    }

    async fn world(&self, access: Access, id: i32) -> Result<Option<World>, DataError> {
        match &self.handle {
            Handle::Driver(driver) if access == Access::Raw => {
                let row = driver.client.query_opt(&driver.world, &[&id]).await;
                row.and_then(|row| row.as_ref().map(world).transpose()).map_err(|error| classify(&error))
            }
            Handle::Driver(driver) => {
                let rows = driver.built_rows(builder::world(id, PostgresQueryBuilder)).await;
                rows.and_then(|rows| rows.iter().map(world).next().transpose()).map_err(|error| classify(&error))
            }
            Handle::Model(model) => {
                model::world::table.find(id).get_result(&mut &**model).await.optional().map_err(classify_model)
            }
        }
    }

    async fn item(&self, access: Access, id: i32) -> Result<Option<Item>, DataError> {
        match &self.handle {
            Handle::Driver(driver) if access == Access::Raw => {
                let row = driver.client.query_opt(&driver.item, &[&id]).await;
                row.and_then(|row| row.as_ref().map(item).transpose()).map_err(|error| classify(&error))
            }
            Handle::Driver(driver) => {
                let rows = driver.built_rows(builder::item(id, PostgresQueryBuilder)).await;
                rows.and_then(|rows| rows.iter().map(item).next().transpose()).map_err(|error| classify(&error))
            }
            Handle::Model(model) => {
                model::item::table.find(id).get_result(&mut &**model).await.optional().map_err(classify_model)
            }
        }
    }

    async fn fortunes(&self, access: Access) -> Result<Vec<Fortune>, DataError> {
        let rows = match &self.handle {
            Handle::Driver(driver) if access == Access::Raw => driver.client.query(&driver.fortunes, &[]).await,
            Handle::Driver(driver) => driver.built_rows(builder::fortunes(PostgresQueryBuilder)).await,
            Handle::Model(model) => return model::fortune::table.load(&mut &**model).await.map_err(classify_model),
        };
        rows.and_then(|rows| rows.iter().map(fortune).collect()).map_err(|error| classify(&error))
    }

    async fn write(&self, access: Access, rows: &[World]) -> Result<(), DataError> {
        let written = match &self.handle {
            Handle::Driver(driver) if access == Access::Raw => {
                let (ids, numbers) = batch::columns(rows);
                Client::execute(&driver.client, &driver.write, &[&ids, &numbers]).await.map(drop)
            }
            Handle::Driver(driver) => {
                driver.built_rows(builder::write(rows, true, PostgresQueryBuilder)).await.map(drop)
            }
            Handle::Model(model) => {
                return Batch::new(rows).execute(&mut &**model).await.map(drop).map_err(classify_model);
            }
        };
        written.map_err(|error| classify(&error))
    }
}
