//! What is refused, and what becomes of its connection.

use super::*;

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
        let response = client.response();
        assert_eq!((response.status, response.field("Allow")), (status, allow), "{line}: {response:?}");
        assert_eq!(response.field("Connection"), None, "{line}: {response:?}");
    }
    client.send("HEAD /echo HTTP/1.1\r\nHost: x\r\n\r\n");
    assert_eq!(client.response_head().field("Allow"), Some("POST"));
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
        assert_eq!(client.response().status, 200, "before {request:?}");
        ends_with(&mut client, status, &format!("{request:?}"));

        let mut client = server.client();
        client.send_bytewise(request);
        ends_with(&mut client, status, &format!("bytewise {request:?}"));
    }
}

/// A GET whose header section has exactly so many bytes.
fn head_of(len: usize) -> String {
    let section = |padding: &str| format!("Host: x\r\nPadding: {padding}\r\n\r\n");
    format!("GET / HTTP/1.1\r\n{}", section(&"p".repeat(len - section("").len())))
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
    let response = client.response();
    assert_eq!(response.status, 200, "{}: {response:?}", shown(fits));
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
    is_limit(&server, &head_of(16384), &head_of(16385), 431);
    is_limit(&server, &fields_of(100), &fields_of(101), 431);
    is_limit(&server, &line_of(16384 - 2), &line_of(16384 - 1), 414);
    for (fits, exceeds) in bodies_of(1024 * 1024).iter().zip(bodies_of(1024 * 1024 + 1)) {
        is_limit(&server, fits, &exceeds, 413);
    }
}

#[test]
fn limits_can_be_set() {
    let server = Serve::start(&["--max-head", "300", "--max-headers", "5", "--max-body", "10"]);
    is_limit(&server, &head_of(300), &head_of(301), 431);
    is_limit(&server, &fields_of(5), &fields_of(6), 431);
    is_limit(&server, &line_of(300 - 2), &line_of(300 - 1), 414);
    for (fits, exceeds) in bodies_of(10).iter().zip(bodies_of(11)) {
        is_limit(&server, fits, &exceeds, 413);
    }
    let server = Serve::start(&["--max-head", "100000", "--max-headers", "256", "--max-body", "3000000"]);
    is_limit(&server, &head_of(100_000), &head_of(100_001), 431);
    is_limit(&server, &fields_of(256), &fields_of(257), 431);
    for request in bodies_of(3_000_000) {
        let mut client = server.client();
        client.send(request);
        assert_eq!(client.response().body.len(), 3_000_000);
    }
}

#[test]
fn a_refused_client_that_still_sends_gets_the_whole_response() {
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
            let response = client.response();
            assert_eq!(
                (response.status, response.field("Connection")),
                (status, Some("close")),
                "{head:?}: {response:?}"
            );
            if length < 1_000_000 {
                client.ends();
            }
        }
    }
}
