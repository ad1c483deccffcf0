//! Creation of the tables in MySQL and MariaDB.

use super::error::classify;
use crate::error::{DataError, ErrorKind};
use crate::fill::{self, TableStore};
use crate::tables::Cell;
use mysql_async::prelude::Queryable;
use mysql_async::{Conn, Params, Row, Value};

/// The name of the lock, and how many seconds to wait for another process that holds it.
const LOCK: (&str, i32) = ("torr_data", 60);

pub(super) struct MySqlTables(Conn);

impl MySqlTables {
    pub(super) fn new(conn: Conn) -> Self {
        Self(conn)
    }

    /// Closes the connection in order.
    pub(super) async fn close(self) -> Result<(), DataError> {
        self.0.disconnect().await.map_err(classify)
    }
}

fn cell(value: Value) -> Result<Cell, DataError> {
    match value {
        Value::Int(int) => i32::try_from(int).map(Cell::Int).map_err(|_| ()),
        Value::Bytes(text) => String::from_utf8(text).map(Cell::Text).map_err(|_| ()),
        _ => Err(()),
    }
    .map_err(|()| DataError::new(ErrorKind::Other, "expected a number or text from the database"))
}

impl TableStore for MySqlTables {
    const BEGIN: &'static str = "START TRANSACTION";
    const COMMIT: &'static str = "COMMIT";
    const INTEGER: &'static str = "SIGNED";
    const SUFFIX: &'static str = " ENGINE = InnoDB DEFAULT CHARACTER SET = utf8mb4";

    fn placeholder(_n: usize) -> String {
        "?".to_owned()
    }

    async fn lock(&mut self) -> Result<(), DataError> {
        match self.0.exec_first("SELECT GET_LOCK(?, ?)", LOCK).await.map_err(classify)? {
            Some(1) => Ok(()),
            _ => Err(DataError::new(
                ErrorKind::TimedOut,
                "timed out after a minute: another process is creating the tables",
            )),
        }
    }

    async fn unlock(&mut self, _good: bool) -> Result<(), DataError> {
        self.0.exec_drop("SELECT RELEASE_LOCK(?)", (LOCK.0,)).await.map_err(classify)
    }

    async fn existing(&mut self) -> Result<Vec<&'static str>, DataError> {
        let sql = "SELECT table_name FROM information_schema.tables WHERE table_schema = DATABASE()";
        let found: Vec<String> = self.0.exec(sql, ()).await.map_err(classify)?;
        Ok(fill::names().filter(|name| found.iter().any(|found| found == name)).collect())
    }

    async fn command(&mut self, sql: &str) -> Result<(), DataError> {
        self.0.query_drop(sql).await.map_err(classify)
    }

    async fn execute(&mut self, sql: &str, values: Vec<Cell>) -> Result<(), DataError> {
        let bind = |cell| match cell {
            Cell::Int(int) => Value::from(int),
            Cell::Text(text) => Value::from(text),
        };
        let values = Params::Positional(values.into_iter().map(bind).collect());
        self.0.exec_drop(sql, values).await.map_err(classify)
    }

    async fn query(&mut self, sql: &str) -> Result<Vec<Vec<Cell>>, DataError> {
        let rows: Vec<Row> = self.0.exec(sql, ()).await.map_err(classify)?;
        rows.into_iter().map(|row| row.unwrap().into_iter().map(cell).collect()).collect()
    }
}
