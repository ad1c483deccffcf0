//! Middleware of our own and of tower: request ids, traces, limits, time-outs, panics caught.
//! `cargo run --example middleware -p torr-serve`, then `curl -i 'http://127.0.0.1:8080/nap?ms=50'` and
//! `curl -i http://127.0.0.1:8080/panic`.

use axum::error_handling::HandleErrorLayer;
use axum::extract::{Query, Request};
use axum::http::{HeaderValue, StatusCode};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{BoxError, Router};
use serde::Deserialize;
use std::time::{Duration, Instant};
use torr_serve::{App, ServeError, Server};
use tower::ServiceBuilder;
use tower::limit::GlobalConcurrencyLimitLayer;
use tower::load_shed::LoadShedLayer;
use tower_http::ServiceBuilderExt;
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::request_id::MakeRequestUuid;
use tower_http::timeout::TimeoutLayer;
use tower_http::trace::{DefaultOnResponse, TraceLayer};
use tracing::{Level, Span, info_span};

/// Says how long the handler took.
async fn timed(request: Request, next: Next) -> Response {
    let start = Instant::now();
    let mut response = next.run(request).await;
    let timing = format!("handler;dur={:.3}", start.elapsed().as_secs_f64() * 1e3);
    let timing = HeaderValue::from_str(&timing).expect("a number has no control characters");
    response.headers_mut().insert("server-timing", timing);
    response
}

/// Lets only those pass who know the word.
async fn guarded(request: Request, next: Next) -> Response {
    match request.headers().get("x-password").map(HeaderValue::as_bytes) {
        Some(b"sesame") => next.run(request).await,
        _ => (StatusCode::UNAUTHORIZED, "say the word\n").into_response(),
    }
}

fn span(request: &Request) -> Span {
    let id = request.headers().get("x-request-id").and_then(|id| id.to_str().ok());
    info_span!("request", method = %request.method(), path = request.uri().path(), id)
}

#[derive(Deserialize)]
struct Nap {
    ms: u64,
}

async fn nap(Query(nap): Query<Nap>) -> &'static str {
    tokio::time::sleep(Duration::from_millis(nap.ms)).await;
    "well rested\n"
}

async fn refused(_: BoxError) -> (StatusCode, &'static str) {
    (StatusCode::SERVICE_UNAVAILABLE, "somebody naps already\n")
}

fn main() -> Result<(), ServeError> {
    let address = std::env::args().nth(1).unwrap_or("127.0.0.1:8080".into());
    tracing_subscriber::fmt().init();
    // One at a time, of all workers together. A request that comes meanwhile does not wait, but gets a 503.
    let one_at_a_time = ServiceBuilder::new()
        .layer(HandleErrorLayer::new(refused))
        .layer(LoadShedLayer::new())
        .layer(GlobalConcurrencyLimitLayer::new(1));
    // The first is the outermost: it sees requests first, and responses last.
    let around_all = ServiceBuilder::new()
        .set_x_request_id(MakeRequestUuid)
        .layer(TraceLayer::new_for_http().make_span_with(span).on_response(DefaultOnResponse::new().level(Level::INFO)))
        .propagate_x_request_id()
        .layer(CatchPanicLayer::new())
        .layer(TimeoutLayer::with_status_code(StatusCode::GATEWAY_TIMEOUT, Duration::from_secs(1)))
        .layer(middleware::from_fn(timed));
    let router = Router::new()
        .route("/secret", get(|| async { "the treasure\n" }).layer(middleware::from_fn(guarded)))
        .route("/nap", get(nap).layer(one_at_a_time))
        .route("/panic", get(|| async { panic!("a handler has a defect") as &'static str }))
        .layer(around_all);
    let server = Server::new(App::new().router(router)).bind(address)?.watch_signals()?;
    println!("http://{}/", server.address());
    server.run_until_signal()
}
