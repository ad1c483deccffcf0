//! Creation of the tables in SQLite, in one transaction: either all of them exist or none.

use super::error::classify;
use crate::error::DataError;
use crate::fill::{self, TableStore};
use crate::tables::Cell;
use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Connection, Row, ToSql, params_from_iter};

pub(super) struct SqliteTables<'c>(&'c Connection);

impl<'c> SqliteTables<'c> {
    pub(super) fn new(connection: &'c Connection) -> Self {
        Self(connection)
    }

    fn batch(&self, sql: &str) -> Result<(), DataError> {
        self.0.execute_batch(sql).map_err(|error| classify(&error))
    }
}

impl ToSql for Cell {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        match self {
            Self::Int(int) => int.to_sql(),
            Self::Text(text) => text.to_sql(),
        }
    }
}

fn cells(row: &Row<'_>) -> rusqlite::Result<Vec<Cell>> {
    (0..row.as_ref().column_count())
        .map(|column| match row.get_ref(column)? {
            ValueRef::Text(_) => Ok(Cell::Text(row.get(column)?)),
            _ => Ok(Cell::Int(row.get(column)?)),
        })
        .collect()
}

impl TableStore for SqliteTables<'_> {
    const BEGIN: &'static str = "SAVEPOINT fill";
    const COMMIT: &'static str = "RELEASE fill";
    const INTEGER: &'static str = "INTEGER";
    const SUFFIX: &'static str = "";

    fn placeholder(n: usize) -> String {
        format!("?{n}")
    }

    async fn lock(&mut self) -> Result<(), DataError> {
        self.batch("BEGIN IMMEDIATE")
    }

    async fn unlock(&mut self, success: bool) -> Result<(), DataError> {
        self.batch(if success { "COMMIT" } else { "ROLLBACK" })
    }

    async fn existing(&mut self) -> Result<Vec<&'static str>, DataError> {
        let rows = self.query("SELECT name FROM sqlite_schema").await?;
        let is = |row: &Vec<Cell>, name: &str| matches!(&row[0], Cell::Text(text) if text.eq_ignore_ascii_case(name));
        Ok(fill::names().filter(|name| rows.iter().any(|row| is(row, name))).collect())
    }

    async fn command(&mut self, sql: &str) -> Result<(), DataError> {
        self.batch(sql)
    }

    async fn execute(&mut self, sql: &str, values: Vec<Cell>) -> Result<(), DataError> {
        let run = || self.0.prepare_cached(sql)?.execute(params_from_iter(values));
        run().map(drop).map_err(|error| classify(&error))
    }

    async fn query(&mut self, sql: &str) -> Result<Vec<Vec<Cell>>, DataError> {
        let run = || self.0.prepare(sql)?.query_map((), cells)?.collect::<rusqlite::Result<_>>();
        run().map_err(|error| classify(&error))
    }
}
