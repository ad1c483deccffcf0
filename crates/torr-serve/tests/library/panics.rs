//! A handler that panics costs its own connection, and no other.

use crate::http3::scene::{self, Scene};
use crate::support::Running;
use axum::Router;
use axum::body::Body;
use axum::routing::get as on_get;
use bytes::Bytes;
use futures_util::FutureExt;
use http_body::Frame;
use std::convert::Infallible;
use std::io::Read;
use std::iter;
use std::net::TcpStream;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::thread;
use torr_serve::{App, RequestBody, Response, ServeError, Server};
use torr_test_support::client::get;

/// Panics like a handler with a defect.
fn defect() -> Response {
    panic!("this is part of the test")
}

fn app() -> App {
    App::new()
        .get("/", |_| Response::text("fine"))
        .get("/direct", |_| defect())
        .get_async("/call", |_| {
            defect();
            async { Response::text("never") }
        })
        .get_async("/first", |_| async { defect() })
        .get_async("/later", |_| async {
            tokio::task::yield_now().await;
            defect()
        })
        .get_async("/much/later", |_| async {
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
            defect()
        })
}

#[test]
fn a_panic_is_answered_by_500_and_ends_only_its_connection() {
    let server = Running::start(app());
    let mut other = server.client();
    for path in ["/direct", "/call", "/first", "/later", "/much/later"] {
        let mut client = server.client();
        assert_eq!(client.get("/").text(), "fine");
        client.send(get("/") + &get(path) + &get("/"));
        assert_eq!(client.response().text(), "fine", "before {path}");
        let response = client.response();
        assert_eq!((response.status, response.field("Connection")), (500, Some("close")), "{path}: {response:?}");
        client.ends();
        assert_eq!(other.get("/").text(), "fine", "after {path}");
    }
    server.stop();
    server.wait().expect("the worker is well");
}

#[test]
fn what_a_client_still_sends_does_not_destroy_the_response() {
    let server = Running::start(app());
    let mut client = server.client();
    client.send(get("/") + &get("/much/later"));
    assert_eq!(client.response().text(), "fine");
    // This waits in the kernel when the connection is ended.
    client.send(get("/").repeat(100));
    assert_eq!(client.response().status, 500);
    client.ends();
}

#[test]
fn a_body_that_panics_ends_only_its_connection() {
    let pieces = || {
        iter::once(Bytes::from_static(b"first"))
            .chain(iter::from_fn(|| -> Option<Bytes> { panic!("part of the test") }))
    };
    let server = Running::start(app().get("/body", move |_| Response::pieces("a/b", 1_000_000, pieces())));
    let mut other = server.client();
    for _ in 0..3 {
        let mut client = server.client();
        client.send(get("/body"));
        assert_eq!(client.response_head().status, 200);
        let came = client.count_to_end();
        assert!(came <= 5, "{came} bytes came");
        assert_eq!(other.get("/").text(), "fine");
    }
}

/// A body whose destructor panics.
struct Trap;

impl Iterator for Trap {
    type Item = Bytes;

    fn next(&mut self) -> Option<Bytes> {
        Some(Bytes::from_static(b"x"))
    }
}

impl AsRef<[u8]> for Trap {
    fn as_ref(&self) -> &[u8] {
        b"x"
    }
}

impl http_body::Body for Trap {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        Poll::Ready(Some(Ok(Frame::data(Bytes::from_static(b"x")))))
    }
}

impl Drop for Trap {
    fn drop(&mut self) {
        panic!("this is part of the test");
    }
}

/// A future whose destructor panics.
struct Trapped {
    waits: bool,
    _trap: Trap,
}

impl Trapped {
    fn new() -> Self {
        Self { waits: true, _trap: Trap }
    }
}

