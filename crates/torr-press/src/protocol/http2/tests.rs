//! Whole conversations, without a socket.

mod calls;

use super::frame::{Head, flag, setting};
use super::*;
use crate::protocol::ReceivedResponse;
use crate::request::{Body, Data, Options, Requests};
use crate::work::source::Source;
use std::num::NonZero;
use torr_gauge::FailureKind;
use torr_wire::response::Response;

/// `:status: 200`, packed.
const OK: &[u8] = b"\x88";

/// A client under test, and what it says.
struct Talk {
    session: Http2<'static>,
    packed: Packed,
    request: Requests,
    said: Vec<u8>,
    next_key: u32,
}

impl Talk {
    fn new(method: &str, body: Option<&[u8]>) -> Self {
        let target = Target::parse("http://a.test/x").unwrap();
        let body = body.map(|body| Body::Data(vec![Data::Plain(body.to_vec())]));
        let headers = ["accept:", "user-agent:", "content-type:"].map(str::to_owned).to_vec();
        let options = Options { method: Some(method.into()), headers, body, ..Options::default() };
        let request = Requests::new(&[target.into()], &options).unwrap();
        let mut talk =
            Self { session: Http2::new(None, None), packed: Packed::default(), request, said: Vec::new(), next_key: 0 };
        talk.open();
        talk
    }

    /// A GET, to a server that has said its settings.
    fn get() -> Self {
        Self::to(&[])
    }

    fn to(settings: &[(u16, u32)]) -> Self {
        let mut talk = Self::new("GET", None);
        talk.greet(settings);
        talk
    }

    fn open(&mut self) {
        self.said.clear();
        self.session.open(&mut self.said);
        assert!(self.said.starts_with(HTTP2_PREFACE));
        self.said.drain(..HTTP2_PREFACE.len());
        let first: Vec<_> = self.said().iter().map(|(head, _)| head.kind).collect();
        assert_eq!(first, [kind::SETTINGS, kind::WINDOW_UPDATE]);
    }

    fn greet(&mut self, settings: &[(u16, u32)]) {
        let mut bytes = Vec::new();
        frame::settings(settings, &mut bytes);
        assert_eq!(self.hear(&bytes), Ok(vec![]));
        let is_ack = |(head, _): &(Head, _)| (head.kind, head.flags) == (kind::SETTINGS, flag::ACK);
        assert!(self.said().iter().any(is_ack), "settings are acknowledged");
    }

    /// Starts a request, if there is room, and gives its key.
    fn start(&mut self) -> Option<u32> {
        if !self.session.has_room() {
            return None;
        }
        self.next_key += 1;
        self.session.start(
            &mut self.packed,
            self.next_key,
            &mut Source::Requests(self.request.cursor(0, 1)),
            &mut self.said,
        );
        Some(self.next_key)
    }

    fn hear(&mut self, bytes: &[u8]) -> Result<Vec<ProtocolEvent>, Failure> {
        let (mut input, mut all, mut taken) = (bytes.to_vec(), Vec::new(), 0);
        loop {
            let in_flight = InFlight { count: 0, oldest_is_head: false, failed_response: None };
            let (used, next) =
                self.session.receive(&mut self.packed, &mut input[taken..], 7, in_flight, &mut self.said)?;
            taken += used;
            match next {
                Some(next) => all.push(next),
                None => {
                    assert_eq!(taken, bytes.len(), "all of it is taken");
                    return Ok(all);
                }
            }
        }
    }

    /// Returns the frames that were sent since the call before.
    fn said(&mut self) -> Vec<(Head, Vec<u8>)> {
        let (mut frames, mut at) = (Vec::new(), 0);
        while let Some(head) = Head::read(&self.said[at..]) {
            let end = at + frame::HEAD + head.len;
            frames.push((head, self.said[at + frame::HEAD..end].to_vec()));
            at = end;
        }
        assert_eq!(at, self.said.len(), "whole frames are said");
        self.said.clear();
        frames
    }

