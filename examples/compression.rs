//! Responses compressed for clients that accept it, and compressed requests.
//! `cargo run --example compression -p torr-serve`, then `curl -i --compressed http://127.0.0.1:8080/text` and
//! `gzip -c README.md | curl -H 'Content-Encoding: gzip' --data-binary @- http://127.0.0.1:8080/count`.

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::http::header;
use axum::routing::{get, post};
use torr_serve::{App, ServeError, Server};
use tower_http::CompressionLevel;
use tower_http::compression::CompressionLayer;
use tower_http::compression::predicate::{DefaultPredicate, Predicate, SizeAbove};
use tower_http::decompression::RequestDecompressionLayer;

fn main() -> Result<(), ServeError> {
    let address = std::env::args().nth(1).unwrap_or("127.0.0.1:8080".into());
    // A packet holds about 1,400 bytes: what is smaller gains nothing. Images and event streams are left alone anyway.
    let worth_it = DefaultPredicate::new().and(SizeAbove::new(1_400));
    // Levels above this cost much more CPU time than they save bytes; what never changes is better compressed once, as
    // examples/files.rs shows.
    let responses =
        CompressionLayer::new().gzip(true).br(true).quality(CompressionLevel::Fastest).compress_when(worth_it);
    let router = Router::new()
        .route("/text", get(|| async { "Words that come again are short. ".repeat(1_000) }))
        .route("/short", get(|| async { "Too short.\n" }))
        .route("/image", get(|| async { ([(header::CONTENT_TYPE, "image/png")], vec![0; 10_000]) }))
        .route("/count", post(|body: String| async move { format!("{} bytes\n", body.len()) }))
        .layer(responses)
        // A few bytes may unpack to gigabytes: the limit holds for what they become.
        .layer(DefaultBodyLimit::max(1_000_000))
        .layer(RequestDecompressionLayer::new());
    let server = Server::new(App::new().router(router)).bind(address)?.watch_signals()?;
    println!("http://{}/", server.address());
    server.run_until_signal()
}
