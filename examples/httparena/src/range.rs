//! `/async-db?min=10&max=50&limit=50`: items with a price of a range, by one SELECT.

use crate::database::Database;
use crate::item::Item;
use crate::query::number;
use crate::response::{failed, json};
use serde::Serialize;
use torr_serve::{Request, Response};

/// The most items of a response, and the default.
const LIMIT: i64 = 50;

#[derive(Serialize)]
struct Page {
    count: usize,
    items: Vec<Item>,
}

/// Responds where there is no database: no items.
pub fn without_database() -> Response {
    json(&Page { count: 0, items: Vec::new() })
}

/// Handles a GET.
pub fn read(database: Database, request: &Request<'_>) -> impl Future<Output = Response> + use<> {
    let parameters = parameters(request.query());
    async move {
        let (min, max, limit) = match parameters {
            Ok(parameters) => parameters,
            Err(advice) => return Response::error(400, advice),
        };
        match database.range(min, max, limit.clamp(1, LIMIT)).await {
            Ok(items) => json(&Page { count: items.len(), items }),
            Err(failure) => failed(&failure),
        }
    }
}

/// Returns the least and the greatest price, and the most items.
fn parameters(query: Option<&str>) -> Result<(i32, i32, i64), String> {
    Ok((number(query, "min", 10)?, number(query, "max", 50)?, number(query, "limit", LIMIT)?))
}
