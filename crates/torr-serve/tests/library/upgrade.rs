//! Connections that turn into something else: WebSockets, CONNECT, and requests for it that come to nothing.

use crate::support::{PATIENCE, Running};
use crate::websocket::frames::{CLOSE, Client, Frame, TEXT, close, frame, handshake};
use axum::Router;
use axum::body::Body;
use axum::extract::{ConnectInfo, Request, WebSocketUpgrade};
use axum::http::{Method, StatusCode};
use axum::response::IntoResponse;
use axum::routing::{any, get, post};
use bytes::Bytes;
use hyper_util::rt::TokioIo;
use std::io::Read;
use std::net::{Shutdown, SocketAddr};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use torr_serve::{App, Response, Settings};

/// Echoes messages; `close` is answered by a close, and `panic` by a panic.
async fn socket(mut socket: axum::extract::ws::WebSocket, gone: Sender<()>) {
    use axum::extract::ws::{CloseFrame, Message};
    while let Some(Ok(message)) = socket.recv().await {
        let sent = match &message {
            Message::Text(text) if text.as_str() == "close" => {
                socket.send(Message::Close(Some(CloseFrame { code: 4001, reason: "bye".into() }))).await
            }
            Message::Text(text) if text.as_str() == "panic" => panic!("this is part of the test"),
            Message::Text(_) => socket.send(message).await,
            _ => Ok(()),
        };
        if sent.is_err() {
            break;
        }
    }
    let _ = gone.send(());
}

fn defect<T>() -> T {
    panic!("this is part of the test")
}

/// Accepts a CONNECT, and echoes what comes then, in upper case.
async fn tunnel(request: Request) -> axum::response::Response {
    if request.method() != Method::CONNECT {
        return (StatusCode::NOT_FOUND, "the fallback").into_response();
    }
    if request.uri().port_u16() != Some(443) {
        return (StatusCode::FORBIDDEN, "no tunnel").into_response();
    }
    tokio::spawn(upper(request, "tunnel\n"));
    StatusCode::OK.into_response()
}

/// Another protocol by `Upgrade`.
async fn shout(request: Request) -> axum::response::Response {
    if request.headers().get("upgrade").is_none_or(|protocol| protocol != "shout") {
        return "not asked to shout".into_response();
    }
    tokio::spawn(upper(request, "SHOUT\n"));
    (StatusCode::SWITCHING_PROTOCOLS, [("connection", "upgrade"), ("upgrade", "shout")]).into_response()
}

async fn upper(request: Request, greeting: &str) {
    let Ok(upgraded) = hyper::upgrade::on(request).await else { return };
    let mut line = TokioIo::new(upgraded);
    let mut room = [0; 4096];
    if line.write_all(greeting.as_bytes()).await.is_err() {
        return;
    }
    while let Ok(read @ 1..) = line.read(&mut room).await {
        if line.write_all(&room[..read].to_ascii_uppercase()).await.is_err() {
            return;
        }
    }
}

/// The server, and what tells that a WebSocket's handler has ended.
fn start(set: impl FnOnce(&mut Settings)) -> (Running, Receiver<()>) {
    let (gone, has_gone) = channel();
    let upgrade = move |upgrade: WebSocketUpgrade| async move {
        upgrade.protocols(["chat"]).on_upgrade(|upgraded| socket(upgraded, gone))
    };
    let router = Router::new()
        .route("/ws", any(upgrade))
        .route("/shout", get(shout).post(|body: Bytes| async move { format!("{} bytes", body.len()) }))
        .route("/echo", post(|body: Body| async { body }))
        .route("/bytes", post(|bytes: Bytes| async { bytes }))
        .route(
            "/bytes-later",
            post(|request: Request| async {
                // The server looks at the content meanwhile.
                tokio::task::yield_now().await;
                axum::body::to_bytes(request.into_body(), 100).await.expect("the client sent it")
            }),
        )
        .route("/host", any(|headers: axum::http::HeaderMap| async move { format!("{:?}", headers["host"]) }))
        .route("/peer", get(|ConnectInfo(peer): ConnectInfo<SocketAddr>| async move { peer.to_string() }))
        .route("/panics", get(|| async { defect::<()>() }))
        .route(
            "/later",
            get(|| async {
                tokio::time::sleep(Duration::from_millis(2)).await;
                "later"
            }),
        )
        .fallback(tunnel);
    let app = App::new()
        .get("/now", |_| Response::text("now"))
        .get("/large", |_| Response::text("l".repeat(2 * 1024 * 1024)))
        .post("/length", |request| Response::text(request.body().len().to_string()))
        .router(router)
        .peer_as(ConnectInfo::<SocketAddr>);
    (Running::start_with(app, set), has_gone)
}

