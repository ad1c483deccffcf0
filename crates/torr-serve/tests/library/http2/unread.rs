//! Responses to clients that are still sending: the stream is not reset before the client has had time to end its upload.

use super::raw::{DATA, END_STREAM, Frame, HEADERS, NO_ERROR, PING, RST_STREAM, Raw, frame, post};
use super::scene::{self, MEGABYTE, app, content};
use crate::router::http2::{self, Client};
use crate::support::Running;
use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::Request;
use axum::routing;
use futures_util::{StreamExt, stream};
use std::future::pending;
use std::time::{Duration, Instant};
use torr_serve::App;

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
    loop {
        let frame = client.next().expect("the connection lives");
        if frame.kind == PING && frame.payload == b"sequence" {
            return frames;
        }
        if frame.is_of_stream() {
            frames.push(frame);
        }
    }
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

#[test]
fn an_upload_that_no_handler_reads_leaves_the_connection_its_window() {
    let endless =
        || async { Body::from_stream(stream::iter([Ok::<_, std::io::Error>("first")]).chain(stream::pending())) };
    let router = Router::new()
        .route("/waits", routing::post(pending::<&str>))
        .route("/endless", routing::post(endless))
        .route("/bytes", routing::post(|bytes: Bytes| async { bytes }));
    let server = Running::start(App::new().router(router));
    for path in ["/waits", "/endless"] {
        let client = Client::connect(server.address);
        let (_response, sending) = client.begin(http2::post(path, "").map(drop), false);
        // Three times what a connection's window holds.
        client.wait(http2::send(sending, Bytes::from(vec![b'x'; 3 * MEGABYTE])));
        assert_eq!(content(&client.ask(http2::post("/bytes", "others"))), (200, "others"), "{path}");
    }
}

#[test]
fn an_upload_that_a_response_has_sent_back_in_part_is_discarded() {
    let router = Router::new().route(
        "/begin",
        routing::post(|request: Request| async { Body::from_stream(request.into_body().into_data_stream().take(1)) }),
    );
    let server = Running::start(App::new().router(router));
    let mut client = Raw::connect(server.address, &[]);
    client.send(&[post(1, "/begin"), frame(DATA, 0, 1, b"first")].concat());
    assert!(client.next_of_stream().is_ok());
    assert_eq!(client.next_of_stream().payload, b"first");
    let last = client.next_of_stream();
    assert!(last.kind == DATA && last.flags & END_STREAM != 0, "{last:?}");
    client.send(&frame(DATA, 0, 1, b"more"));
    assert!(before_pong(&mut client).is_empty());
    client.send(&frame(DATA, END_STREAM, 1, b"end"));
    assert!(before_pong(&mut client).is_empty());
}

#[test]
fn a_slow_upload_outlasts_the_end_of_its_connection() {
    const SLOWER_THAN_THE_END: Duration = Duration::from_millis(1_500);
    let (_server, client) = scene::start(|settings| {
        (settings.max_body, settings.requests_per_connection) = (1_000, 1);
    });
    let (response, mut sending) = client.begin(http2::post("/c/length", "").map(drop), false);
    sending.send_data(Bytes::from_static(&[b'x'; 2_000]), false).expect("the stream lives");
    let outcome = client.wait(http2::read(response));
    assert_eq!(outcome.response().status, 413);
    let start = Instant::now();
    while start.elapsed() < SLOWER_THAN_THE_END {
        client.wait(async { tokio::time::sleep(Duration::from_millis(50)).await });
        sending.send_data(Bytes::from_static(b"more"), false).expect("the stream lives");
    }
    sending.send_data(Bytes::from_static(b"end"), true).expect("the stream lives");
    client.ended_by_server().expect("it ends in order");
}
