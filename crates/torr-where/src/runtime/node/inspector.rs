//! A client of node's inspector: Chrome's debugging protocol over a WebSocket on the loopback interface.

use serde_json::{Value, json};
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, TcpStream};
use std::time::{Duration, Instant};
use tungstenite::{Message, WebSocket};

/// How long node may take for a response: its event loop may be busy.
const LONGEST: Duration = Duration::from_secs(10);
/// The most bytes of the list of targets.
const LARGEST: u64 = 1 << 20;
/// The expression that closes the inspector, once the response to it is sent.
const CLOSE: &str = "setImmediate(() => process._debugEnd())";

/// A connection to the inspector. Its own inspector is closed again when this value is dropped.
pub struct Inspector {
    socket: WebSocket<TcpStream>,
    /// The number of the last request.
    last: u64,
    /// How long a response may take.
    longest: Duration,
    /// Whether the inspector is to be closed at the end.
    pub closes: bool,
}

impl Inspector {
    /// Connects to the inspector at a port.
    ///
    /// # Errors
    /// Those of the connection, and where no node listens there.
    pub fn connect(port: u16) -> io::Result<Self> {
        let path = target(&list(port)?).ok_or_else(|| io::Error::other("the port is not that of node's inspector"))?;
        let url = format!("ws://127.0.0.1:{port}{path}");
        let (socket, _) = tungstenite::client(url, open(port)?).map_err(io::Error::other)?;
        Ok(Self { socket, last: 0, longest: LONGEST, closes: false })
    }

    /// Sends a command and returns its result.
    ///
    /// # Errors
    /// Those of the connection, and node's own if it refuses the command.
    pub fn command(&mut self, method: &str, parameters: Value) -> io::Result<Value> {
        self.last += 1;
        let request = json!({ "id": self.last, "method": method, "params": parameters });
        self.socket.send(Message::text(request.to_string())).map_err(io::Error::other)?;
        let deadline = Instant::now() + self.longest;
        loop {
            if Instant::now() >= deadline {
                return Err(io::ErrorKind::TimedOut.into());
            }
            let message = self.socket.read().map_err(io::Error::other)?;
            let Message::Text(text) = message else { continue };
            let mut response: Value = serde_json::from_str(&text)?;
            // Events have no number.
            if response.get("id").and_then(Value::as_u64) != Some(self.last) {
                continue;
            }
            if let Some(error) = response.get("error") {
                let message = error.get("message").and_then(Value::as_str).unwrap_or("a command was refused");
                return Err(io::Error::other(message.to_owned()));
            }
            return Ok(response["result"].take());
        }
    }
}

impl Drop for Inspector {
    fn drop(&mut self) {
        if self.closes && self.command("Runtime.evaluate", json!({ "expression": CLOSE })).is_ok() {
            // Node closes the connection with the inspector.
            let deadline = Instant::now() + self.longest;
            while Instant::now() < deadline && self.socket.read().is_ok() {}
        }
    }
}

/// Opens a connection to a port.
fn open(port: u16) -> io::Result<TcpStream> {
    let stream = TcpStream::connect_timeout(&(Ipv4Addr::LOCALHOST, port).into(), LONGEST)?;
    stream.set_read_timeout(Some(LONGEST))?;
    stream.set_write_timeout(Some(LONGEST))?;
    stream.set_nodelay(true)?;
    Ok(stream)
}

/// Requests the list of targets, and returns the whole response.
fn list(port: u16) -> io::Result<String> {
    let mut stream = open(port)?;
    write!(stream, "GET /json/list HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\n\r\n")?;
    let (deadline, mut response) = (Instant::now() + LONGEST, vec![]);
    // Node keeps the connection open, whatever the header says: the list is complete with its last bracket.
    let mut stream = stream.take(LARGEST);
    let mut buffer = [0; 4096];
    while !response.trim_ascii_end().ends_with(b"]") {
        if Instant::now() >= deadline {
            return Err(io::ErrorKind::TimedOut.into());
        }
        match stream.read(&mut buffer)? {
            0 => break,
            read => response.extend_from_slice(&buffer[..read]),
        }
    }
    Ok(String::from_utf8_lossy(&response).into_owned())
}

/// Returns the path of the first target's WebSocket of a response with the list of targets.
fn target(response: &str) -> Option<String> {
    let (_, content) = response.split_once("\r\n\r\n")?;
    let list: Value = serde_json::from_str(content).ok()?;
    let url = list.as_array()?.first()?.get("webSocketDebuggerUrl")?.as_str()?;
    let after = url.strip_prefix("ws://")?;
    Some(after[after.find('/')?..].to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;

    #[test]
    fn events_without_end_are_no_response() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("there is a free port");
        let port = listener.local_addr().expect("it is bound").port();
        let node = std::thread::spawn(move || {
            let (stream, _) = listener.accept().expect("the client connects");
            let mut socket = tungstenite::accept(stream).expect("it is a WebSocket");
            while socket.send(Message::text(r#"{"method": "Runtime.consoleAPICalled"}"#)).is_ok() {
                std::thread::sleep(Duration::from_millis(10));
            }
        });
        let stream = open(port).expect("it listens");
        let (socket, _) = tungstenite::client(format!("ws://127.0.0.1:{port}/"), stream).expect("it is a WebSocket");
        let mut inspector = Inspector { socket, last: 0, longest: Duration::from_millis(200), closes: true };
        let error = inspector.command("Profiler.enable", json!({})).expect_err("no response comes");
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        drop(inspector);
        node.join().expect("the client has closed");
    }

    #[test]
    fn a_target_is_found_in_the_list() {
        let of = |content: &str| target(&format!("HTTP/1.0 200 OK\r\nContent-Length: 9\r\n\r\n{content}"));
        let list = r#"[ { "type": "node", "webSocketDebuggerUrl": "ws://127.0.0.1:9229/fb36-d1cc" } ]"#;
        assert_eq!(of(list).as_deref(), Some("/fb36-d1cc"));
        assert_eq!((of("[]"), of("<html>"), target("")), (None, None, None));
    }
}