fn text(payload: &str) -> Option<Frame> {
    Some(Frame { opcode: TEXT, payload: payload.as_bytes().to_vec() })
}

fn plain(path: &str) -> String {
    format!("GET {path} HTTP/1.1\r\nHost: x\r\n\r\n")
}

/// A request that offers another protocol.
fn offer(path: &str, protocol: &str) -> String {
    format!("GET {path} HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: {protocol}\r\n\r\n")
}

/// The status line and the body of a response.
fn response(client: &mut Client) -> (String, String) {
    let (head, body) = client.response();
    (head.lines().next().unwrap_or_default().to_owned(), body)
}

fn lives(client: &mut Client) {
    client.send(plain("/now"));
    assert_eq!(response(client), ("HTTP/1.1 200 OK".into(), "now".into()));
}

// WebSockets.

#[test]
fn a_websocket_talks_and_ends() {
    let (server, has_gone) = start(|_| {});
    let mut client = Client::open(server.address, "/ws");
    for number in 0..100 {
        let message = format!("message {number}");
        client.send(frame(TEXT, &message));
        assert_eq!(client.frame(), text(&message));
    }
    client.send(close(1000, ""));
    assert_eq!(client.frame().map(|frame| frame.opcode), Some(CLOSE));
    assert_eq!(client.frame(), None, "the end");
    has_gone.recv_timeout(PATIENCE).expect("the handler ends");
}

#[test]
fn the_server_may_end_it() {
    let (server, _) = start(|_| {});
    let mut client = Client::open(server.address, "/ws");
    client.send(frame(TEXT, "close"));
    assert_eq!(client.frame(), Some(Frame { opcode: CLOSE, payload: b"\x0f\xa1bye".to_vec() }));
    client.send(close(4001, ""));
    assert_eq!(client.frame(), None, "the end");
}

#[test]
fn its_handler_ends_with_its_client_and_a_panic_affects_no_others() {
    let (server, has_gone) = start(|_| {});
    drop(Client::open(server.address, "/ws"));
    has_gone.recv_timeout(PATIENCE).expect("the handler ends");
    let (mut one, mut other) = (Client::open(server.address, "/ws"), Client::open(server.address, "/ws"));
    one.send(frame(TEXT, "panic"));
    assert_eq!(one.frame(), None, "the end");
    other.send(frame(TEXT, "x"));
    assert_eq!(other.frame(), text("x"));
}

#[test]
fn what_comes_with_the_request_is_the_new_protocols() {
    let (server, _) = start(|_| {});
    let all = [handshake("/ws", "").into_bytes(), frame(TEXT, "together"), frame(TEXT, "again")].concat();
    for at in (1..=all.len()).step_by(7).chain([all.len()]) {
        let mut client = Client::connect(server.address);
        client.send(&all[..at]);
        // By another's response the server is known to have seen it.
        lives(&mut Client::connect(server.address));
        client.send(&all[at..]);
        client.is_opened();
        assert_eq!([client.frame(), client.frame()], [text("together"), text("again")], "split at {at}");
    }
}

#[test]
fn requests_before_it_are_answered_first() {
    let (server, _) = start(|_| {});
    for before in ["/now", "/later", "/large"] {
        let mut client = Client::connect(server.address);
        client.send([plain(before), plain("/now"), handshake("/ws", "")].concat());
        assert_eq!(response(&mut client).0, "HTTP/1.1 200 OK", "{before}");
        assert_eq!(response(&mut client).1, "now", "{before}");
        client.is_opened();
        client.send(frame(TEXT, "x"));
        assert_eq!(client.frame(), text("x"), "{before}");
    }
}

