//! `/json/{count}?m=N`: the first items of the data set, each with its total, serialised for each request.

use crate::item::{Item, Rating};
use axum::extract::{Path, Query, State};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Json, Router};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use tower_http::compression::CompressionLayer;

#[derive(Deserialize)]
struct Parameters {
    #[serde(default = "one")]
    m: i64,
}

fn one() -> i64 {
    1
}

#[derive(Serialize)]
struct Page<'i> {
    items: Vec<Priced<'i>>,
    count: usize,
}

/// An item with its total. The fields stand here once more, since `serde(flatten)` goes through a map.
#[derive(Serialize)]
struct Priced<'i> {
    id: i32,
    name: &'i str,
    category: &'i str,
    price: i32,
    quantity: i32,
    active: bool,
    tags: &'i [String],
    rating: Rating,
    total: i64,
}

impl<'i> Priced<'i> {
    fn new(item: &'i Item, factor: i64) -> Self {
        let total = (i64::from(item.price) * i64::from(item.quantity)).saturating_mul(factor);
        let Item { id, name, category, price, quantity, active, tags, rating } = item;
        let (id, price, quantity, active, rating) = (*id, *price, *quantity, *active, *rating);
        Self { id, name, category, price, quantity, active, tags, rating, total }
    }
}

async fn first(
    State(items): State<Arc<[Item]>>,
    Path(count): Path<usize>,
    Query(Parameters { m }): Query<Parameters>,
) -> Response {
    let items: Vec<_> = items.iter().take(count).map(|item| Priced::new(item, m)).collect();
    Json(Page { count: items.len(), items }).into_response()
}

/// Returns the route, whose responses are compressed for clients that ask for it.
pub fn router(items: Arc<[Item]>) -> Router {
    Router::new().route("/json/{count}", get(first)).layer(CompressionLayer::new()).with_state(items)
}
