//! `torr serve` over real sockets: framing, persistence, limits, the demo's paths, awkward clients, and leaving.

mod support;

use flate2::read::GzDecoder;
use std::collections::VecDeque;
use std::io::{ErrorKind, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::Command;
use std::thread;
use support::client::{Answer, Client, get, post};
use support::program::torr;
use support::servers::Serve;

const HELLO: &str = "<p>Hello, world!</p>";
const ONE_WORKER: &[&str] = &["--workers", "1"];

/// `Content-Type` and text of an answer.
fn content(answer: &Answer) -> (&str, &str) {
    (answer.field("Content-Type").unwrap_or_default(), answer.text())
}

/// A chunked POST to `/echo` with these chunks.
fn chunked(chunks: &[&str]) -> String {
    let chunks: String = chunks.iter().map(|chunk| format!("{:x}\r\n{chunk}\r\n", chunk.len())).collect();
    format!("POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n{chunks}0\r\n\r\n")
}

/// Checks an answer after which the server ends the connection.
fn ends_with(client: &mut Client, status: u16, shown: &str) {
    let answer = client.answer();
    assert_eq!((answer.status, answer.field("Connection")), (status, Some("close")), "{shown}: {answer:?}");
    client.ends();
}

// The demo's paths.

#[test]
fn every_path_has_its_answer() {
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
        let answer = client.get(path);
        assert_eq!((answer.status, content(&answer)), (status, (content_type, text)), "{path}: {answer:?}");
        assert_eq!(answer.field("Connection"), None, "{path}: {answer:?}");
    }
}

#[test]
fn head_has_the_fields_of_get_and_no_body() {
    let server = Serve::start(&[]);
    let mut client = server.client();
    for path in ["/", "/plaintext", "/json", "/gzip", "/bytes/5", "/bytes/100000", "/sleep/1", "/bytes/x", "/nowhere"] {
        // The next answer stands at once where a body would.
        client.send(format!("HEAD {path} HTTP/1.1\r\nHost: x\r\n\r\n{}", get(path)));
        let (head, whole) = (client.answer_head(), client.answer());
        assert_eq!(head.head(), whole.head(), "{path}");
    }
}

#[test]
fn the_gzip_page_decodes_to_the_plain_one() {
    let server = Serve::start(&[]);
    let answer = server.client().get("/gzip");
    assert_eq!(answer.field("Content-Encoding"), Some("gzip"), "{answer:?}");
    let mut text = String::new();
    GzDecoder::new(&*answer.body).read_to_string(&mut text).unwrap_or_else(|error| panic!("{error}: {answer:?}"));
    assert_eq!(text, HELLO);
}

#[test]
fn a_hundred_megabytes_arrive_to_the_byte() {
    let server = Serve::start(&[]);
    let mut client = server.client();
    client.send(get("/bytes/100000000") + &get("/healthz"));
    assert_eq!(client.answer_head().field("Content-Length"), Some("100000000"));
    client.pass_over(100_000_000);
    assert_eq!(client.answer().text(), "ok\n");
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
        let answer = client.answer();
        assert_eq!((answer.status, answer.text()), (200, *body), "{request:?}: {answer:?}");
    }
    for (request, body) in &cases {
        client.send_bytewise(request);
        let answer = client.answer();
        assert_eq!((answer.status, answer.text()), (200, *body), "bytewise {request:?}: {answer:?}");
    }
}

// Requests in any pieces, and their order.

/// Requests of every kind, each with an answer of its own.
fn mixed(count: usize) -> (String, Vec<String>) {
    let request = |n: usize| match n % 6 {
        0 => (post("/echo", &format!("body {n}")), format!("body {n}")),
        1 => (get(&format!("/bytes/{n}")), "x".repeat(n)),
        2 => (chunked(&["chunk ", &n.to_string()]), format!("chunk {n}")),
        3 => (get(&format!("/bytes/{}", 90_000 + n)), "x".repeat(90_000 + n)),
        4 => (get("/plaintext"), "Hello, World!".to_owned()),
        // The later, the shorter: only the order of requests can be the order of their answers.
        _ => (get(&format!("/sleep/{}", count - n)), "slept\n".to_owned()),
    };
    (0..count).map(request).unzip()
}

