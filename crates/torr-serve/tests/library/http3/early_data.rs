//! Requests with the first datagrams of a connection (0-RTT).

use super::quic::{Client, early, number, socket};
use super::scene::{Response, Scene, get, post};
use crate::support::PATIENCE;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;
use torr_net::datagrams::trains;
use torr_net::quic::QuicClient;
use torr_serve::App;

/// A server that takes early data, with the number of requests that its handlers had.
fn scene() -> (Scene, Arc<AtomicUsize>) {
    let handled = Arc::<AtomicUsize>::default();
    let count = |handled: &Arc<AtomicUsize>| {
        let handled = Arc::clone(handled);
        move || torr_serve::Response::text(handled.fetch_add(1, Ordering::SeqCst).to_string())
    };
    let (got, posted) = (count(&handled), count(&handled));
    let app = App::new().get("/", move |_| got()).post("/", move |_| posted());
    let set = |settings: &mut torr_serve::Settings| settings.http3_early_data = true;
    (Scene::with(app, set), handled)
}

/// A connection with early data, the handshake of which has not begun.
fn resumed(scene: &Scene, client: &QuicClient) -> Client {
    let since = Instant::now();
    loop {
        let connection = Client::of(client, scene.server.address);
        if connection.quic.has_early_data() {
            return connection;
        }
        assert!(since.elapsed() < PATIENCE, "no ticket permits early data");
        // With this connection a ticket comes, before the response or behind it.
        let mut connection = connection;
        connection.connected();
        let stream = connection.request(&get("/"));
        assert_eq!(Response::of(&connection.response(stream)).status, 200);
    }
}

#[test]
fn a_resumed_connection_has_its_response_before_the_handshake_is_complete() {
    let (scene, handled) = scene();
    let client = early(&scene.certificate);
    let mut connection = resumed(&scene, &client);
    let before = handled.load(Ordering::SeqCst);
    assert!(connection.quic.is_handshaking());
    connection.open_unidirectional(&[0, 4, 0]);
    let stream = connection.request(&get("/"));
    assert_eq!(Response::of(&connection.response(stream)).text(), before.to_string());
    connection.connected();
    assert!(connection.quic.early_data_is_accepted());
    assert!(connection.quic.negotiated().is_some_and(|tls| tls.resumed && tls.early_data));
}

#[test]
fn requests_that_are_not_safe_have_to_wait_for_the_handshake() {
    let (scene, handled) = scene();
    let client = early(&scene.certificate);
    let mut connection = resumed(&scene, &client);
    let before = handled.load(Ordering::SeqCst);
    let early = connection.request(&post("/", b"once"));
    assert_eq!(Response::of(&connection.response(early)).status, 425);
    assert_eq!(handled.load(Ordering::SeqCst), before);
    connection.connected();
    assert!(connection.quic.early_data_is_accepted());
    let later = connection.request(&post("/", b"once"));
    assert_eq!(Response::of(&connection.response(later)).status, 200);
}

#[test]
fn what_was_recorded_and_is_sent_again_is_no_request() {
    let (scene, handled) = scene();
    let client = early(&scene.certificate);
    let mut connection = resumed(&scene, &client);
    let stream = connection.quic.open().expect("the server allows it");
    connection.quic.write(stream, &mut get("/").into());
    connection.quic.finish(stream);
    let recorded = connection.flush();
    assert_eq!(Response::of(&connection.response(number(stream))).status, 200);
    drop(connection);
    let before = handled.load(Ordering::SeqCst);
    // As long as the server remembers the connection, what is recorded belongs to that, and gets no reply.
    let (since, socket) = (Instant::now(), socket(scene.server.address));
    loop {
        assert!(since.elapsed() < PATIENCE, "the server does not reply");
        for (train, size) in trains(&recorded) {
            for datagram in train.chunks(size) {
                socket.send(datagram).expect("it is sent");
            }
        }
        if socket.recv(&mut [0; 2048]).is_ok() {
            break;
        }
    }
    // The server takes what has arrived before it accepts another connection.
    assert_eq!(scene.get("/").text(), before.to_string(), "a recorded request was handled again");
}

#[test]
fn without_the_setting_no_ticket_permits_early_data() {
    let scene = Scene::start();
    let client = early(&scene.certificate);
    for _ in 0..3 {
        let mut connection = Client::of(&client, scene.server.address);
        assert!(!connection.quic.has_early_data());
        connection.connected();
        let stream = connection.request(&get("/c/hello"));
        assert_eq!(Response::of(&connection.response(stream)).text(), "hello");
        assert!(!connection.quic.early_data_is_accepted());
    }
}

#[test]
fn a_server_that_has_forgotten_its_sessions_takes_no_early_data() {
    let (scene, _) = scene();
    let client = early(&scene.certificate);
    drop(resumed(&scene, &client));
    let (other, handled) = self::scene();
    // The other server's certificate is another one: its session is resumed only by the first.
    let mut connection = Client::of(&client, other.server.address);
    assert!(connection.quic.has_early_data());
    connection.request(&get("/"));
    assert!(!format!("{:?}", connection.ended()).is_empty());
    assert_eq!(handled.load(Ordering::SeqCst), 0);
}
