//! Controllers beside the router, bodies of requests, panics and limits.

use super::scene::{MEGABYTE, content, method, start};
use crate::router::cases::req;
use crate::router::http2::{Client, get, post, read, send};
use crate::router::service::{self, Both};
use crate::router::wire;
use crate::support::{PATIENCE, Running};
use bytes::Bytes;
use h2::{Reason, SendStream};
use http::Request;
use std::future::poll_fn;
use std::net::TcpStream;
use std::time::{Duration, Instant};

#[test]
fn controllers_respond_as_over_http_1() {
    let (server, client) = start(|_| {});
    for (path, status, body) in [
        ("/c/hello", 200, "hello"),
        ("/c/nothing", 204, ""),
        ("/c/same", 304, ""),
        ("/c/who/me", 200, "me"),
        ("/c/query?a=b%20c", 200, "a=b%20c"),
        ("/c/host", 200, "x"),
        ("/c/cookie", 200, "none"),
        ("/c/later", 200, "later"),
        ("/c/blocking", 200, "blocking"),
        ("/c/stream", 200, "         0         1         2"),
        ("/c/large", 200, &"l".repeat(3 * MEGABYTE)),
        ("/c/pieces", 200, &"p".repeat(500_000)),
        ("/c/none", 404, "the fallback"),
    ] {
        let outcome = client.get(path);
        assert!(content(&outcome) == (status, body) && outcome.reset.is_none(), "{path}: {outcome:?}");
        // What HTTP/1.1 tells of the same, but for how the body is framed there.
        let request = req(&format!("GET {path}"), "");
        let stream = TcpStream::connect(server.address).expect("it listens");
        stream.set_read_timeout(Some(PATIENCE)).expect("a socket takes options");
        let mut exchange = wire::read_responses(stream, &request);
        let mut one = exchange.responses.remove(0);
        one.fields.retain(|(name, _)| name != "transfer-encoding");
        assert_eq!(*outcome.response(), one, "{path}: HTTP/2, then HTTP/1.1");
    }
}

#[test]
fn a_head_has_no_body_and_the_length_of_its_get() {
    let (_server, client) = start(|_| {});
    for path in ["/c/hello", "/c/large", "/c/pieces", "/c/later", "/c/blocking", "/c/nothing", "/c/stream"] {
        let [get, head] = ["GET", "HEAD"].map(|name| client.ask(method(name, path)));
        assert_eq!((head.response().body.len(), head.reset), (0, None), "{path}");
        assert_eq!(head.response().status, get.response().status, "{path}");
        assert_eq!(head.response().fields, get.response().fields, "{path}");
    }
}

#[test]
fn cookies_in_pieces_are_one_for_controllers() {
    let (_server, client) = start(|_| {});
    let mut request = get("/c/cookie");
    for cookie in ["a=1", "b=2", "c=3"] {
        request.headers_mut().append("cookie", cookie.parse().expect("it is valid"));
    }
    assert_eq!(content(&client.ask(request)), (200, "a=1; b=2; c=3"));
}

#[test]
fn large_bodies_go_both_ways() {
    let (_server, client) = start(|settings| settings.max_body = 8 * MEGABYTE as u64);
    let body: Vec<u8> = (0..7 * MEGABYTE).map(|n| b'a' + (n / 1000 % 26) as u8).collect();
    let outcome = client.ask(post("/c/echo", body.clone()));
    assert!(outcome.response().body == body, "{outcome:?}");
    // The router's extractor has a limit of its own.
    let body = &body[..2_000_000];
    let outcome = client.ask(post("/bytes", body.to_vec()));
    assert!(outcome.response().body == body, "{outcome:?}");
}

#[test]
fn bodies_have_limits() {
    let (_server, client) = start(|settings| {
        settings.max_body = 1_000;
        settings.max_streamed_body = 2_000;
    });
    for (path, most) in [("/c/echo", 1_000), ("/c/length", 1_000), ("/bytes", 2_000)] {
        for announced in [true, false] {
            for (length, status) in [(most, 200), (most + 1, 413), (most + 300_000, 413)] {
                let mut request = post(path, vec![b'x'; length]);
                if announced {
                    request.headers_mut().insert("content-length", length.into());
                }
                let outcome = client.ask(request);
                assert_eq!(outcome.response().status, status, "{path} with {length} bytes, announced: {announced}");
            }
        }
    }
    assert_eq!(content(&client.get("/c/hello")), (200, "hello"), "the connection lives");
}

#[test]
fn a_body_that_stops_coming_is_given_up() {
    let (_server, client) = start(|settings| settings.body_timeout = Duration::from_millis(100));
    for path in ["/c/echo", "/bytes"] {
        let (parts, _) = post(path, "").into_parts();
        let (response, mut sending) = client.begin(Request::from_parts(parts, ()), false);
        sending.send_data(Bytes::from_static(b"part"), false).expect("the stream lives");
        let outcome = client.wait(read(response));
        assert_eq!(outcome.response().status, 408, "{path}: {outcome:?}");
    }
    assert_eq!(content(&client.get("/c/hello")), (200, "hello"), "the connection lives");
}