fn answers_in_order(client: &mut Client, expected: &[String]) {
    for (n, expected) in expected.iter().enumerate() {
        let answer = client.answer();
        assert!(answer.text() == expected, "answer {n} should be {} bytes: {answer:?}", expected.len());
    }
}

#[test]
fn pipelined_requests_are_answered_in_order() {
    let server = Serve::start(ONE_WORKER);
    let (requests, expected) = mixed(50);
    let mut client = server.client();
    client.send(requests);
    answers_in_order(&mut client, &expected);
    client.has_nothing();
}

#[test]
fn requests_that_stream_in_are_answered_in_order() {
    let server = Serve::start(ONE_WORKER);
    let (mut requests, mut expected) = (String::new(), Vec::new());
    for _ in 0..20 {
        let (more, answers) = mixed(12);
        requests += &more;
        expected.extend(answers);
    }
    let mut client = server.client();
    let mut sender = client.sender();
    let sending = thread::spawn(move || requests.as_bytes().chunks(37).try_for_each(|piece| sender.write_all(piece)));
    answers_in_order(&mut client, &expected);
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
    answers_in_order(&mut client, &expected);
    for at in 0..requests.len() {
        let (first, second) = requests.split_at(at);
        client.send(first);
        client.send(second);
        answers_in_order(&mut client, &expected);
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
        let answer = client.answer();
        assert_eq!((answer.status, answer.field("Connection")), (200, option), "{head:?}: {answer:?}");
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

// What is refused.

#[test]
fn a_refusal_that_leaves_the_framing_intact_keeps_the_connection() {
    let server = Serve::start(&[]);
    let mut client = server.client();
    for (line, status, allow) in [
        ("GET /nowhere", 404, None),
        ("OPTIONS /nowhere", 404, None),
        ("POST /", 405, Some("GET, HEAD")),
        ("DELETE /json", 405, Some("GET, HEAD")),
        ("PUT /sleep/1", 405, Some("GET, HEAD")),
        ("GET /echo", 405, Some("POST")),
        ("OPTIONS /echo", 405, Some("POST")),
        ("BREW /", 501, None),
        ("BREW /nowhere", 501, None),
        ("get /", 501, None),
    ] {
        client.send(format!("{line} HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc"));
        let answer = client.answer();
        assert_eq!((answer.status, answer.field("Allow")), (status, allow), "{line}: {answer:?}");
        assert_eq!(answer.field("Connection"), None, "{line}: {answer:?}");
    }
    client.send("HEAD /echo HTTP/1.1\r\nHost: x\r\n\r\n");
    assert_eq!(client.answer_head().field("Allow"), Some("POST"));
    assert_eq!(client.get("/").text(), HELLO);
}

#[test]
fn malformed_requests_end_the_connection() {
    let server = Serve::start(&[]);
    let post = "POST /echo HTTP/1.1\r\nHost: x\r\n";
    for (request, status) in [
        ("GET /\r\n\r\n", 400),
        ("hello\r\n\r\n", 400),
        ("GET  / HTTP/1.1\r\nHost: x\r\n\r\n", 400),
        ("GET nowhere HTTP/1.1\r\nHost: x\r\n\r\n", 400),
        ("GET /#part HTTP/1.1\r\nHost: x\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\nHost: x\r\nHost: x\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\nHost: x y\r\n\r\n", 400),
        ("GET / HTTP/1.1\nHost: x\n\n", 400),
        ("GET / HTTP/1.1\r\nHost: x\r\nA : b\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\nHost: x\r\n folded\r\n\r\n", 400),
        (&format!("{post}Content-Length: -1\r\n\r\n"), 400),
        (&format!("{post}Content-Length: 1\r\nContent-Length: 2\r\n\r\nab"), 400),
        (&format!("{post}Content-Length: 5, 5\r\n\r\nhello"), 400),
        (&format!("{post}Content-Length: 18446744073709551616\r\n\r\n"), 400),
        (&format!("{post}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"), 400),
        (&format!("{post}Transfer-Encoding: gzip\r\n\r\n"), 400),
        ("POST /echo HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400),
        (&format!("{post}Transfer-Encoding: chunked\r\n\r\nzz\r\n"), 400),
        (&format!("{post}Transfer-Encoding: chunked\r\n\r\n2\r\nabc\r\n"), 400),
        (&format!("{post}Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n"), 501),
        ("GET / HTTP/2.0\r\nHost: x\r\n\r\n", 505),
        ("GET / HTTP/0.9\r\nHost: x\r\n\r\n", 505),
        ("PRI * HTTP/2.0\r\n\r\nSM\r\n\r ", 505),
        ("PRI * HTTP/2.0\r\nHost: x\r\n\r\n", 505),
    ] {
        // What stands before it is answered, and what stands behind it is not.
        let mut client = server.client();
        client.send(format!("{}{request}{}", get("/json"), get("/")));
        assert_eq!(client.answer().status, 200, "before {request:?}");
        ends_with(&mut client, status, &format!("{request:?}"));

        let mut client = server.client();
        client.send_bytewise(request);
        ends_with(&mut client, status, &format!("bytewise {request:?}"));
    }
}

/// A GET whose head has exactly so many bytes.
fn head_of(len: usize) -> String {
    let head = |padding: &str| format!("GET / HTTP/1.1\r\nHost: x\r\nPadding: {padding}\r\n\r\n");
    head(&"p".repeat(len - head("").len()))
}

/// A GET with exactly so many fields.
fn fields_of(count: usize) -> String {
    format!("GET / HTTP/1.1\r\nHost: x\r\n{}\r\n", "A: b\r\n".repeat(count - 1))
}

/// A GET whose request line has exactly so many bytes before its line end.
fn line_of(len: usize) -> String {
    let line = |target: &str| format!("GET /?{target} HTTP/1.1");
    line(&"t".repeat(len - line("").len())) + "\r\nHost: x\r\n\r\n"
}

/// A sized and a chunked POST with a body of exactly so many bytes.
fn bodies_of(len: usize) -> [String; 2] {
    let body = "b".repeat(len);
    let (first, second) = body.split_at(len / 2);
    [post("/echo", &body), chunked(&[first, second])]
}

/// Checks that one request is answered and another refused, whole and cut before its end.
fn is_limit(server: &Serve, fits: &str, exceeds: &str, status: u16) {
    let shown = |request: &str| format!("{}... of {} bytes", &request[..request.len().min(70)], request.len());
    let mut client = server.client();
    client.send(fits);
    let answer = client.answer();
    assert_eq!(answer.status, 200, "{}: {answer:?}", shown(fits));
    client.send(exceeds);
    ends_with(&mut client, status, &shown(exceeds));

    let mut client = server.client();
    let (first, last) = exceeds.split_at(exceeds.len() - 3);
    client.send(first);
    client.send(last);
    ends_with(&mut client, status, &shown(exceeds));
}

#[test]
fn limits_have_their_defaults() {
    let server = Serve::start(&[]);
    is_limit(&server, &head_of(8192), &head_of(8193), 431);
    is_limit(&server, &fields_of(100), &fields_of(101), 431);
    is_limit(&server, &line_of(8192 - 13), &line_of(8192), 414);
    for (fits, exceeds) in bodies_of(1024 * 1024).iter().zip(bodies_of(1024 * 1024 + 1)) {
        is_limit(&server, fits, &exceeds, 413);
    }
}

#[test]
fn limits_can_be_set() {
    let server = Serve::start(&["--max-head", "300", "--max-headers", "5", "--max-body", "10"]);
    is_limit(&server, &head_of(300), &head_of(301), 431);
    is_limit(&server, &fields_of(5), &fields_of(6), 431);
    is_limit(&server, &line_of(300 - 13), &line_of(300), 414);
    for (fits, exceeds) in bodies_of(10).iter().zip(bodies_of(11)) {
        is_limit(&server, fits, &exceeds, 413);
    }
    let server = Serve::start(&["--max-head", "100000", "--max-headers", "256", "--max-body", "3000000"]);
    is_limit(&server, &head_of(100_000), &head_of(100_001), 431);
    is_limit(&server, &fields_of(256), &fields_of(257), 431);
    for request in bodies_of(3_000_000) {
        let mut client = server.client();
        client.send(request);
        assert_eq!(client.answer().body.len(), 3_000_000);
    }
}

#[test]
fn a_refused_client_that_still_sends_gets_the_whole_answer() {
    let server = Serve::start(&[]);
    // The server reads the first of these to its end, and ends the connection while the second is being sent.
    for length in [900_000, 30_000_000] {
        let heads = [
            format!("POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: {}\r\n\r\n", 2_000_000 + length),
            format!("POST /echo HTTP/1.1\r\nContent-Length: {length}\r\n\r\n"),
            format!("POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nnone\r\n{length}"),
        ];
        for (head, status) in heads.iter().zip([413, 400, 400]) {
            let mut client = server.client();
            client.send(head);
            client.send_what_goes(&vec![b'b'; length]);
            let answer = client.answer();
            assert_eq!((answer.status, answer.field("Connection")), (status, Some("close")), "{head:?}: {answer:?}");
            if length < 1_000_000 {
                client.ends();
            }
        }
    }
}

// Clients that wait, leave, or take their time.

#[test]
fn a_client_that_waits_to_send_its_body_is_told_to_go_on() {
    let server = Serve::start(&[]);
    let mut client = server.client();
    let head = "POST /echo HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\n";
    for (framing, body) in [("Content-Length: 5", "hello"), ("Transfer-Encoding: chunked", "5\r\nhello\r\n0\r\n\r\n")] {
        client.send(format!("{head}{framing}\r\n\r\n"));
        assert_eq!(client.interim().status, 100, "{framing}");
        client.has_nothing();
        client.send(body);
        assert_eq!(client.answer().text(), "hello", "{framing}");
        // One that has not waited needs no telling.
        client.send(format!("{head}{framing}\r\n\r\n{body}"));
        assert_eq!(client.answer().text(), "hello", "{framing}, without waiting");
    }
    // HTTP/1.0 has no interim answers, and a body of nothing needs none.
    client.send("POST /echo HTTP/1.0\r\nConnection: keep-alive\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n");
    client.send("ok");
    assert_eq!(client.answer().text(), "ok");
    client.send(format!("{head}Content-Length: 0\r\n\r\n"));
    assert_eq!(client.answer().text(), "");
    // What will be refused is refused before it is sent.
    client.send(format!("{head}Content-Length: 1048577\r\n\r\n"));
    ends_with(&mut client, 413, "a body that is too large");
}

#[test]
fn a_client_that_has_ended_its_side_gets_all_its_answers() {
    let server = Serve::start(ONE_WORKER);
    let (requests, expected) = mixed(30);
    let single = |request: String, body: &str| (request, vec![body.to_owned()]);
    for (requests, expected) in [
        single(get("/plaintext"), "Hello, World!"),
        single(get("/sleep/50"), "slept\n"),
        single(get("/bytes/3000000"), &"x".repeat(3_000_000)),
        single(post("/echo", "body"), "body"),
        (get("/plaintext").repeat(2_000), vec!["Hello, World!".to_owned(); 2_000]),
        (requests, expected),
    ] {
        let mut client = server.client();
        client.send(requests);
        client.end_sending();
        answers_in_order(&mut client, &expected);
        client.ends();
    }
    // What is not whole has no answer.
    for part in
        ["", "GET / HT", "GET / HTTP/1.1\r\nHost: x\r\n", "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\na"]
    {
        let mut client = server.client();
        client.send(part);
        client.end_sending();
        client.ends();
    }
}

#[test]
fn clients_that_vanish_leave_the_others_served() {
    let server = Serve::start(ONE_WORKER);
    let mut faithful = server.client();
    for round in 0..20 {
        for part in [
            "",
            "GET / HTTP/1.1\r\nHo",
            "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\nabc",
            "POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab",
            &get("/"),
            &get("/sleep/3600000"),
            &get("/sleep/1"),
            &get("/bytes/1000000000"),
            &(get("/sleep/1") + &get("/bytes/1000000000")),
        ] {
            server.client().send(part);
            assert_eq!(faithful.get("/").text(), HELLO, "round {round} after {part:?}");
        }
        // This one has begun to read, and resets the connection, since it leaves some unread.
        let mut client = server.client();
        client.send(get("/bytes/1000000000"));
        client.answer_head();
        drop(client);
        assert_eq!(faithful.get("/").text(), HELLO, "round {round} after a client that had begun to read");
    }
}

#[test]
fn a_handler_that_waits_keeps_nobody_else_waiting() {
    let server = Serve::start(ONE_WORKER);
    let (mut waiting, mut other) = (server.client(), server.client());
    // By the answer to the first the second is known to be under way. It would take an hour.
    waiting.send(get("/healthz") + &get("/sleep/3600000"));
    assert_eq!(waiting.answer().text(), "ok\n");
    for path in ["/", "/sleep/1", "/bytes/1000000", "/"] {
        assert_eq!(other.get(path).status, 200, "{path}");
    }
    assert_eq!(server.client().get("/").text(), HELLO);
    waiting.has_nothing();
}

#[test]
fn a_reader_that_pauses_gets_all_in_the_end_and_stops_nobody() {
    const LENGTH: u64 = 100_000_000;
    let server = Serve::start(ONE_WORKER);
    let (mut slow, mut other) = (server.client(), server.client());
    slow.send(get(&format!("/bytes/{LENGTH}")) + &get("/healthz"));
    // Once the head is here the rest is on its way, and it is more than the kernel takes.
    slow.answer_head();
    for _ in 0..200 {
        assert_eq!(other.get("/").text(), HELLO);
        assert_eq!(other.get("/sleep/0").text(), "slept\n");
    }
    other.send(get("/bytes/20000000"));
    other.answer_head();
    other.pass_over(20_000_000);
    slow.pass_over(LENGTH);
    assert_eq!(slow.answer().text(), "ok\n");
}

#[test]
fn many_connections_share_few_workers() {
    let server = Serve::start(&["--workers", "2"]);
    let mut clients: Vec<_> = (0..300).map(|_| server.client()).collect();
    for round in 0..3 {
        for (n, client) in clients.iter_mut().enumerate() {
            client.send(post("/echo", &format!("{round} {n}")) + &get(&format!("/sleep/{}", n % 7)));
        }
        for (n, client) in clients.iter_mut().enumerate() {
            assert_eq!(client.answer().text(), format!("{round} {n}"));
            assert_eq!(client.answer().text(), "slept\n", "connection {n} in round {round}");
        }
    }
}

#[test]
fn a_server_that_has_no_file_left_serves_those_who_are_in_and_others_later() {
    let mut command = Command::new("sh");
    command.args([
        "-c",
        "ulimit -n 30; exec \"$0\" serve --listen 127.0.0.1:0 --workers 1",
        env!("CARGO_BIN_EXE_torr"),
    ]);
    let server = Serve::start_as(command);
    // More than it can have at a time: the last wait in the kernel.
    let mut clients: VecDeque<_> = (0..40).map(|_| server.client()).collect();
    clients.iter_mut().for_each(|client| client.send(get("/")));
    while let Some(mut client) = clients.pop_front() {
        let left = clients.len();
        assert_eq!(client.answer().text(), HELLO, "with {left} behind it");
        assert_eq!(client.get("/").text(), HELLO, "with {left} behind it");
    }
}

// Starting and leaving.

/// The error of a connection that must not come about.
fn refusal(server: &Serve) -> ErrorKind {
    let connected = TcpStream::connect(&server.address);
    connected.map_or_else(|error| error.kind(), |stream| panic!("{stream:?} although the server has left"))
}

#[test]
fn a_signal_lets_it_finish_what_is_under_way_and_leave() {
    for signal in ["TERM", "INT"] {
        let mut server = Serve::start(ONE_WORKER);
        let (mut idle, mut silent, mut waiting) = (server.client(), server.connect(), server.client());
        assert_eq!(idle.get("/").text(), HELLO);
        // By the answer to the first the second is known to be under way.
        waiting.send(get("/healthz") + &get("/sleep/1000") + &get("/"));
        assert_eq!(waiting.answer().text(), "ok\n");
        let mut sending = server.client();
        sending.send("POST /echo HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n");
        assert_eq!(sending.interim().status, 100);

        support::program::signal(server.pid(), signal);
        idle.ends();
        assert_eq!(refusal(&server), ErrorKind::ConnectionRefused, "{signal}, while it leaves");
        sending.send("hello");
        for (client, text) in [(&mut sending, "hello"), (&mut waiting, "slept\n")] {
            let answer = client.answer();
            assert_eq!((answer.text(), answer.field("Connection")), (text, Some("close")), "{signal}: {answer:?}");
            client.ends();
        }
        assert_eq!(server.wait(), Some(0), "{signal}");
        assert_eq!(refusal(&server), ErrorKind::ConnectionRefused, "{signal}, after it left");
        // It had said nothing, so it was never accepted, and finds out when it speaks.
        let sent = silent.write_all(get("/").as_ref());
        assert!(sent.is_err() || !silent.read(&mut [0; 100]).is_ok_and(|n| n > 0), "{signal}: somebody answered");
    }
}

#[test]
fn all_workers_leave_although_clients_keep_them_busy() {
    let mut server = Serve::start(&["--workers", "2"]);
    let mut clients: Vec<_> = (0..8).map(|_| server.client()).collect();
    for client in &mut clients {
        assert_eq!(client.get("/").text(), HELLO);
    }
    // Each asks anew as soon as it has its answer, until it is told that this was the last.
    let pressing = clients
        .into_iter()
        .map(|mut client| thread::spawn(move || while client.get("/sleep/0").field("Connection").is_none() {}));
    let pressing: Vec<_> = pressing.collect();
    server.terminate();
    assert_eq!(server.wait(), Some(0));
    for client in pressing {
        client.join().expect("every request was answered");
    }
}

#[test]
fn what_is_sent_to_a_leaving_server_does_not_destroy_its_answer() {
    let mut server = Serve::start(ONE_WORKER);
    let mut client = server.client();
    client.send(get("/healthz") + &get("/sleep/500"));
    assert_eq!(client.answer().text(), "ok\n");
    // This waits in the kernel when the connection is ended.
    client.send(get("/").repeat(100));
    server.terminate();
    ends_with(&mut client, 200, "/sleep with more behind it");
    drop(client);
    assert_eq!(server.wait(), Some(0));
}

#[test]
fn a_port_in_use_is_an_error() {
    let server = Serve::start(&["--workers", "2"]);
    let ended = torr(&["serve", "--listen", &server.address]);
    assert_eq!(ended.code, Some(1), "{ended:?}");
    let line = format!("torr: cannot listen on {}: address in use\n", server.address);
    assert_eq!((ended.stdout.as_str(), &*ended.stderr), ("", &*line));
    assert_eq!(server.client().get("/").text(), HELLO);
}

#[test]
fn a_bad_address_is_bad_usage() {
    for listen in ["nonsense", "127.0.0.1", "127.0.0.1:", "127.0.0.1:99999", "http://127.0.0.1:0/", ""] {
        let ended = torr(&["serve", "--listen", listen]);
        assert_eq!((ended.code, ended.stdout.as_str()), (Some(2), ""), "{listen:?}: {ended:?}");
        assert!(ended.stderr.contains(&format!("'{listen}'")), "{listen:?}: {ended:?}");
        assert_eq!(ended.stderr.lines().count(), 1, "{listen:?}: {ended:?}");
    }
    for (option, value) in [("--workers", "0"), ("--max-headers", "257"), ("--max-head", "0"), ("--max-body", "-1")] {
        let ended = torr(&["serve", option, value]);
        assert_eq!(ended.code, Some(2), "{option} {value}: {ended:?}");
        assert_eq!(ended.stderr.lines().count(), 1, "{option} {value}: {ended:?}");
    }
}

#[test]
fn it_listens_on_ipv6_and_by_name() {
    if TcpListener::bind("[::1]:0").is_ok() {
        let server = Serve::start_on("[::1]:0", &[]);
        assert!(server.address.starts_with("[::1]:"), "{}", server.address);
        assert_eq!(server.client().get("/").text(), HELLO);
    }
    let server = Serve::start_on("localhost:0", &[]);
    assert_eq!(server.client().get("/").text(), HELLO);
}
