//! Responses of a router byte by byte as `axum::serve` sends them: reason phrases, the order and the case of fields, trailers.

use crate::support::axum_serve::AxumServe;
use crate::support::{PATIENCE, Running};
use axum::Router;
use axum::body::Body;
use axum::http::header::{CONNECTION, CONTENT_LENGTH, CONTENT_TYPE, DATE, SET_COOKIE, TRAILER};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Response, StatusCode};
use axum::response::{AppendHeaders, IntoResponse};
use axum::routing::{any, get};
use bytes::Bytes;
use futures_util::stream;
use http_body::Frame;
use http_body_util::StreamBody;
use hyper::ext::ReasonPhrase;
use std::convert::Infallible;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use torr_serve::App;

const SUM: HeaderName = HeaderName::from_static("x-sum");

fn value(text: &'static str) -> HeaderValue {
    HeaderValue::from_static(text)
}

/// A body of unknown length.
fn frames(frames: Vec<Frame<Bytes>>) -> Body {
    Body::new(StreamBody::new(stream::iter(frames.into_iter().map(Ok::<_, Infallible>))))
}

fn data(text: &'static str) -> Frame<Bytes> {
    Frame::data(Bytes::from_static(text.as_bytes()))
}

fn with_trailers(announced: &'static str) -> Response<Body> {
    let trailers = [(SUM, value("6")), (CONTENT_TYPE, value("a/b")), (HeaderName::from_static("x-other"), value("?"))];
    let trailers = HeaderMap::from_iter(trailers);
    let mut response = Response::new(frames(vec![data("abc"), data("def"), Frame::trailers(trailers)]));
    response.headers_mut().insert(TRAILER, value(announced));
    response
}

fn with_reason(status: u16, reason: &'static [u8]) -> Response<Body> {
    let mut response = Response::new(Body::from("why"));
    *response.status_mut() = StatusCode::from_u16(status).expect("a status");
    response.extensions_mut().insert(ReasonPhrase::from_static(reason));
    response
}

fn router() -> Router {
    let many = || async {
        let cookies = AppendHeaders([(SET_COOKIE, "a=1"), (SET_COOKIE, "b=2")]);
        ([("x-first", "1"), ("etag", "\"e\"")], cookies, [("x-last", "2")], "many")
    };
    Router::new()
        .route("/text", get(|| async { "text" }))
        .route("/many", get(many))
        .route("/empty", get(|| async {}))
        .route("/204", get(|| async { StatusCode::NO_CONTENT }))
        .route("/304", get(|| async { (StatusCode::NOT_MODIFIED, [("etag", "\"e\"")]) }))
        .route("/length", get(|| async { ([(CONTENT_LENGTH, "4")], [("x-last", "2")], "four") }))
        .route("/length/streamed", get(|| async { ([(CONTENT_LENGTH, "4")], frames(vec![data("fo"), data("ur")])) }))
        .route("/streamed", get(|| async { ([("x-last", "2")], frames(vec![data("abc"), data("def")])) }))
        .route("/dated", get(|| async { ([(DATE, "Thu, 01 Jan 1970 00:00:00 GMT")], "dated") }))
        .route("/closing", get(|| async { ([(CONNECTION, "close")], [("x-last", "2")], "closing") }))
        .route("/upgrade", get(|| async { (StatusCode::UPGRADE_REQUIRED, [(CONNECTION, "upgrade")], "newer") }))
        .route("/reason", get(|| async { with_reason(200, b"Fine") }))
        .route("/reason/none", get(|| async { with_reason(404, b"") }))
        .route("/reason/own", get(|| async { with_reason(299, b"Odd Enough") }))
        .route("/trailers", get(|| async { with_trailers("x-sum, Content-Type") }))
        .route("/trailers/none", get(|| async { with_trailers("x-third") }))
        .route("/any", any(|| async { "any" }))
}

/// Sends requests on one connection and returns all that comes until it ends, with dates of today replaced.
fn talk(address: SocketAddr, requests: &str) -> String {
    let mut stream = TcpStream::connect(address).expect("the server listens");
    stream.set_read_timeout(Some(PATIENCE)).expect("a socket takes options");
    stream.write_all(requests.as_bytes()).expect("the server reads");
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes).expect("the server ends the connection");
    let text = String::from_utf8(bytes).expect("text");
    let is_today = |line: &str| line.starts_with("date: ") && !line.contains("1970");
    text.split("\r\n").map(|line| if is_today(line) { "date: *" } else { line }).collect::<Vec<_>>().join("\n")
}

