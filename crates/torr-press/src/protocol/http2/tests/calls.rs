//! Calls of gRPC.

use super::*;
use crate::response::events::EventPlan;
use crate::response::failed::FailedResponseBuffer;
use std::num::NonZero;
use std::time::Duration;

/// A field that is in no table, packed.
fn field(name: &str, value: &str) -> Vec<u8> {
    let text = |text: &str| [&[text.len() as u8], text.as_bytes()].concat();
    [vec![0], text(name), text(value)].concat()
}

/// A call of a method that returns one message, and what is gathered of a failed response.
fn call(frames: &[Vec<u8>]) -> (Result<Vec<ProtocolEvent>, Failure>, FailedResponseBuffer) {
    let mut talk = Talk::get();
    talk.session = Http2::new(None, None).calling(Some(GrpcMethod { returns_stream: false }));
    talk.open();
    talk.greet(&[]);
    talk.start();
    let (mut events, mut gathered) = (Vec::new(), FailedResponseBuffer::default());
    for frame in frames {
        let mut input = frame.clone();
        let in_flight = InFlight { count: 1, oldest_is_head: false, failed_response: Some(&mut gathered) };
        match talk.session.receive(&mut talk.packed, &mut input, 7, in_flight, &mut talk.said) {
            Ok((_, event)) => events.extend(event),
            Err(failure) => return (Err(failure), gathered),
        }
    }
    (Ok(events), gathered)
}

#[test]
fn a_call_ends_by_its_trailers() {
    let message = b"\0\0\0\0\x01a";
    let away = [field("grpc-status", "14"), field("grpc-message", "no room")].concat();
    for (frames, counted, body) in [
        (vec![head(1, false, OK), data(1, false, message), head(1, true, &field("grpc-status", "0"))], 200, 6),
        (vec![head(1, false, OK), data(1, false, message), head(1, true, &away)], 614, 6),
        // Trailers only.
        (vec![head(1, true, &[OK, &away].concat())], 614, 0),
        // A proxy without the service.
        (vec![head(1, false, &[0x8e]), data(1, true, b"<html>")], 500, 6),
    ] {
        let (events, gathered) = call(&frames);
        let first = completed(1, counted, body);
        assert_eq!(events, Ok(vec![first]), "{frames:?}");
        let shown = gathered.response().map(|response| response.shown(1.0, &torr_gauge::Secrets::default()));
        match counted {
            614 => {
                let shown = shown.expect("it has failed");
                assert_eq!((shown.status, shown.status_line.as_str()), (200, "gRPC status 14 (UNAVAILABLE)"));
                let fields: Vec<_> = shown.fields.iter().map(|field| (field.name.as_str(), &*field.value)).collect();
                assert_eq!(fields, [("grpc-status", "14"), ("grpc-message", "no room")]);
            }
            500 => assert_eq!(shown.expect("it has failed").status, 500),
            _ => assert_eq!(shown, None),
        }
    }
}

#[test]
fn a_call_without_a_status_fails_alone() {
    let half = &b"\0\0\0\0\x05a"[..];
    for (frames, kind, what) in [
        (vec![head(1, true, OK)], FailureKind::Protocol, "the response has no grpc-status"),
        (
            vec![head(1, false, OK), data(1, true, b"\0\0\0\0\0")],
            FailureKind::Protocol,
            "the response has no grpc-status",
        ),
        (
            vec![head(1, false, OK), data(1, false, half), head(1, true, &field("grpc-status", "0"))],
            FailureKind::Protocol,
            "the response ended in the middle of a gRPC message",
        ),
        (
            vec![head(1, false, OK), data(1, false, b"\0\xff\xff\xff\xff")],
            FailureKind::Protocol,
            "a gRPC message is longer than 16 MiB",
        ),
        (
            vec![head(1, false, OK), number(kind::RST_STREAM, 1, Code::CANCEL.0)],
            FailureKind::Read,
            "the server reset the stream: CANCEL",
        ),
    ] {
        let (events, _) = call(&frames);
        assert_eq!(failed(&events.expect("the connection stays")), (1, kind, what.to_owned()), "{frames:?}");
    }
}

/// The number of messages of each arrival, and the time of the one before.
type Arrivals = Vec<(u32, Option<u64>)>;

