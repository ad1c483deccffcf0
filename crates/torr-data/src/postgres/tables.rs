//! Creation of the tables in PostgreSQL.

use super::error::classify;
use crate::error::DataError;
use crate::fill::{self, TableStore};
use crate::tables::Cell;
use tokio_postgres::Client;
use tokio_postgres::types::{ToSql, Type};

/// The key of the advisory lock, "torrdata" in ASCII, which other programs are unlikely to use.
const LOCK: i64 = 0x746f_7272_6461_7461;

pub(super) struct PostgresTables(Client);

impl PostgresTables {
    pub(super) fn new(client: Client) -> Self {
        Self(client)
    }
}

fn bound(cell: &Cell) -> &(dyn ToSql + Sync) {
    match cell {
        Cell::Int(int) => int,
        Cell::Text(text) => text,
    }
}

impl TableStore for PostgresTables {
    const BEGIN: &'static str = "BEGIN";
    const COMMIT: &'static str = "COMMIT";
    const INTEGER: &'static str = "INTEGER";
    const SUFFIX: &'static str = "";

    fn placeholder(n: usize) -> String {
        format!("${n}")
    }

    async fn lock(&mut self) -> Result<(), DataError> {
        self.0.execute("SELECT pg_advisory_lock($1)", &[&LOCK]).await.map(drop).map_err(|error| classify(&error))
    }

    async fn unlock(&mut self, _good: bool) -> Result<(), DataError> {
        self.0.execute("SELECT pg_advisory_unlock($1)", &[&LOCK]).await.map(drop).map_err(|error| classify(&error))
    }

    async fn existing(&mut self) -> Result<Vec<&'static str>, DataError> {
        let sql = "SELECT relname::text FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace \
                   WHERE nspname = current_schema() AND relname::text = ANY($1)";
        let names: Vec<_> = fill::names().collect();
        let rows = self.0.query(sql, &[&names]).await.map_err(|error| classify(&error))?;
        Ok(names.into_iter().filter(|name| rows.iter().any(|row| row.get::<_, &str>(0) == *name)).collect())
    }

    async fn command(&mut self, sql: &str) -> Result<(), DataError> {
        self.0.batch_execute(sql).await.map_err(|error| classify(&error))
    }

    async fn execute(&mut self, sql: &str, values: Vec<Cell>) -> Result<(), DataError> {
        let values: Vec<_> = values.iter().map(bound).collect();
        self.0.execute(sql, &values).await.map(drop).map_err(|error| classify(&error))
    }

    async fn query(&mut self, sql: &str) -> Result<Vec<Vec<Cell>>, DataError> {
        let rows = self.0.query(sql, &[]).await.map_err(|error| classify(&error))?;
        let cell = |row: &tokio_postgres::Row, column: usize| match *row.columns()[column].type_() {
            Type::INT4 => row.try_get(column).map(Cell::Int),
            _ => row.try_get(column).map(Cell::Text),
        };
        let cells = |row: &tokio_postgres::Row| (0..row.len()).map(|column| cell(row, column)).collect();
        rows.iter().map(cells).collect::<Result<_, _>>().map_err(|error| classify(&error))
    }
}