    /// The code of the last words.
    fn last_words(&mut self) -> Code {
        let (head, payload) = self.said().pop().expect("something was said");
        assert_eq!(head.kind, kind::GOAWAY);
        Code(u32::from_be_bytes(payload[4..].try_into().unwrap()))
    }

    /// The stream and code of the reset that was the last thing said.
    fn last_reset(&mut self) -> (u32, Code) {
        let (head, payload) = self.said().pop().expect("something was said");
        assert_eq!(head.kind, kind::RST_STREAM);
        (head.stream, Code(frame::read_number(&payload).unwrap()))
    }
}

fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    Head { len: payload.len(), kind, flags, stream }.write(&mut out);
    out.extend_from_slice(payload);
    out
}

fn head(stream: u32, end: bool, block: &[u8]) -> Vec<u8> {
    frame(kind::HEADERS, flag::END_HEADERS | u8::from(end), stream, block)
}

fn data(stream: u32, end: bool, content: &[u8]) -> Vec<u8> {
    frame(kind::DATA, u8::from(end), stream, content)
}

fn number(kind: u8, stream: u32, number: u32) -> Vec<u8> {
    frame(kind, 0, stream, &number.to_be_bytes())
}

fn goaway(last: u32, code: Code) -> Vec<u8> {
    frame(kind::GOAWAY, 0, 0, &[last.to_be_bytes(), code.0.to_be_bytes()].concat())
}

fn completed(key: u32, status: u16, body: u64) -> ProtocolEvent {
    let response = Response { status, keep_alive: true, body };
    ProtocolEvent::Response(ReceivedResponse {
        key,
        first_byte: NonZero::new(7),
        response,
        failed_checks: 0,
        redirects: 0,
        ended_here: false,
    })
}

fn failed(events: &[ProtocolEvent]) -> (u32, FailureKind, String) {
    match events {
        [ProtocolEvent::Failed(key, failure)] => (*key, failure.kind, failure.what.to_string()),
        other => panic!("{other:?}"),
    }
}

#[test]
fn responses_in_any_order_and_any_pieces() {
    let mut bytes = head(3, false, b"\x88\x5c\x015");
    bytes.extend(head(1, false, b"\x48\x03103")); // an interim response
    bytes.extend(data(3, false, b"hel"));
    bytes.extend(frame(kind::PING, 0, 0, b"12345678"));
    bytes.extend(frame(kind::HEADERS, flag::PADDED | flag::PRIORITY, 1, b"\x02\0\0\0\0\x09\x8d\0\0"));
    bytes.extend(frame(kind::CONTINUATION, 0, 1, b"\x40\x01x"));
    bytes.extend(frame(kind::CONTINUATION, flag::END_HEADERS, 1, b"\x01y"));
    bytes.extend(frame(kind::DATA, flag::PADDED | flag::END_STREAM, 3, b"\x03lo\0\0\0"));
    bytes.extend(frame(0xbe, 0xff, 5, b"nobody knows"));
    bytes.extend(frame(kind::PRIORITY, 0, 99, &[0; 5]));
    bytes.extend(data(1, false, b"not found"));
    bytes.extend(head(1, true, b"\x40\x01t\x01z")); // after the body
    bytes.extend(head(5, true, b"\x89"));
    let expected = [completed(2, 200, 5), completed(1, 404, 9), completed(3, 204, 0)];
    for size in (1..40).chain([bytes.len()]) {
        let mut talk = Talk::get();
        assert_eq!([talk.start(), talk.start(), talk.start()], [Some(1), Some(2), Some(3)]);
        talk.said();
        let events: Vec<_> = bytes.chunks(size).flat_map(|piece| talk.hear(piece).unwrap()).collect();
        assert_eq!(events, expected, "in pieces of {size}");
        assert_eq!(talk.said(), [(Head { len: 8, kind: 6, flags: 1, stream: 0 }, b"12345678".to_vec())]);
        assert!(!talk.session.is_draining() && talk.session.server_closed() == Ok(None));
    }
}