/// A call of a method that returns a stream, whose frames arrive at 7, 17 ...: what it comes to, the number of messages and the time of
/// the one before at each arrival, and the bytes that were sent in return.
fn stream(most: Option<u64>, frames: &[Vec<u8>]) -> (Vec<ProtocolEvent>, Arrivals, Vec<u8>) {
    let most = most.and_then(NonZero::new);
    // A talk outlives any test.
    let plan: &EventPlan = Box::leak(Box::new(EventPlan {
        demands_streams: true,
        until: None,
        tokens: None,
        most,
        idle_timeout: Duration::from_secs(1),
    }));
    let mut talk = Talk::get();
    talk.session = Http2::new(None, None).watching(Some(plan)).calling(Some(GrpcMethod { returns_stream: true }));
    talk.open();
    talk.greet(&[]);
    talk.start();
    talk.said.clear();
    let (mut events, mut arrivals) = (Vec::new(), Arrivals::new());
    for (at, frame) in (7..).step_by(10).zip(frames) {
        let in_flight = InFlight { count: 1, oldest_is_head: false, failed_response: None };
        let mut input = frame.clone();
        let read = talk.session.receive(&mut talk.packed, &mut input, at, in_flight, &mut talk.said);
        events.extend(read.expect("the connection stays").1);
        while let Some(arrival) = talk.session.take_arrival(at) {
            assert_eq!((arrival.key, arrival.tokens), (1, None));
            arrivals.push((arrival.events.get(), arrival.before.map(NonZero::get)));
        }
        let is_silent = talk.session.silent_since(at).is_some();
        assert_eq!(is_silent, !arrivals.is_empty() && events.is_empty(), "an open stream has a latest event");
    }
    (events, arrivals, talk.said)
}

#[test]
fn each_message_of_a_stream_is_an_event() {
    let one = b"\0\0\0\0\x01a";
    let end = head(1, true, &field("grpc-status", "0"));
    let frames = [
        head(1, false, OK),
        data(1, false, &[one, one, &b"\0\0\0\0\x03b"[..]].concat()),
        data(1, false, b"cd"),
        data(1, false, b""),
        data(1, false, b"\0\0\0\0\0"),
        end.clone(),
    ];
    let (events, arrivals, said) = stream(None, &frames);
    assert_eq!(events, [completed(1, 200, 25)]);
    assert_eq!(arrivals, [(2, None), (1, Some(17)), (1, Some(27))]);
    assert!(said.is_empty(), "{said:?}");
    // A stream without a message is complete as well.
    assert_eq!(stream(None, &[head(1, false, OK), end]).0, [completed(1, 200, 0)]);
}

#[test]
fn the_client_ends_a_stream_of_messages() {
    let one = b"\0\0\0\0\x01a";
    // What follows does not matter: it is on its way.
    let frames = [head(1, false, OK), data(1, false, one), data(1, false, &[&one[..], one, b"\xff"].concat())];
    let (events, arrivals, said) = stream(Some(2), &frames);
    let [ProtocolEvent::Response(received)] = events[..] else { panic!("{events:?}") };
    assert_eq!((received.response.status, received.ended_here), (200, true));
    assert_eq!(arrivals, [(1, None), (1, Some(17))]);
    assert_eq!(said, number(kind::RST_STREAM, 1, Code::CANCEL.0));
    // The server may have ended it at the same time.
    let trailers = head(1, true, &field("grpc-status", "0"));
    let (events, ..) = stream(Some(3), &[head(1, false, OK), data(1, false, one), trailers]);
    assert_eq!(events, [completed(1, 200, 6)]);
}

#[test]
fn a_stream_that_goes_wrong_keeps_its_events() {
    let one = &b"\0\0\0\0\x01a"[..];
    for (last, what) in [
        (data(1, false, b"\0\xff\xff\xff\xff"), "a gRPC message is longer than 16 MiB"),
        (data(1, false, b"\x07\0\0\0\0"), "invalid flag before a gRPC message"),
        (data(1, true, b"\0\0\0\0\x05a"), "the response has no grpc-status"),
        (data(1, true, b""), "the response has no grpc-status"),
        (number(kind::RST_STREAM, 1, Code::CANCEL.0), "the server reset the stream: CANCEL"),
    ] {
        let (events, arrivals, _) = stream(None, &[head(1, false, OK), data(1, false, one), last]);
        assert_eq!(failed(&events).2, what);
        assert_eq!(arrivals, [(1, None)], "{what}");
    }
    let away = head(1, true, &field("grpc-status", "14"));
    let (events, arrivals, _) = stream(None, &[head(1, false, OK), data(1, false, one), away]);
    assert_eq!((events, arrivals), (vec![completed(1, 614, 6)], vec![(1, None)]));
}