/// One worker, and no field that tells the server's name, as with the line `serve`.
fn ours(router: Router) -> Running {
    Running::start_with(App::new().router(router), |settings| settings.server_name = "")
}

#[test]
fn responses_have_the_same_bytes() {
    let (axum, ours) = (AxumServe::start(router()), ours(router()));
    let paths = [
        "/text",
        "/many",
        "/empty",
        "/204",
        "/304",
        "/length",
        "/length/streamed",
        "/streamed",
        "/dated",
        "/closing",
        "/upgrade",
        "/reason",
        "/reason/none",
        "/reason/own",
        "/trailers",
        "/trailers/none",
        "/any",
        "/missing",
    ];
    for path in paths {
        let closing = "connection: close\r\n";
        for (method, fields) in [
            ("GET", ""),
            ("GET", "te: gzip, trailers\r\n"),
            ("GET", closing),
            ("HEAD", ""),
            ("HEAD", closing),
            ("POST", ""),
            ("POST", closing),
        ] {
            // RFC 9110, section 8.6: hyper announces content that a 204 must not announce.
            if method == "HEAD" && (path == "/204" || path == "/304") {
                continue;
            }
            let last = "GET /text HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n";
            let requests = format!("{method} {path} HTTP/1.1\r\nhost: x\r\n{fields}\r\n{last}");
            let expected = talk(axum.address, &requests);
            assert!(expected.starts_with("HTTP/1.1 "), "{expected}");
            assert_eq!(talk(ours.address, &requests), expected, "{method} {path} {fields}");
        }
    }
}

#[test]
fn trailers_come_only_if_both_sides_agree() {
    let ours = ours(router());
    let ask = |path: &str, te: &str| {
        talk(ours.address, &format!("GET {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n{te}\r\n"))
    };
    let whole = ask("/trailers", "te: trailers\r\n");
    assert!(whole.ends_with("3\nabc\n3\ndef\n0\nx-sum: 6\n\n"), "{whole}");
    for (path, te) in [("/trailers", ""), ("/trailers", "te: gzip\r\n"), ("/trailers/none", "te: trailers\r\n")] {
        let without = ask(path, te);
        assert!(without.ends_with("3\nabc\n3\ndef\n0\n\n"), "{path} {te}: {without}");
    }
    // HTTP/1.0 knows no chunks.
    let old = talk(ours.address, "GET /trailers HTTP/1.0\r\nte: trailers\r\n\r\n");
    assert!(old.ends_with("\n\nabcdef") && !old.contains("trailer"), "{old}");
}

#[test]
fn a_wrong_length_corrupts_nothing() {
    let wrong = || {
        Router::new()
            .route("/long", get(|| async { ([(CONTENT_LENGTH, "10")], "abc") }))
            .route("/short", get(|| async { ([(CONTENT_LENGTH, "1")], "abc") }))
            .route("/nonsense", get(|| async { ([(CONTENT_LENGTH, "many")], "abc") }))
            .route("/streamed/short", get(|| async { ([(CONTENT_LENGTH, "1")], frames(vec![data("abc"), data("d")])) }))
            .route("/streamed/long", get(|| async { ([(CONTENT_LENGTH, "10")], frames(vec![data("abc")])) }))
            .route("/text", get(|| async { "text" }))
    };
    let ours = ours(wrong());
    let last = "GET /text HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n";
    let ask = |path: &str| talk(ours.address, &format!("GET {path} HTTP/1.1\r\nhost: x\r\n\r\n{last}"));
    for path in ["/long", "/short", "/nonsense"] {
        // The length is that of the body.
        let heard = ask(path);
        assert!(heard.contains("content-length: 3\n") && heard.contains("\n\nabcHTTP/1.1 200 OK\n"), "{path}: {heard}");
        assert!(heard.ends_with("\n\ntext"), "{path}: {heard}");
    }
    // What is announced cannot be taken back: more is cut off, and less ends the connection.
    let short = ask("/streamed/short");
    assert!(short.contains("content-length: 1\n") && short.contains("\n\naHTTP/1.1 200 OK\n"), "{short}");
    let long = ask("/streamed/long");
    let sent = long.split_once("\n\n").map(|(_, sent)| sent);
    assert!(long.contains("content-length: 10\n") && sent.is_some_and(|sent| "abc".starts_with(sent)), "{long}");
}

