//! A handler that panics costs its own connection, and nobody else's.

mod support;

use bytes::Bytes;
use std::iter;
use support::Running;
use support::client::get;
use torr_serve::{App, Response, ServeError};

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
        assert_eq!(client.answer().text(), "fine", "before {path}");
        let answer = client.answer();
        assert_eq!((answer.status, answer.field("Connection")), (500, Some("close")), "{path}: {answer:?}");
        client.ends();
        assert_eq!(other.get("/").text(), "fine", "after {path}");
    }
    server.stop();
    server.wait().expect("the worker is well");
}

#[test]
fn what_a_client_still_sends_does_not_destroy_the_answer() {
    let server = Running::start(app());
    let mut client = server.client();
    client.send(get("/") + &get("/much/later"));
    assert_eq!(client.answer().text(), "fine");
    // This waits in the kernel when the connection is ended.
    client.send(get("/").repeat(100));
    assert_eq!(client.answer().status, 500);
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
        assert_eq!(client.answer_head().status, 200);
        let came = client.count_to_end();
        assert!(came <= 5, "{came} bytes came");
        assert_eq!(other.get("/").text(), "fine");
    }
}

/// The last way to break a worker: a destructor, which nothing guards.
struct Trap;

impl Iterator for Trap {
    type Item = Bytes;

    fn next(&mut self) -> Option<Bytes> {
        Some(Bytes::from_static(b"x"))
    }
}

impl Drop for Trap {
    fn drop(&mut self) {
        panic!("this is part of the test");
    }
}

#[test]
fn a_worker_that_panics_ends_the_server() {
    let app = app().get("/trap", |_| Response::pieces("a/b", 1, Trap));
    let server = Running::start_with(app, |settings| settings.workers = 3);
    let mut client = server.client();
    client.send(get("/trap"));
    client.count_to_end();
    let ended = server.wait();
    assert!(matches!(ended, Err(ServeError::Panicked)), "{ended:?}");
}
