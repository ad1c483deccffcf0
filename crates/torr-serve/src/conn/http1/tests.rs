//! Requests that arrive in any pieces have the responses that they have when each comes alone and whole.

use super::{Handled, Http1, Part};
use crate::app::App;
use crate::conn::context::{EngineContext, ServerContext};
use crate::conn::next::Next;
use crate::message::response::{Response, SMALL};
use crate::settings::Settings;
use bytes::Bytes;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use std::task::{Poll, Waker};

const MAX_BODY: u64 = 100;
const PATHS: &[&str] =
    &["/short", "/middling", "/long", "/pieces", "/nothing", "/wait", "/at/once", "/nowhere", "/echo"];
/// Sent in a piece of its own, after its head.
static LONG: [u8; SMALL + 1] = [b'l'; SMALL + 1];
/// Two of these are enough output for one go.
static MIDDLING: [u8; 40_000] = [b'm'; 40_000];

fn app() -> App {
    App::new()
        .get("/short", |_| Response::html("short"))
        .get("/middling", |_| Response::text(&MIDDLING[..]))
        .get("/long", |_| Response::text(&LONG[..]))
        .get("/pieces", |_| Response::pieces("a/b", 7, std::iter::repeat(Bytes::from_static(b"abc"))))
        .get("/nothing", |_| Response::new(204))
        .get("/split", |_| Response::ok("a/b\r\nX-Split: yes\r\n\r\nHTTP/1.1 200 OK", "split"))
        .get("/last", |_| Response::text("last").closing())
        .get_async("/at/once", |_| async { Response::text("at once") })
        .get_async("/wait", |_| {
            let mut turns = 0;
            std::future::poll_fn(move |_| {
                turns += 1;
                if turns < 3 { Poll::Pending } else { Poll::Ready(Response::text("waited")) }
            })
        })
        .post("/echo", |request| Response::text(request.body().to_vec()))
}

fn settings() -> Settings {
    Settings { max_body: MAX_BODY, max_head: 1_000, ..Settings::default() }
}

fn wake() -> Waker {
    Waker::noop().clone()
}

/// One connection, up to its end. Gives all its output, and whether it has ended.
fn output(pieces: &[&[u8]], cx: &EngineContext) -> (Vec<u8>, bool) {
    let (mut http, mut out) = (Http1::default(), Vec::new());
    for piece in pieces {
        let mut handled = http.receive(piece, cx, wake, &mut out);
        loop {
            let next = match handled {
                Handled::Done(Next::Receive) => break,
                Handled::Pending(mut future, pending) => {
                    let waker = &mut std::task::Context::from_waker(Waker::noop());
                    let response = loop {
                        if let Poll::Ready(response) = future.as_mut().poll(waker) {
                            break response;
                        }
                    };
                    handled = http.respond(response, pending, cx, &mut out);
                    continue;
                }
                Handled::Body(mut body, next) => loop {
                    let mut part = Vec::new();
                    match body.fill(&mut part) {
                        Poll::Ready(Ok(_)) if part.is_empty() => break next,
                        Poll::Ready(Ok(_)) => out.append(&mut part),
                        other => unreachable!("the handlers here give what they announce: {other:?}"),
                    }
                },
                Handled::Done(next) => next,
            };
            if next != Next::Continue {
                return (out, true);
            }
            handled = http.receive(&[], cx, wake, &mut out);
        }
        assert!(!http.has_backlog(), "it asks for more with requests to handle");
    }
    (out, false)
}

/// Runs with what a connection needs.
fn with_context<T>(run: impl FnOnce(&mut EngineContext) -> T) -> T {
    let (_threads, shared) = ServerContext::alone(app(), settings()).expect("there is memory");
    run(&mut EngineContext::new(shared, 0).expect("a descriptor is free"))
}

