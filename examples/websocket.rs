//! WebSockets: an echo, and a chat of all who are connected.
//! `cargo run --example websocket -p torr-serve`, then `websocat ws://127.0.0.1:8080/chat/ann` and, in another
//! terminal, `websocat ws://127.0.0.1:8080/chat/bob`.

use axum::Router;
use axum::extract::ws::{CloseFrame, Message, WebSocket, WebSocketUpgrade, close_code};
use axum::extract::{Path, State};
use axum::response::Response;
use axum::routing::any;
use tokio::sync::broadcast::{self, error::RecvError};
use torr_serve::{App, ServeError, Server};

/// Lines for all who are connected, whichever worker they are on.
type Room = broadcast::Sender<String>;

async fn echo(upgrade: WebSocketUpgrade) -> Response {
    upgrade.max_message_size(64 * 1024).on_upgrade(async |mut socket| {
        // Pings are answered by the library.
        while let Some(Ok(message)) = socket.recv().await {
            let back = match message {
                Message::Text(_) | Message::Binary(_) => socket.send(message).await,
                _ => Ok(()),
            };
            if back.is_err() {
                return;
            }
        }
    })
}

async fn chat(upgrade: WebSocketUpgrade, Path(name): Path<String>, State(room): State<Room>) -> Response {
    // A client that has the response to the handshake gets all messages from then on.
    let lines = room.subscribe();
    // Any page may open a WebSocket, with this origin's cookies: a chat that has sessions looks at `Origin` first.
    upgrade.max_message_size(4 * 1024).on_upgrade(move |socket| talk(socket, name, room, lines))
}

async fn talk(mut socket: WebSocket, name: String, room: Room, mut lines: broadcast::Receiver<String>) {
    loop {
        let message = tokio::select! {
            said = socket.recv() => match said {
                Some(Ok(Message::Text(text))) => {
                    // There is a receiver here at least, so sending cannot fail.
                    let _ = room.send(format!("{name}: {text}"));
                    continue;
                }
                Some(Ok(Message::Binary(_))) => {
                    Message::Close(Some(CloseFrame { code: close_code::UNSUPPORTED, reason: "text only".into() }))
                }
                // The library replies to these; the reply to a close goes out with the next `recv`, which then ends.
                Some(Ok(Message::Ping(_) | Message::Pong(_) | Message::Close(_))) => continue,
                Some(Err(_)) | None => return,
            },
            line = lines.recv() => match line {
                Ok(line) => Message::text(line),
                // A client that reads too slowly misses the oldest lines, and delays no other client.
                Err(RecvError::Lagged(_)) => continue,
                Err(RecvError::Closed) => return,
            },
        };
        if socket.send(message).await.is_err() {
            return;
        }
    }
}

fn main() -> Result<(), ServeError> {
    let address = std::env::args().nth(1).unwrap_or("127.0.0.1:8080".into());
    let (room, _) = broadcast::channel(100);
    let router = Router::new().route("/echo", any(echo)).route("/chat/{name}", any(chat)).with_state(room);
    let server = Server::new(App::new().router(router)).bind(address)?.watch_signals()?;
    println!("http://{}/", server.address());
    server.run_until_signal()
}
