//! What works: controllers of all kinds, the router, content in both directions, with backpressure.

use super::scene::{Response, Scene, frame, get, head, post};
use crate::http2::scene::MEGABYTE;
use std::time::{Duration, Instant};
use torr_net::quic::ReadEnd;
use torr_wire::http3::kind;

#[test]
fn controllers_and_the_router_respond_as_over_other_versions() {
    let scene = Scene::start();
    let mut client = scene.client();
    for (path, status, content) in [
        ("/c/hello", 200, "hello"),
        ("/c/nothing", 204, ""),
        ("/c/same", 304, ""),
        ("/c/who/me", 200, "me"),
        ("/c/query?a=b%20c", 200, "a=b%20c"),
        ("/c/host", 200, "localhost"),
        ("/c/later", 200, "later"),
        ("/c/blocking", 200, "blocking"),
        ("/c/stream", 200, "         0         1         2"),
        ("/c/large", 200, &"l".repeat(3 * MEGABYTE)),
        ("/c/pieces", 200, &"p".repeat(500_000)),
        ("/c/none", 404, "the fallback"),
        ("/c/panics", 500, "The handler failed\n"),
        ("/c/panics-later", 500, "The handler failed\n"),
    ] {
        let stream = client.request(&get(path));
        let response = Response::of(&client.response(stream));
        assert!(response.status == status && response.text() == content, "{path}: {response:?}");
        let length = response.field("content-length").map(str::to_owned);
        let expected = (!["/c/nothing", "/c/same", "/c/stream"].contains(&path)).then(|| content.len().to_string());
        assert_eq!(length, expected, "{path}");
        assert_eq!((response.field("server"), response.field("connection")), (Some("torr"), None));
        assert!(response.field("date").is_some() && response.field("alt-svc").is_none(), "{path}: {response:?}");
    }
    assert_eq!(client.end, None);
}

#[test]
fn a_head_has_no_content() {
    let scene = Scene::start();
    let mut client = scene.client();
    for (path, length) in [("/c/hello", Some("5")), ("/c/stream", None)] {
        let stream = client.request(&head("HEAD", path, &[]));
        let response = Response::of(&client.response(stream));
        assert_eq!((response.status, response.content.len(), response.field("content-length")), (200, 0, length));
    }
}

#[test]
fn many_requests_are_in_flight_at_a_time() {
    let scene = Scene::start();
    let mut client = scene.client();
    let streams: Vec<_> = (0..100).map(|n| client.request(&get(&format!("/c/who/{n}")))).collect();
    for (n, stream) in streams.into_iter().enumerate() {
        assert_eq!(Response::of(&client.response(stream)).text(), n.to_string());
    }
    // More than a client may have open: the rest has to wait until others have ended.
    for n in 0..1000 {
        let stream = client.request(&get("/c/hello"));
        if n % 100 == 99 {
            assert_eq!(Response::of(&client.response(stream)).text(), "hello");
        }
    }
    client.until(|client| client.received.values().filter(|one| one.end.is_some()).count() >= 1100);
}

#[test]
fn large_content_goes_both_ways() {
    let scene = Scene::set(|settings| settings.max_body = 12 * MEGABYTE as u64);
    let mut client = scene.client();
    let content: Vec<u8> = (0..10 * MEGABYTE).map(|n| b'a' + (n / 1000 % 26) as u8).collect();
    let stream = client.request(&post("/c/echo", &content));
    assert!(Response::of(&client.response(stream)).content == content);
    let stream = client.request(&post("/bytes", &content[..2_000_000]));
    assert!(Response::of(&client.response(stream)).content == content[..2_000_000]);
}

#[test]
fn a_response_waits_for_a_client_that_does_not_read() {
    let scene = Scene::start();
    let mut client = scene.client();
    let slow = client.open();
    client.unread.insert(super::quic::number(slow));
    // The window of the stream is that of the test's client, which is larger than all: the server's own limit counts.
    client.send(slow, &get("/c/large"));
    client.quic.finish(slow);
    let other = client.request(&get("/c/hello"));
    assert_eq!(Response::of(&client.response(other)).text(), "hello");
    client.unread.clear();
    client.read(slow);
    let response = client.response(super::quic::number(slow));
    assert_eq!(Response::of(&response).content.len(), 3 * MEGABYTE);
}

