//! An axum router beside a simple controller: `cargo run --release --example router -p torr-serve`, then
//! `torr http://127.0.0.1:8080/fast` and `torr http://127.0.0.1:8080/users/7`.

use axum::extract::{ConnectInfo, Path, Query, State};
use axum::http::StatusCode;
use axum::routing::{get, post};
use axum::{Json, Router};
use serde::{Deserialize, Serialize};
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use torr_serve::{App, Response, ServeError};
use tower_http::compression::CompressionLayer;

#[derive(Default)]
struct Visits(AtomicU64);

#[derive(Serialize)]
struct User {
    id: u64,
    visit: u64,
}

#[derive(Deserialize, Serialize)]
struct Sum {
    a: i64,
    b: i64,
}

async fn user(State(visits): State<Arc<Visits>>, Path(id): Path<u64>) -> Json<User> {
    Json(User { id, visit: visits.0.fetch_add(1, Ordering::Relaxed) + 1 })
}

async fn add(Json(sum): Json<Sum>) -> Result<String, (StatusCode, &'static str)> {
    sum.a.checked_add(sum.b).map(|sum| sum.to_string()).ok_or((StatusCode::UNPROCESSABLE_ENTITY, "too large"))
}

#[derive(Deserialize)]
struct Nap {
    ms: u64,
}

/// Waits without keeping others waiting.
async fn nap(Query(nap): Query<Nap>) -> String {
    tokio::time::sleep(Duration::from_millis(nap.ms)).await;
    format!("slept {} ms", nap.ms)
}

async fn whoami(ConnectInfo(peer): ConnectInfo<SocketAddr>) -> String {
    format!("you are {}", peer.ip())
}

fn main() -> Result<(), ServeError> {
    let address = std::env::args().nth(1).unwrap_or("127.0.0.1:8080".into());
    let router = Router::new()
        .route("/users/{id}", get(user))
        .route("/add", post(add))
        .route("/nap", get(nap))
        .route("/whoami", get(whoami))
        .route("/page", get(|| async { "a page that is worth compressing ".repeat(100) }))
        .layer(CompressionLayer::new())
        .with_state(Arc::new(Visits::default()));
    App::new()
        .get("/fast", |_| Response::text("as fast as it gets"))
        .router(router)
        .peer_as(ConnectInfo::<SocketAddr>)
        .serve(address)
}