fn request() -> impl Strategy<Value = Vec<u8>> {
    let plain = (select(&["GET", "HEAD", "PUT", "BREW"][..]), select(PATHS), select(&["", "A: b\r\n"][..]));
    let plain = plain.prop_map(|(method, path, field)| format!("{method} {path} HTTP/1.1\r\nHost: x\r\n{field}\r\n"));
    let old = select(PATHS).prop_map(|path| format!("GET {path} HTTP/1.0\r\nConnection: keep-alive\r\n\r\n"));
    let content = prop_oneof![
        vec(any::<u8>(), 0..40),
        select(&["\r\n\r\n", "0\r\n\r\n", "GET / HTTP/1.1\r\n\r\n"][..]).prop_map(Vec::from)
    ];
    let head = |framing: &str| format!("POST /echo HTTP/1.1\r\nHost: x\r\n{framing}\r\n\r\n").into_bytes();
    let sized = content.clone().prop_map(move |content| {
        let mut request = head(&format!("Content-Length: {}", content.len()));
        request.extend(content);
        request
    });
    let trailers = select(&["", "Sum: 1\r\n", "Content-Length: 3\r\nB:\r\n"][..]);
    let chunked = (vec((content, select(&["", ";a", " ;a=\"b;c\""][..])), 0..3), trailers);
    let chunked = chunked.prop_map(move |(chunks, trailers)| {
        let mut request = head("Transfer-Encoding: chunked");
        for (content, extension) in chunks.into_iter().filter(|(content, _)| !content.is_empty()) {
            request.extend(format!("{:x}{extension}\r\n", content.len()).into_bytes());
            request.extend(content);
            request.extend(b"\r\n");
        }
        request.extend(format!("0\r\n{trailers}\r\n").into_bytes());
        request
    });
    let blank = Just(b"\r\nOPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n".to_vec());
    prop_oneof![4 => plain.prop_map(Vec::from), 1 => old.prop_map(Vec::from), 2 => sized, 2 => chunked, 1 => blank]
}

/// Returns the end of a connection's bytes, after which nothing would be read.
fn end() -> impl Strategy<Value = Vec<u8>> {
    let too_long = MAX_BODY + 1;
    let ends = [
        "".to_owned(),
        "GET /last HTTP/1.1\r\nHost: x\r\n\r\n".into(),
        "GET /short HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".into(),
        "GET /wait HTTP/1.0\r\n\r\n".into(),
        "GET /long HTTP/1.0\r\n\r\n".into(),
        "GET /short HTTP/1.1\r\n\r\n".into(),
        "GET /short HTTP/2.0\r\nHost: x\r\n\r\n".into(),
        "nonsense\r\n\r\n".into(),
        "POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip, chunked\r\n\r\n".into(),
        "POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nabc\r\n".into(),
        format!("POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: {too_long}\r\n\r\n"),
        format!(
            "POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n{too_long:x}\r\n{}",
            "a".repeat(101)
        ),
    ];
    select(ends.to_vec()).prop_map(Vec::from)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(150) })]

    #[test]
    fn any_split_of_pipelined_requests_gives_the_same_responses(
        requests in vec(request(), 0..12),
        end in end(),
        cuts in vec(any::<Index>(), 0..10),
    ) {
        with_context(|cx| {
            let mut expected = (Vec::new(), false);
            for request in requests.iter().chain([&end]) {
                let (out, ended) = output(&[request], cx);
                expected.0.extend(out);
                expected.1 = ended;
            }
            let wire = [requests.concat(), end].concat();
            let mut cuts: Vec<_> = cuts.iter().map(|index| index.index(wire.len() + 1)).collect();
            cuts.extend([0, wire.len()]);
            cuts.sort_unstable();
            let split: Vec<_> = cuts.windows(2).map(|pair| &wire[pair[0]..pair[1]]).collect();
            let bytewise: Vec<_> = wire.chunks(1).collect();
            for pieces in [&[&*wire][..], &split, &bytewise] {
                let got = output(pieces, cx);
                let text = |out: &(Vec<u8>, bool)| String::from_utf8_lossy(&out.0).replace("\r\n", "\n");
                prop_assert!(
                    got == expected,
                    "{} in {} pieces, ended: {}, not {}\n{:.2000}\ninstead of\n{:.2000}",
                    wire.escape_ascii(), pieces.len(), got.1, expected.1, text(&got), text(&expected),
                );
            }
            Ok(())
        })?;
    }
}

#[test]
fn the_properties_requests_are_what_they_seem() {
    with_context(|cx| {
        for (request, line, ended) in [
            ("GET /short HTTP/1.1\r\nHost: x\r\n\r\n", "HTTP/1.1 200 OK", false),
            ("GET /wait HTTP/1.1\r\nHost: x\r\n\r\n", "HTTP/1.1 200 OK", false),
            ("GET /long HTTP/1.0\r\n\r\n", "HTTP/1.1 200 OK", true),
            ("BREW /short HTTP/1.1\r\nHost: x\r\n\r\n", "HTTP/1.1 501 Not Implemented", false),
            ("GET /last HTTP/1.1\r\nHost: x\r\n\r\n", "HTTP/1.1 200 OK", true),
            ("GET /short HTTP/1.1\r\n\r\n", "HTTP/1.1 400 Bad Request", true),
            ("POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 101\r\n\r\n", "HTTP/1.1 413 Payload Too Large", true),
            ("POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n", "", false),
        ] {
            let (out, has_ended) = output(&[request.as_bytes()], cx);
            let text = String::from_utf8_lossy(&out);
            assert_eq!((text.lines().next().unwrap_or_default(), has_ended), (line, ended), "{request:?}: {text}");
        }
    });
}

