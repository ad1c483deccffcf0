//! One and the same axum router under `axum::serve` and under Torr gives the same responses.

pub mod cases;
pub mod http2;
pub mod service;
pub mod wire;

use crate::support::Running;
use axum::routing::get;
use axum::{Extension, Router};
use cases::{plain, req, with_body};
use service::{Both, router};
use std::io::Read;
use std::net::TcpStream;
use std::sync::atomic::Ordering;
use std::time::Duration;
use torr_serve::{App, ConnectionInfo, Response};
use wire::{Exchange, read_responses};

/// Asks both on connections of their own, and compares.
fn same(both: &Both, what: &str, request: &[u8]) -> Exchange {
    let [theirs, ours] = both.ask(request);
    assert_eq!(theirs, ours, "{what}: axum::serve, then Torr");
    assert!(!ours.responses.is_empty(), "{what}: no answer at all");
    ours
}

#[test]
fn plain_requests_have_the_same_responses() {
    let both = Both::start();
    for (request, status) in plain() {
        let line = String::from_utf8_lossy(&request[..request.len().min(60)]).into_owned();
        let exchange = same(&both, &line, &request);
        let got: Vec<_> = exchange.responses.iter().map(|response| response.status).collect();
        assert_eq!(got, [status], "{line}: {exchange:?}");
        assert!(exchange.stays_open, "{line}: {exchange:?}");
    }
}

#[test]
fn a_response_without_content_announces_none() {
    // `axum::serve` says `Content-Length: 0` with some of these, which RFC 9110, section 8.6 forbids for a 204 and makes
    // wrong for a 304: its response to a plain GET would not be empty.
    let both = Both::start();
    for (line, status) in
        [("GET /no-content", 204), ("HEAD /no-content", 204), ("GET /not-modified", 304), ("HEAD /not-modified", 304)]
    {
        let [mut theirs, ours] = both.ask(&req(line, ""));
        assert_eq!((ours.responses[0].status, ours.responses[0].field("content-length")), (status, None), "{line}");
        theirs.responses[0].fields.retain(|(name, _)| name != "content-length");
        assert_eq!(theirs, ours, "{line}: axum::serve, then Torr");
        assert!(ours.stays_open, "{line}");
    }
}

#[test]
fn streamed_responses_are_the_same() {
    let both = Both::start();
    for (path, length, coding) in [
        ("/stream/3", 30, Some("chunked")),
        ("/stream/0", 0, Some("chunked")),
        ("/stream/2000", 20_000, Some("chunked")),
        ("/slow-stream/5", 50, Some("chunked")),
        ("/sized-stream", 40, None),
        ("/cut-stream", 15, None),
        ("/trailers", 10, Some("chunked")),
        ("/big-stream", 8 * 1024 * 1024, Some("chunked")),
        ("/files-on-disk/long.bin", 300_000, None),
        ("/channel", 100_000, Some("chunked")),
        ("/events", 33, Some("chunked")),
    ] {
        for method in ["GET", "HEAD"] {
            let exchange = same(&both, path, &req(&format!("{method} {path}"), ""));
            let response = &exchange.responses[0];
            let expected = if method == "GET" { length } else { 0 };
            assert_eq!((response.status, response.body.len()), (200, expected), "{method} {path}");
            let coding = coding.filter(|_| method == "GET");
            assert_eq!(response.field("transfer-encoding"), coding, "{method} {path}");
            assert!(exchange.stays_open, "{method} {path}");
        }
    }
}

#[test]
fn a_body_that_fails_ends_the_connection_without_its_end() {
    let both = Both::start();
    for path in ["/failing-later", "/short-stream"] {
        let exchange = same(&both, path, &req(&format!("GET {path}"), ""));
        assert!(exchange.responses[0].cut_short && !exchange.stays_open, "{path}: {exchange:?}");
    }
    // Under `axum::serve` the head may be lost with the body that fails at once, or panics.
    for path in ["/failing-stream", "/panicking-stream"] {
        let [theirs, ours] = both.ask(&req(&format!("GET {path}"), ""));
        assert!(theirs.responses.iter().all(|response| response.cut_short) && !theirs.stays_open, "{path}: {theirs:?}");
        assert!(ours.responses[0].cut_short && !ours.stays_open, "{path}: {ours:?}");
        assert_eq!(ours.responses[0].text(), "         0         1", "{path}: what came before the failure");
    }
    assert_eq!(same(&both, "after it", &req("GET /", "")).responses[0].status, 200);
}

