//! `/ws`: a WebSocket that sends each message back.

use axum::Router;
use axum::extract::ws::{Message, WebSocketUpgrade};
use axum::response::Response;
use axum::routing::any;

/// The most bytes of a message.
const LIMIT: usize = 64 * 1024;

async fn echo(upgrade: WebSocketUpgrade) -> Response {
    upgrade.max_message_size(LIMIT).on_upgrade(async |mut socket| {
        while let Some(Ok(message)) = socket.recv().await {
            // The library responds to pings and to a close.
            if let Message::Text(_) | Message::Binary(_) = message
                && socket.send(message).await.is_err()
            {
                return;
            }
        }
    })
}

/// Returns the route.
pub fn router() -> Router {
    Router::new().route("/ws", any(echo))
}