#[test]
fn requests_give_indices_and_use_them() {
    let mut talk = Talk::new("POST", Some(b"body"));
    talk.start();
    talk.start();
    let said = talk.said();
    let first = b"\x83\x86\x41\x06a.test\x04\x02/x\x0f\x0d\x014";
    let second = b"\x83\x86\xbe\x04\x02/x\x0f\x0d\x014";
    for ((frame, payload), (stream, expected)) in said.iter().zip([(1, &first[..]), (3, second)]) {
        assert_eq!((frame.kind, frame.flags, frame.stream), (kind::HEADERS, flag::END_HEADERS, stream));
        assert_eq!(payload, expected);
    }
    assert_eq!(said.len(), 2, "bodies wait for the server's settings");
    // A server without a table is sent an update to size 0.
    talk.greet(&[(setting::HEADER_TABLE_SIZE, 0)]);
    talk.start();
    talk.start();
    let said = talk.said();
    let without = b"\x83\x86\x01\x06a.test\x04\x02/x\x0f\x0d\x014";
    assert_eq!(said[0].1, [&b"\x20"[..], without].concat());
    assert_eq!(said[2].1, without);
}

#[test]
fn large_content_is_written_in_pieces_however_large_the_windows_are() {
    let body: Vec<u8> = (0..3_000_000_u32).map(|n| (n / 11) as u8).collect();
    let mut talk = Talk::new("POST", Some(&body));
    talk.greet(&[(setting::INITIAL_WINDOW_SIZE, frame::MOST_WINDOW as u32)]);
    talk.hear(&frame(kind::WINDOW_UPDATE, 0, 0, &1_000_000_000_u32.to_be_bytes())).unwrap();
    assert_eq!([talk.start(), talk.start()], [Some(1), Some(2)]);
    let mut sent = [Vec::new(), Vec::new()];
    loop {
        let written = talk.said.len();
        assert!(written < 300_000, "{written} bytes at a time");
        for (head, payload) in talk.said() {
            if head.kind == kind::DATA {
                sent[head.stream as usize / 2].extend_from_slice(&payload);
            }
        }
        if !talk.session.has_more() {
            break;
        }
        assert!(written > 0, "nothing is left to be sent that would let it go on");
        // A window that opens while content waits adds nothing to it.
        talk.hear(&frame(kind::WINDOW_UPDATE, 0, 0, &1_u32.to_be_bytes())).unwrap();
        assert_eq!(talk.said().len(), 0);
        talk.session.write_more(&mut talk.packed, &mut talk.said).unwrap();
    }
    assert!(sent.iter().all(|sent| *sent == body), "{:?} of {} bytes", sent.map(|sent| sent.len()), body.len());
    assert_eq!(talk.session.uploads, 0);
}

