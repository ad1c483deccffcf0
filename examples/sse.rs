//! Server-sent events to all who listen, and a response line by line.
//! `cargo run --example sse -p torr-serve`, then `curl -N http://127.0.0.1:8080/events` here and
//! `curl -d 'tea is ready' http://127.0.0.1:8080/say` there, or `curl -N http://127.0.0.1:8080/countdown/9`.

use axum::Router;
use axum::body::Body;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::routing::{get, post};
use futures_util::stream::{self, Stream};
use std::convert::Infallible;
use std::time::Duration;
use tokio::sync::broadcast::{self, error::RecvError};
use torr_serve::{App, ServeError, Server};

/// News for all listeners, whichever worker they are on.
type News = broadcast::Sender<String>;

async fn events(State(news): State<News>) -> Sse<impl Stream<Item = Result<Event, Infallible>>> {
    let events = stream::unfold(news.subscribe(), |mut listener| async {
        let event = match listener.recv().await {
            Ok(text) => Event::default().event("news").data(text),
            // A client that reads too slowly has lost the oldest events, and gets their number.
            Err(RecvError::Lagged(count)) => Event::default().event("lost").data(count.to_string()),
            Err(RecvError::Closed) => return None,
        };
        Some((Ok(event), listener))
    });
    // A comment now and then keeps proxies from thinking that the connection is dead.
    Sse::new(events).keep_alive(KeepAlive::new().interval(Duration::from_secs(15)))
}

async fn say(State(news): State<News>, text: String) -> Result<String, StatusCode> {
    // An event's data has no bare carriage return.
    if text.contains('\r') {
        return Err(StatusCode::BAD_REQUEST);
    }
    // It is no failure that no client listens.
    Ok(format!("{} heard it\n", news.send(text).unwrap_or(0)))
}

async fn countdown(Path(from): Path<u8>) -> Body {
    let lines = stream::unfold(from, |left| async move {
        let next = left.checked_sub(1)?;
        tokio::time::sleep(Duration::from_millis(100)).await;
        Some((Ok::<_, Infallible>(format!("{left}\n")), next))
    });
    Body::from_stream(lines)
}

fn main() -> Result<(), ServeError> {
    let address = std::env::args().nth(1).unwrap_or("127.0.0.1:8080".into());
    let (news, _) = broadcast::channel(100);
    let router = Router::new()
        .route("/events", get(events))
        .route("/say", post(say))
        .route("/countdown/{from}", get(countdown))
        .with_state(news);
    let server = Server::new(App::new().router(router)).bind(address)?.watch_signals()?;
    println!("http://{}/", server.address());
    server.run_until_signal()
}
