//! A WebSocket's client that sends any bytes, and reads frames strictly (RFC 6455, section 5).

#![allow(dead_code, reason = "each test program uses its part of this")]

use crate::support::PATIENCE;
use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};

pub const CONTINUED: u8 = 0;
pub const TEXT: u8 = 1;
pub const BINARY: u8 = 2;
pub const CLOSE: u8 = 8;
pub const PING: u8 = 9;
pub const PONG: u8 = 10;

const MASK: [u8; 4] = [0x37, 0xfa, 0x21, 0x3d];

/// A frame of a server.
#[derive(Clone, PartialEq, Eq)]
pub struct Frame {
    pub opcode: u8,
    pub payload: Vec<u8>,
}

impl std::fmt::Debug for Frame {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let start = self.payload[..self.payload.len().min(60)].escape_ascii();
        write!(f, "frame of opcode {} with {} bytes: {start}", self.opcode, self.payload.len())
    }
}

/// A whole frame in the shortest form, masked.
pub fn frame(opcode: u8, payload: impl AsRef<[u8]>) -> Vec<u8> {
    flagged(0x80 | opcode, payload)
}

/// A fragment that is not the last.
pub fn part(opcode: u8, payload: impl AsRef<[u8]>) -> Vec<u8> {
    flagged(opcode, payload)
}

/// A frame with this first byte.
pub fn flagged(first: u8, payload: impl AsRef<[u8]>) -> Vec<u8> {
    let payload = payload.as_ref();
    let length = match payload.len() {
        short @ 0..=125 => vec![0x80 | short as u8],
        middle @ 126..=0xffff => [&[0x80 | 126], &(middle as u16).to_be_bytes()[..]].concat(),
        long => [&[0x80 | 127], &(long as u64).to_be_bytes()[..]].concat(),
    };
    with_length(first, &length, payload)
}

/// A frame with these bytes for its length.
pub fn with_length(first: u8, length: &[u8], payload: &[u8]) -> Vec<u8> {
    let masked = payload.iter().zip(MASK.iter().cycle()).map(|(byte, mask)| byte ^ mask);
    [first].into_iter().chain(length.iter().copied()).chain(MASK).chain(masked).collect()
}

/// A close with a code and a reason.
pub fn close(code: u16, reason: impl AsRef<[u8]>) -> Vec<u8> {
    frame(CLOSE, [&code.to_be_bytes()[..], reason.as_ref()].concat())
}

/// One connection.
pub struct Client {
    pub stream: TcpStream,
    buffer: Vec<u8>,
}

/// The request that asks for a WebSocket.
pub fn handshake(path: &str, fields: &str) -> String {
    format!(
        "GET {path} HTTP/1.1\r\nHost: x\r\nConnection: keep-alive, Upgrade\r\nUpgrade: websocket\r\n\
         Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n{fields}\r\n"
    )
}

impl Client {
    pub fn connect(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).expect("it listens");
        stream.set_nodelay(true).expect("a socket takes options");
        stream.set_read_timeout(Some(PATIENCE)).expect("a socket takes options");
        Self { stream, buffer: Vec::new() }
    }

    /// Returns a handle to the connection, for another thread to send on.
    pub fn on(client: &Self) -> Self {
        Self { stream: client.stream.try_clone().expect("a descriptor is free"), buffer: Vec::new() }
    }

    /// A connection that has become a WebSocket.
    pub fn open(address: SocketAddr, path: &str) -> Self {
        let mut client = Self::connect(address);
        client.send(handshake(path, ""));
        client.is_opened();
        client
    }

    /// Reads the response to [`handshake`].
    pub fn is_opened(&mut self) -> String {
        let head = self.head();
        let lower = head.to_ascii_lowercase();
        // The key of section 1.3, and its response.
        assert!(head.starts_with("HTTP/1.1 101 "), "{head}");
        assert!(head.contains("s3pPLMBiTxaQ9kYGzzhZRbK+xOo="), "{head}");
        assert!(
            lower.contains("\r\nupgrade: websocket\r\n") && lower.contains("\r\nconnection: upgrade\r\n"),
            "{head}"
        );
        head
    }

    pub fn send(&mut self, bytes: impl AsRef<[u8]>) {
        self.stream.write_all(bytes.as_ref()).expect("it is connected");
    }

    /// Sends pieces of this size, as far as the server takes them.
    pub fn send_in(&mut self, bytes: &[u8], size: usize) {
        for piece in bytes.chunks(size) {
            if self.stream.write_all(piece).is_err() {
                return;
            }
        }
    }

    /// Reads through a blank line.
    pub fn head(&mut self) -> String {
        loop {
            if let Some(at) = self.buffer.windows(4).position(|window| window == b"\r\n\r\n") {
                return String::from_utf8(self.buffer.drain(..at + 4).collect()).expect("a head is text");
            }
            assert!(self.fill(), "the end after {}", self.buffer.escape_ascii());
        }
    }

    /// Reads a response with a sized body.
    pub fn response(&mut self) -> (String, String) {
        let head = self.head();
        let length =
            head.lines().find_map(|line| line.to_ascii_lowercase().strip_prefix("content-length: ")?.parse().ok());
        let length: usize = length.unwrap_or(0);
        (head, String::from_utf8(self.take(length).expect("the body comes")).expect("it is text"))
    }

    /// The next frame. `None` at the end of the connection.
    pub fn frame(&mut self) -> Option<Frame> {
        let head = self.take(2)?;
        assert_eq!(head[0] & 0xf0, 0x80, "whole and without reserved bits");
        assert!(head[1] < 0x80, "a server does not mask");
        let length = match head[1] {
            126 => {
                let length = u16::from_be_bytes(self.take(2)?.try_into().expect("two bytes")).into();
                assert!(length > 125, "the shortest form: {length}");
                length
            }
            127 => {
                let length = u64::from_be_bytes(self.take(8)?.try_into().expect("eight bytes")) as usize;
                assert!(length > 0xffff, "the shortest form: {length}");
                length
            }
            short => short.into(),
        };
        let opcode = head[0] & 0x0f;
        assert!(opcode < CLOSE || length <= 125, "control frames are short: {length}");
        Some(Frame { opcode, payload: self.take(length)? })
    }

    pub fn take(&mut self, length: usize) -> Option<Vec<u8>> {
        while self.buffer.len() < length {
            if !self.fill() {
                assert!(self.buffer.is_empty(), "cut off: {}", self.buffer.escape_ascii());
                return None;
            }
        }
        Some(self.buffer.drain(..length).collect())
    }

    /// Ends its own side.
    pub fn end_sending(&self) {
        let _ = self.stream.shutdown(Shutdown::Write);
    }

    fn fill(&mut self) -> bool {
        let mut room = [0; 64 * 1024];
        match self.stream.read(&mut room) {
            Ok(read) => {
                self.buffer.extend_from_slice(&room[..read]);
                read > 0
            }
            Err(error) if error.kind() == ErrorKind::ConnectionReset => false,
            Err(error) => panic!("{error} after {}", self.buffer.escape_ascii()),
        }
    }
}
