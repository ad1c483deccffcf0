//! The update of many rows in one statement. Diesel's query language has no such UPDATE for a number of rows that is known
//! only at run time, so the model uses a query fragment of our own with values of Diesel's types.

use crate::model::World;
use diesel::QueryResult;
use diesel::mysql::Mysql;
use diesel::query_builder::{AstPass, Query, QueryFragment, QueryId};
use diesel::sql_types::{Integer, Untyped};
use mysql_async::Params;
use std::borrow::Cow;

/// The largest number of rows with a statement of its own size. Larger updates are padded to a multiple of this number,
/// because a server allows 16,382 prepared statements over all its connections.
const STEP: usize = 20;

/// Returns the rows padded to the size of a statement. The padding repeats the last row, which changes nothing.
pub(super) fn padded(rows: &[World]) -> Cow<'_, [World]> {
    let wanted = rows.len().next_multiple_of(STEP);
    match rows.last() {
        Some(last) if rows.len() > STEP && wanted > rows.len() => {
            let mut rows = rows.to_vec();
            rows.resize(wanted, *last);
            Cow::Owned(rows)
        }
        _ => Cow::Borrowed(rows),
    }
}

const BEGIN: &str = "UPDATE world SET randomnumber = CASE id";
const WHICH: &str = " ELSE randomnumber END WHERE id IN (";

/// Returns the statement for a number of rows.
pub(super) fn sql(rows: usize) -> String {
    let ids = vec!["?"; rows].join(", ");
    format!("{BEGIN}{}{WHICH}{ids})", " WHEN ? THEN ?".repeat(rows))
}

pub(super) fn values(rows: &[World]) -> Params {
    let pairs = rows.iter().flat_map(|row| [row.id, row.random_number]);
    Params::Positional(pairs.chain(rows.iter().map(|row| row.id)).map(mysql_async::Value::from).collect())
}

/// Diesel's query fragment of the update.
pub(super) struct Batch<'r>(pub(super) &'r [World]);

impl QueryId for Batch<'_> {
    type QueryId = ();
    // The SQL depends on the number of rows, so Diesel caches the statement by its text.
    const HAS_STATIC_QUERY_ID: bool = false;
}

impl Query for Batch<'_> {
    type SqlType = Untyped;
}

impl QueryFragment<Mysql> for Batch<'_> {
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, Mysql>) -> QueryResult<()> {
        out.push_sql(BEGIN);
        for row in self.0 {
            out.push_sql(" WHEN ");
            out.push_bind_param::<Integer, _>(&row.id)?;
            out.push_sql(" THEN ");
            out.push_bind_param::<Integer, _>(&row.random_number)?;
        }
        out.push_sql(WHICH);
        for (n, row) in self.0.iter().enumerate() {
            out.push_sql(if n == 0 { "" } else { ", " });
            out.push_bind_param::<Integer, _>(&row.id)?;
        }
        out.push_sql(")");
        Ok(())
    }
}