#[test]
fn middleware_works() {
    let both = Both::start();
    for (request, field, value) in [
        (req("GET /large", "Accept-Encoding: gzip\r\n"), "content-encoding", Some("gzip")),
        (req("HEAD /large", "Accept-Encoding: gzip\r\n"), "content-encoding", Some("gzip")),
        (req("GET /stream/500", "Accept-Encoding: gzip\r\n"), "content-encoding", Some("gzip")),
        (req("GET /large", "Accept-Encoding: br\r\n"), "content-encoding", Some("br")),
        (req("GET /large", "Accept-Encoding: compress\r\n"), "content-encoding", None),
        (req("GET /", "Origin: http://a.example\r\n"), "access-control-allow-origin", Some("http://a.example")),
        (req("GET /", ""), "x-frame-options", Some("DENY")),
        (
            req("OPTIONS /json", "Origin: http://a.example\r\nAccess-Control-Request-Method: POST\r\n"),
            "access-control-allow-methods",
            Some("GET,POST"),
        ),
        (req("GET /", "X-Request-Id: abc\r\n"), "x-request-id", Some("abc")),
        (req("GET /files-on-disk/hello.txt", ""), "content-type", Some("text/plain")),
        (req("GET /files-on-disk/hello.txt", "Range: bytes=1-3\r\n"), "content-range", Some("bytes 1-3/5")),
        (req("GET /files-on-disk/none.txt", ""), "content-range", None),
        (req("GET /files-on-disk/../Cargo.toml", ""), "content-range", None),
        (
            req("GET /files-on-disk/hello.txt", "If-Modified-Since: Fri, 31 Dec 2100 23:59:59 GMT\r\n"),
            "content-range",
            None,
        ),
    ] {
        let what = String::from_utf8_lossy(&request).into_owned();
        let exchange = same(&both, &what, &request);
        assert_eq!(exchange.responses[0].field(field), value, "{what}: {exchange:?}");
    }
    let exchange = same(&both, "gzip", &req("GET /large", "Accept-Encoding: gzip\r\n"));
    let mut text = String::new();
    flate2::read::GzDecoder::new(&exchange.responses[0].body[..]).read_to_string(&mut text).expect("it is gzip");
    assert_eq!(text, service::large());
}

#[test]
fn connections_live_and_end_alike() {
    let both = Both::start();
    let one = req("GET /users/1", "");
    let many = [&*one, &*req("GET /later", ""), &*with_body("POST /bytes", "", "body"), &*req("HEAD /large", "")];
    let many = [&*many.concat(), &*req("GET /stream/3", ""), &*req("GET /slow-stream/3", ""), &*one].concat();
    let exchange = same(&both, "pipelined", &many);
    assert_eq!(exchange.responses.len(), 7, "{exchange:?}");
    assert!(exchange.stays_open);
    let hundred = same(&both, "a hundred", &one.repeat(100));
    assert_eq!((hundred.responses.len(), hundred.stays_open), (100, true));
    for (what, request, count) in [
        ("close is asked for", [&*req("GET /", "Connection: close\r\n"), &*one].concat(), 1),
        ("close with a stream", req("GET /stream/3", "Connection: close\r\n"), 1),
        ("the handler closes", [&*req("GET /closes", ""), &*one].concat(), 1),
        ("no request", b"nonsense\r\n\r\n".to_vec(), 1),
        ("HTTP/1.0", b"GET / HTTP/1.0\r\n\r\n".to_vec(), 1),
        ("HTTP/1.0, a stream", b"GET /stream/3 HTTP/1.0\r\n\r\n".to_vec(), 1),
        ("HTTP/1.0, a slow stream", b"GET /slow-stream/3 HTTP/1.0\r\nConnection: keep-alive\r\n\r\n".to_vec(), 1),
    ] {
        let [theirs, ours] = both.ask(&request);
        assert_eq!((theirs.responses.len(), theirs.stays_open), (count, false), "{what}, axum: {theirs:?}");
        assert_eq!((ours.responses.len(), ours.stays_open), (count, false), "{what}, Torr: {ours:?}");
        let summary = |exchange: &Exchange| (exchange.responses[0].status, exchange.responses[0].body.clone());
        if what != "no request" {
            assert_eq!(summary(&theirs), summary(&ours), "{what}");
        }
    }
}

