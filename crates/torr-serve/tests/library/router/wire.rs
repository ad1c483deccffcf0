//! Requests as bytes, and the parts of responses that are compared between servers.

use std::fmt;
use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use torr_wire::body::{BodyReader, Framing};
use torr_wire::request;

const AFTERWARDS: &[u8] = b"GET /users/1 HTTP/1.1\r\nHost: x\r\n\r\n";

/// The responses on one connection, and whether it takes another request afterwards.
#[derive(Debug, PartialEq, Eq)]
pub struct Exchange {
    pub responses: Vec<ClientResponse>,
    pub stays_open: bool,
}

/// One response, without what depends on the time and the server.
#[derive(PartialEq, Eq)]
pub struct ClientResponse {
    pub status: u16,
    /// In lower case, in order of their names.
    pub fields: Vec<(String, String)>,
    pub body: Vec<u8>,
    /// The connection ended before the body did.
    pub cut_short: bool,
}

impl ClientResponse {
    pub fn field(&self, name: &str) -> Option<&str> {
        self.fields.iter().find(|(known, _)| known == name).map(|(_, value)| &**value)
    }

    pub fn text(&self) -> &str {
        std::str::from_utf8(&self.body).expect("the body is text")
    }
}

impl fmt::Debug for ClientResponse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let start = self.body[..self.body.len().min(200)].escape_ascii();
        let cut = if self.cut_short { ", cut short" } else { "" };
        write!(f, "{} {:?} with {} bytes{cut}: {start}", self.status, self.fields, self.body.len())
    }
}

/// Sends requests, reads a response to each, and tries one more request.
pub fn read_responses(stream: TcpStream, requests: &[u8]) -> Exchange {
    let mut reader = Reader { stream, buffer: Vec::new(), ended: false };
    // Who has been refused may be unable to send the rest.
    let _ = reader.stream.write_all(requests);
    let responses = methods(requests).iter().map_while(|method| reader.response(method == "HEAD")).collect();
    let _ = reader.stream.write_all(AFTERWARDS);
    let stays_open = reader.response(false).is_some_and(|response| response.text() == "user 1");
    Exchange { responses, stays_open }
}

/// The methods of all these requests; what is none is refused once.
fn methods(mut requests: &[u8]) -> Vec<String> {
    let mut methods = Vec::new();
    while !requests.is_empty() {
        let mut headers = request::header_buffer();
        let limits = request::Limits { head: 8192, headers: 100 };
        let Ok(Some(head)) = request::parse(requests, &mut headers, limits) else {
            methods.push("?".to_owned());
            break;
        };
        methods.push(head.method.to_owned());
        requests = &requests[head.len..];
        let mut body = BodyReader::new(head.framing);
        if head.framing != Framing::None {
            requests = &requests[body.read(requests, |_| {}).expect("the tests' bodies are valid")..];
        }
    }
    methods
}

struct Reader {
    stream: TcpStream,
    buffer: Vec<u8>,
    ended: bool,
}

impl Reader {
    fn response(&mut self, to_head: bool) -> Option<ClientResponse> {
        let head = self.take_through(b"\r\n\r\n")?;
        let head = String::from_utf8(head).expect("a head is text");
        let mut lines = head.trim_end().split("\r\n");
        let status = lines.next().and_then(|line| line.split(' ').nth(1)?.parse().ok());
        let status = status.unwrap_or_else(|| panic!("no status in {head:?}"));
        let field = |line: &str| {
            let (name, value) = line.split_once(':').unwrap_or_else(|| panic!("{line:?} in {head:?}"));
            (name.to_ascii_lowercase(), value.trim().to_owned())
        };
        let mut fields: Vec<_> = lines.map(field).collect();
        let dates = fields.iter().filter(|(name, _)| name == "date").count();
        assert_eq!(dates, 1, "one date in {head:?}");
        // A handler's own date is an old one.
        fields.retain(|(name, value)| {
            !(name == "date" && !value.contains("1994") || name == "server" && value == "torr")
        });
        fields.sort();
        let mut response = ClientResponse { status, fields, body: Vec::new(), cut_short: false };
        if to_head || status == 204 || status == 304 {
            return Some(response);
        }
        let whole = match (response.field("transfer-encoding"), response.field("content-length")) {
            (Some("chunked"), None) => self.chunks(&mut response.body),
            (None, Some(length)) => self.take(length.parse().expect("a length is a number"), &mut response.body),
            (None, None) => {
                while self.fill() {}
                response.body = std::mem::take(&mut self.buffer);
                Some(())
            }
            framing => panic!("{framing:?} in {head:?}"),
        };
        response.cut_short = whole.is_none();
        Some(response)
    }

    fn chunks(&mut self, body: &mut Vec<u8>) -> Option<()> {
        loop {
            let line = String::from_utf8(self.take_through(b"\r\n")?).expect("a chunk's head is text");
            let length = usize::from_str_radix(line.trim_end(), 16).unwrap_or_else(|_| panic!("{line:?}"));
            self.take(length, body)?;
            assert_eq!(self.take_through(b"\r\n")?, b"\r\n", "after a chunk of {length} bytes");
            if length == 0 {
                return Some(());
            }
        }
    }

    fn take(&mut self, length: usize, body: &mut Vec<u8>) -> Option<()> {
        while self.buffer.len() < length && self.fill() {}
        body.extend(self.buffer.drain(..length.min(self.buffer.len())));
        (!self.ended || body.len() >= length).then_some(())
    }

    fn take_through(&mut self, end: &[u8]) -> Option<Vec<u8>> {
        loop {
            if let Some(at) = self.buffer.windows(end.len()).position(|window| window == end) {
                return Some(self.buffer.drain(..at + end.len()).collect());
            }
            if !self.fill() {
                return None;
            }
        }
    }

    fn fill(&mut self) -> bool {
        let mut bytes = [0; 64 * 1024];
        let read = match self.stream.read(&mut bytes) {
            Ok(read) => read,
            Err(error) if error.kind() == ErrorKind::ConnectionReset => 0,
            Err(error) => panic!("{error} after {}", self.buffer.escape_ascii()),
        };
        self.buffer.extend_from_slice(&bytes[..read]);
        self.ended = read == 0;
        !self.ended
    }
}
