//! The profile echo-ws.

use crate::application::Application;
use crate::curl::get;
use std::net::TcpStream;
use std::time::Duration;
use tungstenite::{Message, WebSocket, client};

/// The most time for a message: far more than is needed on a busy machine.
const PATIENCE: Duration = Duration::from_secs(30);

/// Opens a WebSocket. The client itself compares `Sec-WebSocket-Accept`.
fn open(application: &Application) -> WebSocket<TcpStream> {
    let address = application.address("HTTP/1.1");
    let stream = TcpStream::connect(address).expect("it listens");
    stream.set_read_timeout(Some(PATIENCE)).expect("a socket takes options");
    let (socket, response) = client(format!("ws://{address}/ws"), stream).expect("the server accepts");
    assert_eq!(response.status().as_u16(), 101);
    socket
}

/// Checks echoes, their order, a new connection, and a GET without an upgrade.
pub fn check() {
    let application = Application::start();
    let mut socket = open(&application);
    let binary: Vec<u8> = (0..=255).collect();
    for message in [Message::text("hello"), Message::binary(binary)] {
        socket.send(message.clone()).expect("the server takes it");
        assert_eq!(socket.read().expect("the server sends it back"), message);
    }
    let five = [1, 2, 3, 4, 5].map(|number| Message::text(format!("message {number}")));
    five.iter().for_each(|message| socket.write(message.clone()).expect("there is room for it"));
    socket.flush().expect("the server takes them");
    for message in five {
        assert_eq!(socket.read().expect("the server sends it back"), message);
    }
    let got = get(&application.http("/ws"));
    assert!((400..500).contains(&got.status), "{got:?}");
    let mut another = open(&application);
    another.send(Message::text("hello")).expect("the server takes it");
    assert_eq!(another.read().expect("the server sends it back"), Message::text("hello"));
}