#[test]
fn a_target_that_no_uri_can_hold_is_refused() {
    let both = Both::start();
    for target in ["/a\"b", "/a`b", "/a<b>"] {
        let [theirs, ours] = both.ask(&req(&format!("GET {target}"), ""));
        let status =
            |exchange: &Exchange| exchange.responses.iter().map(|response| response.status).collect::<Vec<_>>();
        assert_eq!(status(&theirs), status(&ours), "{target}");
    }
}

#[test]
fn connect_info_and_peer_are_there() {
    let both = Both::start();
    for connection in both.connect() {
        let own = connection.local_addr().expect("it is connected");
        let responses = read_responses(connection, &req("GET /peer", ""));
        assert_eq!(responses.responses[0].text(), own.to_string());
    }
    let server = Running::start(App::new().router(router()).peer_as(torr_serve::Peer));
    let mut client = server.client();
    let own = client.address().to_string();
    assert_eq!(client.get("/torr-peer").text(), own);
}

#[test]
fn handlers_know_both_ends_of_their_connection() {
    let ends = |Extension(info): Extension<ConnectionInfo>| async move { format!("{:?} {:?}", info.peer, info.local) };
    let router = Router::new().route("/", get(ends));
    let server = Running::start(App::new().router(router).connection_as(|info: &ConnectionInfo| *info));
    let mut client = server.client();
    let ends = format!("{:?} {:?}", Some(client.address()), Some(server.address));
    assert_eq!(client.get("/").text(), ends);
    let stream = TcpStream::connect(server.address).expect("it listens");
    let ends = format!("{:?} {:?}", stream.local_addr().ok(), Some(server.address));
    assert_eq!(http2::Client::on(stream).get("/").response().text(), ends);
    server.stop();
    server.wait().expect("the worker is well");
}

#[test]
fn a_panic_costs_its_connection_only() {
    let server = Running::start(App::new().router(router()));
    let mut other = server.client();
    for path in ["/panics", "/panics-later"] {
        let mut client = server.client();
        client.send(req(&format!("GET {path}"), ""));
        let response = client.response();
        assert_eq!((response.status, response.field("Connection")), (500, Some("close")), "{path}: {response:?}");
        client.ends();
        assert_eq!(other.get("/users/1").text(), "user 1", "after {path}");
    }
    server.stop();
    server.wait().expect("the worker is well");
}

