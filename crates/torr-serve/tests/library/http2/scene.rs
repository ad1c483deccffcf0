//! The server of these tests: controllers of all kinds beside a router.

use crate::router::http2::{Client, StreamOutcome, get};
use crate::router::service::{self, router};
use crate::support::Running;
use bytes::Bytes;
use http::Request;
use std::time::Duration;
use torr_serve::{App, Response, Settings};

pub const MEGABYTE: usize = 1024 * 1024;

/// Controllers of all kinds beside the router.
pub fn app() -> App {
    App::new()
        .get("/c/hello", |_| Response::text("hello"))
        .get("/c/nothing", |_| Response::new(204))
        .get("/c/same", |_| Response::new(304))
        .get("/c/who/{name}", |request| Response::text(request.param("name").unwrap_or("?").to_owned()))
        .get("/c/query", |request| Response::text(request.query().unwrap_or("none").to_owned()))
        .get("/c/host", |request| Response::text(text(request.header("host"))))
        .get("/c/cookie", |request| Response::text(text(request.header("Cookie"))))
        .get("/c/large", |_| Response::text("l".repeat(3 * MEGABYTE)))
        .get("/c/pieces", |_| {
            Response::pieces("a/b", 5 * 100_000, std::iter::repeat_with(|| Bytes::from_static(&[b'p'; 100_000])))
        })
        .get("/c/too-few-pieces", |_| Response::pieces("a/b", 10, std::iter::once(Bytes::from_static(b"few"))))
        .get("/c/stream", |_| Response::stream("a/b", service::late_frames(3)))
        .get("/c/panics", |_| panic!("this is part of the test"))
        .get_async("/c/panics-later", |_| async {
            tokio::task::yield_now().await;
            panic!("this is part of the test")
        })
        .get_async("/c/later", |_| async {
            tokio::time::sleep(Duration::from_millis(2)).await;
            Response::text("later")
        })
        .get_blocking("/c/blocking", |_| {
            std::thread::sleep(Duration::from_millis(2));
            Response::text(std::thread::current().name().unwrap_or("?").to_owned())
        })
        .post("/c/echo", |request| Response::text(request.body().to_vec()))
        .post_async("/c/length", |request| std::future::ready(Response::text(request.body().len().to_string())))
        .get_async("/c/never", |_| std::future::pending())
        .router(router())
}

pub(super) fn text(value: Option<&[u8]>) -> String {
    value.map_or("none".to_owned(), |value| String::from_utf8_lossy(value).into_owned())
}

pub(super) fn start(set: impl FnOnce(&mut Settings)) -> (Running, Client) {
    let server = Running::start_with(app(), set);
    let client = Client::connect(server.address);
    (server, client)
}

/// Status and text of a response.
pub(super) fn content(outcome: &StreamOutcome) -> (u16, &str) {
    (outcome.response().status, outcome.response().text())
}

pub(super) fn method(method: &str, path: &str) -> Request<Bytes> {
    let mut request = get(path);
    *request.method_mut() = method.parse().expect("it is a token");
    request
}
