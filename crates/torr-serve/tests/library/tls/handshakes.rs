//! Handshakes that come to nothing: clients that speak something else, or stop speaking.

use super::scene::{Scene, Secure, VERSIONS, app, hello, socket};
use crate::support::Running;
use std::io::{Read, Write};
use std::net::Shutdown;
use std::sync::Arc;
use std::time::{Duration, Instant};
use torr_serve::{App, ProxyProtocol, Response};
use torr_test_support::client::{Client, get};

/// What a client says first.
fn client_hello(scene: &Scene) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut client = hello(Arc::new(scene.config(&VERSIONS, None)), "localhost");
    client.write_tls(&mut bytes).expect("memory can be written to");
    bytes
}

#[test]
fn plain_http_on_a_tls_port_is_refused_in_plain_http() {
    let scene = Scene::set();
    let request = get("/");
    let long = format!("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 800000\r\n\r\n{}", "b".repeat(800_000));
    for (text, size) in
        [(&request, usize::MAX), (&request, 1), (&request, 4), (&"get / ?\r\n".into(), 100), (&long, 50_000)]
    {
        let mut stream = socket(scene.server.address);
        for piece in text.as_bytes().chunks(size) {
            // The refusal may come before all is sent.
            if stream.write_all(piece).is_err() {
                break;
            }
        }
        let mut response = String::new();
        stream.read_to_string(&mut response).expect("it is read to its end");
        assert!(response.starts_with("HTTP/1.1 400 Bad Request\r\n"), "{size}: {response}");
        assert!(response.ends_with("\r\n\r\nThis port speaks TLS: use https\n"), "{size}: {response}");
        let length = response.split("Content-Length: ").nth(1).and_then(|rest| rest.lines().next());
        let body = response.split("\r\n\r\n").nth(1).map(str::len);
        assert_eq!(length.and_then(|length| length.parse().ok()), body, "{response}");
    }
    assert_eq!(scene.client().get("/"), "fine");
}

#[test]
fn tls_on_a_plain_port_is_refused_in_plain_http() {
    let (scene, plain) = (Scene::set(), Running::start(app()));
    let hello = client_hello(&scene);
    for size in [1, hello.len()] {
        let mut client = Client::connect(plain.address);
        for piece in hello.chunks(size) {
            client.send_what_goes(piece);
        }
        let response = client.response();
        assert_eq!((response.status, response.field("Connection")), (400, Some("close")), "{response:?}");
        client.ends();
    }
}

#[test]
fn nonsense_after_the_handshake_ends_the_connection_with_an_alert() {
    let scene = Scene::set();
    let mut client = scene.client();
    assert_eq!(client.get("/"), "fine");
    client.stream.sock.write_all(get("/").as_bytes()).expect("the server takes it");
    let error = client.stream.read_to_end(&mut Vec::new()).expect_err("it is an alert").to_string();
    assert!(error.contains("received fatal alert"), "{error}");
}

#[test]
fn a_handshake_that_stalls_is_ended() {
    let scene = Scene::with(app(), |settings, _| {
        settings.head_timeout = Duration::from_millis(1500);
        settings.idle_timeout = Duration::from_secs(600);
        settings.defer_accept = false;
    });
    let hello = client_hello(&scene);
    for part in [0, 1, 5, hello.len() / 2, hello.len()] {
        let (mut stream, start) = (socket(scene.server.address), Instant::now());
        stream.write_all(&hello[..part]).expect("the server takes it");
        // The time-out of reading tells of one that is waited for.
        let read = stream.read_to_end(&mut Vec::new());
        assert!(read.is_ok() && start.elapsed() < Duration::from_secs(20), "{part}: {read:?} {:?}", start.elapsed());
    }
    // Bytes one by one do not put it off.
    let (mut stream, start) = (socket(scene.server.address), Instant::now());
    stream.set_read_timeout(Some(Duration::from_millis(20))).expect("a socket takes options");
    let mut ended = false;
    for byte in hello.iter().cycle().take(hello.len() - 1) {
        if stream.write_all(&[*byte]).is_err() || matches!(stream.read(&mut [0; 64]), Ok(0)) {
            ended = true;
            break;
        }
    }
    assert!(ended && start.elapsed() < Duration::from_secs(20), "{ended} after {:?}", start.elapsed());
    assert_eq!(scene.client().get("/"), "fine");
}

#[test]
fn clients_that_go_during_the_handshake_leave_nothing_behind() {
    let scene = Scene::with(app(), |settings, _| settings.max_connections = 20);
    let hello = client_hello(&scene);
    for turn in 0..200 {
        let mut stream = socket(scene.server.address);
        let _ = stream.write_all(&hello[..turn * hello.len() / 200]);
        let _ = stream.shutdown(Shutdown::Both);
    }
    // Each has released its admission, or soon will.
    let start = Instant::now();
    loop {
        let config = Arc::new(scene.config(&VERSIONS, None));
        match Secure::connect(scene.server.address, config, "localhost") {
            Ok(mut client) => return assert_eq!(client.get("/"), "fine"),
            Err(error) => assert!(start.elapsed() < crate::support::PATIENCE, "{error}"),
        }
    }
}

#[test]
fn a_proxys_header_stands_before_the_handshake() {
    let app = App::new().get("/", |request| {
        let tls = request.tls().is_some();
        Response::ok("a/b", format!("{:?} {tls}", request.peer()).into_bytes())
    });
    let scene = Scene::with(app, |settings, _| {
        settings.proxy_protocol = ProxyProtocol::Required;
        settings.trusted_proxies = "127.0.0.1".parse().expect("it is an address");
    });
    let header = b"PROXY TCP4 192.0.2.1 192.0.2.2 4711 443\r\n";
    for at in 0..=header.len() {
        let mut stream = socket(scene.server.address);
        let (first, last) = header.split_at(at);
        stream.write_all(first).and_then(|()| stream.write_all(last)).expect("the server takes it");
        let config = Arc::new(scene.config(&VERSIONS, None));
        let mut client = Secure::over(stream, config, "localhost").expect("the handshake succeeds");
        assert_eq!(client.get("/"), "Some(192.0.2.1:4711) true", "{at}");
    }
    // Header and client's hello in one piece, and in the least pieces.
    let both = [&header[..], &client_hello(&scene)].concat();
    for size in [1, both.len()] {
        let mut stream = socket(scene.server.address);
        both.chunks(size).for_each(|piece| stream.write_all(piece).expect("the server takes it"));
        let mut record = [0; 5];
        stream.read_exact(&mut record).expect("the server answers");
        assert_eq!(record[..2], [22, 3], "it is a handshake's record");
    }
    // Without the header there is no handshake.
    let mut stream = socket(scene.server.address);
    stream.write_all(&client_hello(&scene)).expect("the server takes it");
    let mut response = Vec::new();
    // It is closed with what it has not read.
    let _ = stream.read_to_end(&mut response);
    assert_eq!(response, b"");
}
