//! The load side's HTTP/2 (RFC 9113): whatever frames a server sends and in whatever pieces, each request ends once, all that is
//! sent is HTTP/2, the windows of the server are respected, and the next connection begins anew.
//!
//! Option: bit 0 gives requests a body, bit 1 makes them HEAD, bit 2 checks the content of responses, which may be compressed.
//! At the end of a marked piece one request is cancelled. The bytes of the connection are those of frames: see `frames`.

use crate::input::{Input, Piece};
use std::collections::BTreeSet;
use std::sync::LazyLock;
use torr_gauge::Failure;
use torr_press::checks::Check;
use torr_press::request::{Body, Data, Options};
use torr_press::{Http2, InFlight, Inspection, Protocol, ProtocolEvent, Requests, Source, Target};

type ThreadState = <Http2<'static> as Protocol>::ThreadState;

/// What a connection begins with (RFC 9113, section 3.4).
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
/// The length of a frame's header.
const HEADER: usize = 9;
const DATA: u8 = 0;
const HEADERS: u8 = 1;
const RST_STREAM: u8 = 3;
const SETTINGS: u8 = 4;
const GOAWAY: u8 = 7;
const WINDOW_UPDATE: u8 = 8;
const CONTINUATION: u8 = 9;
/// Requests in flight at the start of a connection.
const FIRST: usize = 3;
/// Requests of one connection in all, so that a run has an end.
const MOST: usize = 40;
/// The content of a request that has any, in bytes: more than the first window.
const CONTENT: usize = 70_000;
/// Settings, then a response to the first request: `:status: 200`.
const GOOD: &[u8] = b"\0\0\0\x04\0\0\0\0\0\0\0\x01\x01\x05\0\0\0\x01\x88";

static TARGET: LazyLock<Target> = LazyLock::new(|| Target::parse("http://a.test/x").expect("it is a URL"));
static CHECKED: LazyLock<Inspection> = LazyLock::new(|| {
    let check = Check::body("abc").expect("it is a check");
    Inspection { checks: vec![check], ..Inspection::default() }
});
static UNCHECKED: LazyLock<Inspection> = LazyLock::new(Inspection::default);

/// All that a connection gave.
#[derive(Debug, PartialEq)]
struct Got {
    events: Vec<ProtocolEvent>,
    out: Vec<u8>,
    /// Why the connection was given up.
    broken: Option<Failure>,
    end: Result<Option<ProtocolEvent>, Failure>,
}

/// Checks one input.
pub fn check(bytes: &[u8]) {
    let mut input = Input::binary(bytes);
    input.wire = frames(&input.wire);
    let method = if input.option & 2 == 2 { "HEAD" } else { "POST" };
    let body = (input.option & 1 == 1).then(|| Body::Data(vec![Data::Plain(vec![b'b'; CONTENT])]));
    let options = Options { method: Some(method.into()), body, ..Options::default() };
    let requests = Requests::new(&[TARGET.clone().into()], &options).expect("it is a request");
    let inspection: &Inspection = if input.option & 4 == 4 { &CHECKED } else { &UNCHECKED };
    let new = || (Http2::inspected_by(inspection, &TARGET), ThreadState::default());

    let (mut session, mut shared) = new();
    let whole = connect(&mut session, &mut shared, &requests, &input.at_marks());
    look_through(&whole, &input.wire);
    let (mut used, mut used_shared) = new();
    let got = connect(&mut used, &mut used_shared, &requests, &input.pieces());
    assert_eq!(got, whole, "in pieces");
    // How often a connection was of no use is remembered, until one is.
    connect(&mut used, &mut used_shared, &requests, &[Piece { bytes: GOOD, marked: false }]);
    let again = connect(&mut used, &mut used_shared, &requests, &input.pieces());
    assert_eq!(again, whole, "a connection depends on those before it");
}

/// The bytes of frames. A first byte below 16 is a frame's type; its flags, stream, length, and payload follow. A length of
/// 255 is one of 256 times the byte behind it. Any other first byte is a number of bytes that stand for themselves, of 16 less
/// than it, up to 63.
fn frames(mut script: &[u8]) -> Vec<u8> {
    let mut wire = Vec::new();
    loop {
        let payload;
        match script {
            [kind @ ..16, flags, stream, 255, times, rest @ ..] => {
                (payload, script) = rest.split_at(rest.len().min(usize::from(*times) * 256));
                header(payload.len(), *kind, *flags, *stream, &mut wire);
            }
            [kind @ ..16, flags, stream, length, rest @ ..] => {
                (payload, script) = rest.split_at(rest.len().min(usize::from(*length)));
                header(payload.len(), *kind, *flags, *stream, &mut wire);
            }
            [..16, ..] | [] => return wire,
            [length, rest @ ..] => {
                (payload, script) = rest.split_at(rest.len().min(usize::from(length - 16) % 64));
            }
        }
        wire.extend_from_slice(payload);
    }
}

fn header(length: usize, kind: u8, flags: u8, stream: u8, wire: &mut Vec<u8>) {
    wire.extend_from_slice(&(length as u32).to_be_bytes()[1..]);
    wire.extend_from_slice(&[kind, flags, 0, 0, 0, stream]);
}

