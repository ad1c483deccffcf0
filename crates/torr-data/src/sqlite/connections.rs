//! A thread's connections to SQLite: one for the driver, one for the model.

use super::database::SqliteDatabase;
use super::error::{classify, classify_model};
use crate::Access;
use crate::builder;
use crate::error::{DataError, ErrorKind};
use crate::model::{self, Fortune, Item, World};
use diesel::connection::SimpleConnection;
use diesel::prelude::*;
use rusqlite::{Connection as Driver, Row, TransactionBehavior, params_from_iter};
use sea_query::{SqliteQueryBuilder, Values};
use std::cell::RefCell;
use std::sync::Arc;

const WORLD: &str = "SELECT id, randomnumber FROM world WHERE id = ?1";
const ITEM: &str = "SELECT id, name, number FROM item WHERE id = ?1";
const FORTUNES: &str = "SELECT id, message FROM fortune";
const WRITE: &str = "UPDATE world SET randomnumber = ?1 WHERE id = ?2";

pub(crate) struct SqliteConnections {
    database: Arc<SqliteDatabase>,
    driver: RefCell<Option<Driver>>,
    model: RefCell<Option<SqliteConnection>>,
}

impl SqliteConnections {
    pub(crate) fn new(database: Arc<SqliteDatabase>) -> Self {
        Self { database, driver: RefCell::new(None), model: RefCell::new(None) }
    }

    pub(crate) fn world(&self, access: Access, id: i32) -> Result<World, DataError> {
        match access {
            Access::Raw => self.driver(|db| row(db, WORLD, [id], world)),
            Access::Builder => self.driver(|db| {
                let (sql, values) = builder::world(id, SqliteQueryBuilder);
                row(db, &sql, bound(values), world)
            }),
            Access::Model => self.model(|db| model::world::table.find(id).get_result(db).optional()),
        }?
        .ok_or_else(|| DataError::missing_row(id))
    }

    pub(crate) fn worlds(&self, access: Access, ids: &[i32]) -> Result<Vec<World>, DataError> {
        ids.iter().map(|id| self.world(access, *id)).collect()
    }

    pub(crate) fn item(&self, access: Access, id: i32) -> Result<Item, DataError> {
        match access {
            Access::Raw => self.driver(|db| row(db, ITEM, [id], item)),
            Access::Builder => self.driver(|db| {
                let (sql, values) = builder::item(id, SqliteQueryBuilder);
                row(db, &sql, bound(values), item)
            }),
            Access::Model => self.model(|db| model::item::table.find(id).get_result(db).optional()),
        }?
        .ok_or_else(|| DataError::missing_row(id))
    }

    pub(crate) fn fortunes(&self, access: Access) -> Result<Vec<Fortune>, DataError> {
        match access {
            Access::Raw => self.driver(|db| db.prepare_cached(FORTUNES)?.query_map((), fortune)?.collect()),
            Access::Builder => self.driver(|db| {
                let (sql, values) = builder::fortunes(SqliteQueryBuilder);
                db.prepare_cached(&sql)?.query_map(bound(values), fortune)?.collect()
            }),
            Access::Model => self.model(|db| model::fortune::table.load(db)),
        }
    }

    pub(crate) fn update(&self, access: Access, ids: &[i32], rows: &[World]) -> Result<Vec<World>, DataError> {
        let before = self.worlds(access, ids)?;
        self.write(access, rows)?;
        Ok(before)
    }