#[test]
fn bodies_of_requests_wait_for_the_windows() {
    let sent = |talk: &mut Talk| -> Vec<(u32, usize, u8)> {
        let data = |(head, _): &(Head, _)| head.kind == kind::DATA;
        talk.said().iter().filter(|f| data(f)).map(|(head, _)| (head.stream, head.len, head.flags)).collect()
    };
    let mut talk = Talk::new("POST", Some(&[b'x'; 30]));
    talk.greet(&[(setting::INITIAL_WINDOW_SIZE, 10)]);
    talk.start();
    talk.start();
    assert_eq!(sent(&mut talk), [(1, 10, 0), (3, 10, 0)]);
    talk.hear(&number(kind::WINDOW_UPDATE, 3, 15)).unwrap();
    assert_eq!(sent(&mut talk), [(3, 15, 0)]);
    // The windows of streams in flight become smaller, below zero, and larger again.
    talk.greet(&[(setting::INITIAL_WINDOW_SIZE, 5)]);
    talk.hear(&number(kind::WINDOW_UPDATE, 1, 5)).unwrap();
    assert_eq!(sent(&mut talk), []);
    talk.hear(&number(kind::WINDOW_UPDATE, 1, 1)).unwrap();
    assert_eq!(sent(&mut talk), [(1, 1, 0)]);
    let mut settings = Vec::new();
    frame::settings(&[(setting::INITIAL_WINDOW_SIZE, 100)], &mut settings);
    talk.hear(&settings).unwrap();
    assert_eq!(sent(&mut talk), [(1, 19, 1), (3, 5, 1)]);
    // Nothing goes beyond the connection's window, and frames are no larger than the server takes.
    let mut talk = Talk::new("POST", Some(&[b'x'; 40_000]));
    talk.greet(&[(setting::INITIAL_WINDOW_SIZE, 1_000_000)]);
    talk.start();
    talk.start();
    assert_eq!(sent(&mut talk), [(1, 16384, 0), (1, 16384, 0), (1, 7232, 1), (3, 16384, 0), (3, 9151, 0)]);
    // Answered too early: the rest is not sent.
    assert_eq!(talk.hear(&head(3, true, OK)).unwrap(), [completed(2, 200, 0)]);
    assert_eq!(talk.last_reset(), (3, Code::CANCEL));
    talk.start();
    talk.hear(&number(kind::WINDOW_UPDATE, 0, 40_000)).unwrap();
    assert_eq!(sent(&mut talk), [(5, 16384, 0), (5, 16384, 0), (5, 7232, 1)]);
}

#[test]
fn what_is_received_is_given_back() {
    let mut talk = Talk::get();
    talk.start();
    talk.hear(&head(1, false, OK)).unwrap();
    talk.said();
    let piece = data(1, false, &[0; frame::MOST]);
    let mut given_back = [0u64; 2];
    for _ in 0..70_000 {
        talk.hear(&piece).unwrap();
        for (head, payload) in talk.said() {
            assert_eq!(head.kind, kind::WINDOW_UPDATE);
            given_back[head.stream as usize] += u64::from(frame::read_number(&payload).unwrap());
        }
    }
    let received = 70_000 * frame::MOST as u64;
    assert!(given_back.iter().all(|&by| by > received - u64::from(WINDOW)), "{given_back:?} of {received}");
    assert_eq!(talk.hear(&data(1, true, b"")).unwrap(), [completed(1, 200, received)]);
}

#[test]
fn no_more_streams_than_the_server_wants() {
    let mut talk = Talk::new("GET", None);
    assert_eq!((0..1000).filter(|_| talk.start().is_some()).count(), 100, "before its settings are known");
    let mut talk = Talk::to(&[(setting::MAX_CONCURRENT_STREAMS, 2)]);
    assert_eq!([talk.start(), talk.start(), talk.start()], [Some(1), Some(2), None]);
    talk.hear(&head(3, true, OK)).unwrap();
    assert_eq!([talk.start(), talk.start()], [Some(3), None]);
    talk.greet(&[(setting::MAX_CONCURRENT_STREAMS, 0)]);
    talk.hear(&[head(1, true, OK), head(5, true, OK)].concat()).unwrap();
    assert_eq!(talk.start(), None);
}