#[test]
fn content_that_comes_later_is_waited_for() {
    let scene = Scene::start();
    let mut client = scene.client();
    for path in ["/c/echo", "/bytes"] {
        let stream = client.open();
        client.send(stream, &head("POST", path, &[("content-length", "6")]));
        client.send(stream, &frame(kind::DATA, b"abc"));
        let other = client.request(&get("/c/hello"));
        client.response(other);
        assert!(!client.received.contains_key(&super::quic::number(stream)));
        client.send(stream, &[frame(0x21, b"unknown"), frame(kind::DATA, b"def")].concat());
        client.quic.finish(stream);
        assert_eq!(Response::of(&client.response(super::quic::number(stream))).text(), "abcdef", "{path}");
    }
}

/// Applications without a router and async handlers have a runtime apart from that of their workers.
#[test]
fn an_application_of_simple_controllers_responds_too() {
    use torr_serve::{App, Response as Made};
    let blocking = |_: &torr_serve::Request<'_>| Made::text("blocking");
    let app = App::new()
        .get("/c/large", |_| Made::text("l".repeat(3 * MEGABYTE)))
        .get_blocking("/c/blocking", blocking)
        .post("/c/echo", |request| Made::text(request.body().to_vec()));
    let scene = Scene::with(app, |_| {});
    let mut client = scene.client();
    let stream = client.open();
    client.send(stream, &head("POST", "/c/echo", &[]));
    for (path, content) in [("/c/large", &*"l".repeat(3 * MEGABYTE)), ("/c/blocking", "blocking")] {
        let stream = client.request(&get(path));
        assert!(Response::of(&client.response(stream)).text() == content, "{path}");
    }
    client.send(stream, &frame(kind::DATA, b"later"));
    client.quic.finish(stream);
    assert_eq!(Response::of(&client.response(super::quic::number(stream))).text(), "later");
}

#[test]
fn a_connection_is_announced_by_the_other_versions() {
    let scene = Scene::start();
    let port = scene.server.address.port();
    let url = format!("https://localhost:{port}/c/hello");
    let certificate = scene.certificate.to_str().expect("the path is text");
    for version in ["--http1.1", "--http2"] {
        let args = ["--silent", "--include", version, "--cacert", certificate, &url];
        let ended = std::process::Command::new("curl").args(args).output().expect("curl is installed");
        let text = String::from_utf8(ended.stdout).expect("it is text").to_ascii_lowercase();
        assert!(text.contains(&format!("alt-svc: h3=\":{port}\"; ma=86400\r\n")), "{version}: {text}");
    }
}

#[test]
fn a_request_that_its_client_resets_frees_its_handler() {
    let scene = Scene::start();
    let mut client = scene.client();
    let stream = client.open();
    client.send(stream, &get("/c/never"));
    client.quic.give_up(stream, 0x10c);
    let begin = Instant::now();
    let other = client.request(&get("/c/hello"));
    assert_eq!(Response::of(&client.response(other)).text(), "hello");
    assert!(begin.elapsed() < Duration::from_secs(20));
    client.until(|client| {
        client
            .received
            .get(&super::quic::number(stream))
            .is_none_or(|one| matches!(one.end, Some(ReadEnd::Reset(0x10c)) | None))
    });
}

#[test]
fn a_client_that_expects_it_is_invited_to_send_its_content() {
    let scene = Scene::set(|settings| settings.max_body = 10);
    let mut client = scene.client();
    for path in ["/c/echo", "/bytes"] {
        let stream = client.open();
        let number = super::quic::number(stream);
        client.send(stream, &head("POST", path, &[("expect", "100-continue"), ("content-length", "3")]));
        client.until(|client| client.received.contains_key(&number));
        let interim = Response::so_far(&client.received[&number].bytes);
        assert_eq!((interim.status, interim.fields.len(), client.received[&number].end), (100, 0, None), "{path}");
        client.send(stream, &frame(kind::DATA, b"abc"));
        client.quic.finish(stream);
        // What follows the interim response stands where trailers would.
        let response = Response::of(&client.response(number));
        assert_eq!((response.trailers[0].1.as_str(), response.text()), ("200", "abc"), "{path}");
    }
    let expects = [("expect", "100-continue"), ("content-length", "11")];
    let stream = client.open();
    client.send(stream, &head("POST", "/c/echo", &expects));
    assert_eq!(Response::of(&client.response(super::quic::number(stream))).status, 413);
    let stream = client.request(&head("GET", "/c/hello", &expects[..1]));
    assert_eq!(Response::of(&client.response(stream)).text(), "hello");
}
