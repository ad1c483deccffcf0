//! The router: the plain page that most scenarios ask for, and what makes a router one.

use axum::extract::Path;
use axum::http::{HeaderName, HeaderValue};
use axum::response::Html;
use axum::routing::get;
use axum::{Json, Router};
use serde::Serialize;
use tower_http::set_header::SetResponseHeaderLayer;

/// The page that every measured server responds with.
pub const HELLO: &str = "<p>Hello, world!</p>";

#[derive(Serialize)]
struct Message {
    message: &'static str,
}

#[derive(Serialize)]
struct User {
    id: u64,
    name: String,
}

/// Routes as an application has them. The middleware is around those of `/api` only, so that the plain page shows what the
/// router takes, and `/api/users/{id}` what the rest does.
pub fn router() -> Router {
    let nosniff = SetResponseHeaderLayer::overriding(
        HeaderName::from_static("x-content-type-options"),
        HeaderValue::from_static("nosniff"),
    );
    let api = Router::new()
        .route("/users/{id}", get(user))
        .route("/users", get(async || Json([1, 2, 3].map(named))))
        .layer(nosniff);
    Router::new()
        .route("/", get(async || Html(HELLO)))
        .route("/pending", get(pending))
        .route("/json", get(async || Json(Message { message: "Hello, World!" })))
        .nest("/api", api)
}

async fn user(Path(id): Path<u64>) -> Json<User> {
    Json(named(id))
}

fn named(id: u64) -> User {
    User { id, name: format!("user {id}") }
}

/// Pending once: what a handler costs that waits for something.
async fn pending() -> Html<&'static str> {
    tokio::task::yield_now().await;
    Html(HELLO)
}
