//! Creates and fills the tables, and refuses to touch tables that Torr did not create.
//!
//! A small table, `torr_meta`, has an entry for each table that Torr created, with the number of rows and whether the
//! table is filled. One transaction fills a table and updates its entry, so an interruption leaves the table empty and its
//! entry at "not filled"; the next start fills the table again, also if more rows are wanted. A table whose number of rows
//! differs from its entry was changed by another program and is not touched.

use crate::error::{DataError, ErrorKind};
use crate::tables::{Cell, META_TABLE, Table};

/// The progress of filling a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// The table's name.
    pub table: &'static str,
    /// Rows written so far.
    pub done: u32,
    /// Rows that the table will have.
    pub of: u32,
}

/// Rows per INSERT: at three values each, far below the number of parameters that every database allows.
const BATCH: u32 = 1000;

/// A connection that creates and fills tables.
pub(crate) trait TableStore {
    /// The statement that begins the transaction of one table.
    const BEGIN: &'static str;
    /// The statement that commits the transaction of one table.
    const COMMIT: &'static str;
    /// The integer type to which counts are cast.
    const INTEGER: &'static str;
    /// The text after the columns in `CREATE TABLE`.
    const SUFFIX: &'static str;

    /// Returns the placeholder of a statement's n-th value, counted from 1.
    fn placeholder(n: usize) -> String;
    /// Waits until no other process creates tables.
    async fn lock(&mut self) -> Result<(), DataError>;
    /// Releases the lock. `success` is whether to keep the changes, where the lock is a transaction.
    async fn unlock(&mut self, success: bool) -> Result<(), DataError>;
    /// Returns those of Torr's table names that exist, whichever program created them.
    async fn existing(&mut self) -> Result<Vec<&'static str>, DataError>;
    /// Runs a statement without values.
    async fn command(&mut self, sql: &str) -> Result<(), DataError>;
    /// Runs a statement with values.
    async fn execute(&mut self, sql: &str, values: Vec<Cell>) -> Result<(), DataError>;
    /// Runs a query whose columns are integers and texts.
    async fn query(&mut self, sql: &str) -> Result<Vec<Vec<Cell>>, DataError>;
}

/// The entry of a table in `torr_meta`.
struct MetaEntry {
    name: String,
    rows: u32,
    filled: bool,
}

/// Returns the names of all tables that Torr creates.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    Table::ALL.iter().map(|table| table.name()).chain([META_TABLE])
}

/// Creates and fills the tables that are missing or incomplete.
pub(crate) async fn prepare<S: TableStore>(
    store: &mut S,
    items: u32,
    progress: &mut dyn FnMut(Progress),
) -> Result<(), DataError> {
    store.lock().await?;
    let outcome = locked(store, items, progress).await;
    let unlocked = store.unlock(outcome.is_ok()).await;
    outcome.and(unlocked)
}

async fn locked<S: TableStore>(store: &mut S, items: u32, progress: &mut dyn FnMut(Progress)) -> Result<(), DataError> {
    let existing = store.existing().await?;
    let entries = if existing.contains(&META_TABLE) { meta_entries(store).await? } else { Vec::new() };
    let entry = |table: Table| entries.iter().find(|entry| entry.name == table.name());
    // All tables are checked before the first is created: a database that cannot be used stays unchanged.
    if let Some(table) = Table::ALL.iter().find(|table| existing.contains(&table.name()) && entry(**table).is_none()) {
        return Err(foreign(table.name()));
    }
    if !existing.contains(&META_TABLE) {
        let columns = "name VARCHAR(64) NOT NULL PRIMARY KEY, row_count INTEGER NOT NULL, filled INTEGER NOT NULL";
        store.command(&format!("CREATE TABLE {META_TABLE} ({columns}){}", S::SUFFIX)).await?;
    }
    for table in Table::ALL {
        let rows = table.rows(items);
        let (exists, entry) = (existing.contains(&table.name()), entry(table));
        if entry.is_none() {
            // The entry comes first: after an interruption, a table without an entry would count as foreign.
            let insert =
                format!("INSERT INTO {META_TABLE} (name, row_count, filled) VALUES ({}, 0, 0)", S::placeholder(1));
            store.execute(&insert, vec![Cell::Text(table.name().to_owned())]).await?;
        }
        if exists {
            let expected = entry.filter(|entry| entry.filled).map_or(0, |entry| entry.rows);
            // Another program may have replaced the table.
            if count(store, table).await? != expected {
                return Err(changed(table.name()));
            }
            // A table with more rows than wanted may be in use by another server.
            if expected >= rows {
                continue;
            }
        } else {
            store.command(&format!("CREATE TABLE {} ({}){}", table.name(), table.definition(), S::SUFFIX)).await?;
        }
        fill(store, table, rows, progress).await?;
    }
    Ok(())
}

fn foreign(table: &str) -> DataError {
    DataError::new(
        ErrorKind::ForeignTable,
        format_args!("the table {table} was not created by Torr: use another database, or rename the table"),
    )
}

fn changed(table: &str) -> DataError {
    DataError::new(
        ErrorKind::ForeignTable,
        format_args!("the rows of the table {table} were changed: use another database, or drop the table"),
    )
}

async fn meta_entries<S: TableStore>(store: &mut S) -> Result<Vec<MetaEntry>, DataError> {
    let sql = format!("SELECT name, row_count, filled FROM {META_TABLE}");
    let rows =
        store.query(&sql).await.map_err(|error| if error.is_temporary() { error } else { foreign(META_TABLE) })?;
    let entry = |row: &Vec<Cell>| match row.as_slice() {
        [Cell::Text(name), Cell::Int(rows), Cell::Int(filled)] => {
            Ok(MetaEntry { name: name.clone(), rows: u32::try_from(*rows).unwrap_or(0), filled: *filled == 1 })
        }
        _ => Err(foreign(META_TABLE)),
    };
    rows.iter().map(entry).collect()
}

async fn count<S: TableStore>(store: &mut S, table: Table) -> Result<u32, DataError> {
    let rows = store.query(&format!("SELECT CAST(COUNT(*) AS {}) FROM {}", S::INTEGER, table.name())).await?;
    match rows.first().map(Vec::as_slice) {
        Some([Cell::Int(count)]) => Ok(u32::try_from(*count).unwrap_or(0)),
        _ => Err(DataError::new(ErrorKind::Other, "expected a number of rows from the database")),
    }
}

async fn fill<S: TableStore>(
    store: &mut S,
    table: Table,
    rows: u32,
    progress: &mut dyn FnMut(Progress),
) -> Result<(), DataError> {
    let mut report = |done| progress(Progress { table: table.name(), done, of: rows });
    report(0);
    store.command(S::BEGIN).await?;
    store.command(&format!("DELETE FROM {}", table.name())).await?;
    let mut done = 0;
    while done < rows {
        let batch = BATCH.min(rows - done);
        let values = (done + 1..=done + batch).flat_map(|id| table.row(id)).collect();
        store.execute(&table.insert(batch as usize, S::placeholder), values).await?;
        done += batch;
        report(done);
    }
    let update = format!(
        "UPDATE {META_TABLE} SET row_count = {}, filled = 1 WHERE name = {}",
        S::placeholder(1),
        S::placeholder(2)
    );
    let count =
        i32::try_from(rows).map_err(|_| DataError::new(ErrorKind::BadUrl, "a table must have at most 2^31 rows"))?;
    store.execute(&update, vec![Cell::Int(count), Cell::Text(table.name().to_owned())]).await?;
    store.command(S::COMMIT).await
}