#[test]
fn streams_end_before_their_time() {
    let mut talk = Talk::get();
    (0..4).for_each(|_| _ = talk.start());
    let events = talk.hear(&number(kind::RST_STREAM, 3, Code::CANCEL.0)).unwrap();
    assert_eq!(failed(&events), (2, FailureKind::Read, "the server reset the stream: CANCEL".into()));
    // Refused beside two others: these come first.
    assert_eq!(
        talk.hear(&number(kind::RST_STREAM, 7, Code::REFUSED_STREAM.0)).unwrap(),
        [ProtocolEvent::Unprocessed(4)]
    );
    assert_eq!(talk.start(), None);
    talk.hear(&head(1, true, OK)).unwrap();
    assert_eq!(talk.start(), Some(5));
    // What is cancelled may still be on its way.
    assert!(
        talk.session.cancel(&mut talk.packed, 3, &mut talk.said)
            && !talk.session.cancel(&mut talk.packed, 3, &mut Vec::new())
    );
    assert_eq!(talk.last_reset(), (5, Code::CANCEL));
    assert_eq!(talk.hear(&[head(5, false, b"\x88\x40\x01x\x01y"), data(5, true, b"late")].concat()).unwrap(), []);
    // The late head has changed the table.
    assert_eq!(talk.hear(&head(9, true, b"\x88\xbe")).unwrap(), [completed(5, 200, 0)]);
    // Refused as the only one: it is not wanted.
    talk.start();
    let events = talk.hear(&number(kind::RST_STREAM, 11, Code::REFUSED_STREAM.0)).unwrap();
    assert_eq!(failed(&events), (6, FailureKind::Read, "the server reset the stream: REFUSED_STREAM".into()));
    assert_eq!(talk.start(), Some(7));
}

#[test]
fn connections_end_in_good_order() {
    let mut talk = Talk::get();
    (0..4).for_each(|_| _ = talk.start());
    assert_eq!(talk.hear(&goaway(i32::MAX as u32, Code::NO_ERROR)).unwrap(), []);
    assert!(talk.session.is_draining() && talk.start().is_none());
    let bytes = [goaway(3, Code::NO_ERROR), head(3, true, OK), head(1, true, OK)].concat();
    let events = talk.hear(&bytes).unwrap();
    assert_eq!(
        events,
        [ProtocolEvent::Unprocessed(3), ProtocolEvent::Unprocessed(4), completed(2, 200, 0), completed(1, 200, 0)]
    );
    assert_eq!(talk.session.server_closed(), Ok(None));
    assert_eq!(talk.hear(&head(5, true, OK)).unwrap(), [], "it had said that it would not");
    assert!(talk.hear(&goaway(5, Code::NO_ERROR)).is_err(), "the last stream never grows");
    // Retries to a server that refuses all requests end.
    talk.open();
    talk.start();
    talk.greet(&[]);
    assert_eq!(talk.hear(&goaway(0, Code::NO_ERROR)).unwrap(), [ProtocolEvent::Unprocessed(5)]);
    talk.open();
    talk.start();
    talk.greet(&[]);
    let events = talk.hear(&goaway(0, Code::NO_ERROR)).unwrap();
    assert_eq!(failed(&events), (6, FailureKind::Read, "the server closed the connection: NO_ERROR".into()));
    // One with a complaint fails what it leaves.
    talk.open();
    (0..2).for_each(|_| _ = talk.start());
    talk.greet(&[]);
    let events = talk.hear(&goaway(1, Code::ENHANCE_YOUR_CALM)).unwrap();
    assert_eq!(failed(&events), (8, FailureKind::Read, "the server closed the connection: ENHANCE_YOUR_CALM".into()));
    assert!(!talk.session.cancel(&mut talk.packed, 7, &mut Vec::new()), "nothing else can follow on it");
    assert!(talk.session.server_closed().unwrap_err().what.contains("ENHANCE_YOUR_CALM"));
    // Numbers of streams are used up one day.
    let mut talk = Talk::get();
    talk.session.next_stream = LAST_STREAM;
    assert_eq!([talk.start(), talk.start()], [Some(1), None]);
    assert!(talk.session.is_draining());
    assert_eq!(talk.hear(&head(LAST_STREAM, true, OK)).unwrap(), [completed(1, 200, 0)]);
}

