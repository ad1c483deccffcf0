//! `torr serve` over real sockets: framing, persistence, limits, the demo's paths, awkward clients, and leaving.

mod clients;
mod life;
mod refusals;

use flate2::read::GzDecoder;
use std::collections::VecDeque;
use std::io::{ErrorKind, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread;
use torr_test_support::client::{Client, ClientResponse, get, post};
use torr_test_support::program::{run, torr};
use torr_test_support::servers::Serve;

const HELLO: &str = "<p>Hello, world!</p>";
const ONE_WORKER: &[&str] = &["--workers", "1"];

/// `Content-Type` and text of a response.
fn content(response: &ClientResponse) -> (&str, &str) {
    (response.field("Content-Type").unwrap_or_default(), response.text())
}

/// A chunked POST to `/echo` with these chunks.
fn chunked(chunks: &[&str]) -> String {
    let chunks: String = chunks.iter().map(|chunk| format!("{:x}\r\n{chunk}\r\n", chunk.len())).collect();
    format!("POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n{chunks}0\r\n\r\n")
}

/// Checks a response after which the server ends the connection.
fn ends_with(client: &mut Client, status: u16, shown: &str) {
    let response = client.response();
    assert_eq!((response.status, response.field("Connection")), (status, Some("close")), "{shown}: {response:?}");
    client.ends();
}

// The demo's paths.

#[test]
fn a_router_has_the_same_pages() {
    let (controllers, router) = (Serve::start(&[]), Serve::start(&["--router", "true"]));
    let (mut by_controllers, mut by_router) = (controllers.client(), router.client());
    for path in ["/", "/plaintext", "/json", "/benchmark", "/bytes/5", "/no/such/path"] {
        let (left, right) = (by_controllers.get(path), by_router.get(path));
        let kind = |response: &ClientResponse| content(response).0.split(';').next().unwrap_or_default().to_owned();
        assert_eq!((left.status, kind(&left), left.text()), (right.status, kind(&right), right.text()), "{path}");
        assert!(right.field("Server").is_some() && right.field("Date").is_some(), "{path}: {right:?}");
    }
}

#[test]
fn every_path_has_its_response() {
    let server = Serve::start(&[]);
    let mut client = server.client();
    let long = "x".repeat(100_000);
    let cases = [
        ("/", 200, "text/html", HELLO),
        ("/benchmark", 200, "text/html", HELLO),
        ("/benchmark?a=b?c", 200, "text/html", HELLO),
        ("/plaintext", 200, "text/plain", "Hello, World!"),
        ("/json", 200, "application/json", r#"{"message":"Hello, World!"}"#),
        ("/bytes/0", 200, "application/octet-stream", ""),
        ("/bytes/1", 200, "application/octet-stream", "x"),
        ("/bytes/65536", 200, "application/octet-stream", &long[..65536]),
        ("/bytes/65537", 200, "application/octet-stream", &long[..65537]),
        ("/bytes/100000", 200, "application/octet-stream", &long),
        ("/sleep/0", 200, "text/plain", "slept\n"),
        ("/sleep/5", 200, "text/plain", "slept\n"),
        ("/cpu/1000", 200, "text/plain", "worked\n"),
        ("/healthz", 200, "text/plain", "ok\n"),
        ("/bytes/ten", 400, "text/plain", "The path must end in a number of bytes\n"),
        ("/bytes/-1", 400, "text/plain", "The path must end in a number of bytes\n"),
        ("/bytes/18446744073709551616", 400, "text/plain", "The path must end in a number of bytes\n"),
        ("/sleep/3600001", 400, "text/plain", "The path must end in a number of milliseconds, up to an hour\n"),
        (
            "/sleep/18446744073709551615",
            400,
            "text/plain",
            "The path must end in a number of milliseconds, up to an hour\n",
        ),
        ("/cpu/10000001", 400, "text/plain", "The path must end in a number of microseconds, up to 10 seconds\n"),
        ("/cpu/", 404, "text/plain", "Not found\n"),
        ("/nowhere", 404, "text/plain", "Not found\n"),
    ];
    for (path, status, content_type, text) in cases {
        let response = client.get(path);
        assert_eq!((response.status, content(&response)), (status, (content_type, text)), "{path}: {response:?}");
        assert_eq!(response.field("Connection"), None, "{path}: {response:?}");
    }
}

#[test]
fn head_has_the_fields_of_get_and_no_body() {
    let server = Serve::start(&[]);
    let mut client = server.client();
    for path in ["/", "/plaintext", "/json", "/gzip", "/bytes/5", "/bytes/100000", "/sleep/1", "/bytes/x", "/nowhere"] {
        // The next response stands at once where a body would.
        client.send(format!("HEAD {path} HTTP/1.1\r\nHost: x\r\n\r\n{}", get(path)));
        let (head, whole) = (client.response_head(), client.response());
        assert_eq!(head.head(), whole.head(), "{path}");
    }
}

#[test]
fn the_gzip_page_decodes_to_the_plain_one() {
    let server = Serve::start(&[]);
    let response = server.client().get("/gzip");
    assert_eq!(response.field("Content-Encoding"), Some("gzip"), "{response:?}");
    let mut text = String::new();
    GzDecoder::new(&*response.body).read_to_string(&mut text).unwrap_or_else(|error| panic!("{error}: {response:?}"));
    assert_eq!(text, HELLO);
}

#[test]
fn a_hundred_megabytes_arrive_to_the_byte() {
    let server = Serve::start(&[]);
    let mut client = server.client();
    client.send(get("/bytes/100000000") + &get("/healthz"));
    assert_eq!(client.response_head().field("Content-Length"), Some("100000000"));
    client.pass_over(100_000_000);
    assert_eq!(client.response().text(), "ok\n");
}

#[test]
fn echo_returns_bodies_of_either_framing() {
    let server = Serve::start(&[]);
    let mut client = server.client();
    let head = "POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n";
    let cases = [
        (post("/echo", "hello"), "hello"),
        (post("/echo", ""), ""),
        ("POST /echo HTTP/1.1\r\nHost: x\r\n\r\n".to_owned(), ""),
        (post("/echo", "GET / HTTP/1.1\r\n\r\n"), "GET / HTTP/1.1\r\n\r\n"),
        (chunked(&["hello", " ", "world"]), "hello world"),
        (chunked(&[]), ""),
        (format!("{head}5;a=\"b;c\"\r\nhello\r\n000001 ; x\r\n!\r\n0;last\r\nSum: 1\r\nOther:\r\n\r\n"), "hello!"),
        (format!("{head}7\r\n0\r\n\r\n0\r\r\n0\r\n\r\n"), "0\r\n\r\n0\r"),
    ];
    for (request, body) in &cases {
        client.send(request);
        let response = client.response();
        assert_eq!((response.status, response.text()), (200, *body), "{request:?}: {response:?}");
    }
    for (request, body) in &cases {
        client.send_bytewise(request);
        let response = client.response();
        assert_eq!((response.status, response.text()), (200, *body), "bytewise {request:?}: {response:?}");
    }
}

// Requests in any pieces, and their order.

/// Requests of every kind, each with a response of its own.
fn mixed(count: usize) -> (String, Vec<String>) {
    let request = |n: usize| match n % 6 {
        0 => (post("/echo", &format!("body {n}")), format!("body {n}")),
        1 => (get(&format!("/bytes/{n}")), "x".repeat(n)),
        2 => (chunked(&["chunk ", &n.to_string()]), format!("chunk {n}")),
        3 => (get(&format!("/bytes/{}", 90_000 + n)), "x".repeat(90_000 + n)),
        4 => (get("/plaintext"), "Hello, World!".to_owned()),
        // The later, the shorter: only the order of requests can be the order of their responses.
        _ => (get(&format!("/sleep/{}", count - n)), "slept\n".to_owned()),
    };
    (0..count).map(request).unzip()
}

fn responses_in_order(client: &mut Client, expected: &[String]) {
    for (n, expected) in expected.iter().enumerate() {
        let response = client.response();
        assert!(response.text() == expected, "answer {n} should be {} bytes: {response:?}", expected.len());
    }
}

#[test]
fn pipelined_requests_are_answered_in_order() {
    let server = Serve::start(ONE_WORKER);
    let (requests, expected) = mixed(50);
    let mut client = server.client();
    client.send(requests);
    responses_in_order(&mut client, &expected);
    client.has_nothing();
}

#[test]
fn requests_that_stream_in_are_answered_in_order() {
    let server = Serve::start(ONE_WORKER);
    let (mut requests, mut expected) = (String::new(), Vec::new());
    for _ in 0..20 {
        let (more, responses) = mixed(12);
        requests += &more;
        expected.extend(responses);
    }
    let mut client = server.client();
    let mut sender = client.sender();
    let sending = thread::spawn(move || requests.as_bytes().chunks(37).try_for_each(|piece| sender.write_all(piece)));
    responses_in_order(&mut client, &expected);
    sending.join().expect("it does not panic").expect("the server takes all requests");
}

#[test]
fn requests_may_be_cut_at_every_byte() {
    let server = Serve::start(ONE_WORKER);
    let requests = get("/plaintext")
        + &post("/echo", "sized")
        + "POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n5;a=b\r\nchunk\r\n0\r\nSum: 1\r\n\r\n"
        + "\r\nGET /sleep/0 HTTP/1.1\r\nHost: x\r\n\r\n";
    let expected = ["Hello, World!", "sized", "chunk", "slept\n"].map(str::to_owned);
    let mut client = server.client();
    client.send_bytewise(&requests);
    responses_in_order(&mut client, &expected);
    for at in 0..requests.len() {
        let (first, second) = requests.split_at(at);
        client.send(first);
        client.send(second);
        responses_in_order(&mut client, &expected);
    }
}

// Whether the connection lives on.

#[test]
fn persistence_follows_version_and_option() {
    let server = Serve::start(&[]);
    for (head, option) in [
        ("GET / HTTP/1.1\r\nHost: x\r\n", None),
        ("GET / HTTP/1.1\r\nHost: x\r\nConnection: keep-alive\r\n", None),
        ("GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n", Some("close")),
        ("GET / HTTP/1.1\r\nHost: x\r\nConnection: foo, CLOSE\r\n", Some("close")),
        ("GET /sleep/1 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n", Some("close")),
        ("GET /bytes/100000 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n", Some("close")),
        ("GET / HTTP/1.0\r\n", Some("close")),
        ("GET /bytes/100000 HTTP/1.0\r\n", Some("close")),
        ("GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n", Some("keep-alive")),
        ("GET /sleep/1 HTTP/1.0\r\nConnection: Keep-Alive\r\n", Some("keep-alive")),
        ("GET / HTTP/1.0\r\nConnection: keep-alive, close\r\n", Some("close")),
    ] {
        let mut client = server.client();
        client.send(format!("{head}\r\n"));
        let response = client.response();
        assert_eq!((response.status, response.field("Connection")), (200, option), "{head:?}: {response:?}");
        match option {
            Some("close") => client.ends(),
            _ => assert_eq!(client.get("/").text(), HELLO, "after {head:?}"),
        }
    }
}

#[test]
fn requests_behind_the_last_one_are_not_answered() {
    let server = Serve::start(&[]);
    let mut client = server.client();
    client.send(format!("GET /json HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n{}", get("/")));
    ends_with(&mut client, 200, "a request with another behind it");
}
