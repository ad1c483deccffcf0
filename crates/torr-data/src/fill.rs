//! Makes and fills the tables, and leaves alone what Torr has not made.
//!
//! A small table, `torr_meta`, says which tables are Torr's and which of them are filled. A table is filled in one transaction
//! together with its mark, so whatever interrupts that leaves it empty and marked as not filled; then, or if more rows are wanted, it
//! is filled anew. One whose rows are not those that the mark tells has been changed by somebody else, and is left alone.

use crate::contents::{Cell, MARKS, Table};
use crate::error::{DataError, ErrorKind};

/// How far the filling of a table is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// Its name.
    pub table: &'static str,
    /// Rows that are written.
    pub done: u32,
    /// Rows it will have.
    pub of: u32,
}

/// Rows that one statement inserts: three values each are far below the number that any database binds.
const BATCH: u32 = 1000;

/// A connection of its own on which tables are made.
pub(crate) trait Store {
    /// What begins the filling of one table.
    const BEGIN: &'static str;
    /// What ends it.
    const COMMIT: &'static str;
    /// What counts are cast to.
    const INTEGER: &'static str;
    /// What follows a table's columns.
    const SUFFIX: &'static str;

    /// The n-th value of a statement, from 1.
    fn placeholder(n: usize) -> String;
    /// Waits until no other process makes tables.
    async fn lock(&mut self) -> Result<(), DataError>;
    /// Lets other processes. `good` tells whether all went well.
    async fn unlock(&mut self, good: bool) -> Result<(), DataError>;
    /// Which of the names that Torr wants are taken already, by whatever.
    async fn taken(&mut self) -> Result<Vec<&'static str>, DataError>;
    /// Runs a statement without values.
    async fn command(&mut self, sql: &str) -> Result<(), DataError>;
    /// Runs a statement with values.
    async fn execute(&mut self, sql: &str, values: Vec<Cell>) -> Result<(), DataError>;
    /// Reads integers and texts.
    async fn query(&mut self, sql: &str) -> Result<Vec<Vec<Cell>>, DataError>;
}

/// What `torr_meta` says of a table.
struct Mark {
    name: String,
    rows: u32,
    filled: bool,
}

/// The names that must not be taken by others.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    Table::ALL.iter().map(|table| table.name()).chain([MARKS])
}

/// Brings the tables into being, as far as they are not.
pub(crate) async fn prepare<S: Store>(
    store: &mut S,
    items: u32,
    progress: &mut dyn FnMut(Progress),
) -> Result<(), DataError> {
    store.lock().await?;
    let outcome = locked(store, items, progress).await;
    let unlocked = store.unlock(outcome.is_ok()).await;
    outcome.and(unlocked)
}

async fn locked<S: Store>(store: &mut S, items: u32, progress: &mut dyn FnMut(Progress)) -> Result<(), DataError> {
    let taken = store.taken().await?;
    let marks = if taken.contains(&MARKS) { marks(store).await? } else { Vec::new() };
    let mark = |table: Table| marks.iter().find(|mark| mark.name == table.name());
    // All are looked at before any is made: a database that cannot be used stays as it was.
    if let Some(table) = Table::ALL.iter().find(|table| taken.contains(&table.name()) && mark(**table).is_none()) {
        return Err(foreign(table.name()));
    }
    if !taken.contains(&MARKS) {
        let columns = "name VARCHAR(64) NOT NULL PRIMARY KEY, row_count INTEGER NOT NULL, filled INTEGER NOT NULL";
        store.command(&format!("CREATE TABLE {MARKS} ({columns}){}", S::SUFFIX)).await?;
    }
    for table in Table::ALL {
        let rows = table.rows(items);
        let (there, mark) = (taken.contains(&table.name()), mark(table));
        if mark.is_none() {
            // The mark comes first: a table without one could not be told from somebody else's.
            let insert = format!("INSERT INTO {MARKS} (name, row_count, filled) VALUES ({}, 0, 0)", S::placeholder(1));
            store.execute(&insert, vec![Cell::Text(table.name().to_owned())]).await?;
        }
        if there {
            let marked = mark.filter(|mark| mark.filled).map_or(0, |mark| mark.rows);
            // Somebody else may have put one of his own in its place.
            if count(store, table).await? != marked {
                return Err(changed(table.name()));
            }
            // One that has more rows may be in use by another server.
            if marked >= rows {
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
        format_args!(
            "the database has a table {table} that Torr has not made: name another database, or rename that table"
        ),
    )
}

fn changed(table: &str) -> DataError {
    DataError::new(
        ErrorKind::ForeignTable,
        format_args!("the table {table} has not the rows that Torr gave it: name another database, or drop that table"),
    )
}

async fn marks<S: Store>(store: &mut S) -> Result<Vec<Mark>, DataError> {
    let sql = format!("SELECT name, row_count, filled FROM {MARKS}");
    let rows = store.query(&sql).await.map_err(|error| if error.is_temporary() { error } else { foreign(MARKS) })?;
    let mark = |row: &Vec<Cell>| match row.as_slice() {
        [Cell::Text(name), Cell::Int(rows), Cell::Int(filled)] => {
            Ok(Mark { name: name.clone(), rows: u32::try_from(*rows).unwrap_or(0), filled: *filled == 1 })
        }
        _ => Err(foreign(MARKS)),
    };
    rows.iter().map(mark).collect()
}

async fn count<S: Store>(store: &mut S, table: Table) -> Result<u32, DataError> {
    let rows = store.query(&format!("SELECT CAST(COUNT(*) AS {}) FROM {}", S::INTEGER, table.name())).await?;
    match rows.first().map(Vec::as_slice) {
        Some([Cell::Int(count)]) => Ok(u32::try_from(*count).unwrap_or(0)),
        _ => Err(DataError::new(ErrorKind::Other, "the database's count of rows is no number")),
    }
}

async fn fill<S: Store>(
    store: &mut S,
    table: Table,
    rows: u32,
    progress: &mut dyn FnMut(Progress),
) -> Result<(), DataError> {
    let mut tell = |done| progress(Progress { table: table.name(), done, of: rows });
    tell(0);
    store.command(S::BEGIN).await?;
    store.command(&format!("DELETE FROM {}", table.name())).await?;
    let mut done = 0;
    while done < rows {
        let batch = BATCH.min(rows - done);
        let values = (done + 1..=done + batch).flat_map(|id| table.row(id)).collect();
        store.execute(&table.insert(batch as usize, S::placeholder), values).await?;
        done += batch;
        tell(done);
    }
    let update =
        format!("UPDATE {MARKS} SET row_count = {}, filled = 1 WHERE name = {}", S::placeholder(1), S::placeholder(2));
    let count = i32::try_from(rows).map_err(|_| DataError::new(ErrorKind::BadUrl, "a table has at most 2^31 rows"))?;
    store.execute(&update, vec![Cell::Int(count), Cell::Text(table.name().to_owned())]).await?;
    store.command(S::COMMIT).await
}