#[test]
fn parts_of_a_request_are_distinguished() {
    with_context(|cx| {
        for (pieces, part) in [
            (&[""][..], Part::Nothing),
            (&["GET /short HTTP/1.1\r\nHost: x\r\n\r\n"], Part::Nothing),
            (&["\r\n", "\r"], Part::Nothing),
            (&["\r\nG"], Part::Head),
            (&["GET /short HTTP/1.1\r\nHost: x\r\n", "\r"], Part::Head),
            (&["GET /short HTTP/1.1\r\nHost: x\r\n", "\r\n\r\n"], Part::Nothing),
            (&["POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n"], Part::Content),
            (&["POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n", "a"], Part::Content),
            (&["POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n", "ab"], Part::Nothing),
        ] {
            let mut http = Http1::default();
            for piece in pieces {
                let handled = http.receive(piece.as_bytes(), cx, wake, &mut Vec::new());
                assert!(matches!(handled, Handled::Done(Next::Receive)), "{pieces:?}");
            }
            assert_eq!(http.part(), part, "{pieces:?}");
        }
    });
}

#[test]
fn a_body_that_is_too_large_is_refused_before_a_later_fault() {
    with_context(|cx| {
        let chunked = "POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n";
        let body = format!("65\r\n{}", "a".repeat(101));
        for more in ["", "\r\n0\r\n\r\n", "nonsense"] {
            let wire = format!("{chunked}{body}{more}");
            for size in [1, wire.len()] {
                let pieces: Vec<_> = wire.as_bytes().chunks(size).collect();
                let (out, _) = output(&pieces, cx);
                assert!(out.starts_with(b"HTTP/1.1 413 "), "{more:?} in pieces of {size}: {}", out.escape_ascii());
            }
        }
    });
}

#[test]
fn a_content_type_adds_no_field_and_no_response() {
    with_context(|cx| {
        let (out, _) = output(&[b"GET /split HTTP/1.1\r\nHost: x\r\n\r\n"], cx);
        let text = String::from_utf8_lossy(&out);
        assert!(text.contains("\r\nContent-Type: application/octet-stream\r\n"), "{text}");
        assert!(!text.contains("X-Split") && text.matches("HTTP/1.1").count() == 1, "{text}");
    });
}

/// Each of them makes the rest wait.
#[test]
fn requests_that_wait_behind_one_another_are_copied_once() {
    with_context(|cx| {
        let (mut http, mut out) = (Http1::default(), Vec::new());
        let wire = "GET /wait HTTP/1.1\r\nHost: x\r\n\r\n".repeat(8_000);
        let (mut handled, mut responses) = (http.receive(wire.as_bytes(), cx, wake, &mut out), 0);
        loop {
            handled = match handled {
                Handled::Pending(_, pending) => http.respond(Response::text("waited"), pending, cx, &mut out),
                Handled::Done(Next::Continue) => http.receive(&[], cx, wake, &mut out),
                Handled::Done(Next::Receive) => break,
                _ => unreachable!("all of them wait"),
            };
            responses += usize::from(!out.is_empty());
            out.clear();
        }
        assert_eq!(responses, 8_000);
        assert!(http.input.copied <= 2 * wire.len(), "{} bytes for {}", http.input.copied, wire.len());
    });
}

#[test]
fn responses_to_many_requests_come_in_portions() {
    with_context(|cx| {
        let (mut http, mut out) = (Http1::default(), Vec::new());
        let mut handled =
            http.receive("GET /middling HTTP/1.1\r\nHost: x\r\n\r\n".repeat(9).as_bytes(), cx, wake, &mut out);
        let mut portions = Vec::new();
        while matches!(handled, Handled::Done(Next::Continue)) {
            portions.push(std::mem::take(&mut out).len() / MIDDLING.len());
            handled = http.receive(&[], cx, wake, &mut out);
        }
        portions.push(out.len() / MIDDLING.len());
        assert_eq!(portions, [2, 2, 2, 2, 1]);
    });
}

#[test]
fn a_server_that_leaves_says_so_with_its_next_response() {
    with_context(|cx| {
        let mut out = Vec::new();
        cx.leaving = true;
        let request = "GET /short HTTP/1.1\r\nHost: x\r\n\r\n";
        let handled = Http1::default().receive(request.repeat(2).as_bytes(), cx, wake, &mut out);
        assert!(matches!(handled, Handled::Done(Next::Linger)));
        let text = String::from_utf8_lossy(&out);
        assert!(text.contains("\r\nConnection: close\r\n") && text.matches("HTTP/1.1 200 OK").count() == 1, "{text}");
    });
}
