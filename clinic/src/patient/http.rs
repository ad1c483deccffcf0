//! As much of HTTP/1.1 as a service needs whose clients are load generators: requests without bodies.

use std::net::IpAddr;
use std::sync::Arc;
use std::sync::Mutex;
use std::time::Instant;

/// Who asks: one connection.
pub struct Visitor {
    pub address: IpAddr,
    /// When it may be answered next, where connections are paced.
    pub next: Mutex<Instant>,
}

/// What is asked for.
pub struct Request {
    pub path: String,
    /// Whether the client wants the connection to be closed.
    pub closes: bool,
    /// Whether it takes answers in gzip.
    pub gzip: bool,
    pub visitor: Arc<Visitor>,
}

/// What the handler says.
pub struct Answer {
    pub status: u16,
    pub body: Vec<u8>,
}

impl Answer {
    /// All is well.
    pub fn hello() -> Self {
        Self { status: 200, body: b"<p>Hello, world!</p>".to_vec() }
    }

    /// Something else, in a word.
    pub fn status(status: u16) -> Self {
        Self { status, body: b"no\n".to_vec() }
    }
}

impl Request {
    /// Takes the first request from what has come, if all of it is there.
    pub fn take(received: &mut Vec<u8>, visitor: &Arc<Visitor>) -> Option<Self> {
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
        Some(Self { path, closes, gzip, visitor: visitor.clone() })
    }
}
