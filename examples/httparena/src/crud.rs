//! `/crud/items`: items read through a cache, changed, added, and listed by category.

use crate::cache::Items;
use crate::database::{Database, Failure, Fields};
use crate::item::Item;
use crate::query;
use crate::response::{failed, json};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use torr_serve::http::{HeaderName, HeaderValue};
use torr_serve::{Request, Response};

const X_CACHE: HeaderName = HeaderName::from_static("x-cache");

/// The most items of a page.
const PAGE: i64 = 50;

/// The database and the cache before it.
pub struct Crud {
    database: Database,
    items: Items,
}

impl Crud {
    /// Returns both, with an empty cache.
    pub fn new(database: Database) -> Self {
        Self { database, items: Items::new() }
    }

    /// Returns an item, and where it comes from.
    async fn item(&self, id: i32) -> Result<Option<(Arc<Item>, &'static str)>, Failure> {
        if let Some(item) = self.items.get(id) {
            return Ok(Some((item, "HIT")));
        }
        let item = self.database.one(id).await?.map(Arc::new);
        item.iter().for_each(|item| self.items.put(Arc::clone(item)));
        Ok(item.map(|item| (item, "MISS")))
    }
}

/// An item as clients send it, and as it is sent back.
#[derive(Deserialize, Serialize)]
struct Numbered {
    id: i32,
    #[serde(flatten)]
    fields: Fields,
}

#[derive(Serialize)]
struct Page {
    items: Vec<Item>,
    total: usize,
    page: i64,
    limit: i64,
}

/// Handles a GET of one item.
pub fn show(crud: Arc<Crud>, request: &Request<'_>) -> impl Future<Output = Response> + use<> {
    let id = id(request);
    async move {
        let Some(id) = id else { return missing() };
        match crud.item(id).await {
            Ok(Some((item, from))) => json(&*item).header(X_CACHE, HeaderValue::from_static(from)),
            Ok(None) => missing(),
            Err(failure) => failed(&failure),
        }
    }
}

/// Handles a PUT of one item.
pub fn change(crud: Arc<Crud>, request: &Request<'_>) -> impl Future<Output = Response> + use<> {
    let (id, fields) = (id(request), serde_json::from_slice::<Fields>(request.body()));
    async move {
        let Some(id) = id else { return missing() };
        let fields = match fields {
            Ok(fields) => fields,
            Err(error) => return Response::error(400, format!("{error}\n")),
        };
        let changed = crud.database.change(id, &fields).await;
        crud.items.remove(id);
        match changed {
            Ok(true) => json(&Numbered { id, fields }),
            Ok(false) => missing(),
            Err(failure) => failed(&failure),
        }
    }
}

/// Handles a POST of an item.
pub fn add(crud: Arc<Crud>, request: &Request<'_>) -> impl Future<Output = Response> + use<> {
    let item = serde_json::from_slice::<Numbered>(request.body());
    async move {
        let item = match item {
            Ok(item) => item,
            Err(error) => return Response::error(400, format!("{error}\n")),
        };
        let added = crud.database.add(item.id, &item.fields).await;
        crud.items.remove(item.id);
        match added {
            Ok(()) => json(&item).status(201),
            Err(failure) => failed(&failure),
        }
    }
}

/// Handles a GET of a page of a category, which is never cached.
pub fn list(crud: Arc<Crud>, request: &Request<'_>) -> impl Future<Output = Response> + use<> {
    let parameters = page_parameters(request.query());
    async move {
        let (category, page, limit) = match parameters {
            Ok((category, page, limit)) => (category, page.max(1), limit.clamp(1, PAGE)),
            Err(advice) => return Response::error(400, advice),
        };
        match crud.database.page(&category, limit, (page - 1).saturating_mul(limit)).await {
            Ok(items) => json(&Page { total: items.len(), items, page, limit }),
            Err(failure) => failed(&failure),
        }
    }
}

/// Returns the category, the number of the page, and the most items of a page.
fn page_parameters(query: Option<&str>) -> Result<(String, i64, i64), String> {
    let category = query::text(query, "category").unwrap_or_else(|| "electronics".to_owned());
    Ok((category, query::number(query, "page", 1)?, query::number(query, "limit", 10)?))
}

/// Returns the id of the path, which may have leading zeros. No item has any other id than a number.
fn id(request: &Request<'_>) -> Option<i32> {
    request.param("id")?.parse().ok()
}

fn missing() -> Response {
    Response::error(404, "there is no such item\n")
}
