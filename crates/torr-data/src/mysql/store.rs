//! How tables are made in MySQL and MariaDB.

use super::error::sorted;
use crate::contents::Cell;
use crate::error::{DataError, ErrorKind};
use crate::fill::{self, Store};
use mysql_async::prelude::Queryable;
use mysql_async::{Conn, Params, Row, Value};

/// The name of the lock, and the seconds that somebody waits for another process's filling.
const LOCK: (&str, i32) = ("torr_data", 60);

pub(super) struct Tables(Conn);

impl Tables {
    pub(super) fn new(conn: Conn) -> Self {
        Self(conn)
    }

    /// Says goodbye.
    pub(super) async fn leave(self) -> Result<(), DataError> {
        self.0.disconnect().await.map_err(sorted)
    }
}

fn cell(value: Value) -> Result<Cell, DataError> {
    match value {
        Value::Int(int) => i32::try_from(int).map(Cell::Int).map_err(|_| ()),
        Value::Bytes(text) => String::from_utf8(text).map(Cell::Text).map_err(|_| ()),
        _ => Err(()),
    }
    .map_err(|()| DataError::new(ErrorKind::Other, "the database's answer is neither a number nor a text"))
}

impl Store for Tables {
    const BEGIN: &'static str = "START TRANSACTION";
    const COMMIT: &'static str = "COMMIT";
    const INTEGER: &'static str = "SIGNED";
    const SUFFIX: &'static str = " ENGINE = InnoDB DEFAULT CHARACTER SET = utf8mb4";

    fn placeholder(_n: usize) -> String {
        "?".to_owned()
    }

    async fn lock(&mut self) -> Result<(), DataError> {
        match self.0.exec_first("SELECT GET_LOCK(?, ?)", LOCK).await.map_err(sorted)? {
            Some(1) => Ok(()),
            _ => Err(DataError::new(ErrorKind::TimedOut, "another process has been making the tables for a minute")),
        }
    }

    async fn unlock(&mut self, _good: bool) -> Result<(), DataError> {
        self.0.exec_drop("SELECT RELEASE_LOCK(?)", (LOCK.0,)).await.map_err(sorted)
    }

    async fn taken(&mut self) -> Result<Vec<&'static str>, DataError> {
        let sql = "SELECT table_name FROM information_schema.tables WHERE table_schema = DATABASE()";
        let found: Vec<String> = self.0.exec(sql, ()).await.map_err(sorted)?;
        Ok(fill::names().filter(|name| found.iter().any(|found| found == name)).collect())
    }

    async fn command(&mut self, sql: &str) -> Result<(), DataError> {
        self.0.query_drop(sql).await.map_err(sorted)
    }

    async fn execute(&mut self, sql: &str, values: Vec<Cell>) -> Result<(), DataError> {
        let bind = |cell| match cell {
            Cell::Int(int) => Value::from(int),
            Cell::Text(text) => Value::from(text),
        };
        let values = Params::Positional(values.into_iter().map(bind).collect());
        self.0.exec_drop(sql, values).await.map_err(sorted)
    }

    async fn query(&mut self, sql: &str) -> Result<Vec<Vec<Cell>>, DataError> {
        let rows: Vec<Row> = self.0.exec(sql, ()).await.map_err(sorted)?;
        rows.into_iter().map(|row| row.unwrap().into_iter().map(cell).collect()).collect()
    }
}
