//! `examples/websocket.rs`.

use crate::program::Example;
use std::io::{Read, Write};
use std::net::TcpStream;
use torr_test_support::PATIENCE;
use tungstenite::protocol::frame::coding::CloseCode;
use tungstenite::{Error, Message, WebSocket};

/// What the opening handshake of RFC 6455, section 1.3, has as its key, and the server's accept value.
const KEY: &str = "dGhlIHNhbXBsZSBub25jZQ==";
const ACCEPT: &str = "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=";

fn connect(example: &Example) -> TcpStream {
    let stream = TcpStream::connect(example.address).expect("it listens");
    stream.set_read_timeout(Some(PATIENCE)).expect("a socket takes options");
    stream
}

fn open(example: &Example, path: &str) -> WebSocket<TcpStream> {
    let (socket, response) = tungstenite::client(format!("ws://{}{path}", example.address), connect(example))
        .unwrap_or_else(|error| panic!("{path}: {error}"));
    assert_eq!(response.status(), 101);
    socket
}

fn say(socket: &mut WebSocket<TcpStream>, message: impl Into<Message>) {
    socket.send(message.into()).expect("the connection is open");
}

fn hear(socket: &mut WebSocket<TcpStream>) -> Message {
    socket.read().expect("a message comes")
}

/// A close in order: the server replies, and ends the connection.
fn close(mut socket: WebSocket<TcpStream>) {
    socket.close(None).expect("the connection is open");
    assert_eq!(hear(&mut socket), Message::Close(None));
    let end = socket.read();
    assert!(matches!(end, Err(Error::ConnectionClosed)), "{end:?}");
}

#[test]
fn what_is_said_comes_back() {
    let websocket = Example::start("websocket", &[]);
    let mut socket = open(&websocket, "/echo");
    let messages = [
        Message::text("Grüße"),
        Message::binary(vec![0, 0xff, b'\n']),
        Message::text(""),
        Message::text("x".repeat(60_000)),
    ];
    for message in &messages {
        say(&mut socket, message.clone());
        assert!(hear(&mut socket) == *message, "{} bytes", message.len());
    }
    // Many before the first is read come back in order.
    (0..100).for_each(|n| say(&mut socket, Message::text(n.to_string())));
    (0..100).for_each(|n| assert_eq!(hear(&mut socket), Message::text(n.to_string())));
    say(&mut socket, Message::Ping("are you there?".into()));
    assert_eq!(hear(&mut socket), Message::Pong("are you there?".into()));
    close(socket);

    let mut socket = open(&websocket, "/echo");
    say(&mut socket, Message::text("x".repeat(70_000)));
    let refused = socket.read();
    assert!(refused.as_ref().map_or(true, Message::is_close), "{refused:?}");
    drop(socket);
    websocket.leaves();
}

#[test]
fn a_frame_right_behind_the_handshake_is_not_lost() {
    let websocket = Example::start("websocket", &[]);
    let mut stream = connect(&websocket);
    let fields =
        format!("Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: {KEY}");
    let mut bytes = format!("GET /echo HTTP/1.1\r\nHost: x\r\n{fields}\r\n\r\n").into_bytes();
    // `hi` as text, with a mask that changes nothing.
    bytes.extend(b"\x81\x82\0\0\0\0hi");
    stream.write_all(&bytes).expect("it is connected");
    let mut response = Vec::new();
    while !response.ends_with(b"\r\n\r\n\x81\x02hi") {
        let mut byte = [0];
        let read = stream.read(&mut byte).unwrap_or_else(|error| panic!("{error} after {}", response.escape_ascii()));
        assert_eq!(read, 1, "the end after {}", response.escape_ascii());
        response.push(byte[0]);
    }
    let head = String::from_utf8_lossy(&response);
    assert!(head.starts_with("HTTP/1.1 101 "), "{head}");
    let accepts = head.lines().filter_map(|line| line.split_once(": "));
    let accepts: Vec<_> = accepts.filter(|(name, _)| name.eq_ignore_ascii_case("sec-websocket-accept")).collect();
    assert!(matches!(accepts[..], [(_, ACCEPT)]), "{head}");
    drop(stream);
    websocket.leaves();
}

#[test]
fn all_in_the_chat_hear_each_other() {
    let websocket = Example::start("websocket", &[]);
    // So many that each worker has some, in all likelihood.
    let mut all: Vec<_> = (0..8).map(|n| open(&websocket, &format!("/chat/guest-{n}"))).collect();
    for speaker in [0, 7] {
        say(&mut all[speaker], Message::text("hello"));
        let line = Message::text(format!("guest-{speaker}: hello"));
        all.iter_mut().for_each(|listener| assert_eq!(hear(listener), line));
    }
    // A client that leaves has no effect on others.
    close(all.remove(0));
    drop(all.remove(0));
    say(&mut all[0], Message::text("two are gone"));
    all.iter_mut().for_each(|listener| assert_eq!(hear(listener), Message::text("guest-2: two are gone")));
    say(&mut all[1], Message::binary(vec![1, 2, 3]));
    match hear(&mut all[1]) {
        Message::Close(Some(frame)) => assert_eq!((frame.code, &*frame.reason), (CloseCode::Unsupported, "text only")),
        other => panic!("{other:?} instead of the end"),
    }
    drop(all);
    websocket.leaves();
}

#[test]
fn what_is_no_handshake_is_refused() {
    let websocket = Example::start("websocket", &[]);
    assert_eq!(websocket.get("/echo").status, 400);
    let refused = |fields: &str| {
        let mut client = websocket.client();
        client.send(format!("GET /echo HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\n{fields}\r\n"));
        client.response().status
    };
    let version = "Sec-WebSocket-Version";
    let key = format!("Sec-WebSocket-Key: {KEY}\r\n");
    assert_eq!(refused(&format!("Upgrade: h2c\r\n{version}: 13\r\n{key}")), 400);
    assert_eq!(refused(&format!("Upgrade: websocket\r\n{version}: 12\r\n{key}")), 400);
    assert_eq!(refused(&format!("Upgrade: websocket\r\n{version}: 13\r\n")), 400);
    websocket.leaves();
}