#[test]
fn controllers_win_over_the_router_where_they_have_path_and_method() {
    let app = App::new()
        .get("/users/{id}", |request| Response::text(format!("controller {}", request.param("id").unwrap_or("?"))))
        .get("/fast", |_| Response::text("fast"))
        .get("/json", |_| Response::text("controller"))
        .router(router());
    let server = Running::start(app);
    let mut client = server.client();
    assert_eq!(client.get("/users/7").text(), "controller 7");
    assert_eq!(client.get("/fast").text(), "fast");
    assert_eq!(client.get("/state").text(), "shared");
    client.send(with_body("POST /json", "Content-Type: application/json\r\n", r#"{"name":"n","count":1}"#));
    assert_eq!(client.response().status, 200, "another method is the router's");
    let response = client.get("/nowhere");
    assert_eq!((response.status, response.text()), (404, "the fallback"), "the router's own");
    client.send(req("CONNECT x:443", ""));
    assert_eq!(client.response().status, 404, "the router's fallback again");
}

#[test]
#[should_panic(expected = "an application must have one router")]
fn there_is_one_router() {
    let _ = App::new().router(axum::Router::new()).router(axum::Router::new());
}

#[test]
fn a_handler_that_waits_does_not_hold_up_others() {
    let (release, app) = service::gated();
    let server = Running::start(app);
    let (mut waiting, mut other) = (server.client(), server.client());
    waiting.send(req("GET /wait", ""));
    for _ in 0..10 {
        assert_eq!(other.get("/now").text(), "now");
    }
    waiting.has_nothing();
    release.send(()).expect("the handler waits");
    assert_eq!(waiting.response().text(), "released");
}

/// Reads until these bytes are the last that came.
fn read_until(stream: &mut TcpStream, end: &[u8]) {
    let (mut seen, mut room) = (Vec::new(), [0; 512]);
    while !seen.ends_with(end) {
        let read = stream.read(&mut room).expect("more comes");
        assert!(read > 0, "{}", seen.escape_ascii());
        seen.extend_from_slice(&room[..read]);
    }
}

#[test]
fn a_stream_under_way_is_finished_when_the_server_stops() {
    let (source, _dropped, app) = service::tapped();
    let server = Running::start(app);
    let mut client = server.client();
    client.send(req("GET /tap", ""));
    let mut stream = client.sender();
    source.blocking_send("first").expect("the body waits");
    read_until(&mut stream, b"5\r\nfirst\r\n");
    server.stop();
    source.blocking_send("second").expect("the body waits");
    read_until(&mut stream, b"6\r\nsecond\r\n");
    drop(source);
    read_until(&mut stream, b"0\r\n\r\n");
    client.ends();
    server.wait().expect("the worker is well");
}

#[test]
fn a_client_that_takes_nothing_loses_its_stream() {
    let (made, app) = service::endless();
    let server = Running::start_with(app, |settings| {
        settings.write_timeout = Duration::from_millis(100);
        settings.stop_timeout = Duration::from_secs(3600);
    });
    let mut client = server.client();
    client.send(req("GET /endless", ""));
    assert_eq!(server.client().get("/now").text(), "now");
    server.stop();
    // It could not end as long as it had this client.
    server.wait().expect("the worker is well");
    assert!(made.load(Ordering::Relaxed) > 0);
    assert!(client.count_to_end() < 64 * 1024 * 1024);
}

#[test]
fn a_stream_that_waits_does_not_hold_up_others_and_ends_with_its_client() {
    let (source, dropped, app) = service::tapped();
    let server = Running::start(app);
    let mut other = server.client();
    let mut stream = server.client().sender();
    std::io::Write::write_all(&mut stream, &req("GET /tap", "")).expect("it is connected");
    source.blocking_send("first").expect("the body waits");
    read_until(&mut stream, b"5\r\nfirst\r\n");
    for _ in 0..10 {
        assert_eq!(other.get("/now").text(), "now");
    }
    drop(stream);
    dropped.recv_timeout(crate::support::PATIENCE).expect("the body is dropped with its client");
    assert_eq!(other.get("/now").text(), "now");
}

#[test]
fn a_stream_is_made_as_the_client_takes_it() {
    let (made, app) = service::endless();
    let server = Running::start(app);
    let mut client = server.client();
    let mut other = server.client();
    client.send(req("GET /endless", ""));
    // Once the kernel's buffers are full nothing is made any more, though others are served.
    let mut last = u64::MAX;
    let mut still = 0;
    while still < 200 {
        assert_eq!(other.get("/now").text(), "now");
        let now = made.load(Ordering::Relaxed);
        still = if now == last { still + 1 } else { 0 };
        last = now;
        assert!(now < 64 * 1024 * 1024, "{now} bytes are made for a client that reads nothing");
    }
    assert!(last > 0);
}

#[test]
fn a_controller_may_stream_too() {
    let full = || http_body_util::Full::new(bytes::Bytes::from_static(b"full"));
    let app = App::new()
        .get("/users/1", |_| Response::text("user 1"))
        .get("/late", |_| Response::stream("a/b", service::late_frames(3)))
        .get("/full", move |_| Response::stream("a/b", full()));
    let server = Running::start(app);
    let requests = [req("GET /late", ""), req("HEAD /late", ""), req("GET /full", ""), req("GET /late", "")].concat();
    let exchange = read_responses(server.client().sender(), &requests);
    let summary: Vec<_> =
        exchange.responses.iter().map(|response| (response.field("transfer-encoding"), response.text())).collect();
    let (chunked, late) = (Some("chunked"), "         0         1         2");
    assert_eq!(summary, [(chunked, late), (chunked, ""), (None, "full"), (chunked, late)]);
    assert!(
        exchange.stays_open && exchange.responses.iter().all(|response| response.field("content-type") == Some("a/b"))
    );
}

#[test]
fn each_worker_has_the_router() {
    let server = Running::start_with(App::new().router(router()), |settings| settings.workers = 4);
    let mut clients: Vec<_> = (0..40).map(|_| server.client()).collect();
    for client in clients.iter_mut().rev() {
        assert_eq!(client.get("/users/1").text(), "user 1");
        assert_eq!(client.get("/later").text(), "later");
    }
}

#[test]
fn services_that_are_not_ready_are_waited_for() {
    let server = Running::start(service::limited());
    let mut clients: Vec<_> = (0..5).map(|_| server.client()).collect();
    for client in &mut clients {
        client.send(req("GET /", ""));
    }
    for client in &mut clients {
        assert_eq!(client.response().text(), "one at a time");
    }
}