#[test]
fn a_handshake_is_checked() {
    let (server, _) = start(|_| {});
    let good = handshake("/ws", "");
    for (request, status) in [
        (good.replace("Version: 13", "Version: 12"), "400"),
        (good.replace("Sec-WebSocket-Version: 13\r\n", ""), "400"),
        (good.replace("Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n", ""), "400"),
        (good.replace("Upgrade: websocket", "Upgrade: other"), "400"),
        (good.replace("Upgrade: websocket\r\n", ""), "400"),
        (good.replace("keep-alive, Upgrade", "keep-alive"), "400"),
        (good.replace("GET", "POST"), "405"),
        (plain("/ws"), "400"),
    ] {
        let mut client = Client::connect(server.address);
        client.send(&request);
        assert_eq!(response(&mut client).0.split(' ').nth(1), Some(status), "{request}");
        lives(&mut client);
        // The connection may try again.
        client.send(&good);
        client.is_opened();
    }
    let mut client = Client::connect(server.address);
    client.send(handshake("/ws", "Sec-WebSocket-Protocol: other, chat\r\n"));
    assert!(client.is_opened().to_ascii_lowercase().contains("\r\nsec-websocket-protocol: chat\r\n"));
    // Names of protocols and options have no case.
    let mut client = Client::connect(server.address);
    client.send(good.replace("Upgrade: websocket", "Upgrade: WebSocket").replace("keep-alive, Upgrade", "UPGRADE"));
    client.is_opened();
}

#[test]
fn a_websocket_counts_as_a_connection_until_it_ends() {
    let (server, has_gone) = start(|settings| settings.max_connections = 2);
    let (one, mut two) = (Client::open(server.address, "/ws"), Client::open(server.address, "/ws"));
    let mut third = Client::connect(server.address);
    third.send(plain("/now"));
    assert_eq!(response(&mut third).0, "HTTP/1.1 503 Service Unavailable");
    drop(one);
    has_gone.recv_timeout(PATIENCE).expect("the handler ends");
    two.send(frame(TEXT, "x"));
    assert_eq!(two.frame(), text("x"), "by this the other's end is known to be done with");
    lives(&mut Client::connect(server.address));
}

#[test]
fn a_websocket_may_be_idle() {
    let (server, _) = start(|settings| {
        // Long enough for a client on a machine whose CPUs have other work for a second.
        settings.idle_timeout = Duration::from_millis(1500);
        settings.head_timeout = Duration::from_millis(1500);
    });
    let mut client = Client::open(server.address, "/ws");
    // One that is no WebSocket ends meanwhile.
    let mut other = Client::connect(server.address);
    lives(&mut other);
    assert_eq!(other.take(1), None);
    client.send(frame(TEXT, "x"));
    assert_eq!(client.frame(), text("x"));
}

#[test]
fn a_websocket_does_not_keep_the_server_from_stopping() {
    let (server, _) = start(|_| {});
    let mut client = Client::open(server.address, "/ws");
    client.send(frame(TEXT, "x"));
    assert_eq!(client.frame(), text("x"));
    server.stop();
    server.wait().expect("the worker is well");
    assert_eq!(client.frame(), None);
}

// CONNECT, and any other protocol.

#[test]
fn connect_is_answered_by_the_router() {
    let (server, _) = start(|_| {});
    let connect = |port| format!("CONNECT example.org:{port} HTTP/1.1\r\nHost: example.org:{port}\r\n\r\n");
    for early in ["", "early "] {
        let mut client = Client::connect(server.address);
        client.send(connect(443) + early);
        let head = client.head();
        assert!(head.starts_with("HTTP/1.1 200 OK\r\n"), "{head}");
        assert!(!head.to_ascii_lowercase().contains("content-length"), "{head}");
        assert_eq!(client.take(7).as_deref(), Some(&b"tunnel\n"[..]));
        client.send("words");
        let expected = format!("{early}words").to_ascii_uppercase();
        assert_eq!(client.take(expected.len()), Some(expected.into_bytes()));
        client.end_sending();
        assert_eq!(client.take(1), None);
    }
    let mut client = Client::connect(server.address);
    client.send(connect(80) + &plain("/now"));
    assert_eq!(response(&mut client), ("HTTP/1.1 403 Forbidden".into(), "no tunnel".into()));
    assert_eq!(response(&mut client).1, "now");
}