#[test]
fn an_interim_status_is_an_error() {
    let router = Router::new().route("/103", get(|| async { StatusCode::EARLY_HINTS.into_response() }));
    let (axum, ours) = (AxumServe::start(router.clone()), ours(router));
    for address in [axum.address, ours.address] {
        let heard = talk(address, "GET /103 HTTP/1.1\r\nhost: x\r\n\r\n");
        assert!(heard.starts_with("HTTP/1.1 500 Internal Server Error\n"), "{heard}");
    }
}

/// What `docs/from-axum.md` lists as different, as both servers do it.
#[test]
fn what_differs_is_known() {
    const LARGE: usize = 100_000;
    let router = || {
        Router::new()
            .route("/chunks", get(async || frames(vec![data("0123456789"), data("b")])))
            .route("/large", get(async || frames(vec![Frame::data(Bytes::from(vec![b'x'; LARGE]))])))
            .route("/trailer", get(async || ([(TRAILER, "x-sum")], "abc")))
            .route("/echo", any(async |body: Body| body))
            .route("/101", get(async || StatusCode::SWITCHING_PROTOCOLS))
            .route("/panic", get(async || -> &'static str { panic!("this is part of the test") }))
            .route("/text", any(async || "text"))
    };
    let (axum, ours) = (AxumServe::start(router()), ours(router()));
    let close = "host: x\r\nconnection: close\r\n\r\n";
    let long = "l".repeat(17 * 1024);
    for (request, by_axum, by_us) in [
        (
            format!("GET /chunks HTTP/1.1\r\n{close}"),
            "\n\nA\n0123456789\n1\nb\n0\n\n",
            "\n\na\n0123456789\n1\nb\n0\n\n",
        ),
        (format!("GET /large HTTP/1.1\r\n{close}"), "\n\n186A0\nxxx", "\n\n10000\nxxx"),
        (
            format!("GET /trailer HTTP/1.1\r\n{close}"),
            "\ntrailer: x-sum\ncontent-length: 3\n",
            "utf-8\ncontent-length: 3\n",
        ),
        (
            format!("POST /echo HTTP/1.1\r\ntransfer-encoding: chunked\r\n{close}0\r\n\r\n"),
            "\ntransfer-encoding: chunked\ndate: *\n\n0\n\n",
            "\ncontent-length: 0\ndate: *\n\n",
        ),
        (format!("GET /101 HTTP/1.1\r\n{close}"), "HTTP/1.1 101 Switching", "HTTP/1.1 500 Internal"),
        (format!("GET /panic HTTP/1.1\r\n{close}"), "", "HTTP/1.1 500 Internal"),
        ("GET /text HTTP/1.1\r\nconnection: close\r\n\r\n".to_owned(), "HTTP/1.1 200 OK", "HTTP/1.1 400 Bad"),
        ("GET /text HTTP/1.0\r\n\r\n".to_owned(), "HTTP/1.0 200 OK", "HTTP/1.1 200 OK"),
        (format!("GET /text HTTP/1.1\r\nx-long: {long}\r\n{close}"), "HTTP/1.1 200 OK", "HTTP/1.1 431 Request"),
        (format!("GET /text?{long} HTTP/1.1\r\n{close}"), "HTTP/1.1 200 OK", "HTTP/1.1 414 URI"),
    ] {
        let (theirs, ours) = (talk(axum.address, &request), talk(ours.address, &request));
        assert!(theirs.contains(by_axum), "{by_axum:?} by axum: {theirs}");
        assert_eq!(theirs.is_empty(), by_axum.is_empty(), "axum ends the connection of a panic: {theirs}");
        assert!(ours.contains(by_us), "{by_us:?} by this server: {ours}");
        assert_ne!(theirs, ours);
    }
}
