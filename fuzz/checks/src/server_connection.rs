//! A server's connection: requests in any pieces, with handlers of any duration, have the same responses,
//! and a client can read them.
//!
//! Option: bit 0 says that the server is leaving, bit 1 that the client runs into a time-out at the end. A marked
//! piece arrives before a handler that is waited for has its response.

use crate::input::{Input, Piece};
use bytes::Bytes;
use memchr::memmem;
use std::future::poll_fn;
use std::sync::LazyLock;
use std::task::Poll;
use torr_serve::fuzzing::{Connection, Next, Server};
use torr_serve::{App, Request, Response, Settings};
use torr_wire::response::{Response as WireResponse, ResponseReader};

/// Sent in pieces of its own, after its head.
static LONG: [u8; 64 * 1024 + 1] = [b'l'; 64 * 1024 + 1];
/// A few of these are enough for one go.
static MIDDLING: [u8; 20_000] = [b'm'; 20_000];
/// The most that is to be sent at a time: as much as is enough, the response that makes it more, and heads.
const MOST: usize = 64 * 1024 + LONG.len() + 1024;
const INTERIM: &[u8] = b"HTTP/1.1 100 Continue\r\n\r\n";

static SERVER: LazyLock<Server> = LazyLock::new(|| {
    // Limits that short inputs reach.
    let mut settings = Settings::default();
    (settings.max_head, settings.max_headers, settings.max_body) = (300, 5, 100);
    Server::new(app(), settings)
});

fn app() -> App {
    App::new()
        .get("/", |request| Response::html(describe(request)))
        .post("/", |request| Response::text(describe(request)))
        .get("/of/{name}", |request| Response::text(format!("{:?}", request.param("name"))))
        .get("/long", |_| Response::text(&LONG[..]))
        .get("/middling", |_| Response::text(&MIDDLING[..]))
        .get("/pieces", |_| Response::pieces("a/b", 7, std::iter::repeat(Bytes::from_static(b"abc"))))
        .get("/nothing", |_| Response::new(204))
        .get("/last", |_| Response::text("last").closing())
        .get_async("/wait", |request| {
            let (text, mut was_pending) = (describe(request), false);
            poll_fn(move |_| match std::mem::replace(&mut was_pending, true) {
                false => Poll::Pending,
                true => Poll::Ready(Response::text(text.clone())),
            })
        })
}

/// All that a handler sees of a request, without line ends.
fn describe(request: &Request<'_>) -> String {
    let headers: Vec<_> = request.headers().map(|(name, value)| (name, value.escape_ascii().to_string())).collect();
    let body = request.body().escape_ascii();
    format!("{} {} {:?} {headers:?} {body}", request.method(), request.path(), request.query())
}

/// What a connection gave: its output without interim responses, which depend on when a body comes, and how it ended.
#[derive(PartialEq)]
struct Got {
    out: Vec<u8>,
    end: Next,
}

/// Checks one input.
pub fn check(bytes: &[u8]) {
    let input = Input::new(bytes);
    let whole = serve(&input.whole(), input.option);
    let got = serve(&input.pieces(), input.option);
    let text = |got: &Got| format!("{:?} after {:.2000}", got.end, got.out.escape_ascii().to_string());
    assert!(got == whole, "in pieces: {}\nas a whole: {}", text(&got), text(&whole));
    // The reader of the responses to HEAD must know which they are.
    if !input.wire.windows(4).any(|word| word == b"HEAD") {
        let responses = read(&whole.out);
        let ended = matches!(whole.end, Next::Close | Next::Linger);
        let said = responses.iter().position(|response| !response.keep_alive).map(|last| last + 1);
        let last = ended.then_some(responses.len());
        assert_eq!(said, last, "which response announces the end: {}", text(&whole));
    }
}

/// One connection, up to its end. Without one, all that arrived has been dealt with.
fn serve(pieces: &[Piece<'_>], option: u8) -> Got {
    let leaving = option & 1 == 1;
    let (mut connection, mut out, mut next) = (Connection::new(&SERVER, leaving), Vec::new(), Next::Receive);
    let mut arrived = Vec::new();
    for Piece { bytes, marked } in pieces {
        arrived.extend_from_slice(bytes);
        if !(*marked && next == Next::Wait) {
            next = work(&mut connection, next, &mut arrived, &mut out);
        }
    }
    while next == Next::Wait {
        next = work(&mut connection, next, &mut arrived, &mut out);
    }
    if next == Next::Receive && option & 2 == 2 && !leaving {
        next = connection.time_out(&mut out).unwrap_or(next);
    }
    Got { out: without_interim(&out), end: next }
}

/// Does what is to be done, up to where more must arrive or a handler be waited for.
fn work(connection: &mut Connection, mut next: Next, arrived: &mut Vec<u8>, out: &mut Vec<u8>) -> Next {
    loop {
        let before = out.len();
        next = match next {
            Next::Wait => connection.respond(out).expect("a handler has its response when it is polled again"),
            Next::Continue if connection.is_behind() => connection.receive(&[], out),
            Next::Continue | Next::Receive => {
                assert!(!connection.is_behind(), "it asks for more with requests to answer");
                if arrived.is_empty() {
                    return Next::Receive;
                }
                connection.receive(&std::mem::take(arrived), out)
            }
            Next::Close | Next::Linger | Next::HandOver => return next,
        };
        assert!(out.len() - before <= MOST, "{} bytes at a time", out.len() - before);
        if next == Next::Wait {
            return next;
        }
    }
}

/// Nothing that a handler sends looks like one.
fn without_interim(out: &[u8]) -> Vec<u8> {
    let (mut at, mut all) = (0, Vec::with_capacity(out.len()));
    for interim in memmem::find_iter(out, INTERIM) {
        all.extend_from_slice(&out[at..interim]);
        at = interim + INTERIM.len();
    }
    all.extend_from_slice(&out[at..]);
    all
}

/// Reads responses as a client.
fn read(mut out: &[u8]) -> Vec<WireResponse> {
    let (mut reader, mut responses) = (ResponseReader::default(), Vec::new());
    while !out.is_empty() {
        match reader.read(out, false) {
            Ok((used, Some(response))) => {
                responses.push(response);
                out = &out[used..];
            }
            Ok((_, None)) => panic!("an answer without end: {}", out.escape_ascii()),
            Err(error) => panic!("no answer: {error}: {}", out.escape_ascii()),
        }
    }
    responses
}
