//! Clients that take too long are left behind, and others are not.

use crate::support::{PATIENCE, Running};
use bytes::Bytes;
use std::io::{Read, Write};
use std::iter;
use std::sync::mpsc::{Sender, channel};
use std::thread;
use std::time::{Duration, Instant};
use torr_serve::{App, Response, Settings};
use torr_test_support::client::{get, post};

const SHORT: Duration = Duration::from_millis(300);
/// A time-out within which a client does something, on a machine whose CPUs have other work for a second too.
const NOT_SO_SHORT: Duration = Duration::from_millis(1500);
/// How late the server's clock may be.
const COARSE: Duration = Duration::from_millis(20);
/// The server looks for timeouts only now and then, and the machine may be busy.
const LATE: Duration = Duration::from_secs(15);

fn app() -> App {
    App::new().get("/", |_| Response::text("fine")).post("/", |_| Response::text("taken"))
}

/// A server with one short time-out, which alone can come true within a test.
fn server(set: impl FnOnce(&mut Settings)) -> Running {
    Running::start_with(app(), |settings| {
        let hour = Duration::from_secs(3600);
        (settings.idle_timeout, settings.head_timeout, settings.body_timeout) = (hour, hour, hour);
        (settings.write_timeout, settings.stop_timeout) = (hour, Duration::from_secs(1));
        set(settings);
    })
}

fn is_in_time(what: &str, start: Instant) {
    is_ended_after(SHORT, what, start);
}

fn is_ended_after(least: Duration, what: &str, start: Instant) {
    let took = start.elapsed();
    assert!(took + COARSE >= least && took < LATE, "{what} was ended after {took:?}, not {least:?} to {LATE:?}");
}

#[test]
fn an_idle_connection_is_ended() {
    let server = server(|settings| settings.idle_timeout = NOT_SO_SHORT);
    let start = Instant::now();
    let mut silent = server.client();
    silent.ends();
    is_ended_after(NOT_SO_SHORT, "a connection without a request", start);

    let mut client = server.client();
    let start = Instant::now();
    assert_eq!(client.get("/").text(), "fine");
    client.ends();
    is_ended_after(NOT_SO_SHORT, "a connection after its request", start);

    // Only blank lines are no request: some clients send one after a body.
    let mut client = server.client();
    let start = Instant::now();
    client.send(post("/", "body") + "\r\n");
    assert_eq!(client.response().text(), "taken");
    client.ends();
    is_ended_after(NOT_SO_SHORT, "a connection after a blank line", start);
}

#[test]
fn a_head_that_does_not_come_is_not_waited_for() {
    let server = server(|settings| settings.head_timeout = SHORT);
    for part in ["G", "GET / HTTP/1.1\r\n", "GET / HTTP/1.1\r\nHost: x\r\n\r"] {
        let mut client = server.client();
        assert_eq!(client.get("/").text(), "fine");
        let start = Instant::now();
        client.send(part);
        let response = client.response();
        assert_eq!((response.status, response.field("Connection")), (408, Some("close")), "{part:?}: {response:?}");
        client.ends();
        is_in_time(part, start);
    }
}

#[test]
fn a_body_that_does_not_come_is_not_waited_for() {
    let server = server(|settings| settings.body_timeout = SHORT);
    let head = "POST / HTTP/1.1\r\nHost: x\r\n";
    for part in [
        format!("{head}Content-Length: 5\r\n\r\n"),
        format!("{head}Content-Length: 5\r\n\r\nhell"),
        format!("{head}Transfer-Encoding: chunked\r\n\r\n"),
        format!("{head}Transfer-Encoding: chunked\r\n\r\n4\r\nbody\r\n0\r\n"),
    ] {
        let mut client = server.client();
        let start = Instant::now();
        client.send(&part);
        let response = client.response();
        assert_eq!((response.status, response.field("Connection")), (408, Some("close")), "{part:?}: {response:?}");
        client.ends();
        is_in_time(&part, start);
    }
}

/// A client that sends a byte now and then is as slow as one that sends none.
#[test]
fn a_head_or_a_body_that_trickles_is_not_waited_for() {
    for (server, head) in [
        (server(|settings| settings.head_timeout = SHORT), "GET / HTTP/1.1\r\nHost: x\r\nA: "),
        (
            server(|settings| settings.body_timeout = SHORT),
            "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 99999\r\n\r\n",
        ),
    ] {
        let mut client = server.client();
        let start = Instant::now();
        client.send(head);
        let mut sender = client.sender();
        // The pause is the client's pace. It ends by the connection, which the client lets go.
        let trickle = thread::spawn(move || {
            while sender.write_all(b"a").is_ok() {
                thread::sleep(Duration::from_millis(20));
            }
        });
        assert_eq!(client.response().status, 408, "{head:?}");
        client.ends();
        is_in_time(head, start);
        client.end_sending();
        trickle.join().expect("it does not panic");
    }
}

/// A router that reads bodies to their end.
fn reading() -> axum::Router {
    let read = |body: axum::body::Bytes| async move { body.len().to_string() };
    let talk = |body: axum::body::Body| async move { body };
    axum::Router::new().route("/read", axum::routing::post(read)).route("/talk", axum::routing::post(talk))
}

/// The time between two bytes of a client, which is far below the pause that a body may have.
const PACE: Duration = Duration::from_millis(20);

#[test]
fn a_body_for_a_router_that_trickles_is_not_waited_for() {
    let server = Running::start_with(App::new().router(reading()), |settings| settings.body_timeout = SHORT);
    for (head, piece) in [("Content-Length: 99999", "a"), ("Transfer-Encoding: chunked", "1\r\na\r\n")] {
        let mut client = server.client();
        let start = Instant::now();
        client.send(format!("POST /read HTTP/1.1\r\nHost: x\r\n{head}\r\n\r\n"));
        let mut sender = client.sender();
        let trickle = thread::spawn(move || {
            while sender.write_all(piece.as_bytes()).is_ok() {
                thread::sleep(PACE);
            }
        });
        assert_eq!(client.response().status, 408, "{head:?}");
        client.ends();
        is_in_time(head, start);
        client.end_sending();
        trickle.join().expect("it does not panic");
    }
}

