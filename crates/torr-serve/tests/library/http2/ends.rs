//! The beginning and the end of a connection.

use super::scene::{MEGABYTE, app, content, start};
use crate::router::http2::{Client, get};
use crate::router::service;
use crate::support::{PATIENCE, Running};
use bytes::Bytes;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

/// A time-out within which a client does something, on a machine whose CPUs have other work for a second too.
const SHORT: Duration = Duration::from_millis(1500);

#[test]
fn an_idle_connection_is_ended() {
    let (_server, client) = start(|settings| settings.idle_timeout = SHORT);
    assert_eq!(content(&client.get("/c/hello")), (200, "hello"));
    client.ended_by_server().expect("it ends in order");
}

#[test]
fn a_connection_with_a_response_in_flight_is_not_idle() {
    let (source, _dropped, app) = service::tapped();
    let server = Running::start_with(app, |settings| settings.idle_timeout = SHORT);
    let client = Client::connect(server.address);
    let (response, _) = client.begin(get("/tap").map(drop), true);
    source.blocking_send("first").expect("the body waits");
    let mut body = client.wait(response).expect("an answer").into_body();
    let start = Instant::now();
    while start.elapsed() < 2 * SHORT {
        source.blocking_send("more").expect("the body waits");
        client.wait(body.data()).expect("a piece").expect("no error");
        client.wait(async { tokio::time::sleep(SHORT / 100).await });
    }
    // After a GOAWAY it would take no further request.
    assert_eq!(content(&client.get("/now")), (200, "now"));
}

#[test]
fn who_does_not_go_on_after_the_preface_is_cut_off() {
    let preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
    let server = Running::start_with(app(), |settings| {
        (settings.idle_timeout, settings.head_timeout) = (SHORT, SHORT);
    });
    let streams = [16, 20, preface.len()].map(|at| {
        let mut stream = TcpStream::connect(server.address).expect("it listens");
        stream.set_read_timeout(Some(PATIENCE)).expect("a socket takes options");
        stream.write_all(&preface.as_bytes()[..at]).expect("it is connected");
        stream
    });
    for mut stream in streams {
        let mut seen = Vec::new();
        stream.read_to_end(&mut seen).expect("the server ends it");
    }
}

#[test]
fn the_preface_may_come_in_pieces() {
    let server = Running::start(app());
    let preface = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0";
    for at in 1..preface.len() {
        let mut stream = TcpStream::connect(server.address).expect("it listens");
        stream.set_nodelay(true).expect("a socket takes options");
        stream.set_read_timeout(Some(PATIENCE)).expect("a socket takes options");
        stream.write_all(&preface[..at]).expect("it is connected");
        // By another's response the server is known to have had time for it.
        assert_eq!(server.client().get("/c/hello").text(), "hello");
        stream.write_all(&preface[at..]).expect("it is connected");
        let mut head = [0; 9];
        stream.read_exact(&mut head).expect("the server's settings");
        assert_eq!((head[3], head[8]), (4, 0), "SETTINGS of stream 0, split at {at}: {head:?}");
    }
}

