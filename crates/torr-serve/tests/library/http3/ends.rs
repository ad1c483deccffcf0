//! The ends of connections: a stop, age, requests, time-outs, limits of connections; and several workers.

use super::quic::Client;
use super::scene::{Response, Scene, get, head};
use crate::http2::scene::MEGABYTE;
use std::time::{Duration, Instant};
use torr_net::quic::{QuicError, ReadEnd};

const NO_ERROR: QuicError = QuicError::Application(0x100);

/// The first stream that the server does not process, by the GOAWAY on its control stream.
fn gone_away(client: &Client) -> Option<u8> {
    let control = &client.received.get(&3)?.bytes;
    match control[..] {
        [.., 7, 1, stream] => Some(stream),
        _ => None,
    }
}

#[test]
fn a_stop_finishes_what_is_in_flight() {
    let scene = Scene::start();
    let (mut client, mut idle) = (scene.client(), scene.client());
    let stream = idle.request(&get("/c/hello"));
    idle.response(stream);
    let stream = client.open();
    client.send(stream, &head("POST", "/c/echo", &[]));
    let other = client.request(&get("/c/hello"));
    client.response(other);
    scene.server.stop();
    assert_eq!(idle.ended(), NO_ERROR);
    assert_eq!(gone_away(&idle), Some(4));
    client.until(|client| gone_away(client).is_some());
    let late = client.request(&get("/c/hello"));
    assert_eq!(client.response(late).end, Some(ReadEnd::Reset(0x10b)), "a late request was not processed");
    client.send(stream, &super::scene::frame(0, b"content"));
    client.quic.finish(stream);
    assert_eq!(Response::of(&client.response(super::quic::number(stream))).text(), "content");
    assert_eq!(client.ended(), NO_ERROR);
    scene.server.wait().expect("it ends well");
}

#[test]
fn an_end_is_announced_although_no_more_content_fits_the_window() {
    let scene = Scene::start();
    let mut client = scene.client();
    let stream = client.request(&get("/c/large"));
    // Meanwhile the client acknowledges nothing, so that the server has filled the window.
    let mut other = scene.client();
    for _ in 0..100 {
        let hello = other.request(&get("/c/hello"));
        other.response(hello);
    }
    scene.server.stop();
    assert_eq!(other.ended(), NO_ERROR);
    assert_eq!(Response::of(&client.response(stream)).content.len(), 3 * MEGABYTE);
    assert_eq!(client.ended(), NO_ERROR);
    assert_eq!(gone_away(&client), Some(4));
}

#[test]
fn a_reload_keeps_connections_and_new_ones_get_the_new_certificate() {
    let scene = Scene::set(|settings| settings.workers = 2);
    let mut client = scene.client();
    let waiting = client.open();
    client.send(waiting, &head("POST", "/c/echo", &[]));
    let stream = client.request(&get("/c/hello"));
    client.response(stream);
    let former = scene.replace_certificate();
    scene.server.reload();
    client.send(waiting, &super::scene::frame(0, b"content"));
    client.quic.finish(waiting);
    assert_eq!(Response::of(&client.response(super::quic::number(waiting))).text(), "content");
    assert_eq!((client.end.clone(), gone_away(&client)), (None, None));
    assert_eq!(scene.get("/c/hello").text(), "hello", "the client trusts the new certificate only");
    let mut distrusting = Client::new(scene.server.address, &former);
    assert!(matches!(distrusting.ended(), QuicError::Tls(_)), "{:?}", distrusting.end);
}

#[test]
fn a_client_of_a_connection_that_the_server_has_forgotten_gets_a_reset() {
    let app = crate::http2::scene::app().metrics("/metrics");
    let scene = Scene::with(app, |settings| settings.idle_timeout = Duration::from_secs(1));
    let mut client = scene.client();
    // With a request whose response is not acknowledged a connection would not be idle.
    client.until(|client| client.received.contains_key(&3));
    // What the server still sends goes to a port that is closed.
    client.move_elsewhere();
    let mut other = scene.client();
    let since = Instant::now();
    loop {
        let stream = other.request(&get("/metrics"));
        if Response::of(&other.response(stream)).text().contains("torr_connections{by=\"http3\"} 1\n") {
            break;
        }
        assert!(since.elapsed() < crate::support::PATIENCE, "the server keeps the connection");
    }
    client.request(&get("/c/hello"));
    assert_eq!(client.ended(), QuicError::Reset);
}