#[test]
fn a_body_for_a_router_that_comes_fast_enough_may_take_any_time() {
    let server = Running::start_with(App::new().router(reading()), |settings| settings.body_timeout = NOT_SO_SHORT);
    // Ten times the rate, since the machine may be busy.
    let (pieces, piece) = (3 * NOT_SO_SHORT.as_millis() / PACE.as_millis(), "a".repeat(50));
    let mut client = server.client();
    client.send(format!("POST /read HTTP/1.1\r\nHost: x\r\nContent-Length: {}\r\n\r\n", 50 * pieces));
    for _ in 0..pieces {
        client.send(&piece);
        thread::sleep(PACE);
    }
    assert_eq!(client.response().text(), (50 * pieces).to_string());
}

#[test]
fn behind_the_beginning_of_its_response_a_client_may_send_a_little_now_and_then() {
    let server = Running::start_with(App::new().router(reading()), |settings| settings.body_timeout = 5 * SHORT);
    let mut client = server.client();
    client.send("POST /talk HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n");
    let start = Instant::now();
    while start.elapsed() < 15 * SHORT {
        client.send("1\r\na\r\n");
        thread::sleep(SHORT);
    }
    client.send("0\r\n\r\n");
    client.end_sending();
    let mut response = String::new();
    client.sender().read_to_string(&mut response).expect("the response is text");
    assert!(response.starts_with("HTTP/1.1 200 ") && response.ends_with("\r\n0\r\n\r\n"), "{response}");
}

/// A proxy that passes a request on while it arrives sends on after the response, as fast as its own client does.
#[test]
fn a_response_is_not_lost_to_a_client_that_sends_on_for_long() {
    let server = server(|settings| settings.max_body = 1000);
    let mut client = server.client();
    client.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999\r\n\r\n");
    let mut sender = client.sender();
    let (start, mut sent) = (Instant::now(), 0);
    // A reset would be noticed here.
    while start.elapsed() < Duration::from_secs(4) || sent < 50_000_000 {
        sent += sender.write(&[b'a'; 100_000]).expect("the server still reads");
        thread::sleep(Duration::from_millis(1));
    }
    assert_eq!(client.response().status, 413);
    client.ends();
}

/// Tells when it is dropped.
struct Watched(Sender<()>);

impl Drop for Watched {
    fn drop(&mut self) {
        // The test may have ended.
        let _ = self.0.send(());
    }
}

#[test]
fn a_client_that_does_not_read_is_left() {
    let (tell, dropped) = channel();
    let app = app().get("/endless", move |_| {
        let watched = Watched(tell.clone());
        let piece = move || {
            let _ = &watched;
            Bytes::from_static(&[b'a'; 16 * 1024])
        };
        Response::pieces("a/b", u64::MAX, iter::repeat_with(piece))
    });
    let server = Running::start_with(app, |settings| settings.write_timeout = NOT_SO_SHORT);
    let mut client = server.client();
    let start = Instant::now();
    client.send(get("/endless"));
    dropped.recv_timeout(PATIENCE).expect("the server gives the answer up");
    is_ended_after(NOT_SO_SHORT, "a client that reads nothing", start);
    let came = client.count_to_end();
    assert!(came > 100_000, "only {came} bytes came");

    // One that does read, if slowly, is waited for: that it gets so much takes many times as long.
    let mut client = server.client();
    let start = Instant::now();
    client.send(get("/endless"));
    while start.elapsed() < 3 * NOT_SO_SHORT {
        client.pass_over(2_000_000);
        thread::sleep(SHORT / 6);
    }
    assert_eq!(server.client().get("/").text(), "fine");
    client.pass_over(20_000_000);
}

#[test]
fn a_handler_may_take_as_long_as_it_likes() {
    let app = App::new().get_async("/", |_| async {
        tokio::time::sleep(NOT_SO_SHORT * 3 / 2).await;
        Response::text("at last")
    });
    let server = Running::start_with(app, |settings| {
        (settings.idle_timeout, settings.head_timeout) = (NOT_SO_SHORT, NOT_SO_SHORT);
        (settings.body_timeout, settings.write_timeout) = (NOT_SO_SHORT, NOT_SO_SHORT);
    });
    let mut client = server.client();
    client.send(get("/").repeat(2));
    assert_eq!(client.response().text(), "at last");
    assert_eq!(client.response().text(), "at last");
}

#[test]
fn an_old_connection_ends_with_its_next_response() {
    let server = server(|settings| settings.max_connection_age = NOT_SO_SHORT);
    let start = Instant::now();
    let (mut idle, mut silent, mut busy) = (server.client(), server.client(), server.client());
    assert_eq!(idle.get("/").text(), "fine");
    // A request has begun when the connection gets old: it is still served.
    busy.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\n12");
    idle.ends();
    let took = start.elapsed();
    assert!(took + COARSE >= NOT_SO_SHORT * 9 / 10 && took < LATE, "it was ended after {took:?}");
    silent.ends();
    busy.send("34");
    let last = busy.response();
    assert_eq!((last.text(), last.field("Connection")), ("taken", Some("close")), "{last:?}");
    busy.ends();

    let young = self::server(|settings| settings.max_connection_age = Duration::from_secs(3600));
    let mut client = young.client();
    for _ in 0..3 {
        assert_eq!(client.get("/").field("Connection"), None);
    }
}
