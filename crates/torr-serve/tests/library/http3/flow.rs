//! Windows: large contents share them, in both directions, and what no handler reads takes little memory.

use super::quic::number;
use super::scene::{Response, Scene, get, head};
use crate::http2::scene::MEGABYTE;
use axum::Router;
use axum::body::Body;
use axum::routing::post;
use bytes::Bytes;
use std::sync::{Arc, Mutex};
use torr_serve::App;
use torr_wire::http3::{kind, write_header};

#[test]
fn large_responses_on_one_connection_take_turns() {
    const LENGTH: usize = 12 * MEGABYTE;
    let pieces = || std::iter::repeat_with(|| Bytes::from_static(&[b'p'; MEGABYTE]));
    let app = App::new().get("/", move |_| torr_serve::Response::pieces("a/b", LENGTH as u64, pieces()));
    let scene = Scene::with(app, |_| {});
    let mut client = scene.client();
    let streams = [(); 3].map(|()| client.request(&get("/")));
    let length = |client: &super::quic::Client, stream| client.received.get(&stream).map_or(0, |one| one.bytes.len());
    client.until(|client| streams.iter().any(|&stream| length(client, stream) >= LENGTH));
    for stream in streams {
        let so_far = length(&client, stream);
        assert!(so_far > LENGTH / 3, "{so_far} bytes, when another response was complete");
    }
    for stream in streams {
        assert_eq!(Response::of(&client.response(stream)).content.len(), LENGTH);
    }
}

#[test]
fn content_that_no_handler_reads_is_held_within_a_bound_for_the_connection() {
    const STREAMS: usize = 100;
    // Handlers that read nothing, and do not end while the test runs.
    let held = Arc::new(Mutex::new(Vec::new()));
    let hold = Arc::clone(&held);
    let hold = move |body: Body| {
        hold.lock().expect("no test panics with it").push(body);
        std::future::pending::<String>()
    };
    let app = App::new().get("/hello", |_| torr_serve::Response::text("hello"));
    let scene = Scene::with(app.router(Router::new().route("/hold", post(hold))), |_| {});
    let (mut client, mut other) = (scene.client(), scene.client());
    let mut streams = Vec::new();
    for _ in 0..STREAMS {
        let id = client.open();
        let mut begin = head("POST", "/hold", &[]);
        write_header(kind::DATA, 1 << 30, &mut begin);
        client.send(id, &begin);
        streams.push(id);
    }
    client.until(|_| held.lock().expect("no test panics with it").len() == STREAMS);
    let (mut sent, mut quiet) = (0, 0);
    // The other connection's responses show that the server had its turns.
    while quiet < 100 {
        let before = sent;
        for &id in &streams {
            let mut bytes = Bytes::from_static(&[b'x'; 4000]);
            let length = bytes.len();
            client.quic.write(id, &mut bytes);
            sent += length - bytes.len();
            assert!(sent < 6 * MEGABYTE, "the server holds {sent} bytes that no handler reads");
        }
        client.turn();
        let stream = other.request(&get("/hello"));
        assert_eq!(Response::of(&other.response(stream)).text(), "hello");
        quiet = if sent == before { quiet + 1 } else { 0 };
    }
    assert!(sent >= MEGABYTE / 2, "{sent} bytes fit");
    assert!(streams.iter().all(|&id| !client.received.contains_key(&number(id))));
}