#[test]
fn any_protocol_may_be_taken_up() {
    let (server, _) = start(|_| {});
    let mut client = Client::connect(server.address);
    client.send(offer("/shout", "shout") + "at once, ");
    let head = client.head().to_ascii_lowercase();
    assert!(head.starts_with("http/1.1 101 ") && head.contains("\r\nupgrade: shout\r\n"), "{head}");
    assert_eq!(client.take(6).as_deref(), Some(&b"SHOUT\n"[..]));
    client.send("later");
    assert_eq!(client.take(14).as_deref(), Some(&b"AT ONCE, LATER"[..]));
}

#[test]
fn an_upgrade_offer_without_a_handler_is_a_request() {
    let (server, _) = start(|_| {});
    let mut client = Client::connect(server.address);
    let post = "POST /bytes HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\nbody";
    let upgrade = "Connection: Upgrade\r\nUpgrade: other\r\n";
    let fields = |length: usize| format!("{upgrade}Content-Length: {length}\r\n");
    for (request, status, body) in [
        (offer("/shout", "other"), "200", "not asked to shout"),
        (offer("/now", "other"), "200", "now"),
        (offer("/nowhere", "other"), "404", "the fallback"),
        (plain("/now"), "200", "now"),
        (plain("/later"), "200", "later"),
        (post.into(), "200", "body"),
        (format!("POST /bytes HTTP/1.1\r\nHost: x\r\n{}\r\nbody", fields(4)), "200", "body"),
        (format!("POST /bytes-later HTTP/1.1\r\nHost: x\r\n{}\r\nbody", fields(4)), "200", "body"),
        (format!("POST /length HTTP/1.1\r\nHost: x\r\n{}\r\nbody", fields(4)), "200", "4"),
        (
            format!(
                "POST /bytes HTTP/1.1\r\nHost: x\r\n{upgrade}Transfer-Encoding: chunked\r\n\r\n4\r\nbody\r\n0\r\n\r\n"
            ),
            "200",
            "body",
        ),
        (offer("/peer", "other"), "200", &client.stream.local_addr().expect("it is connected").to_string()),
        (plain("/peer"), "200", &client.stream.local_addr().expect("it is connected").to_string()),
        (plain("/large"), "200", &"l".repeat(2 * 1024 * 1024)),
        (offer("/shout", "other") + &plain("/now"), "200", "not asked to shout"),
    ] {
        client.send(&request);
        let (line, got) = response(&mut client);
        assert!(line.split(' ').nth(1) == Some(status) && got == body, "{request}: {line}");
    }
    assert_eq!(response(&mut client).1, "now", "the pipelined one");
    client.send(plain("/panics"));
    assert_eq!(response(&mut client).0, "HTTP/1.1 500 Internal Server Error");
    // A HEAD of a controller has the length of its GET, and no body.
    let mut client = Client::connect(server.address);
    client.send(offer("/shout", "other") + &plain("/now").replace("GET", "HEAD") + &plain("/later"));
    assert_eq!(response(&mut client).1, "not asked to shout");
    let head = client.head().to_ascii_lowercase();
    assert!(head.contains("\r\ncontent-length: 3\r\n") && head.contains("\r\nserver: torr\r\n"), "{head}");
    assert_eq!(response(&mut client).1, "later");
}

/// hyper would take each of these.
#[test]
fn the_body_of_an_offer_is_read_strictly() {
    let (server, _) = start(|_| {});
    let upgrade = "Connection: Upgrade\r\nUpgrade: other\r\nTransfer-Encoding: chunked\r\n";
    let hidden = "GET /now HTTP/1.1\r\nHost: x\r\n\r\n";
    for chunks in
        ["4\r\nbody\r\n0\r\n\n", "4\nbody\r\n0\r\n\r\n", "4 ;\nx\r\nbody\r\n0\r\n\r\n", "4\r\nbody\r\n0\r\na: b\n\r\n"]
    {
        for pause in [false, true] {
            let mut client = Client::connect(server.address);
            client.send(format!("POST /bytes HTTP/1.1\r\nHost: x\r\n{upgrade}\r\n"));
            if pause {
                // By another's response the server is known to have had time for it.
                lives(&mut Client::connect(server.address));
            }
            client.send(format!("{chunks}{hidden}"));
            assert_eq!(response(&mut client).0, "HTTP/1.1 400 Bad Request", "{chunks:?}");
            assert_eq!(client.take(1), None, "{chunks:?}");
        }
    }
}

