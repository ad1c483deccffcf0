//! The statements of the query builder, built anew for each query in the dialect of the database.

use crate::model::World;
#[cfg(feature = "network")]
use sea_query::{CaseStatement, LockType};
use sea_query::{Expr, ExprTrait, Query, QueryBuilder, Value, Values};

/// A statement and the values to bind to it.
pub(crate) type Built = (String, Values);

pub(crate) fn world(id: i32, words: impl QueryBuilder) -> Built {
    Query::select().columns(["id", "randomnumber"]).from("world").cond_where(Expr::col("id").eq(id)).build(words)
}

pub(crate) fn item(id: i32, words: impl QueryBuilder) -> Built {
    Query::select().columns(["id", "name", "number"]).from("item").cond_where(Expr::col("id").eq(id)).build(words)
}

pub(crate) fn fortunes(words: impl QueryBuilder) -> Built {
    Query::select().columns(["id", "message"]).from("fortune").build(words)
}

/// Builds the update of one row.
#[cfg(feature = "sqlite")]
pub(crate) fn write_one(row: World, words: impl QueryBuilder) -> Built {
    Query::update()
        .table("world")
        .value("randomnumber", row.random_number)
        .cond_where(Expr::col("id").eq(row.id))
        .build(words)
}

/// Builds the update of many rows. With `locked`, a subquery first locks the rows in the order of their ids: PostgreSQL
/// updates rows in any order, so that two such updates could deadlock.
#[cfg(feature = "network")]
pub(crate) fn write(rows: &[World], locked: bool, words: impl QueryBuilder) -> Built {
    let case =
        rows.iter().fold(CaseStatement::new(), |case, row| case.case(Expr::col("id").eq(row.id), row.random_number));
    let ids = rows.iter().map(|row| row.id);
    let which = if locked {
        let lock = Query::select()
            .column("id")
            .from("world")
            .and_where(Expr::col("id").is_in(ids))
            .order_by("id", sea_query::Order::Asc)
            .lock(LockType::Update)
            .take();
        Expr::col("id").in_subquery(lock)
    } else {
        Expr::col("id").is_in(ids)
    };
    Query::update()
        .table("world")
        .value("randomnumber", case.finally(Expr::col("randomnumber")))
        .cond_where(which)
        .build(words)
}

/// Returns the values to bind, all of which are integers.
pub(crate) fn integers(values: Values) -> impl Iterator<Item = i32> {
    values.0.into_iter().map(|value| match value {
        Value::Int(Some(int)) => int,
        other => unreachable!("the statements here have integers only, not {other:?}"),
    })
}