    /// Writes rows in one immediate transaction.
    fn write(&self, access: Access, rows: &[World]) -> Result<(), DataError> {
        self.database.writing(|| match access {
            Access::Raw => {
                self.write_by_driver(rows, |db, row| db.prepare_cached(WRITE)?.execute((row.random_number, row.id)))
            }
            Access::Builder => self.write_by_driver(rows, |db, row| {
                let (sql, values) = builder::write_one(row, SqliteQueryBuilder);
                db.prepare_cached(&sql)?.execute(bound(values))
            }),
            Access::Model => on(
                &self.model,
                || self.open_model(),
                |db| {
                    let write = |db: &mut SqliteConnection| {
                        rows.iter().try_for_each(|row| {
                            let number = model::world::randomnumber.eq(row.random_number);
                            diesel::update(model::world::table.find(row.id)).set(number).execute(db).map(drop)
                        })
                    };
                    db.immediate_transaction(write).map_err(classify_model)
                },
            ),
        })
    }

    fn write_by_driver(
        &self,
        rows: &[World],
        write: impl Fn(&Driver, World) -> rusqlite::Result<usize>,
    ) -> Result<(), DataError> {
        on(
            &self.driver,
            || self.open_driver(),
            |db| {
                let mut all = || {
                    let transaction = db.transaction_with_behavior(TransactionBehavior::Immediate)?;
                    rows.iter().try_for_each(|row| write(&transaction, *row).map(drop))?;
                    transaction.commit()
                };
                all().map_err(|error| classify(&error))
            },
        )
    }

    fn driver<T>(&self, read: impl FnOnce(&Driver) -> rusqlite::Result<T>) -> Result<T, DataError> {
        self.database
            .reading(|| on(&self.driver, || self.open_driver(), |db| read(db).map_err(|error| classify(&error))))
    }

    fn model<T>(&self, read: impl FnOnce(&mut SqliteConnection) -> QueryResult<T>) -> Result<T, DataError> {
        self.database.reading(|| on(&self.model, || self.open_model(), |db| read(db).map_err(classify_model)))
    }

    fn open_driver(&self) -> Result<Driver, DataError> {
        let open = || {
            let driver = Driver::open(&self.database.path)?;
            driver.execute_batch(&self.database.settings())?;
            Ok(driver)
        };
        open().map_err(|error| classify(&error))
    }

    fn open_model(&self) -> Result<SqliteConnection, DataError> {
        let mut model = SqliteConnection::establish(&self.database.path)
            .map_err(|error| DataError::new(ErrorKind::Refused, format_args!("SQLite: {error}")))?;
        model.batch_execute(&self.database.settings()).map_err(classify_model)?;
        Ok(model)
    }
}

/// Runs an operation on a connection, which is opened if there is none. Any error but a timeout closes the connection:
/// the file may have been replaced.
fn on<C, T>(
    slot: &RefCell<Option<C>>,
    open: impl FnOnce() -> Result<C, DataError>,
    operation: impl FnOnce(&mut C) -> Result<T, DataError>,
) -> Result<T, DataError> {
    let mut slot = slot.borrow_mut();
    let connection = match &mut *slot {
        Some(connection) => connection,
        empty => empty.insert(open()?),
    };
    let outcome = operation(connection);
    if outcome.as_ref().is_err_and(|error| error.kind() != ErrorKind::TimedOut) {
        *slot = None;
    }
    outcome
}

fn row<T>(
    db: &Driver,
    sql: &str,
    values: impl rusqlite::Params,
    read: impl FnOnce(&Row<'_>) -> rusqlite::Result<T>,
) -> rusqlite::Result<Option<T>> {
    rusqlite::OptionalExtension::optional(db.prepare_cached(sql)?.query_row(values, read))
}

fn world(row: &Row<'_>) -> rusqlite::Result<World> {
    Ok(World { id: row.get(0)?, random_number: row.get(1)? })
}

fn item(row: &Row<'_>) -> rusqlite::Result<Item> {
    Ok(Item { id: row.get(0)?, name: row.get(1)?, number: row.get(2)? })
}

fn fortune(row: &Row<'_>) -> rusqlite::Result<Fortune> {
    Ok(Fortune { id: row.get(0)?, message: row.get(1)? })
}

fn bound(values: Values) -> impl rusqlite::Params {
    params_from_iter(builder::integers(values))
}