#[test]
fn an_absolute_target_names_the_host() {
    let (server, _) = start(|_| {});
    let mut client = Client::connect(server.address);
    for fields in ["", "Connection: Upgrade\r\nUpgrade: other\r\n"] {
        client.send(format!("GET http://a.example:80/host HTTP/1.1\r\nHost: b.example\r\n{fields}\r\n"));
        assert_eq!(response(&mut client).1, "\"a.example:80\"", "{fields:?}");
    }
}

#[test]
fn an_offer_that_is_the_last_request_is_answered() {
    let (server, _) = start(|_| {});
    for behind in [String::new(), plain("/now"), plain("/now").repeat(1000)] {
        let mut client = Client::connect(server.address);
        client.send(offer("/shout", "other").replace("Connection: Upgrade", "Connection: Upgrade, close") + &behind);
        let head = client.head().to_ascii_lowercase();
        assert!(head.starts_with("http/1.1 200 ") && head.contains("\r\nconnection: close\r\n"), "{head}");
        assert_eq!(client.take(18).as_deref(), Some(&b"not asked to shout"[..]));
        assert_eq!(client.take(1), None);
    }
}

#[test]
fn an_offer_of_http_2_is_not_taken() {
    let (server, _) = start(|_| {});
    let mut client = Client::connect(server.address);
    let fields = "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n";
    for path in ["/now", "/later", "/shout"] {
        client.send(format!("GET {path} HTTP/1.1\r\nHost: x\r\n{fields}\r\n"));
        let (line, _) = response(&mut client);
        assert_eq!(line, "HTTP/1.1 200 OK", "{path}");
        lives(&mut client);
    }
}

#[test]
fn limits_hold_on_connections_that_were_handed_over() {
    let (server, _) = start(|settings| {
        settings.max_body = 1_000;
        settings.max_streamed_body = 2_000;
        settings.body_timeout = Duration::from_millis(100);
    });
    for (path, length, status) in [
        ("/length", 1_000, "200"),
        ("/length", 1_001, "413"),
        ("/bytes", 2_000, "200"),
        ("/bytes", 2_001, "413"),
        // More than comes.
        ("/length", 900, "408"),
        ("/bytes", 900, "408"),
    ] {
        let mut client = Client::connect(server.address);
        client.send(offer("/shout", "other"));
        assert_eq!(response(&mut client).1, "not asked to shout");
        let body = "x".repeat(if status == "408" { 10 } else { length });
        client.send(format!("POST {path} HTTP/1.1\r\nHost: x\r\nContent-Length: {length}\r\n\r\n{body}"));
        assert_eq!(response(&mut client).0.split(' ').nth(1), Some(status), "{path} with {length}");
        if status == "200" {
            lives(&mut client);
        } else {
            assert_eq!(client.take(1), None, "{path} with {length}");
        }
    }
}

#[test]
fn a_handed_over_connection_ends_when_it_is_idle_and_when_the_server_stops() {
    let (server, _) = start(|settings| settings.idle_timeout = Duration::from_millis(1500));
    let mut client = Client::connect(server.address);
    client.send(offer("/shout", "other"));
    assert_eq!(response(&mut client).1, "not asked to shout");
    assert_eq!(client.take(1), None);
    let (server, _) = start(|_| {});
    let mut client = Client::connect(server.address);
    client.send(offer("/shout", "other"));
    assert_eq!(response(&mut client).1, "not asked to shout");
    server.stop();
    assert_eq!(client.take(1), None);
    server.wait().expect("the worker is well");
}

#[test]
fn a_client_that_takes_nothing_loses_its_tunnel() {
    let (server, _) = start(|settings| settings.write_timeout = Duration::from_millis(200));
    let mut client = Client::connect(server.address);
    client.send(offer("/shout", "shout"));
    client.head();
    // What is sent comes back, until nothing more goes in either direction.
    client.stream.set_write_timeout(Some(PATIENCE)).expect("a socket takes options");
    let piece = vec![b'x'; 256 * 1024];
    let ended = loop {
        if let Err(error) = std::io::Write::write_all(&mut client.stream, &piece) {
            break error;
        }
    };
    assert!(!matches!(ended.kind(), std::io::ErrorKind::WouldBlock | std::io::ErrorKind::TimedOut), "{ended}");
    let _ = client.stream.shutdown(Shutdown::Both);
    let _ = client.stream.read(&mut [0]);
}
