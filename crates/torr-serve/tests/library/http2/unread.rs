//! Responses to clients that are still sending: the stream is not reset before the client has had time to end its upload.

use super::raw::{DATA, END_STREAM, Frame, HEADERS, NO_ERROR, PING, RST_STREAM, Raw, frame, post};
use super::scene::app;
use crate::support::Running;

/// Sends a request whose content exceeds the limit. Returns the connection once the response has ended.
fn refused(server: &Running, path: &str) -> Raw {
    let mut client = Raw::connect(server.address, &[]);
    client.send(&[post(1, path), frame(DATA, 0, 1, &[b'x'; 2_000])].concat());
    let begins = client.next_of_stream();
    // 413 is no entry of the static table, so that the status is a literal.
    assert!(begins.kind == HEADERS && !begins.is_ok(), "{begins:?}");
    let mut last = begins;
    while last.flags & END_STREAM == 0 {
        last = client.next_of_stream();
        assert_eq!(last.kind, DATA, "{last:?}");
    }
    client
}

/// Sends a PING. Returns the frames of streams that came before its acknowledgement.
fn before_pong(client: &mut Raw) -> Vec<Frame> {
    client.send(&frame(PING, 0, 0, b"sequence"));
    let mut frames = Vec::new();
    client.find(|frame| {
        let is_pong = frame.kind == PING && frame.payload == b"sequence";
        if frame.stream != 0 && frame.kind != super::raw::WINDOW_UPDATE {
            frames.push(Frame { payload: frame.payload.clone(), ..*frame });
        }
        is_pong
    });
    frames
}

#[test]
fn a_client_ends_its_upload_after_the_response() {
    let server = Running::start_with(app(), |settings| {
        (settings.max_body, settings.max_streamed_body) = (1_000, 1_000);
    });
    for path in ["/c/length", "/bytes"] {
        let mut client = refused(&server, path);
        for _ in 0..5 {
            client.send(&frame(DATA, 0, 1, &[b'x'; 10_000]));
        }
        let frames = before_pong(&mut client);
        assert!(frames.is_empty(), "{path}: nothing follows the response: {frames:?}");
        client.send(&frame(DATA, END_STREAM, 1, b"end"));
        let frames = before_pong(&mut client);
        assert!(frames.is_empty(), "{path}: nothing follows the upload: {frames:?}");
    }
}

#[test]
fn a_stream_ends_after_a_client_stops_sending() {
    let server = Running::start_with(app(), |settings| settings.max_body = 1_000);
    let mut client = refused(&server, "/c/length");
    let reset = client.next_of_stream();
    assert!(reset.kind == RST_STREAM && reset.number(0) == NO_ERROR, "{reset:?}");
}