impl Future for Trapped {
    type Output = Response;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Response> {
        if std::mem::take(&mut self.waits) {
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        Poll::Ready(Response::text("x"))
    }
}

/// Responses whose destructors panic.
fn trapped() -> App {
    let router = Router::new()
        .route("/router", on_get(|| async { Body::new(Trap) }))
        .route("/never", on_get(|| Trapped::new().map(|_| "x")));
    app()
        .get("/pieces", |_| Response::pieces("a/b", 1, Trap))
        .get("/bytes", |_| Response::text(Bytes::from_owner(Trap)))
        .get("/stream", |_| Response::stream("a/b", Trap))
        .get_async("/future", |_| Trapped::new())
        .router(router)
}

#[test]
fn a_destructor_that_panics_ends_its_own_connection_at_most() {
    let server = Running::start(trapped());
    let mut other = server.client();
    for path in ["/pieces", "/bytes", "/stream", "/future", "/router"] {
        for head_only in [false, true] {
            let mut client = server.client();
            client.send(if head_only { get(path).replace("GET", "HEAD") } else { get(path) });
            let mut stream = client.sender();
            let mut first = [0; 12];
            stream.read_exact(&mut first).unwrap_or_else(|error| panic!("{path}: {error}"));
            // axum itself drops the body of a response to HEAD, within its future, which fails by that.
            let status = if path == "/router" && head_only { "500" } else { "200" };
            assert_eq!(str::from_utf8(&first), Ok(&*format!("HTTP/1.1 {status}")), "{path}");
            drop((client, stream));
            assert_eq!(other.get("/").text(), "fine", "after {path}");
        }
    }
    // One that is given up with its client.
    let mut client = server.client();
    client.send(get("/never"));
    client.end_sending();
    drop(client);
    assert_eq!(other.get("/").text(), "fine");
    server.stop();
    server.wait().expect("the worker is well");
}

#[test]
fn a_destructor_that_panics_ends_its_own_connection_of_http3_at_most() {
    let scene = Scene::with(trapped(), |_| {});
    let mut other = scene.client();
    for path in ["/pieces", "/bytes", "/stream", "/future", "/router", "/never"] {
        for method in ["GET", "HEAD"] {
            let mut client = scene.client();
            let stream = client.request(&scene::head(method, path, &[]));
            if path == "/never" {
                drop(client);
            } else {
                client.until(|client| client.end.is_some() || client.received.contains_key(&stream));
            }
            let stream = other.request(&scene::get("/"));
            assert_eq!(scene::Response::of(&other.response(stream)).text(), "fine", "after {path}");
        }
    }
    drop(other);
    scene.server.stop();
    scene.server.wait().expect("the worker is well");
}

#[test]
fn a_form_of_the_client_s_address_that_panics_is_a_500() {
    let router = Router::new().fallback(|| async { "never" });
    let app = app().router(router).peer_as(|_| -> torr_serve::Peer { panic!("this is part of the test") });
    let server = Running::start(app);
    let mut other = server.client();
    for _ in 0..3 {
        assert_eq!(server.client().get("/router").status, 500);
        assert_eq!(other.get("/").text(), "fine");
    }
}

#[test]
fn what_the_application_holds_may_panic_when_it_is_dropped() {
    let held = std::sync::Mutex::new(Trap);
    let server = Running::start(app().get("/held", move |_| {
        drop(held.lock());
        Response::text("held")
    }));
    assert_eq!(server.client().get("/held").text(), "held");
    server.stop();
    server.wait().expect("it ends well");
}

/// The last way to break a worker: its own copy of the service, without which it cannot begin.
struct Uncopied;

impl Clone for Uncopied {
    fn clone(&self) -> Self {
        panic!("this is part of the test")
    }
}

impl tower::Service<http::Request<RequestBody>> for Uncopied {
    type Response = http::Response<http_body_util::Empty<Bytes>>;
    type Error = Infallible;
    type Future = std::future::Ready<Result<Self::Response, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, _: http::Request<RequestBody>) -> Self::Future {
        std::future::ready(Ok(http::Response::default()))
    }
}

#[test]
fn a_worker_that_panics_ends_the_server() {
    let server = Running::start_with(app().router(Uncopied), |settings| settings.workers = 3);
    let ended = server.wait();
    assert!(matches!(ended, Err(ServeError::Panicked)), "{ended:?}");
}

#[test]
fn a_call_on_ready_that_panics_ends_the_server_with_that_panic() {
    let bound = Server::new(app()).bind("127.0.0.1:0").expect("a port is free");
    let address = bound.address();
    let bound = bound.on_ready(|| panic!("this is part of the test"));
    thread::spawn(|| bound.run()).join().expect_err("the panic is passed on");
    TcpStream::connect(address).expect_err("nobody listens any more");
}
