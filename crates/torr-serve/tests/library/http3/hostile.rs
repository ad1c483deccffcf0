//! Clients that violate HTTP/3, or cause more work than a client should: a fault of a request ends that request, a fault of the
//! connection ends the connection, and the server serves others.

use super::quic::{Client, number};
use super::scene::{Response, Scene, frame, get, head, post, section};
use std::net::UdpSocket;
use std::time::Duration;
use torr_net::datagrams::trains;
use torr_net::quic::{QuicClient, QuicError, ReadEnd};
use torr_wire::http3::kind;

const FRAME_UNEXPECTED: u64 = 0x105;
const CLOSED_CRITICAL_STREAM: u64 = 0x104;
const STREAM_CREATION_ERROR: u64 = 0x103;
const EXCESSIVE_LOAD: u64 = 0x107;
const MISSING_SETTINGS: u64 = 0x10a;
const MESSAGE_ERROR: u64 = 0x10e;
const REQUEST_INCOMPLETE: u64 = 0x10d;

#[test]
fn frames_and_streams_that_mean_nothing_are_ignored() {
    let scene = Scene::start();
    let mut client = scene.client();
    let reserved = client.open_unidirectional(&[0x21, 1, 2, 3]);
    let bytes = [frame(0x21, b"grease"), get("/c/hello"), frame(0x40 * 0x1f + 0x21, &[7; 5000])].concat();
    let stream = client.request(&bytes);
    assert_eq!(Response::of(&client.response(stream)).text(), "hello");
    client.until(|client| client.stopped.contains_key(&number(reserved)));
    let stream = client.request(&get("/c/hello"));
    assert_eq!(Response::of(&client.response(stream)).text(), "hello");
}

#[test]
fn malformed_requests_are_reset_and_others_go_on() {
    let scene = Scene::start();
    let mut client = scene.client();
    let long = [head("POST", "/c/echo", &[("content-length", "3")]), frame(kind::DATA, b"four")].concat();
    let short = [head("POST", "/bytes", &[("content-length", "5")]), frame(kind::DATA, b"four")].concat();
    for bytes in [
        long,
        short,
        head("GET", "/", &[("Upper", "x")]),
        head("GET", "/", &[("connection", "close")]),
        head("GET", "/", &[("transfer-encoding", "chunked")]),
        head("GET", "/", &[(":path", "/")]),
        head("GET", "no-path", &[]),
        section(&[(":method", "GET"), (":path", "/")]),
    ] {
        let stream = client.request(&bytes);
        let end = client.response(stream).end;
        assert_eq!(end, Some(ReadEnd::Reset(MESSAGE_ERROR)), "{}", bytes.escape_ascii());
        let stream = client.request(&get("/c/hello"));
        assert_eq!(Response::of(&client.response(stream)).text(), "hello");
    }
    let stream = client.request(&[]);
    assert_eq!(client.response(stream).end, Some(ReadEnd::Reset(REQUEST_INCOMPLETE)));
    assert_eq!(client.end, None);
}

#[test]
fn trailers_above_the_limit_are_malformed_and_get_no_second_response() {
    let scene = Scene::set(|settings| settings.max_head = 4096);
    let mut client = scene.client();
    for path in ["/c/echo", "/bytes"] {
        let bytes = [post(path, b"content"), frame(kind::HEADERS, &[0; 9000])].concat();
        let stream = client.request(&bytes);
        assert_eq!(client.response(stream).end, Some(ReadEnd::Reset(MESSAGE_ERROR)), "{path}");
    }
    let stream = client.request(&get("/c/hello"));
    assert_eq!(Response::of(&client.response(stream)).text(), "hello");
}

#[test]
fn a_request_names_exactly_one_host() {
    let scene = Scene::start();
    let mut client = scene.client();
    let nameless = [(":method", "GET"), (":scheme", "https"), (":path", "/c/host")];
    for (fields, status) in [
        (vec![], 400),
        (vec![("host", "a.test")], 200),
        (vec![("host", "a.test"), ("host", "a.test")], 400),
        (vec![("host", "a/b")], 400),
    ] {
        let stream = client.request(&section(&[&nameless[..], &fields].concat()));
        assert_eq!(Response::of(&client.response(stream)).status, status, "{fields:?}");
    }
    let stream = client.request(&head("GET", "/c/host", &[("host", "other.test")]));
    assert_eq!(Response::of(&client.response(stream)).status, 400);
}

