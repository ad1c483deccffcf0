//! Routing: nested routers, methods, path parameters, state and fallbacks.
//! `cargo run --example routing -p torr-serve`, then `curl -i -d 'buy milk' http://127.0.0.1:8080/api/notes` and
//! `curl -i -X PUT http://127.0.0.1:8080/api/notes/1`.

use axum::Router;
use axum::extract::{OriginalUri, Path, State};
use axum::http::{StatusCode, header};
use axum::response::IntoResponse;
use axum::routing::get;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use torr_serve::{App, ServeError, Server};

/// What all workers share.
#[derive(Clone, Default)]
struct Notes(Arc<Mutex<BTreeMap<u64, String>>>);

impl Notes {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<u64, String>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn list(State(notes): State<Notes>) -> String {
    notes.lock().iter().map(|(id, text)| format!("{id}: {text}\n")).collect()
}

async fn add(State(notes): State<Notes>, text: String) -> impl IntoResponse {
    let mut notes = notes.lock();
    let id = notes.last_key_value().map_or(1, |(last, _)| last + 1);
    notes.insert(id, text);
    (StatusCode::CREATED, [(header::LOCATION, format!("/api/notes/{id}"))])
}

async fn show(State(notes): State<Notes>, Path(id): Path<u64>) -> Result<String, StatusCode> {
    notes.lock().get(&id).cloned().ok_or(StatusCode::NOT_FOUND)
}

async fn remove(State(notes): State<Notes>, Path(id): Path<u64>) -> StatusCode {
    match notes.lock().remove(&id) {
        Some(_) => StatusCode::NO_CONTENT,
        None => StatusCode::NOT_FOUND,
    }
}

async fn unknown(OriginalUri(uri): OriginalUri) -> (StatusCode, String) {
    (StatusCode::NOT_FOUND, format!("nothing is at {}\n", uri.path()))
}

fn main() -> Result<(), ServeError> {
    let address = std::env::args().nth(1).unwrap_or("127.0.0.1:8080".into());
    let notes = Router::new().route("/", get(list).post(add)).route("/{id}", get(show).delete(remove));
    let api = Router::new()
        .nest("/notes", notes)
        .fallback(|| async { (StatusCode::NOT_FOUND, "the API has no such path\n") })
        .method_not_allowed_fallback(|| async { (StatusCode::METHOD_NOT_ALLOWED, "not by this method\n") });
    let router = Router::new()
        .route(
            "/greet/{first}/{last}",
            get(|Path((first, last)): Path<(String, String)>| async move { format!("Hello, {first} {last}!\n") }),
        )
        .route("/tail/{*rest}", get(|Path(rest): Path<String>| async { rest }))
        .nest("/api", api)
        .fallback(unknown)
        .with_state(Notes::default());
    let server = Server::new(App::new().router(router)).bind(address)?.watch_signals()?;
    println!("http://{}/", server.address());
    server.run_until_signal()
}