#[test]
fn replies_are_paid_for_with_content() {
    let mut talk = Talk::get();
    talk.start();
    talk.hear(&head(1, false, OK)).unwrap();
    talk.said();
    let measured = [data(1, false, &[0; 2048]), frame(kind::PING, 0, 0, &[0; 8])].concat();
    for _ in 0..2 * MOST_CHATTER {
        assert_eq!(talk.hear(&measured), Ok(vec![]));
        assert_eq!(talk.said().len(), 1);
    }
}

#[test]
fn responses_without_a_body() {
    let mut talk = Talk::new("HEAD", None);
    talk.greet(&[]);
    (0..3).for_each(|_| _ = talk.start());
    let events =
        talk.hear(&[head(1, true, b"\x88\x5c\x0299"), head(3, false, b"\x8b\x5c\x0299"), data(3, true, b"")].concat());
    assert_eq!(events.unwrap(), [completed(1, 200, 0), completed(2, 304, 0)]);
    let events = talk.hear(&[head(5, false, OK), data(5, true, b"x")].concat()).unwrap();
    assert_eq!(failed(&events).1, FailureKind::Protocol);
}

#[test]
fn a_faulty_response_fails_its_request_alone() {
    for (bytes, what) in [
        (head(1, true, b""), "missing :status"),
        (head(1, true, b"\x40\x01A\x01b"), "invalid header field"),
        (head(1, true, b"\x88\x88"), "must come first"),
        (head(1, true, b"\x48\x03100"), "invalid interim"),
        (head(1, false, b"\x48\x03101"), "invalid interim"),
        (head(1, true, b"\x88\x5c\x015"), "fewer bytes"),
        ([head(1, false, b"\x88\x5c\x015"), data(1, true, b"1234")].concat(), "fewer bytes"),
        ([head(1, false, b"\x88\x5c\x015"), data(1, false, b"123456")].concat(), "more bytes"),
        ([head(1, false, b"\x88\x5c\x015"), data(1, true, b"123456")].concat(), "more bytes"),
        ([head(1, false, b"\x89"), data(1, true, b"x")].concat(), "must have none"),
        ([head(1, false, OK), head(1, true, OK)].concat(), "second header section"),
        ([head(1, false, OK), head(1, false, b"\x40\x01a\x01b")].concat(), "second header section"),
        (data(1, true, b"x"), "before the header section"),
    ] {
        let mut talk = Talk::get();
        talk.start();
        talk.start();
        let events = talk.hear(&bytes).unwrap();
        let (key, kind, said) = failed(&events);
        assert_eq!((key, kind), (1, FailureKind::Protocol));
        assert!(said.contains(what), "{said} for {what}");
        assert_eq!(talk.last_reset(), (1, Code::PROTOCOL_ERROR));
        // What follows of it is passed over.
        assert_eq!(talk.hear(&[data(1, true, b"rest"), head(3, true, OK)].concat()).unwrap(), [completed(2, 200, 0)]);
    }
}

