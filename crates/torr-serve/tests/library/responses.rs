//! How responses of every kind are framed.

use crate::support::Running;
use bytes::Bytes;
use http::{HeaderName, HeaderValue, header};
use std::iter;
use torr_serve::{App, Response};
use torr_test_support::client::get;

#[test]
fn statuses_without_a_body_have_none() {
    let app = App::new()
        .get("/204", |_| Response::error(204, "never sent"))
        .get("/304", |_| Response::error(304, "never sent").header(header::ETAG, HeaderValue::from_static("\"a\"")))
        .get("/204/long", |_| Response::error(204, "x".repeat(1_000_000)))
        .get_async("/204/later", |_| async {
            tokio::task::yield_now().await;
            Response::new(204)
        })
        .get("/ok", |_| Response::text("ok"));
    let server = Running::start(app);
    let mut client = server.client();
    for path in ["/204", "/304", "/204/long", "/204/later"] {
        for method in ["GET", "HEAD"] {
            // The next response stands at once where a body would.
            client.send(format!("{method} {path} HTTP/1.1\r\nHost: x\r\n\r\n{}", get("/ok")));
            let response = client.response_head();
            assert_eq!(response.status.to_string(), path[1..4], "{response:?}");
            assert_eq!(
                (response.field("Content-Length"), response.field("Content-Type")),
                (None, None),
                "{response:?}"
            );
            assert_eq!(client.response().text(), "ok", "after {method} {path}");
        }
    }
    client.send(get("/304"));
    assert_eq!(client.response_head().field("ETag"), Some("\"a\""));
}

#[test]
fn bodies_of_every_kind_arrive_whole() {
    const LONG: usize = 3_000_000;
    static LONG_STATIC: [u8; LONG] = [b's'; LONG];
    let app = App::new()
        .get("/empty", |_| Response::new(200))
        .get("/static", |_| Response::text("static"))
        .get("/string", |_| String::from("string").into())
        .get("/vec", |_| vec![b'v'; 70_000].into())
        .get("/bytes", |_| Bytes::from_static(b"bytes").into())
        .get("/long/static", |_| Response::html(&LONG_STATIC[..]))
        .get("/long/bytes", |_| Response::json("b".repeat(LONG)))
        .get("/pieces", |_| Response::pieces("a/b", 12, iter::repeat(Bytes::from_static(b"abcde"))))
        .get("/pieces/none", |_| Response::pieces("a/b", 0, iter::empty()))
        .get("/pieces/empty", |_| {
            let pieces = ["", "ab", "", "c", ""].map(|piece| Bytes::from_static(piece.as_bytes()));
            Response::pieces("a/b", 3, pieces.into_iter())
        })
        .get("/pieces/long", |_| Response::pieces("a/b", LONG as u64, iter::repeat(Bytes::from_static(b"0123456789"))))
        .get_async("/later/long", |_| async {
            tokio::task::yield_now().await;
            Response::text("l".repeat(LONG))
        });
    let server = Running::start(app);
    let mut client = server.client();
    for (path, content_type, body) in [
        ("/empty", None, String::new()),
        ("/static", Some("text/plain"), "static".into()),
        ("/string", Some("text/plain"), "string".into()),
        ("/vec", Some("text/plain"), "v".repeat(70_000)),
        ("/bytes", Some("text/plain"), "bytes".into()),
        ("/long/static", Some("text/html"), "s".repeat(LONG)),
        ("/long/bytes", Some("application/json"), "b".repeat(LONG)),
        ("/pieces", Some("a/b"), "abcdeabcdeab".into()),
        ("/pieces/none", Some("a/b"), String::new()),
        ("/pieces/empty", Some("a/b"), "abc".into()),
        ("/pieces/long", Some("a/b"), "0123456789".repeat(LONG / 10)),
        ("/later/long", Some("text/plain"), "l".repeat(LONG)),
    ] {
        client.send(format!("HEAD {path} HTTP/1.1\r\nHost: x\r\n\r\n"));
        client.send(get(path));
        let (head, response) = (client.response_head(), client.response());
        assert_eq!((response.status, response.field("Content-Type")), (200, content_type), "{path}: {response:?}");
        assert!(response.body == body.as_bytes(), "{path} should be {} bytes: {response:?}", body.len());
        assert_eq!(head.head(), response.head(), "{path}");
    }
}

