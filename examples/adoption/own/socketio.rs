//! Socket.IO by socketioxide: long polling and WebSockets.

use axum::Router;
use axum::routing::get;
use socketioxide::SocketIo;
use socketioxide::extract::{Data, SocketRef};

#[tokio::main]
async fn main() {
    let (layer, io) = SocketIo::new_layer();
    io.ns("/", async |socket: SocketRef| {
        socket.on("message", async |socket: SocketRef, Data::<String>(text)| {
            let _ = socket.emit("message-back", &text);
        });
    });
    let app = Router::new().route("/", get(|| async { "a service of sockets" })).layer(layer);
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    axum::serve(listener, app).await.unwrap();
}