#[test]
fn a_broken_connection_is_sent_the_error_code() {
    let settings = |name: u16, value: u32| frame(4, 0, 0, &[&name.to_be_bytes()[..], &value.to_be_bytes()].concat());
    let large = frame(kind::HEADERS, 0, 1, &[0; 16_000]);
    let more = frame(kind::CONTINUATION, 0, 1, &[0; 16_000]);
    for (bytes, code) in [
        (b"\0\x40\x01\0\0\0\0\0\x01".to_vec(), Code::FRAME_SIZE_ERROR),
        (head(1, true, b"\xbe"), Code::COMPRESSION_ERROR),
        (head(1, true, b"\x7f"), Code::COMPRESSION_ERROR),
        (head(0, true, OK), Code::PROTOCOL_ERROR),
        (head(2, true, OK), Code::PROTOCOL_ERROR),
        (head(7, true, OK), Code::PROTOCOL_ERROR),
        (data(0, true, b""), Code::PROTOCOL_ERROR),
        (data(7, true, b""), Code::PROTOCOL_ERROR),
        ([head(1, true, OK), data(1, true, b"")].concat(), Code::STREAM_CLOSED),
        ([head(1, true, OK), head(1, true, OK)].concat(), Code::STREAM_CLOSED),
        (frame(kind::HEADERS, flag::PADDED | flag::END_HEADERS, 1, b"\x09"), Code::PROTOCOL_ERROR),
        (frame(kind::DATA, flag::PADDED, 1, b""), Code::PROTOCOL_ERROR),
        (frame(kind::CONTINUATION, flag::END_HEADERS, 1, OK), Code::PROTOCOL_ERROR),
        ([frame(kind::HEADERS, 0, 1, OK), frame(kind::PING, 0, 0, &[0; 8])].concat(), Code::PROTOCOL_ERROR),
        ([frame(kind::HEADERS, 0, 1, OK), frame(9, 4, 3, b"")].concat(), Code::PROTOCOL_ERROR),
        ([large.clone(), more.repeat(4)].concat(), Code::ENHANCE_YOUR_CALM),
        ([large, frame(kind::CONTINUATION, 0, 1, b"").repeat(10_000)].concat(), Code::ENHANCE_YOUR_CALM),
        (frame(kind::PING, 0, 0, &[0; 8]).repeat(10_001), Code::ENHANCE_YOUR_CALM),
        (settings(1, 4096).repeat(10_001), Code::ENHANCE_YOUR_CALM),
        (frame(kind::PUSH_PROMISE, 4, 1, b"\0\0\0\x02\x82"), Code::PROTOCOL_ERROR),
        (frame(kind::PING, 0, 0, b"1234567"), Code::FRAME_SIZE_ERROR),
        (frame(kind::PING, 0, 1, b"12345678"), Code::PROTOCOL_ERROR),
        (frame(kind::SETTINGS, 0, 1, b""), Code::PROTOCOL_ERROR),
        (frame(kind::SETTINGS, flag::ACK, 0, &[0; 6]), Code::FRAME_SIZE_ERROR),
        (frame(kind::SETTINGS, 0, 0, &[0; 5]), Code::FRAME_SIZE_ERROR),
        (settings(setting::ENABLE_PUSH, 1), Code::PROTOCOL_ERROR),
        (settings(setting::INITIAL_WINDOW_SIZE, 1 << 31), Code::FLOW_CONTROL_ERROR),
        (settings(setting::MAX_FRAME_SIZE, 1), Code::PROTOCOL_ERROR),
        (number(kind::WINDOW_UPDATE, 0, 0), Code::PROTOCOL_ERROR),
        (number(kind::WINDOW_UPDATE, 1, 0), Code::PROTOCOL_ERROR),
        (number(kind::WINDOW_UPDATE, 7, 1), Code::PROTOCOL_ERROR),
        (number(kind::WINDOW_UPDATE, 0, i32::MAX as u32), Code::FLOW_CONTROL_ERROR),
        (number(kind::WINDOW_UPDATE, 1, i32::MAX as u32), Code::FLOW_CONTROL_ERROR),
        (frame(kind::WINDOW_UPDATE, 0, 0, b""), Code::FRAME_SIZE_ERROR),
        (
            [number(kind::WINDOW_UPDATE, 1, 70_000), settings(setting::INITIAL_WINDOW_SIZE, i32::MAX as u32)].concat(),
            Code::FLOW_CONTROL_ERROR,
        ),
        (frame(kind::RST_STREAM, 0, 1, b""), Code::FRAME_SIZE_ERROR),
        (number(kind::RST_STREAM, 0, 8), Code::PROTOCOL_ERROR),
        (number(kind::RST_STREAM, 7, 8), Code::PROTOCOL_ERROR),
        (frame(kind::PRIORITY, 0, 1, b""), Code::FRAME_SIZE_ERROR),
        (frame(kind::PRIORITY, 0, 0, &[0; 5]), Code::PROTOCOL_ERROR),
        (frame(kind::GOAWAY, 0, 0, b"1234567"), Code::FRAME_SIZE_ERROR),
        (frame(kind::GOAWAY, 0, 1, b"12345678"), Code::PROTOCOL_ERROR),
    ] {
        for size in [bytes.len(), 1] {
            let mut talk = Talk::get();
            talk.start();
            talk.start();
            let failure = bytes.chunks(size).find_map(|piece| talk.hear(piece).err());
            let shown = &bytes[..bytes.len().min(30)];
            assert_eq!(failure.map(|f| f.kind), Some(FailureKind::Protocol), "{shown:x?} was taken");
            assert_eq!(talk.last_words(), code, "{shown:x?}");
        }
    }
}