#[test]
fn a_stop_has_a_deadline() {
    let scene = Scene::set(|settings| settings.stop_timeout = Duration::from_millis(300));
    let mut client = scene.client();
    client.request(&get("/c/never"));
    let other = client.request(&get("/c/hello"));
    client.response(other);
    scene.server.stop();
    assert_eq!(client.ended(), NO_ERROR);
}

#[test]
fn a_connection_ends_with_its_age_its_requests_or_its_rest() {
    let age = Scene::set(|settings| settings.max_connection_age = Duration::from_millis(300));
    let rest = Scene::set(|settings| settings.idle_timeout = Duration::from_millis(300));
    let requests = Scene::set(|settings| settings.requests_per_connection = 3);
    for scene in [age, rest] {
        let mut client = scene.client();
        let stream = client.request(&get("/c/hello"));
        client.response(stream);
        assert_eq!(client.ended(), NO_ERROR);
        assert_eq!(gone_away(&client), Some(4));
    }
    let mut client = requests.client();
    for _ in 0..3 {
        let stream = client.request(&get("/c/hello"));
        assert_eq!(Response::of(&client.response(stream)).text(), "hello");
    }
    assert_eq!(client.ended(), NO_ERROR);
    assert_eq!(gone_away(&client), Some(12));
}

#[test]
fn slow_clients_have_their_time() {
    let scene = Scene::set(|settings| {
        (settings.head_timeout, settings.body_timeout) = (Duration::from_millis(300), Duration::from_millis(300));
    });
    let mut client = scene.client();
    let stream = client.open();
    client.send(stream, &get("/c/hello")[..5]);
    assert_eq!(client.response(super::quic::number(stream)).end, Some(ReadEnd::Reset(0x10c)));
    for path in ["/c/echo", "/bytes"] {
        let stream = client.open();
        client.send(stream, &head("POST", path, &[]));
        let response = client.response(super::quic::number(stream));
        assert_eq!(Response::of(&response).status, 408, "{path}");
    }
    let mut silent = Client::new(scene.server.address, &scene.certificate);
    silent.flush();
    assert_eq!(scene.get("/c/hello").text(), "hello");
}

#[test]
fn connections_have_a_limit() {
    let scene = Scene::set(|settings| settings.max_connections = 1);
    let mut first = scene.client();
    let mut second = Client::new(scene.server.address, &scene.certificate);
    assert!(matches!(second.ended(), QuicError::Closed(_)), "{:?}", second.end);
    let stream = first.request(&get("/c/hello"));
    assert_eq!(Response::of(&first.response(stream)).text(), "hello");
}

#[test]
fn a_client_whose_address_changes_keeps_its_connection() {
    let scene = Scene::set(|settings| settings.workers = 4);
    let mut client = scene.client();
    let hello = |client: &mut Client| {
        let stream = client.request(&get("/c/hello"));
        assert_eq!(Response::of(&client.response(stream)).text(), "hello");
    };
    // A client must not move before the handshake is confirmed, which the first response shows.
    hello(&mut client);
    // The kernel assigns most of these addresses to other workers.
    for _ in 0..12 {
        client.move_elsewhere();
        hello(&mut client);
        // With this the server has learned that the client receives at its address, where it would go back to the former one else.
        hello(&mut client);
    }
    assert_eq!(client.end, None);
    let mut others: Vec<_> = (0..12).map(|_| scene.client()).collect();
    for other in &mut others {
        let stream = other.request(&get("/c/hello"));
        assert_eq!(Response::of(&other.response(stream)).text(), "hello");
    }
}
