//! One error type that becomes a response, so that handlers can use `?`.
//! `cargo run --example errors -p torr-serve`, then
//! `curl -i -H 'Content-Type: application/json' -d '{"pots": 9}' http://127.0.0.1:8080/orders` and
//! `curl -i http://127.0.0.1:8080/report`.

use axum::Router;
use axum::extract::rejection::JsonRejection;
use axum::extract::{Json, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use serde::Deserialize;
use serde_json::json;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use thiserror::Error;
use torr_serve::{App, ServeError, Server};

/// Whatever can go wrong in a handler.
#[derive(Debug, Error)]
enum Failure {
    #[error("{0} pots are left")]
    TooFew(u32),
    #[error("{0}")]
    NotUnderstood(#[from] JsonRejection),
    #[error("the report cannot be read: {0}")]
    NoReport(#[from] io::Error),
}

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        let status = match &self {
            Self::TooFew(_) => StatusCode::CONFLICT,
            Self::NotUnderstood(rejection) => rejection.status(),
            Self::NoReport(_) => StatusCode::INTERNAL_SERVER_ERROR,
        };
        // The cause of a fault on our side goes to the log, and not to the client.
        let text = if status.is_server_error() {
            println!("{self}");
            "it is our fault, try again later".into()
        } else {
            self.to_string()
        };
        (status, Json(json!({ "error": text }))).into_response()
    }
}

#[derive(Deserialize)]
struct Order {
    pots: u32,
}

async fn order(
    State(stock): State<Arc<AtomicU32>>,
    order: Result<Json<Order>, JsonRejection>,
) -> Result<String, Failure> {
    let pots = order?.pots;
    let before = stock.fetch_update(Relaxed, Relaxed, |left| left.checked_sub(pots)).map_err(Failure::TooFew)?;
    Ok(format!("{} pots are left\n", before - pots))
}

async fn report() -> Result<String, Failure> {
    Ok(tokio::fs::read_to_string("a/report/that/nobody/wrote").await?)
}

fn main() -> Result<(), ServeError> {
    let address = std::env::args().nth(1).unwrap_or("127.0.0.1:8080".into());
    let router = Router::new()
        .route("/orders", post(order))
        .route("/report", get(report))
        .with_state(Arc::new(AtomicU32::new(5)));
    let server = Server::new(App::new().router(router)).bind(address)?.watch_signals()?;
    println!("http://{}/", server.address());
    server.run_until_signal()
}
