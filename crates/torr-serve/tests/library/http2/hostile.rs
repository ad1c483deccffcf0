//! Clients that keep to the frames of HTTP/2 and to nothing else: floods of frames that carry nothing, and requests behind the end.

use super::raw::{
    ACK, DATA, ENHANCE_YOUR_CALM, Frame, GOAWAY, HEADERS, NO_ERROR, PING, REFUSED_STREAM, RST_STREAM, Raw, SETTINGS,
    frame, get, post, window_update,
};
use super::scene::app;
use crate::router::service;
use crate::support::{Running, warnings};
use std::thread;
use std::time::{Duration, Instant};

/// What a client sends in a test at most: far more than the server takes.
const FLOOD: usize = 200_000;

/// The reason that the server gives for the connection's end.
fn reason(client: &mut Raw) -> Option<u32> {
    client.find(|frame| frame.kind == GOAWAY).map(|goaway| goaway.number(4))
}

#[test]
fn floods_of_frames_without_content_end_their_connection() {
    let server = Running::start(app());
    for (what, flood) in [
        ("pings", frame(PING, 0, 0, b"12345678")),
        ("settings", frame(SETTINGS, 0, 0, &[0, 4, 0, 1, 0, 0])),
        ("priorities", frame(2, 0, 1, &[0, 0, 0, 0, 1])),
        ("windows", window_update(1, 1)),
        ("unknown frames", frame(0x42, 0, 0, b"x")),
        ("empty DATA", frame(DATA, 0, 1, b"")),
        ("padding", frame(DATA, 8, 1, b"\x03\0\0\0")),
    ] {
        let mut client = Raw::connect(server.address, &[]);
        client.send(&post(1, "/bytes"));
        // Replies are not read, as long as the server takes more: either side may end that.
        let took_all = client.flood(&flood, FLOOD);
        assert!(!took_all || reason(&mut client).is_none_or(|reason| reason == ENHANCE_YOUR_CALM), "{what}");
        assert!(client.find(|_| false).is_none(), "{what}: the connection ends");
        assert_eq!(server.client().get("/c/hello").text(), "hello", "{what}: others are served");
    }
}

#[test]
fn the_reason_for_the_end_is_sent() {
    let server = Running::start(app());
    let mut client = Raw::connect(server.address, &[]);
    client.send(&frame(0x42, 0, 0, b"").repeat(15_000));
    assert_eq!(reason(&mut client), Some(ENHANCE_YOUR_CALM));
    assert!(client.find(|_| false).is_none(), "the connection ends");
}

/// `h2` warns of each such frame.
#[test]
fn acknowledgements_of_pings_that_were_never_sent_end_the_connection_and_fill_no_log() {
    warnings::listen();
    let server = Running::start(app());
    let mut client = Raw::connect(server.address, &[]);
    client.send(&frame(PING, ACK, 0, b"unasked!"));
    client.send(&get(1, "/c/hello"));
    client.find(|frame| frame.is_ok()).expect("a few do no harm");
    client.flood(&frame(PING, ACK, 0, b"unasked!"), 10_000);
    assert!(client.find(|_| false).is_none(), "the connection ends");
    let lines = warnings::with("unasked!").len() + warnings::with("117, 110, 97, 115, 107, 101, 100, 33").len();
    assert!(lines <= 4, "{lines} lines");
}

#[test]
fn frames_that_come_with_requests_and_responses_are_free() {
    let server = Running::start(app());
    let mut client = Raw::connect(server.address, &[(4, 1 << 20)]);
    // A client that opens both windows with each frame.
    client.send(&window_update(0, 1 << 30));
    for number in 0..200 {
        let stream = 2 * number + 1;
        client.send(&get(stream, "/c/pieces"));
        let mut received = 0;
        while received < 500_000 {
            let frame = client.next().expect("the connection lives");
            match frame.kind {
                DATA => {
                    received += frame.payload.len();
                    client.send(&[window_update(0, 1), window_update(stream, 1)].concat());
                    client.send(&[window_update(0, 1), window_update(stream, 1)].concat());
                }
                _ => client.acknowledge(&frame),
            }
        }
    }
    client.send(&frame(PING, 0, 0, b"the last"));
    client.find(|frame| frame.kind == PING && frame.payload == b"the last").expect("the connection lives");
}

