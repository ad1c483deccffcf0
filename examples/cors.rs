//! CORS: which pages of other origins may call.
//! `cargo run --example cors -p torr-serve`, then
//! `curl -i -H 'Origin: https://shop.example' http://127.0.0.1:8080/basket`, or what a browser asks before: the same
//! with `-X OPTIONS -H 'Access-Control-Request-Method: PUT'`.

use axum::Router;
use axum::http::{HeaderValue, Method, header};
use axum::routing::get;
use std::time::Duration;
use torr_serve::{App, ServeError, Server};
use tower_http::cors::{Any, CorsLayer};

fn main() -> Result<(), ServeError> {
    let address = std::env::args().nth(1).unwrap_or("127.0.0.1:8080".into());
    // With cookies, for two origins alone: a browser takes no `*` where credentials are sent.
    let shops = ["https://shop.example", "https://staging.shop.example"].map(HeaderValue::from_static);
    let trusted = CorsLayer::new()
        .allow_origin(shops)
        .allow_methods([Method::GET, Method::PUT])
        .allow_headers([header::CONTENT_TYPE])
        .allow_credentials(true)
        .expose_headers([header::ETAG])
        .max_age(Duration::from_secs(600));
    // Pages of all origins may read what is public.
    let public = CorsLayer::new().allow_origin(Any).allow_methods([Method::GET]);
    let basket = get(|| async { ([(header::ETAG, "\"1\"")], "2 pots of tea\n") }).put(|| async { "changed\n" });
    let router = Router::new()
        .route("/basket", basket.layer(trusted))
        .route("/prices", get(|| async { "tea: 3.50\n" }).layer(public))
        .route("/internal", get(|| async { "for this origin's own pages\n" }));
    let server = Server::new(App::new().router(router)).bind(address)?.watch_signals()?;
    println!("http://{}/", server.address());
    server.run_until_signal()
}
