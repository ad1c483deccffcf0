//! One part of an exchange, done over and over: `torr-counts CASE TIMES`. `tests/counts.rs` counts its instructions.

mod http2;
mod websocket;

use std::hint::black_box;
use std::process::ExitCode;
use torr_gauge::Latency;
use torr_gauge::statuses::Statuses;
use torr_press::{FailedResponseBuffer, Http1, InFlight, Protocol, Requests, Source, Target};
use torr_wire::event_stream::EventReader;
use torr_wire::request::{self, Limits};
use torr_wire::response::{HeadCache, ResponseReader};
use torr_wire::{WireError, encode};

/// What `torr` sends to a service, and the responses of `torr serve`.
const REQUEST: &[u8] =
    b"GET /benchmark HTTP/1.1\r\nHost: 127.0.0.1:8080\r\nUser-Agent: torr/0.1.0\r\nAccept: */*\r\n\r\n";
const RESPONSE: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 20\r\nContent-Type: text/html\r\nServer: torr\r\n\
    Date: Thu, 01 Jan 2026 00:00:00 GMT\r\n\r\n<p>Hello, world!</p>";
/// An event of `torr serve`.
const EVENT: &[u8] = b"data: {\"n\":10}\n\n";
/// The server has these ready, made once a second.
const STAMP: &[u8] = b"Server: torr\r\nDate: Thu, 01 Jan 2026 00:00:00 GMT\r\n";
/// The server's defaults.
const LIMITS: Limits = Limits { head: 8 * 1024, headers: 100 };

fn main() -> ExitCode {
    let mut args = std::env::args().skip(1);
    let case = args.next().unwrap_or_default();
    let times = args.next().and_then(|times| times.parse().ok()).unwrap_or(1);
    let done = match case.as_str() {
        "parse-request" => parse_request(times),
        "parse-response" => parse_response(times),
        "encode-request" => encode_request(times),
        "encode-response-head" => encode_response_head(times),
        "session" => session(times),
        "session-http2" => return exit_code(&http2::exchange(times)),
        "session-websocket" => return exit_code(&websocket::exchange(times)),
        "event" => event(times),
        "record" => record(times),
        _ => return ExitCode::from(2),
    };
    exit_code(&done)
}

fn exit_code<E>(done: &Result<(), E>) -> ExitCode {
    if done.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn parse_request(times: u64) -> Result<(), WireError> {
    for _ in 0..times {
        let mut headers = request::header_buffer();
        let head = request::parse(black_box(REQUEST), &mut headers, black_box(LIMITS))?;
        black_box(head.map(|head| (head.len, head.framing, head.keep_alive)));
    }
    Ok(())
}

fn parse_response(times: u64) -> Result<(), WireError> {
    let mut reader = ResponseReader::default();
    for _ in 0..times {
        black_box(reader.read(black_box(RESPONSE), black_box(false))?);
    }
    Ok(())
}

fn encode_request(times: u64) -> Result<(), WireError> {
    let fields: [(&str, &[u8]); 2] = [("User-Agent", b"torr/0.1.0"), ("Accept", b"*/*")];
    let mut out = Vec::with_capacity(1024);
    for _ in 0..times {
        out.clear();
        encode::request(
            &mut out,
            black_box("GET"),
            black_box("/benchmark"),
            b"127.0.0.1:8080",
            black_box(&fields),
            None,
        );
        black_box(&out);
    }
    Ok(())
}

/// In the order in which `torr-serve` does it.
fn encode_response_head(times: u64) -> Result<(), WireError> {
    let mut out = Vec::with_capacity(1024);
    for _ in 0..times {
        out.clear();
        encode::status_line(&mut out, black_box(200));
        encode::content_length(&mut out, black_box(20));
        encode::header(&mut out, "Content-Type", black_box(b"text/html"));
        out.extend_from_slice(black_box(STAMP));
        out.extend_from_slice(b"\r\n");
        black_box(&out);
    }
    Ok(())
}

/// The calls of the load engine to its protocol for one exchange.
fn session(times: u64) -> Result<(), WireError> {
    let target = Target::parse("http://127.0.0.1:8080/benchmark").expect("it is a URL");
    let request = Requests::get(&target, true).expect("it is a request");
    let (mut session, mut cursor) = (Http1::<()>::default(), Source::Requests(request.cursor(0, 1)));
    let (mut out, mut response) = (Vec::with_capacity(1024), RESPONSE.to_vec());
    let (mut memory, mut gathered) = (HeadCache::default(), FailedResponseBuffer::default());
    session.open(&mut out);
    for _ in 0..times {
        out.clear();
        let to_head = session.start(&mut memory, 0, &mut cursor, black_box(&mut out));
        // As in a run in which nothing has failed yet.
        let in_flight = InFlight { count: 1, oldest_is_head: to_head, failed_response: Some(&mut gathered) };
        let outcome = session.receive(&mut memory, black_box(&mut response), black_box(1), in_flight, &mut out);
        black_box(&outcome);
        assert!(outcome.is_ok_and(|(_, outcome)| outcome.is_some()), "the answer is whole");
    }
    Ok(())
}

/// The events of a stream, each in a piece of its own.
fn event(times: u64) -> Result<(), WireError> {
    let mut reader = EventReader::counting();
    let mut events = 0;
    for _ in 0..times {
        reader.read(black_box(EVENT), |event| events += u64::from(black_box(event).is_whole));
    }
    assert_eq!(events, times, "each piece is an event");
    Ok(())
}

/// Latencies from 50 us to 1 ms.
fn record(times: u64) -> Result<(), WireError> {
    let (mut latency, mut statuses) = (Latency::default(), Statuses::default());
    for time in 0..times {
        latency.record(black_box(50_000 + time * 7_919 % 950_000));
        statuses.count(black_box(200));
    }
    black_box((&latency, &statuses));
    Ok(())
}
