//! The paths that query a database: the documents' row of 100,000, and TechEmpower's tests, by each access.

use super::source::Source;
use super::{failure, fortunes};
use futures_util::future::{Either, FutureExt, ready};
use serde::Serialize;
use std::sync::Arc;
use torr_data::{Access, Cache, CacheKind, DataError, Database, WORLD_ROWS, World};
use torr_serve::{App, Request, Response};

/// The most rows of one request, by TechEmpower's rules.
const MOST: usize = 500;

/// Adds the paths.
pub fn add(app: App, source: &Arc<Source>, cache: &Cache) -> App {
    let mut paths = Paths { app: source.show(app), source };
    let items = source.items();
    for access in Access::ALL {
        paths.get(&format!("/db/{access}"), move |_| id(items), move |db, id| db.item(access, id), |row| json(&row));
        paths.worlds(access, &format!("/queries/{access}"));
        paths.updates(access, &format!("/updates/{access}"));
        paths.fortunes(access, &format!("/fortunes/{access}"));
    }
    paths.get("/db", |_| id(WORLD_ROWS), |db, id| db.world(Access::Raw, id), |row| json(&row));
    // The rules call some of these by a slash at their end.
    for path in ["/queries", "/queries/"] {
        paths.worlds(Access::Raw, path);
    }
    for path in ["/updates", "/updates/"] {
        paths.updates(Access::Raw, path);
    }
    paths.fortunes(Access::Raw, "/fortunes");
    for path in ["/cached-worlds", "/cached-worlds/"] {
        paths.cached(path, cache);
    }
    paths.app
}

/// Paths of one application that query one database.
struct Paths<'s> {
    app: App,
    source: &'s Arc<Source>,
}

impl Paths<'_> {
    fn worlds(&mut self, access: Access, path: &str) {
        self.get(
            path,
            |request| ids(count(request, "queries")),
            move |db, ids| db.worlds(access, &ids),
            |rows| json(&rows),
        );
    }

    fn updates(&mut self, access: Access, path: &str) {
        let update = move |db: &Database, rows: Vec<World>| {
            let update = db.update(access, &rows);
            async move { update.await.map(|_| rows) }
        };
        self.get(path, |request| changes(count(request, "queries")), update, |rows| json(&rows));
    }

    /// Adds a path with a cache. One in memory before SQLite is immediate, too.
    fn cached(&mut self, path: &str, cache: &Cache) {
        let (source, cache) = (Arc::clone(self.source), cache.clone());
        let app = std::mem::take(&mut self.app);
        self.app = if source.blocks() || (cache.kind() == CacheKind::Memory && source.is_immediate()) {
            app.get(path, move |request| {
                let ids = ids(count(request, "count"));
                let rows = source.database().and_then(|db| cache.blocking().worlds(db, Access::Raw, &ids));
                failure::or(rows, request.id().cloned(), |rows| json(&rows))
            })
        } else {
            app.get_async(path, move |request| {
                let (ids, id) = (ids(count(request, "count")), request.id().cloned());
                let (db, cache) = (source.database().cloned(), cache.clone());
                async move {
                    let rows = match db {
                        Ok(db) => cache.worlds(&db, Access::Raw, &ids).await,
                        Err(error) => Err(error),
                    };
                    failure::or(rows, id, |rows| json(&rows))
                }
            })
        };
    }

    fn fortunes(&mut self, access: Access, path: &str) {
        self.get(path, |_| (), move |db, ()| db.fortunes(access), fortunes::page);
    }

    /// Adds a path: what to take from the request, what to query, and how to show the outcome.
    fn get<A, T, F>(
        &mut self,
        path: &str,
        take: impl Fn(&Request<'_>) -> A + Send + Sync + 'static,
        ask: impl Fn(&Database, A) -> F + Copy + Send + Sync + 'static,
        show: fn(T) -> Response,
    ) where
        A: Send + 'static,
        T: Send + 'static,
        F: Future<Output = Result<T, DataError>> + 'static,
    {
        let source = Arc::clone(self.source);
        let app = std::mem::take(&mut self.app);
        self.app = if source.is_immediate() {
            app.get(path, move |request| {
                let argument = take(request);
                let outcome = source.database().and_then(|db| db.blocking().run(move |db| ask(db, argument)));
                failure::or(outcome, request.id().cloned(), show)
            })
        } else {
            app.get_async(path, move |request| {
                let id = request.id().cloned();
                let finish = move |outcome| failure::or(outcome, id, show);
                // Not an `async` block, which would hold the query twice.
                match source.database() {
                    Ok(db) => Either::Left(ask(db, take(request)).map(finish)),
                    Err(error) => Either::Right(ready(finish(Err(error)))),
                }
            })
        };
    }
}

/// Returns the number of rows of a request; a text that is not a number counts as 1.
fn count(request: &Request<'_>, name: &str) -> usize {
    let mut fields = request.query().unwrap_or_default().split('&').filter_map(|field| field.split_once('='));
    let value = fields.find_map(|(key, value)| (key == name).then_some(value)).unwrap_or_default();
    let digits = !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit());
    // A number of digits fails to parse only if it is too large.
    if digits { value.parse().unwrap_or(MOST).clamp(1, MOST) } else { 1 }
}

/// The id of any row.
fn id(rows: u32) -> i32 {
    fastrand::i32(1..=i32::try_from(rows).unwrap_or(i32::MAX))
}

/// Of so many rows, of which some may be the same.
fn ids(count: usize) -> Vec<i32> {
    (0..count).map(|_| id(WORLD_ROWS)).collect()
}

/// So many rows, no two of them the same, with new numbers.
fn changes(count: usize) -> Vec<World> {
    let mut taken = [0_u64; WORLD_ROWS as usize / 64 + 1];
    let mut rows = Vec::with_capacity(count);
    while rows.len() < count {
        let id = id(WORLD_ROWS);
        let (word, bit) = (&mut taken[id as usize / 64], 1 << (id % 64));
        if *word & bit == 0 {
            *word |= bit;
            rows.push(World { id, random_number: self::id(WORLD_ROWS) });
        }
    }
    rows
}

fn json(value: &impl Serialize) -> Response {
    match serde_json::to_vec(value) {
        Ok(text) => Response::json(text),
        Err(error) => Response::error(500, format!("{error}\n")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_rows_that_may_be_changed_are_all_different() {
        let mut ids: Vec<_> = changes(MOST).into_iter().map(|row| row.id).collect();
        assert!(ids.iter().all(|id| (1..=WORLD_ROWS as i32).contains(id)));
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), MOST);
    }
}