/// One connection from its beginning to its end.
fn connect(session: &mut Http2<'_>, shared: &mut ThreadState, requests: &Requests, pieces: &[Piece<'_>]) -> Got {
    let (mut events, mut out, mut broken) = (Vec::new(), Vec::new(), None);
    let mut cursor = Source::Requests(requests.cursor(0, 1));
    session.open(&mut out);
    // The keys of requests in flight, and how many there have been.
    let (mut in_flight, mut begun) = (BTreeSet::new(), 0);
    let mut begin =
        |session: &mut Http2<'_>, shared: &mut ThreadState, in_flight: &mut BTreeSet<u32>, out: &mut Vec<u8>| {
            while in_flight.len() < FIRST && begun < MOST && session.has_room() {
                session.start(shared, begun as u32, &mut cursor, out);
                in_flight.insert(begun as u32);
                begun += 1;
            }
        };
    begin(session, shared, &mut in_flight, &mut out);
    'connection: for &Piece { bytes, marked } in pieces {
        let mut piece = bytes.to_vec();
        let mut rest = &mut piece[..];
        loop {
            let state = InFlight { count: in_flight.len(), oldest_is_head: false, failed_response: None };
            match session.receive(shared, rest, 7, state, &mut out) {
                Ok((used, Some(one))) => {
                    let (ProtocolEvent::Failed(key, _) | ProtocolEvent::Unprocessed(key)) = one.clone() else {
                        let ProtocolEvent::Response(completed) = one else { unreachable!("the two others are above") };
                        assert!(in_flight.remove(&completed.key), "a response to nothing: {completed:?}");
                        assert!((200..1000).contains(&completed.response.status), "{completed:?}");
                        events.push(ProtocolEvent::Response(completed));
                        rest = &mut rest[used..];
                        begin(session, shared, &mut in_flight, &mut out);
                        continue;
                    };
                    assert!(in_flight.remove(&key), "an end of nothing: {one:?}");
                    events.push(one);
                    rest = &mut rest[used..];
                    begin(session, shared, &mut in_flight, &mut out);
                }
                Ok((used, None)) => {
                    assert_eq!(used, rest.len(), "bytes are left");
                    break;
                }
                Err(failure) => {
                    broken = Some(failure);
                    break 'connection;
                }
            }
        }
        if marked
            && let Some(&key) = in_flight.first()
            && session.cancel(shared, key, &mut out)
        {
            in_flight.remove(&key);
            begin(session, shared, &mut in_flight, &mut out);
        }
    }
    let end = if broken.is_none() { session.server_closed() } else { Ok(None) };
    Got { events, out, broken, end }
}

/// All that was sent is HTTP/2, within what the server has allowed.
fn look_through(got: &Got, wire: &[u8]) {
    let sent = got.out.strip_prefix(PREFACE).expect("the preface comes first");
    let sent: Vec<_> = split(sent).collect();
    let mut length = PREFACE.len();
    let (mut last, mut ended, mut reset, mut content) = (0, BTreeSet::new(), BTreeSet::new(), 0);
    let mut open_block = None;
    for (at, frame) in sent.iter().enumerate() {
        length += HEADER + frame.payload.len();
        assert!(at > 0 || frame.kind == SETTINGS, "settings come first: {frame:?}");
        assert!(open_block.is_none_or(|stream| (CONTINUATION, stream) == (frame.kind, frame.stream)), "{frame:?}");
        match frame.kind {
            HEADERS => {
                assert!(frame.stream > last && frame.stream % 2 == 1, "a stream out of order: {frame:?}");
                last = frame.stream;
            }
            DATA => {
                assert!(frame.stream <= last && !reset.contains(&frame.stream), "{frame:?}");
                content += frame.payload.len() as u64;
            }
            RST_STREAM => assert!(frame.stream <= last && reset.insert(frame.stream), "{frame:?}"),
            GOAWAY => assert!(at + 1 == sent.len() && got.broken.is_some(), "{frame:?}"),
            _ => {}
        }
        if [HEADERS, CONTINUATION].contains(&frame.kind) {
            open_block = (frame.flags & 4 == 0).then_some(frame.stream);
        }
        if [HEADERS, DATA].contains(&frame.kind) {
            assert!(!ended.contains(&frame.stream), "a frame behind the end: {frame:?}");
            if frame.flags & 1 == 1 {
                ended.insert(frame.stream);
            }
        }
    }
    assert_eq!(length, got.out.len(), "whole frames are sent");
    let widened: u64 = split(wire)
        .filter(|frame| (frame.kind, frame.stream, frame.payload.len()) == (WINDOW_UPDATE, 0, 4))
        .map(|frame| u64::from(u32::from_be_bytes([0, 1, 2, 3].map(|at| frame.payload[at])) & i32::MAX as u32))
        .sum();
    assert!(content <= 65_535 + widened, "{content} bytes of content, with a window widened by {widened}");
    assert_eq!(got.broken.is_some(), sent.last().is_some_and(|frame| frame.kind == GOAWAY), "the last frame says why");
}

/// A frame as it stands on the wire.
#[derive(Debug)]
struct Frame<'w> {
    kind: u8,
    flags: u8,
    stream: u32,
    payload: &'w [u8],
}

/// The whole frames at the front of these bytes.
fn split(mut bytes: &[u8]) -> impl Iterator<Item = Frame<'_>> {
    std::iter::from_fn(move || {
        let (&[a, b, c, kind, flags, d, e, f, g], rest) = bytes.split_first_chunk::<HEADER>()?;
        let (payload, rest) = rest.split_at_checked(u32::from_be_bytes([0, a, b, c]) as usize)?;
        bytes = rest;
        Some(Frame { kind, flags, stream: u32::from_be_bytes([d, e, f, g]) & i32::MAX as u32, payload })
    })
}