/// Sends requests on a connection whose first one has no end, until a GOAWAY is final, and acknowledges no ping. Returns the frames
/// that came.
fn go_on(client: &mut Raw, requests: u32) -> Vec<Frame> {
    let mut frames = Vec::new();
    for number in 0..requests {
        let stream = 2 * number + 3;
        client.send(&get(stream, "/c/hello"));
        loop {
            let Some(frame) = client.next() else { return frames };
            let is_over = frame.stream == stream && matches!(frame.kind, HEADERS | RST_STREAM);
            let is_final = frame.kind == GOAWAY && frame.number(0) < 1 << 30;
            frames.push(frame);
            if is_final {
                return frames;
            }
            if is_over {
                break;
            }
        }
    }
    frames
}

#[test]
fn a_client_that_acknowledges_no_end_brings_no_more_requests() {
    const MOST: u64 = 10;
    let server = Running::start_with(app(), |settings| {
        (settings.requests_per_connection, settings.stop_timeout) = (MOST, Duration::from_millis(200));
    });
    let mut client = Raw::connect(server.address, &[]);
    client.send(&get(1, "/c/never"));
    let frames = go_on(&mut client, 400);
    let served = frames.iter().filter(|frame| frame.is_ok()).count() as u64;
    // Those that its client may have had in flight when the end was announced.
    assert!((MOST - 1..=MOST + 128).contains(&served), "{served} requests are served");
    let goaways: Vec<_> = frames.iter().filter(|frame| frame.kind == GOAWAY).collect();
    assert!(goaways.len() >= 2 && goaways[0].number(4) == NO_ERROR, "{goaways:?}");
    assert!(goaways[1].number(0) < 2 * 400, "a final GOAWAY: {:?}", goaways[1]);
    let refused = |frame: &&Frame| frame.kind == RST_STREAM && frame.number(0) == REFUSED_STREAM;
    let refused = frames.iter().filter(refused).count() as u64;
    assert!(served + refused < 400, "{served} served, {refused} refused, none ignored");
    // A client that still goes on has no connection any more.
    let start = Instant::now();
    while client.flood(&get(2 * 400 + 3, "/c/hello"), 100) {
        assert!(start.elapsed() < crate::support::PATIENCE, "the connection does not end");
    }
    assert_eq!(server.client().get("/c/hello").text(), "hello", "others are served");
}

#[test]
fn a_slow_client_that_acknowledges_no_end_keeps_its_response_and_gets_no_other() {
    let (source, _dropped, app) = service::tapped();
    let server = Running::start_with(app, |settings| settings.requests_per_connection = 1);
    let mut client = Raw::connect(server.address, &[]);
    client.send(&get(1, "/tap"));
    source.blocking_send("first").expect("the body waits");
    client.find(|frame| frame.kind == DATA && frame.payload == b"first").expect("the response begins");
    let last =
        client.find(|frame| frame.kind == GOAWAY && frame.number(0) < 1 << 30).expect("a final GOAWAY by itself");
    assert_eq!((last.number(0), last.number(4)), (1, NO_ERROR));
    source.blocking_send("second").expect("the body waits");
    client.find(|frame| frame.kind == DATA && frame.payload == b"second").expect("the response goes on");
    drop(source);
    assert!(client.find(|_| false).is_none(), "the connection ends with it");
}

#[test]
fn a_response_that_is_taken_byte_by_byte_is_not_cut_off() {
    // Longer than a busy machine keeps the client from taking anything.
    const SHORT: Duration = Duration::from_millis(1500);
    let server = Running::start_with(app(), |settings| settings.write_timeout = SHORT);
    // A window of 100 bytes for each stream.
    let mut client = Raw::connect(server.address, &[(4, 100)]);
    client.send(&get(1, "/c/large"));
    let (start, mut received) = (Instant::now(), 0);
    while start.elapsed() < 3 * SHORT {
        let frame = client.next().expect("the connection lives");
        match frame.kind {
            DATA => {
                received += frame.payload.len();
                // The pause is the client's pace.
                thread::sleep(SHORT / 40);
                client.send(&window_update(1, 5));
            }
            _ => client.acknowledge(&frame),
        }
    }
    assert!((100..10_000).contains(&received), "{received} bytes");
    // It is as soon as its client takes nothing more, though it still replies to pings.
    let start = Instant::now();
    while let Some(frame) = client.next() {
        client.acknowledge(&frame);
        assert!(start.elapsed() < crate::support::PATIENCE, "the connection does not end");
    }
}
