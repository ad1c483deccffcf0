//! The model's statement that writes many rows at once. Diesel's language has no UPDATE from a list of rows whose length is known only
//! at run time, so this is a part of a query of our own, as Diesel foresees it, with values of Diesel's types.

use super::WRITE;
use crate::model::World;
use diesel::QueryResult;
use diesel::pg::Pg;
use diesel::query_builder::{AstPass, Query, QueryFragment, QueryId};
use diesel::sql_types::{Array, Integer, Untyped};

pub(super) struct Batch {
    ids: Vec<i32>,
    numbers: Vec<i32>,
}

impl Batch {
    pub(super) fn new(rows: &[World]) -> Self {
        let (ids, numbers) = columns(rows);
        Self { ids, numbers }
    }
}

/// The rows, column by column.
pub(super) fn columns(rows: &[World]) -> (Vec<i32>, Vec<i32>) {
    rows.iter().map(|row| (row.id, row.random_number)).unzip()
}

impl QueryId for Batch {
    type QueryId = Self;
    const HAS_STATIC_QUERY_ID: bool = true;
}

impl Query for Batch {
    type SqlType = Untyped;
}

impl QueryFragment<Pg> for Batch {
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, Pg>) -> QueryResult<()> {
        let mut parts = WRITE.split(['$']);
        out.push_sql(parts.next().unwrap_or_default());
        for (part, values) in parts.zip([&self.ids, &self.numbers]) {
            out.push_bind_param::<Array<Integer>, _>(values)?;
            // What follows the placeholder's one digit.
            out.push_sql(&part[1..]);
        }
        Ok(())
    }
}
