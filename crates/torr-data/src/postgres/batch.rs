//! The update of many rows in one statement. Diesel's query language has no UPDATE from a list of rows whose length is
//! known only at run time, so the model uses a query fragment of our own with values of Diesel's types.

use crate::model::World;
use diesel::QueryResult;
use diesel::pg::Pg;
use diesel::query_builder::{AstPass, Query, QueryFragment, QueryId};
use diesel::sql_types::{Array, Integer, Untyped};

/// The update of many rows. The subquery locks the rows in the order of their ids, so that two updates cannot deadlock.
pub(super) const WRITE: &str = "UPDATE world SET randomnumber = new.number FROM (\
    SELECT world.id, given.number FROM unnest($1::int4[], $2::int4[]) AS given (id, number) \
    JOIN world ON world.id = given.id ORDER BY world.id FOR UPDATE OF world\
    ) AS new WHERE world.id = new.id";

/// Diesel's query fragment of the update.
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

/// Returns the rows as one list of ids and one of numbers.
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
            // The placeholder's digit is skipped.
            out.push_sql(&part[1..]);
        }
        Ok(())
    }
}
