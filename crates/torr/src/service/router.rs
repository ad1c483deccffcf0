//! The pages without a database by an axum router: what a service has that moves in from `axum::serve`.

use super::pages::{HELLO, Message, PLAINTEXT};
use axum::http::StatusCode;
use axum::response::Html;
use axum::routing::get;
use axum::{Json, Router};

/// The router, which also responds to unknown paths.
pub fn router() -> Router {
    Router::new()
        .route("/", get(async || Html(HELLO)))
        .route("/plaintext", get(async || PLAINTEXT))
        .route("/json", get(async || Json(Message { message: PLAINTEXT })))
        .fallback(async || (StatusCode::NOT_FOUND, "Not found\n"))
}
