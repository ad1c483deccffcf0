//! The calls of the load engine to WebSocket for one exchange: a message, masked, and its echo.

use std::cell::RefCell;
use std::hint::black_box;
use std::rc::Rc;
use torr_gauge::Failure;
use torr_press::request::{Body, Data, Options, Url, WebSocketOptions};
use torr_press::{InFlight, Protocol, Requests, Source, Target, WebSocket};
use torr_wire::websocket::Key;

/// A message of 20 bytes from a server, which masks nothing.
const ECHO: &[u8; 22] = b"\x81\x14<p>Hello, world!</p>";

pub fn exchange(times: u64) -> Result<(), Failure> {
    let target = Target::parse_any("ws://127.0.0.1:8080/echo").expect("it is a URL");
    let message = Some(Body::Data(vec![Data::Plain(ECHO[2..].to_vec())]));
    let of_websocket = WebSocketOptions { message, ..WebSocketOptions::default() };
    let requests = Requests::messages(&Url::from(target), &Options::default(), &of_websocket);
    let requests = requests.expect("the message is text");
    let websocket = requests.websocket().expect("they are messages of a WebSocket");
    let handshakes = Rc::new(RefCell::new(websocket.handshakes(0, 1)));
    let mut session = WebSocket::<false>::new(websocket, &[], handshakes);
    let (mut thread, mut source) = (Default::default(), Source::Requests(requests.cursor(0, 1)));
    let (mut out, mut input) = (Vec::with_capacity(1024), ECHO.to_vec());
    session.open(&mut out);
    let key = Key::of_request(&out).expect("the handshake has a key");
    let mut switched = format!(
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
         Sec-WebSocket-Accept: {}\r\n\r\n",
        key.accept()
    )
    .into_bytes();
    let in_flight = |count| InFlight { count, oldest_is_head: false, failed_response: None };
    session.receive(&mut thread, &mut switched, 0, in_flight(0), &mut out)?;
    assert!(!session.is_handshaking(), "the handshake is complete");
    for _ in 0..times {
        out.clear();
        session.start(&mut thread, 0, &mut source, black_box(&mut out));
        session.flush(&mut thread, &mut out)?;
        let (_, event) = session.receive(&mut thread, black_box(&mut input), black_box(1), in_flight(1), &mut out)?;
        assert!(black_box(event).is_some(), "the echo is complete");
    }
    Ok(())
}