#[test]
fn a_body_that_is_shorter_than_announced_ends_the_connection() {
    let piece = || Bytes::from(vec![b'a'; 50_000]);
    let app = App::new()
        .get("/none", |_| Response::pieces("a/b", 1, iter::empty()))
        .get("/short", move |_| Response::pieces("a/b", 1_000_000, iter::repeat_n(piece(), 5)));
    let server = Running::start(app);
    for (path, announced) in [("/none", 1), ("/short", 1_000_000)] {
        let mut client = server.client();
        client.send(get(path) + &get(path));
        assert_eq!(client.response_head().field("Content-Length"), Some(&*announced.to_string()));
        let came = client.count_to_end();
        assert!(came < announced, "{path}: {came} bytes came");
    }
}

#[test]
fn a_handler_can_end_the_connection() {
    let app = App::new()
        .get("/last", |_| Response::text("bye").closing())
        .get("/long", |_| Response::text("b".repeat(1_000_000)).closing());
    let server = Running::start(app);
    for (path, length) in [("/last", 3), ("/long", 1_000_000)] {
        let mut client = server.client();
        client.send(get(path) + &get(path));
        let response = client.response();
        assert_eq!(
            (response.body.len(), response.field("Connection")),
            (length, Some("close")),
            "{path}: {response:?}"
        );
        client.ends();
    }
}

#[test]
fn fields_and_statuses_are_sent_as_given() {
    let app = App::new().get("/", |_| {
        Response::error(299, "odd")
            .header(HeaderName::from_static("x-a"), HeaderValue::from_static("1"))
            .header(header::CACHE_CONTROL, HeaderValue::from_static("no-store"))
    });
    let server = Running::start_with(app, |settings| settings.server_name = "torr");
    let response = server.client().get("/");
    let names: Vec<_> = response.fields.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["Content-Length", "Content-Type", "x-a", "cache-control", "Server", "Date"], "{response:?}");
    assert_eq!((response.status, response.field("X-A"), response.text()), (299, Some("1"), "odd"), "{response:?}");
}

#[test]
fn a_connection_beyond_the_limit_is_sent_a_503() {
    let app = App::new().get("/", |_| Response::text("in"));
    let server = Running::start_with(app, |settings| {
        (settings.workers, settings.max_connections) = (2, 1);
        // Connections beyond the limit are closed before any request.
        settings.defer_accept = false;
    });
    let mut inside = server.client();
    assert_eq!(inside.get("/").text(), "in");
    for _ in 0..20 {
        let mut outside = server.client();
        let response = outside.response();
        assert_eq!((response.status, response.field("Connection")), (503, Some("close")), "{response:?}");
        assert_eq!(response.field("Retry-After"), Some("1"), "{response:?}");
        outside.ends();
    }
    inside.send("GET / HTTP/1.0\r\n\r\n");
    assert_eq!(inside.response().text(), "in");
    inside.ends();
    assert_eq!(server.client().get("/").text(), "in", "the seat is free again");
}

#[test]
fn there_is_one_content_type() {
    let kind = |name| (header::CONTENT_TYPE, HeaderValue::from_static(name));
    let app = App::new().get("/", move |_| {
        let ((name, first), (_, second)) = (kind("image/png"), kind("image/gif"));
        Response::text("GIF89a").header(name.clone(), first).header(name, second)
    });
    let server = Running::start(app);
    assert_eq!(server.client().get("/").field("Content-Type"), Some("image/gif"));
}

#[test]
#[should_panic(expected = "199 is not a final status")]
fn an_interim_status_is_no_response() {
    let _ = Response::new(199);
}

#[test]
#[should_panic(expected = "100 is not a final status")]
fn nor_is_it_a_failure() {
    let _ = Response::error(100, "go on");
}

#[test]
#[should_panic(expected = "connection is set by the server itself")]
fn framing_is_the_servers_business() {
    let _ = Response::text("a").header(header::CONNECTION, HeaderValue::from_static("close"));
}

#[test]
#[should_panic(expected = "date is set by the server itself")]
fn nor_can_there_be_two_dates() {
    let _ = Response::text("a").header(header::DATE, HeaderValue::from_static("Sun, 06 Nov 1994 08:49:37 GMT"));
}