#[test]
fn many_streams_at_once() {
    let (_server, client) = start(|_| {});
    // Before the server's settings are known, the client does not know how many streams it may have.
    assert_eq!(content(&client.get("/c/hello")), (200, "hello"));
    let outcome = client.wait(async {
        let ask = |number: usize| {
            let sender = client.sender.clone();
            async move {
                let body = Bytes::from(vec![b'0' + (number % 10) as u8; 5_000]);
                let mut sender = sender.ready().await.expect("the connection lives");
                let (parts, _) = post(if number.is_multiple_of(2) { "/c/echo" } else { "/bytes" }, "").into_parts();
                let (response, stream) =
                    sender.send_request(Request::from_parts(parts, ()), false).expect("it is valid");
                let (outcome, ()) = tokio::join!(read(response), send(stream, body.clone()));
                (outcome, body)
            }
        };
        futures_util::future::join_all((0..500).map(ask)).await
    });
    assert_eq!(outcome.len(), 500);
    for (outcome, body) in outcome {
        assert!(outcome.response().status == 200 && outcome.response().body == body, "{outcome:?}");
    }
}

#[test]
fn one_stream_does_not_hold_up_another() {
    let (release, app) = service::gated();
    let server = Running::start(app);
    let client = Client::connect(server.address);
    let (waiting, _) = client.begin(get("/wait").map(drop), true);
    for _ in 0..10 {
        assert_eq!(content(&client.get("/now")), (200, "now"));
    }
    release.send(()).expect("the handler waits");
    assert_eq!(content(&client.wait(read(waiting))), (200, "released"));
}

#[test]
fn a_panic_costs_its_stream_only() {
    let (server, client) = start(|_| {});
    for path in ["/c/panics", "/c/panics-later", "/panics", "/panics-later"] {
        let outcome = client.get(path);
        assert_eq!(
            (outcome.response().status, outcome.response().field("connection")),
            (500, None),
            "{path}: {outcome:?}"
        );
    }
    let outcome = client.get("/c/too-few-pieces");
    assert!(outcome.reset.is_some() && outcome.response.is_none_or(|response| response.cut_short));
    assert_eq!(content(&client.get("/c/hello")), (200, "hello"));
    drop(client);
    server.stop();
    server.wait().expect("the worker is well");
}

#[test]
fn the_peer_is_known() {
    let both = Both::start();
    for stream in both.connect() {
        let own = stream.local_addr().expect("it is connected").to_string();
        assert_eq!(content(&Client::on(stream).get("/peer")), (200, &*own));
    }
}

#[test]
fn a_handler_ends_with_its_stream() {
    let (source, dropped, app) = service::tapped();
    let server = Running::start(app);
    let client = Client::connect(server.address);
    let (response, mut sending) = client.begin(get("/tap").map(drop), true);
    source.blocking_send("first").expect("the body waits");
    let mut body = client.wait(response).expect("an answer").into_body();
    let first = client.wait(body.data()).expect("a piece").expect("no error");
    assert_eq!(first, "first");
    sending.send_reset(Reason::CANCEL);
    drop(body);
    assert_eq!(content(&client.get("/now")), (200, "now"), "the reset is sent with this");
    dropped.recv_timeout(PATIENCE).expect("the body is dropped with its stream");
}

/// Sends so many bytes of a body that goes on.
async fn begin_body(stream: &mut SendStream<Bytes>, mut left: usize) {
    while left > 0 {
        stream.reserve_capacity(left);
        let room = poll_fn(|cx| stream.poll_capacity(cx)).await.expect("the stream lives").expect("the stream lives");
        let piece = room.min(left);
        stream.send_data(Bytes::from(vec![b'b'; piece]), false).expect("the stream lives");
        left -= piece;
    }
}

#[test]
fn bodies_that_are_gathered_have_a_bound_for_each_connection() {
    const BODY: usize = 256 * 1024;
    let (server, client) = start(|settings| settings.max_body = BODY as u64);
    let mut held: Vec<_> = (0..16)
        .map(|_| {
            let (response, mut sending) = client.begin(post("/c/length", "").map(drop), false);
            client.wait(begin_body(&mut sending, BODY - 1));
            (response, sending)
        })
        .collect();
    let small = || client.ask(post("/c/length", vec![b'b'; 100])).response().status;
    // As long as they are not gathered in full there is room.
    let patience = Instant::now() + PATIENCE;
    while small() != 503 {
        assert!(Instant::now() < patience);
    }
    assert_eq!(
        content(&Client::connect(server.address).ask(post("/c/length", "body"))),
        (200, "4"),
        "others have room"
    );
    let (response, mut sending) = held.pop().expect("there are 16");
    sending.send_data(Bytes::from_static(b"b"), true).expect("the stream lives");
    assert_eq!(content(&client.wait(read(response))), (200, &*BODY.to_string()));
    assert_eq!(small(), 200, "there is room again");
}