#[test]
fn http_2_begins_a_connection_or_not_at_all() {
    let server = Running::start(app());
    let mut client = server.client();
    assert_eq!(client.get("/c/hello").text(), "hello");
    client.send("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
    assert_eq!(client.response().status, 505);
    client.ends();
}

#[test]
fn without_http_2_it_is_refused() {
    let server = Running::start_with(app(), |settings| settings.http2 = false);
    let mut client = server.client();
    client.send("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
    let response = client.response();
    assert_eq!((response.status, response.field("Connection")), (505, Some("close")));
    client.ends();
}

/// The body is whole, and hyper takes it as fast as it can; the client does not.
#[test]
fn a_large_response_that_is_read_late_is_finished_when_the_server_stops() {
    let server = Running::start(app());
    let client = Client::connect(server.address);
    let (response, _) = client.begin(get("/c/large").map(drop), true);
    let mut body = client.wait(response).expect("an answer").into_body();
    let mut total = client.wait(body.data()).expect("a piece").expect("no error").len();
    server.stop();
    // Longer than a client may take that has nothing in flight.
    std::thread::sleep(Duration::from_millis(1500));
    body.flow_control().release_capacity(total).expect("it was received");
    while let Some(piece) = client.wait(body.data()) {
        let length = piece.expect("it is not cut off").len();
        body.flow_control().release_capacity(length).expect("it was received");
        total += length;
    }
    assert_eq!(total, 3 * MEGABYTE);
    drop(body);
    client.end().expect("it ends in order");
    server.wait().expect("the worker is well");
}

#[test]
fn streams_under_way_are_finished_when_the_server_stops() {
    let (source, _dropped, app) = service::tapped();
    let server = Running::start(app);
    let (client, idle) = (Client::connect(server.address), Client::connect(server.address));
    assert_eq!(content(&idle.get("/now")), (200, "now"));
    let (response, _) = client.begin(get("/tap").map(drop), true);
    source.blocking_send("first").expect("the body waits");
    let mut body = client.wait(response).expect("an answer").into_body();
    assert_eq!(client.wait(body.data()).expect("a piece").expect("no error"), "first");
    server.stop();
    idle.ended_by_server().expect("it ends in order");
    source.blocking_send("second").expect("the body waits");
    assert_eq!(client.wait(body.data()).expect("a piece").expect("no error"), "second");
    // GOAWAY says that no further request is taken.
    let refused = client.wait(async {
        let Ok(mut sender) = client.sender.clone().ready().await else { return true };
        match sender.send_request(get("/now").map(drop), true) {
            Ok((response, _)) => response.await.is_err(),
            Err(_) => true,
        }
    });
    assert!(refused);
    drop(source);
    let end = client.wait(body.data()).map(|piece| piece.map_err(|error| error.to_string()));
    assert!(end.is_none() || end == Some(Ok(Bytes::new())), "the body's end: {end:?}");
    drop(body);
    client.end().expect("it ends in order");
    server.wait().expect("the worker is well");
}

#[test]
fn who_takes_longer_than_the_server_waits_is_cut_off() {
    let (server, client) = start(|settings| settings.stop_timeout = Duration::from_millis(200));
    let (response, _) = client.begin(get("/c/never").map(drop), true);
    assert_eq!(content(&client.get("/c/hello")), (200, "hello"));
    server.stop();
    server.wait().expect("the worker is well");
    client.wait(response).expect_err("there is none");
}

#[test]
fn a_client_that_takes_nothing_loses_its_connection() {
    let (_made, app) = service::endless();
    let server = Running::start_with(app, |settings| {
        settings.write_timeout = Duration::from_millis(200);
        settings.stop_timeout = Duration::from_secs(3600);
    });
    // Windows as large as they get, and nothing is read.
    let mut stream = TcpStream::connect(server.address).expect("it listens");
    stream.set_read_timeout(Some(PATIENCE)).expect("a socket takes options");
    let settings = b"\0\0\x06\x04\0\0\0\0\0\0\x04\x7f\xff\xff\xff";
    let window = b"\0\0\x04\x08\0\0\0\0\0\x7f\xff\0\0";
    // GET http://x/endless
    let request = b"\0\0\x0f\x01\x05\0\0\0\x01\x82\x86\x41\x01x\x04\x08/endless";
    stream
        .write_all(&[b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", &settings[..], window, request].concat())
        .expect("it takes it");
    // A response has begun once something comes after the server's settings.
    stream.read_exact(&mut [0; 200]).expect("the answer begins");
    assert_eq!(server.client().get("/now").text(), "now", "others are served");
    server.stop();
    // It could not end as long as it had this client.
    server.wait().expect("the worker is well");
}

#[test]
fn an_old_connection_ends_with_the_responses_in_flight() {
    let (_server, idle) = start(|settings| settings.max_connection_age = SHORT);
    assert_eq!(content(&idle.get("/c/hello")), (200, "hello"));
    idle.ended_by_server().expect("it ends in order");

    let (source, _dropped, app) = service::tapped();
    let server = Running::start_with(app, |settings| settings.max_connection_age = SHORT);
    let begun = Instant::now();
    let client = Client::connect(server.address);
    let (response, _) = client.begin(get("/tap").map(drop), true);
    source.blocking_send("first").expect("the body waits");
    let mut body = client.wait(response).expect("an answer").into_body();
    while begun.elapsed() < 2 * SHORT {
        source.blocking_send("more").expect("the body waits");
        client.wait(body.data()).expect("a piece").expect("no error");
        client.wait(async { tokio::time::sleep(SHORT / 100).await });
    }
    drop(source);
    while let Some(piece) = client.wait(body.data()) {
        piece.expect("the response is whole");
    }
    client.ended_by_server().expect("it ends in order");
}
