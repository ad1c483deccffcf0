//! What is closed after the last response: a thread that still has work.
//! `cargo run --example graceful -p torr-serve`, then `curl -d 'a letter' http://127.0.0.1:8080/letters`, and Ctrl-C.

use axum::Router;
use axum::extract::State;
use axum::http::StatusCode;
use axum::routing::post;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::Duration;
use torr_serve::{App, ServeError, Server};

/// Takes a letter, and does not wait until it is delivered.
async fn accept(State(letters): State<Sender<String>>, letter: String) -> (StatusCode, &'static str) {
    match letters.send(letter) {
        Ok(()) => (StatusCode::ACCEPTED, "it is on its way\n"),
        Err(_) => (StatusCode::SERVICE_UNAVAILABLE, "nobody delivers letters\n"),
    }
}

/// Delivers letters as they come, until all senders are dropped.
fn deliver(letters: Receiver<String>) {
    for letter in letters {
        thread::sleep(Duration::from_millis(100));
        println!("delivered: {letter}");
    }
}

fn main() -> Result<(), ServeError> {
    let address = std::env::args().nth(1).unwrap_or("127.0.0.1:8080".into());
    let (letters, post_office) = channel();
    let carrier = thread::spawn(|| deliver(post_office));
    let router = Router::new().route("/letters", post(accept)).with_state(letters);
    let server = Server::new(App::new().router(router)).bind(address)?.watch_signals()?;
    println!("http://{}/", server.address());
    // Returns after the request to stop and the last response. The router is gone by then, and all that it held: a pool of
    // database connections would be closed by it. What was promised in responses remains to be done.
    let ended = server.run_until_signal();
    println!("no more letters are accepted");
    carrier.join().expect("to deliver a letter does not panic");
    println!("all letters are delivered");
    ended
}