#[test]
fn header_sections_have_a_limit() {
    let scene = Scene::set(|settings| (settings.max_head, settings.max_headers) = (4096, 20));
    let mut client = scene.client();
    let fields: Vec<_> = (0..21).map(|_| ("x-many", "1")).collect();
    let large = "x".repeat(9000);
    // What is encoded is small, and what it stands for is not.
    let many = [&[0, 0][..], &[0xd1, 0xd7, 0xc1], b"\x50\x09localhost", &[0xdd; 200]].concat();
    for bytes in
        [head("GET", "/c/hello", &fields), head("GET", "/c/hello", &[("x", &large)]), frame(kind::HEADERS, &many)]
    {
        let stream = client.request(&bytes);
        assert_eq!(Response::of(&client.response(stream)).status, 431);
    }
    let stream = client.request(&head("GET", "/c/hello", &fields[..20]));
    assert_eq!(Response::of(&client.response(stream)).text(), "hello");
}

#[test]
fn contents_have_a_limit() {
    let scene = Scene::set(|settings| (settings.max_body, settings.max_streamed_body) = (1000, 1000));
    let mut client = scene.client();
    for path in ["/c/echo", "/bytes"] {
        for more in [&[("content-length", "5000")][..], &[]] {
            let bytes = [head("POST", path, more), frame(kind::DATA, &[b'x'; 5000])].concat();
            let stream = client.request(&bytes);
            assert_eq!(Response::of(&client.response(stream)).status, 413, "{path} {more:?}");
        }
    }
    let stream = client.request(&head("CONNECT", "/", &[]));
    assert_eq!(client.response(stream).end, Some(ReadEnd::Reset(MESSAGE_ERROR)));
    let stream = client.request(&section(&[(":method", "CONNECT"), (":authority", "a.test:443")]));
    assert_eq!(Response::of(&client.response(stream)).status, 501);
}

#[test]
fn violations_end_their_connection_with_their_code() {
    let scene = Scene::start();
    let data_first = frame(kind::DATA, b"x");
    let settings = [get("/"), frame(kind::SETTINGS, &[])].concat();
    let of_http2 = [get("/"), frame(0x2, &[0; 5])].concat();
    let push = [get("/"), frame(kind::PUSH_PROMISE, &[0])].concat();
    for bytes in [data_first, settings, of_http2, push] {
        let mut client = scene.client();
        client.request(&bytes);
        assert_eq!(client.ended(), QuicError::Application(FRAME_UNEXPECTED), "{}", bytes.escape_ascii());
    }
    for (streams, code) in [
        (&[&[0, 4, 0][..], &[0, 4, 0]][..], STREAM_CREATION_ERROR),
        (&[&[1, 0]], STREAM_CREATION_ERROR),
        (&[&[0, 7, 1, 0]], MISSING_SETTINGS),
        (&[&[0, 4, 0, 0, 0]], FRAME_UNEXPECTED),
        (&[&[0, 4, 2, 2, 0]], 0x109),
        (&[&[2, 0x3f]], 0x201),
        (&[&[3, 0x80]], 0x202),
    ] {
        let mut client = Client::shake_hands(scene.server.address, &scene.certificate);
        for bytes in streams {
            client.open_unidirectional(bytes);
        }
        assert_eq!(client.ended(), QuicError::Application(code), "{streams:?}");
    }
    let mut client = Client::shake_hands(scene.server.address, &scene.certificate);
    let control = client.open_unidirectional(&[0, 4, 0]);
    client.quic.finish(control);
    assert_eq!(client.ended(), QuicError::Application(CLOSED_CRITICAL_STREAM));
    assert_eq!(scene.get("/c/hello").text(), "hello");
}

#[test]
fn a_client_that_only_resets_is_ended() {
    let scene = Scene::start();
    let mut client = scene.client();
    while client.end.is_none() {
        let Some(stream) = client.quic.open() else {
            client.turn();
            continue;
        };
        client.quic.write(stream, &mut get("/c/never").into());
        client.flush();
        client.quic.give_up(stream, 0x10c);
        client.flush();
    }
    assert_eq!(client.ended(), QuicError::Application(EXCESSIVE_LOAD));
    assert_eq!(scene.get("/c/hello").text(), "hello");
}

