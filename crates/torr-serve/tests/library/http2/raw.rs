//! A client of HTTP/2 that does what no library does: it sends and reads frames (RFC 9113, section 4).

use crate::support::PATIENCE;
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};

pub(super) const DATA: u8 = 0;
pub(super) const HEADERS: u8 = 1;
pub(super) const RST_STREAM: u8 = 3;
pub(super) const SETTINGS: u8 = 4;
pub(super) const PING: u8 = 6;
pub(super) const GOAWAY: u8 = 7;
pub(super) const WINDOW_UPDATE: u8 = 8;

pub(super) const ACK: u8 = 0x1;
pub(super) const END_STREAM: u8 = 0x1;
pub(super) const END_HEADERS: u8 = 0x4;

pub(super) const NO_ERROR: u32 = 0;
pub(super) const REFUSED_STREAM: u32 = 7;
pub(super) const ENHANCE_YOUR_CALM: u32 = 11;

/// A frame that has arrived.
#[derive(Debug)]
pub(super) struct Frame {
    pub kind: u8,
    pub flags: u8,
    pub stream: u32,
    pub payload: Vec<u8>,
}

impl Frame {
    /// The 32 bits at this place of the payload.
    pub fn number(&self, at: usize) -> u32 {
        u32::from_be_bytes(*self.payload[at..].first_chunk().expect("the payload is long enough"))
    }

    /// Whether it begins a response with the status 200, which its first field tells.
    pub fn is_ok(&self) -> bool {
        self.kind == HEADERS && self.payload.first() == Some(&0x88)
    }

    /// Whether it belongs to a stream, and does not open that stream's window.
    pub fn is_of_stream(&self) -> bool {
        self.stream != 0 && self.kind != WINDOW_UPDATE
    }
}

pub(super) fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).expect("it is short").to_be_bytes();
    [&length[1..], &[kind, flags], &stream.to_be_bytes(), payload].concat()
}

pub(super) fn window_update(stream: u32, by: u32) -> Vec<u8> {
    frame(WINDOW_UPDATE, 0, stream, &by.to_be_bytes())
}

/// A request with this method of HPACK's static table.
fn request(method: u8, flags: u8, stream: u32, path: &str) -> Vec<u8> {
    let length = u8::try_from(path.len()).expect("it is short");
    let fields = [&[method, 0x86, 0x01, 1, b'x', 0x04, length][..], path.as_bytes()].concat();
    frame(HEADERS, END_HEADERS | flags, stream, &fields)
}

pub(super) fn get(stream: u32, path: &str) -> Vec<u8> {
    request(0x82, END_STREAM, stream, path)
}

/// A request whose body is still to come.
pub(super) fn post(stream: u32, path: &str) -> Vec<u8> {
    request(0x83, 0, stream, path)
}

/// A connection, which acknowledges nothing by itself.
pub(super) struct Raw(TcpStream);

impl Raw {
    /// Connects with these settings, each an identifier and its value.
    pub fn connect(address: SocketAddr, settings: &[(u16, u32)]) -> Self {
        let mut stream = TcpStream::connect(address).expect("it listens");
        stream.set_read_timeout(Some(PATIENCE)).expect("a socket takes options");
        stream.set_write_timeout(Some(PATIENCE)).expect("a socket takes options");
        stream.set_nodelay(true).expect("a socket takes options");
        let settings: Vec<_> =
            settings.iter().flat_map(|(id, value)| [&id.to_be_bytes()[..], &value.to_be_bytes()].concat()).collect();
        let begin = [b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", &frame(SETTINGS, 0, 0, &settings)[..]].concat();
        stream.write_all(&begin).expect("it is connected");
        Self(stream)
    }

    pub fn send(&mut self, bytes: &[u8]) {
        self.0.write_all(bytes).expect("the connection lives");
    }

    /// Sends the same again and again, at most so often. Returns whether the server took all.
    pub fn flood(&mut self, bytes: &[u8], times: usize) -> bool {
        let many = bytes.repeat(100);
        (0..times / 100).all(|_| self.0.write_all(&many).is_ok())
    }

    /// Acknowledges a frame, if it asks for that.
    pub fn acknowledge(&mut self, frame: &Frame) {
        match frame.kind {
            PING if frame.flags & ACK == 0 => self.send(&self::frame(PING, ACK, 0, &frame.payload)),
            SETTINGS if frame.flags & ACK == 0 => self.send(&self::frame(SETTINGS, ACK, 0, b"")),
            _ => {}
        }
    }

    /// The next frame; `None` at the end, or where the server has reset the connection.
    pub fn next(&mut self) -> Option<Frame> {
        let mut head = [0; 9];
        self.read(&mut head)?;
        let mut payload = vec![0; usize::from(head[0]) << 16 | usize::from(head[1]) << 8 | usize::from(head[2])];
        self.read(&mut payload)?;
        let stream = u32::from_be_bytes([head[5], head[6], head[7], head[8]]);
        Some(Frame { kind: head[3], flags: head[4], stream, payload })
    }

    fn read(&mut self, room: &mut [u8]) -> Option<()> {
        match self.0.read_exact(room) {
            Ok(()) => Some(()),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => panic!("the server neither sends nor ends it"),
            Err(_) => None,
        }
    }

    /// The next frame of a stream, but for those that open its window.
    pub fn next_of_stream(&mut self) -> Frame {
        self.find(Frame::is_of_stream).expect("the connection lives")
    }

    /// The next frame that these words fit.
    pub fn find(&mut self, mut is: impl FnMut(&Frame) -> bool) -> Option<Frame> {
        loop {
            let frame = self.next()?;
            if is(&frame) {
                return Some(frame);
            }
        }
    }
}
