//! The part of HTTP/1.1 that load generators use: requests without content.

use std::net::IpAddr;
use std::sync::Arc;
use std::sync::Mutex;
use std::time::Instant;

/// The other end of a connection.
pub struct Client {
    pub address: IpAddr,
    /// The earliest time of the next response, where connections are paced.
    pub next: Mutex<Instant>,
}

/// A request.
pub struct Request {
    pub path: String,
    /// Whether the request asks for the connection to be closed.
    pub closes: bool,
    /// Whether the request accepts gzip.
    pub gzip: bool,
    pub client: Arc<Client>,
}

/// A handler's response.
pub struct Response {
    pub status: u16,
    pub body: Vec<u8>,
}

impl Response {
    /// Returns a response with status 200.
    pub fn hello() -> Self {
        Self { status: 200, body: b"<p>Hello, world!</p>".to_vec() }
    }

    /// Returns a short response with another status.
    pub fn status(status: u16) -> Self {
        Self { status, body: b"no\n".to_vec() }
    }
}

impl Request {
    /// Removes the first request from `received`, if its header section is complete.
    pub fn decode(received: &mut Vec<u8>, client: &Arc<Client>) -> Option<Self> {
        let end = memchr::memmem::find(received, b"\r\n\r\n")? + 4;
        let head = String::from_utf8_lossy(&received[..end]).to_ascii_lowercase();
        received.drain(..end);
        let mut lines = head.lines();
        let mut words = lines.next().unwrap_or_default().split(' ').skip(1);
        let path = words.next().unwrap_or("/").to_owned();
        let field = |name: &str, part: &str| {
            lines.clone().any(|line| line.split_once(':').is_some_and(|(n, value)| n == name && value.contains(part)))
        };
        let closes = field("connection", "close");
        let gzip = field("accept-encoding", "gzip");
        Some(Self { path, closes, gzip, client: client.clone() })
    }
}