#[test]
fn a_client_that_shows_no_address_gets_three_times_its_bytes() {
    let scene = Scene::start();
    let client = QuicClient::new(&super::quic::tls(&scene.certificate)).expect("the settings are sound");
    let mut quic = client.connect().expect("a connection can begin");
    let (mut room, mut out) = (Vec::new(), Vec::new());
    quic.write_datagrams(&mut room, &mut out);
    let socket = UdpSocket::bind("127.0.0.1:0").expect("a port is free");
    let (mut sent, mut received) = (0, 0);
    for (train, size) in trains(&out) {
        for datagram in train.chunks(size) {
            sent += socket.send_to(datagram, scene.server.address).expect("it is sent");
        }
    }
    // Long enough for several of the server's probes.
    socket.set_read_timeout(Some(Duration::from_millis(1500))).expect("a socket takes options");
    let mut buffer = [0; 2048];
    while let Ok(length) = socket.recv(&mut buffer) {
        received += length;
    }
    assert!(received > 0 && received <= 3 * sent, "{received} for {sent}");
}

fn is_retry(datagram: &[u8]) -> bool {
    datagram[0] & 0xf0 == 0xf0
}

#[test]
fn under_many_handshakes_a_client_has_to_show_its_address() {
    let scene = Scene::set(|settings| settings.head_timeout = Duration::from_secs(100));
    let begin = || Client::new(scene.server.address, &scene.certificate);
    let mut begun: Vec<_> = (0..256).map(|_| begin()).collect();
    for client in &mut begun {
        assert!(!is_retry(&client.greet()));
    }
    assert!(is_retry(&begin().greet()));
    // A client that shows its address is served.
    assert_eq!(scene.get("/c/hello").text(), "hello");
}

#[test]
fn handshakes_of_clients_that_may_not_exist_take_half_of_all_connections_at_most() {
    for per_address in [false, true] {
        let scene = Scene::set(|settings| {
            settings.head_timeout = Duration::from_secs(100);
            match per_address {
                false => settings.max_connections = 8,
                true => settings.max_connections_per_address = 8,
            }
        });
        let begin = || Client::new(scene.server.address, &scene.certificate);
        let mut begun: Vec<_> = (0..4).map(|_| begin()).collect();
        for client in &mut begun {
            assert!(!is_retry(&client.greet()));
        }
        let mut further: Vec<_> = (0..20).map(|_| begin()).collect();
        for client in &mut further {
            assert!(is_retry(&client.greet()));
        }
        assert_eq!(scene.get("/c/hello").text(), "hello");
    }
}

#[test]
fn frames_that_come_with_requests_are_free_and_others_have_a_limit() {
    const PRIORITY_UPDATE: u64 = 0xf_0700;
    let scene = Scene::start();
    let mut client = Client::shake_hands(scene.server.address, &scene.certificate);
    let update = || frame(PRIORITY_UPDATE, &[0, b'u', b'=', b'3']);
    let control = client.open_unidirectional(&[&[0, 4, 0][..], &update().repeat(9_900)].concat());
    for _ in 0..50 {
        client.send(control, &update().repeat(4));
        let stream = client.request(&get("/c/hello"));
        assert_eq!(Response::of(&client.response(stream)).text(), "hello");
    }
    client.send(control, &update().repeat(11_000));
    assert_eq!(client.ended(), QuicError::Application(EXCESSIVE_LOAD));
}

#[test]
fn datagrams_of_no_connection_get_a_reset_or_nothing() {
    let scene = Scene::start();
    let socket = UdpSocket::bind("127.0.0.1:0").expect("a port is free");
    socket.connect(scene.server.address).expect("a socket can be connected");
    for datagram in [&b""[..], b"x", &[0x40; 30], &[0xc0; 1500], &[0xff; 60], &[0xe0, 0, 0, 0, 1, 12, 0, 0]] {
        socket.send(datagram).expect("it is sent");
    }
    // A version that the server does not have, in a datagram that is large enough.
    let mut first = vec![0xc0, 0x1a, 0x2a, 0x3a, 0x4a, 8, 1, 2, 3, 4, 5, 6, 7, 8, 8, 8, 7, 6, 5, 4, 3, 2, 1];
    first.resize(1200, 0);
    socket.send(&first).expect("it is sent");
    socket.set_read_timeout(Some(crate::support::PATIENCE)).expect("a socket takes options");
    let mut buffer = [0; 2048];
    let versions = loop {
        let length = socket.recv(&mut buffer).expect("the server replies");
        if buffer[0] & 0x80 != 0 && buffer[1..5] == [0; 4] {
            break buffer[..length].to_vec();
        }
    };
    assert!(versions.ends_with(&1_u32.to_be_bytes()), "it has version 1: {versions:?}");
    assert_eq!(scene.get("/c/hello").text(), "hello");
}
