//! The calls of the load engine to HTTP/2 for one exchange: a request on a new stream, and its response in two frames.

use std::hint::black_box;
use torr_gauge::Failure;
use torr_press::{Http2, InFlight, Inspection, Protocol, ProtocolEvent, Requests, Source, Target};

/// The types and flags of frames (RFC 9113, section 6).
const DATA: u8 = 0;
const HEADERS: u8 = 1;
const SETTINGS: u8 = 4;
const ACK: u8 = 1;
const END_STREAM: u8 = 1;
const END_HEADERS: u8 = 4;
/// `:status: 200`, and the length and the type of the content without indexing, as HPACK has them.
const FIELDS: &[u8] = b"\x88\x0f\x0d\x0220\x0f\x10\x09text/html";
const CONTENT: &[u8; 20] = b"<p>Hello, world!</p>";

pub fn exchange(times: u64) -> Result<(), Failure> {
    let target = Target::parse("http://127.0.0.1:8080/benchmark").expect("it is a URL");
    let request = Requests::get(&target, true).expect("it is a request");
    let inspection = Inspection::default();
    let mut session = Http2::inspected_by(&inspection, &target);
    let (mut thread, mut source) = (Default::default(), Source::Requests(request.cursor(0, 1)));
    let (mut out, mut response) = (Vec::with_capacity(1024), Vec::with_capacity(1024));
    session.open(&mut out);
    let mut settings = Vec::new();
    frame(SETTINGS, 0, 0, &[], &mut settings);
    frame(SETTINGS, ACK, 0, &[], &mut settings);
    let in_flight = |count| InFlight { count, oldest_is_head: false, failed_response: None };
    session.receive(&mut thread, &mut settings, 0, in_flight(0), &mut out)?;
    for time in 0..times {
        out.clear();
        let key = u32::try_from(time).expect("streams have numbers of 31 bits");
        session.start(&mut thread, key, &mut source, &mut out);
        session.flush(&mut thread, &mut out)?;
        black_box(&out);
        response.clear();
        frame(HEADERS, END_HEADERS, 2 * key + 1, FIELDS, &mut response);
        frame(DATA, END_STREAM, 2 * key + 1, CONTENT, &mut response);
        let mut read = 0;
        let mut responses = 0;
        loop {
            let input = black_box(&mut response[read..]);
            let (used, event) = session.receive(&mut thread, input, black_box(1), in_flight(1), &mut out)?;
            read += used;
            match event {
                Some(ProtocolEvent::Response(_)) => responses += 1,
                Some(_) => {}
                None => break,
            }
        }
        assert_eq!(responses, 1, "the response is complete");
    }
    Ok(())
}

/// Appends a frame.
fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8], out: &mut Vec<u8>) {
    let length = u32::try_from(payload.len()).expect("payloads are short").to_be_bytes();
    out.extend_from_slice(&[length[1], length[2], length[3], kind, flags]);
    out.extend_from_slice(&stream.to_be_bytes());
    out.extend_from_slice(payload);
}
