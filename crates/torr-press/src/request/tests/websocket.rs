//! Messages of WebSockets, and the requests of their handshakes.

use crate::request::{Body, Data, Options, RequestError, Requests, WebSocketOptions};
use crate::servers::target::Target;
use torr_wire::websocket::Offer;

/// The largest message, in bytes.
const LARGEST: usize = 16 * 1024 * 1024;

fn messages(text: &[u8], options: &Options, binary: bool) -> Result<Requests, RequestError> {
    let url = Target::parse_any("ws://h.test:81/chat?x=1").expect("it is a URL").into();
    let message = Some(Body::Data(vec![Data::Plain(text.to_vec())]));
    let subprotocols = vec!["a".into(), "b".into()];
    let of_websocket = WebSocketOptions { message, binary, subprotocols, ..WebSocketOptions::default() };
    Requests::messages(&url, options, &of_websocket)
}

#[test]
fn a_message_is_the_content_alone_and_the_handshake_has_the_fields() {
    let options = Options { headers: vec!["Origin: http://o".into()], keep_alive: false, ..Options::default() };
    let requests = messages(b"{\"n\": {{seq}}}", &options, false).expect("these are requests");
    let mut cursor = requests.cursor(0, 1);
    for expected in ["{\"n\": 1}", "{\"n\": 2}"] {
        let mut out = Vec::new();
        cursor.write(&mut out);
        assert_eq!(String::from_utf8_lossy(&out), expected);
    }
    assert_eq!(requests.method(), "text");
    let websocket = requests.websocket().expect("they are messages");
    let mut out = Vec::new();
    websocket.handshakes(0, 1).write(&mut out);
    let text = String::from_utf8(out).expect("a request is text");
    assert!(text.starts_with("GET /chat?x=1 HTTP/1.1\r\nHost: h.test:81\r\n"), "{text}");
    assert!(
        text.ends_with(
            "Origin: http://o\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\
             Sec-WebSocket-Protocol: a, b\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAAAA\r\n\r\n"
        ),
        "{text}"
    );
    assert!(!text.contains("close"), "{text}");
}

#[test]
fn what_cannot_be_sent_is_refused() {
    let why =
        |text: &[u8], options: &Options, binary| messages(text, options, binary).err().map(|error| error.to_string());
    let options = Options::default();
    assert_eq!(why(b"\xff", &options, false).as_deref(), Some("the message is not UTF-8 text: use --binary"));
    assert_eq!(why(b"\xff", &options, true), None);
    for header in ["Upgrade: x", "sec-websocket-key: x", "Connection;"] {
        let options = Options { headers: vec![header.into()], ..Options::default() };
        assert!(why(b"x", &options, false).is_some_and(|why| why.contains("WebSocket handshake")), "{header}");
    }
    let large = why(&vec![b'x'; LARGEST + 1], &options, true);
    assert_eq!(large.as_deref(), Some("a message must have at most 16777216 bytes"));
}

#[test]
fn large_messages_are_written_whole() {
    let text = [&vec![b'x'; 100_000][..], b"{{seq}}", &vec![b'y'; 100_000][..]].concat();
    for text in [&text[..], &text[..100_000]] {
        let requests = messages(text, &Options::default(), false).expect("these are requests");
        let mut cursor = requests.cursor(0, 1).with_content_apart();
        let mut out = Vec::new();
        cursor.write(&mut out);
        assert!(out.len() >= 100_000 && cursor.take_content().is_none(), "{} bytes", out.len());
        assert!(!requests.has_shared_content());
    }
}

#[test]
fn only_a_client_that_listens_may_have_no_message() {
    let url = Target::parse_any("ws://h.test:81/").expect("it is a URL").into();
    let of_websocket = |listens| WebSocketOptions { listens, ..WebSocketOptions::default() };
    let refused = Requests::messages(&url, &Options::default(), &of_websocket(false));
    assert!(matches!(refused, Err(RequestError::NoMessage)), "{refused:?}");
    let requests = Requests::messages(&url, &Options::default(), &of_websocket(true)).expect("nothing is to be sent");
    assert!(requests.websocket().is_some_and(|websocket| !websocket.sends));
}

#[test]
fn an_offer_of_compression_precedes_the_key() {
    let url = Target::parse_any("ws://h.test:81/").expect("it is a URL").into();
    for (deflate, expected) in [
        (Offer::WithTakeover, "permessage-deflate; client_max_window_bits"),
        (Offer::WithoutTakeover, "permessage-deflate; server_no_context_takeover; client_no_context_takeover"),
    ] {
        let of_websocket = WebSocketOptions { listens: true, deflate: Some(deflate), ..WebSocketOptions::default() };
        let requests = Requests::messages(&url, &Options::default(), &of_websocket).expect("these are requests");
        let mut out = Vec::new();
        requests.websocket().expect("they are messages").handshakes(0, 1).write(&mut out);
        let text = String::from_utf8(out).expect("a request is text");
        let lines = format!("\r\nSec-WebSocket-Extensions: {expected}\r\nSec-WebSocket-Key: ");
        assert!(text.contains(&lines), "{text}");
    }
}
