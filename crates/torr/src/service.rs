//! The demo application: one path for each thing that a stress test wants to press.

mod data;
mod failure;
mod fortunes;
mod pages;
mod params;
mod router;
mod session;
mod source;
mod streams;

pub use source::{EMBEDDED, Mode, Source};

use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;
use http::HeaderValue;
use http::header::CONTENT_ENCODING;
use pages::{HELLO, Message, PLAINTEXT};
use params::{duration, number};
use std::io::Write;
use std::sync::Arc;
use std::time::{Duration, Instant};
use torr_data::Cache;
use torr_serve::{App, Request, Response};

/// The longest time that `/sleep`, `/block` and `/pool`, and `/cpu` accept.
const LONGEST_SLEEP: Duration = Duration::from_secs(3600);
const LONGEST_NAP: Duration = Duration::from_secs(10);
const LONGEST_WORK: Duration = Duration::from_secs(10);
/// `/bytes` repeats this.
static FILLER: [u8; 64 * 1024] = [b'x'; 64 * 1024];

/// All of it, with this database and this cache; the smallest pages by an axum router instead of controllers if wanted.
pub fn app(source: &Arc<Source>, cache: &Cache, by_router: bool) -> App {
    let gzipped = gzip(HELLO.as_bytes());
    let app = match by_router {
        true => App::new().router(router::router()),
        false => App::new()
            .get("/", |_| Response::html(HELLO))
            .get("/plaintext", |_| Response::text(PLAINTEXT))
            .get("/json", json),
    };
    let app = app
        .get("/benchmark", |_| Response::html(HELLO))
        .get("/gzip", move |_| {
            Response::html(gzipped.clone()).header(CONTENT_ENCODING, HeaderValue::from_static("gzip"))
        })
        .get("/bytes/{n}", bytes)
        .get_async("/sleep/{ms}", |request| sleep(duration(request, "ms", 1_000, LONGEST_SLEEP)))
        .get("/cpu/{us}", |request| work(duration(request, "us", 1, LONGEST_WORK)))
        .get("/block/{ms}", |request| nap(duration(request, "ms", 1_000, LONGEST_NAP)))
        .get_blocking("/pool/{ms}", |request| nap(duration(request, "ms", 1_000, LONGEST_NAP)))
        .metrics("/metrics")
        .get("/healthz", |_| Response::text("ok\n"))
        .post("/echo", |request| Response::ok("application/octet-stream", request.body().to_vec()));
    streams::add(session::add(data::add(app, source, cache), cache))
}

/// TechEmpower's rules want it serialised anew for each request.
fn json(_: &Request<'_>) -> Response {
    match serde_json::to_vec(&Message { message: PLAINTEXT }) {
        Ok(body) => Response::json(body),
        Err(error) => Response::error(500, format!("{error}\n")),
    }
}

fn bytes(request: &Request<'_>) -> Response {
    let Some(length) = number(request, "n") else { return not_a_number("bytes") };
    Response::pieces("application/octet-stream", length, std::iter::repeat_with(|| Bytes::from_static(&FILLER)))
}

async fn sleep(time: Option<Duration>) -> Response {
    let Some(time) = time else { return not_a_number("milliseconds, up to an hour") };
    tokio::time::sleep(time).await;
    Response::text("slept\n")
}

/// Sleeps on the spot, as a handler does that calls a blocking client of a database.
fn nap(time: Option<Duration>) -> Response {
    let Some(time) = time else { return not_a_number("milliseconds, up to 10 seconds") };
    std::thread::sleep(time);
    Response::text("slept\n")
}

/// Keeps the worker busy, as a handler that computes would.
fn work(time: Option<Duration>) -> Response {
    let Some(time) = time else { return not_a_number("microseconds, up to 10 seconds") };
    let start = Instant::now();
    while start.elapsed() < time {
        std::hint::spin_loop();
    }
    Response::text("worked\n")
}

fn not_a_number(what: &str) -> Response {
    Response::error(400, format!("The path must end in a number of {what}\n"))
}

fn gzip(bytes: &[u8]) -> Bytes {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    let written = encoder.write_all(bytes).and_then(|()| encoder.finish());
    written.expect("writing to memory does not fail").into()
}