#[test]
fn servers_without_http2_are_recognised() {
    for bytes in [&b"HTTP/1.1 400 Bad Request\r\n\r\n"[..], b"\0\0\x08\x06\0\0\0\0\0", b"\0\0\0\x04\x01\0\0\0\0"] {
        let mut talk = Talk::new("GET", None);
        talk.start();
        assert!(talk.hear(bytes).unwrap_err().what.contains("does not support HTTP/2"));
    }
    let mut talk = Talk::new("GET", None);
    talk.start();
    assert_eq!(talk.hear(b"hi"), Ok(vec![]));
    assert!(talk.session.server_closed().unwrap_err().what.contains("without sending HTTP/2"));
}

/// Every frame, valid or not, is accepted or refused, and there are never more events than requests.
#[test]
fn nothing_makes_it_panic_or_lose_count() {
    let parts = [
        head(1, false, b"\x88\x5c\x015"),
        data(1, true, b"hello"),
        head(3, true, OK),
        frame(kind::HEADERS, 0, 5, OK),
        frame(kind::CONTINUATION, flag::END_HEADERS, 5, b"\x40\x01x\x82\x64\x0e"),
        data(5, false, b"12"),
        frame(kind::DATA, flag::PADDED, 5, b"\x01x\0"),
        head(5, true, b"\x40\x01t\x01z"),
        number(kind::RST_STREAM, 7, 7),
        frame(kind::PING, 0, 0, &[0; 8]),
        number(kind::WINDOW_UPDATE, 9, 10),
        number(kind::WINDOW_UPDATE, 0, 10),
        goaway(9, Code::NO_ERROR),
        frame(kind::SETTINGS, 0, 0, b"\0\x04\0\0\0\x09\0\x03\0\0\0\x01"),
    ];
    let mut random = fastrand::Rng::with_seed(4);
    let (mut whole, mut broken) = (0, 0);
    for _ in 0..20_000 {
        let mut bytes: Vec<u8> =
            (0..random.usize(1..8)).flat_map(|_| parts[random.usize(..parts.len())].clone()).collect();
        for _ in 0..random.usize(..4) {
            let at = random.usize(..bytes.len());
            bytes[at] = random.u8(..);
        }
        let mut talk = Talk::new("POST", Some(&[b'x'; 50]));
        talk.greet(&[(setting::INITIAL_WINDOW_SIZE, 20)]);
        let started = (0..5).filter(|_| talk.start().is_some()).count();
        let size = random.usize(1..60);
        let events: Result<Vec<_>, _> = bytes.chunks(size).map(|piece| talk.hear(piece)).collect();
        match events {
            Ok(events) => {
                whole += 1;
                assert_eq!(events.concat().len() + talk.session.streams.len(), started);
            }
            Err(_) => broken += 1,
        }
        let uploads = talk.session.streams.iter_mut().filter(|stream| stream.upload.is_some()).count();
        assert_eq!(talk.session.uploads, uploads);
    }
    assert!(whole > 1000 && broken > 1000, "{whole} {broken}");
}
