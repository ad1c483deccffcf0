//! The pages without a database by an axum router: what a service has that moves in from `axum::serve`, a WebSocket among it.

use super::pages::{HELLO, Message, PLAINTEXT};
use axum::extract::WebSocketUpgrade;
use axum::extract::ws::{Message as Frame, WebSocket};
use axum::http::StatusCode;
use axum::response::Html;
use axum::routing::{any, get};
use axum::{Json, Router};

/// The router, which also responds to unknown paths.
pub fn router() -> Router {
    Router::new()
        .route("/", get(async || Html(HELLO)))
        .route("/plaintext", get(async || PLAINTEXT))
        .route("/json", get(async || Json(Message { message: PLAINTEXT })))
        .route("/ws/echo", any(async |upgrade: WebSocketUpgrade| upgrade.protocols(["echo"]).on_upgrade(echo)))
        .fallback(async || (StatusCode::NOT_FOUND, "Not found\n"))
}

/// Sends each message back until the client closes the connection.
async fn echo(mut socket: WebSocket) {
    while let Some(Ok(message)) = socket.recv().await {
        if matches!(message, Frame::Text(_) | Frame::Binary(_)) && socket.send(message).await.is_err() {
            return;
        }
    }
}
