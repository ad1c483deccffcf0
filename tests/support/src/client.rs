//! A client that sends bytes just as they are, and reads responses one by one, checking what every response must have.

use std::fmt;
use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream, ToSocketAddrs};
use std::time::Duration;

/// How long a client waits for bytes: far longer than a server needs on a busy machine.
const PATIENCE: Duration = Duration::from_secs(30);

/// One connection.
pub struct Client {
    stream: TcpStream,
    /// Bytes that have arrived after the last response.
    buffer: Vec<u8>,
}

/// One response.
#[derive(Clone, PartialEq, Eq)]
pub struct ClientResponse {
    pub status: u16,
    pub fields: Vec<(String, String)>,
    pub body: Vec<u8>,
}

impl ClientResponse {
    /// The value of a field, which must not stand there twice.
    pub fn field(&self, name: &str) -> Option<&str> {
        let mut values = self.fields.iter().filter(|(n, _)| n.eq_ignore_ascii_case(name)).map(|(_, value)| &**value);
        let value = values.next();
        assert_eq!(values.next(), None, "{name} stands twice in {self:?}");
        value
    }

    /// The head without its date.
    pub fn head(&self) -> (u16, Vec<(String, String)>) {
        (self.status, self.fields.iter().filter(|(name, _)| name != "Date").cloned().collect())
    }

    pub fn text(&self) -> &str {
        std::str::from_utf8(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }
}

impl fmt::Debug for ClientResponse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {:?} with {}", self.status, self.fields, start_of(&self.body))
    }
}

/// A GET of HTTP/1.1.
pub fn get(path: &str) -> String {
    format!("GET {path} HTTP/1.1\r\nHost: x\r\n\r\n")
}

/// A POST of HTTP/1.1 with a sized body.
pub fn post(path: &str, body: &str) -> String {
    format!("POST {path} HTTP/1.1\r\nHost: x\r\nContent-Length: {}\r\n\r\n{body}", body.len())
}

impl Client {
    pub fn connect(address: impl ToSocketAddrs + fmt::Debug) -> Self {
        let stream = TcpStream::connect(&address).unwrap_or_else(|error| panic!("connect to {address:?}: {error}"));
        stream.set_nodelay(true).expect("a socket takes options");
        stream.set_read_timeout(Some(PATIENCE)).expect("a socket takes options");
        stream.set_write_timeout(Some(PATIENCE)).expect("a socket takes options");
        Self { stream, buffer: Vec::new() }
    }

    /// Its own address.
    pub fn address(&self) -> SocketAddr {
        self.stream.local_addr().expect("it is connected")
    }

    /// Returns a handle to the connection, for another thread to send on.
    pub fn sender(&self) -> TcpStream {
        self.stream.try_clone().expect("a descriptor is free")
    }

    /// Sends all of it.
    pub fn send(&mut self, bytes: impl AsRef<[u8]>) {
        self.stream.write_all(bytes.as_ref()).unwrap_or_else(|error| panic!("send: {error}"));
    }

    /// Sends it a byte at a time.
    pub fn send_bytewise(&mut self, bytes: impl AsRef<[u8]>) {
        bytes.as_ref().iter().for_each(|byte| self.send([*byte]));
    }

    /// Sends as much as the server takes before it ends the connection.
    pub fn send_what_goes(&mut self, bytes: &[u8]) {
        if let Err(error) = self.stream.write_all(bytes) {
            let gone = [ErrorKind::BrokenPipe, ErrorKind::ConnectionReset].contains(&error.kind());
            assert!(gone, "send: {error}");
        }
    }

    /// Ends its own side: the server reads the end after what was sent.
    pub fn end_sending(&self) {
        self.stream.shutdown(Shutdown::Write).expect("it is connected");
    }

    /// Sends a GET and reads its response.
    pub fn get(&mut self, path: &str) -> ClientResponse {
        self.send(get(path));
        self.response()
    }

    /// Reads one response with its body.
    pub fn response(&mut self) -> ClientResponse {
        let mut response = self.response_head();
        let length = response.field("Content-Length").map_or(0, |text| text.parse().expect("a length is a number"));
        while self.buffer.len() < length {
            self.fill(&response);
        }
        let rest = self.buffer.split_off(length);
        response.body = std::mem::replace(&mut self.buffer, rest);
        response
    }

    /// Reads the head of a response: all there is of one to a HEAD.
    pub fn response_head(&mut self) -> ClientResponse {
        let response = self.any_head();
        assert!(response.status >= 200, "{response:?} is an interim answer");
        assert_eq!(response.field("Server"), Some("torr"), "{response:?}");
        assert!(response.field("Date").is_some_and(is_date), "{response:?} has no valid date");
        let sized = response.field("Content-Length").is_some_and(|text| text.parse::<u64>().is_ok());
        assert_eq!(sized, ![204, 304].contains(&response.status), "{response:?}");
        assert_eq!(response.field("Transfer-Encoding"), None, "{response:?}");
        response
    }

    /// Reads an interim response.
    pub fn interim(&mut self) -> ClientResponse {
        let response = self.any_head();
        assert!(response.status < 200 && response.fields.is_empty(), "{response:?} is no interim answer");
        response
    }

    fn any_head(&mut self) -> ClientResponse {
        let len = loop {
            if let Some(at) = self.buffer.windows(4).position(|w| w == b"\r\n\r\n") {
                break at + 4;
            }
            self.fill(&"no head");
        };
        let rest = self.buffer.split_off(len);
        let head = String::from_utf8(std::mem::replace(&mut self.buffer, rest)).expect("a head is text");
        let mut lines = head.trim_end().split("\r\n");
        let line = lines.next().unwrap_or_default();
        let status = line.strip_prefix("HTTP/1.1 ").and_then(|rest| rest.get(..4)?.strip_suffix(' '));
        let status = status.and_then(|digits| digits.parse().ok()).unwrap_or_else(|| panic!("{line:?} in {head:?}"));
        let field = |line: &str| {
            let (name, value) = line.split_once(": ").unwrap_or_else(|| panic!("{line:?} in {head:?}"));
            (name.to_owned(), value.to_owned())
        };
        ClientResponse { status, fields: lines.map(field).collect(), body: Vec::new() }
    }

    /// Reads so many bytes of a body without keeping them.
    pub fn pass_over(&mut self, length: u64) {
        let mut left = length - self.buffer.drain(..(self.buffer.len() as u64).min(length) as usize).len() as u64;
        let mut bytes = vec![0; 256 * 1024];
        while left > 0 {
            let room = (bytes.len() as u64).min(left) as usize;
            match self.stream.read(&mut bytes[..room]) {
                Ok(0) => panic!("the body ended {left} bytes too early"),
                Ok(n) => left -= n as u64,
                Err(error) => panic!("{error} with {left} bytes of the body to come"),
            }
        }
    }

    /// Checks that nothing has arrived that was not read.
    pub fn has_nothing(&mut self) {
        self.stream.set_nonblocking(true).expect("a socket takes options");
        let error = self.stream.peek(&mut [0]).map_err(|error| error.kind());
        self.stream.set_nonblocking(false).expect("a socket takes options");
        assert_eq!((&*start_of(&self.buffer), error), ("0 bytes: ", Err(ErrorKind::WouldBlock)));
    }

    /// Checks that the server ends the connection, without a reset, and sends nothing before.
    pub fn ends(&mut self) {
        let mut bytes = std::mem::take(&mut self.buffer);
        let end = self.stream.read_to_end(&mut bytes).map_err(|error| error.kind());
        assert_eq!((&*start_of(&bytes), end), ("0 bytes: ", Ok(0)), "instead of the end");
    }

    /// Counts what comes until the server ends the connection in any way.
    pub fn count_to_end(&mut self) -> u64 {
        let mut count = std::mem::take(&mut self.buffer).len() as u64;
        let mut bytes = vec![0; 256 * 1024];
        loop {
            match self.stream.read(&mut bytes) {
                Ok(0) => return count,
                Ok(n) => count += n as u64,
                Err(error) if error.kind() == ErrorKind::ConnectionReset => return count,
                Err(error) => panic!("{error} after {count} bytes"),
            }
        }
    }

    /// Whether a response comes, and not the connection's end.
    pub fn responds(&mut self) -> bool {
        let mut byte = [0];
        match self.stream.peek(&mut byte) {
            Ok(0) => false,
            Ok(_) => self.response().status == 200,
            Err(error) if error.kind() == ErrorKind::ConnectionReset => false,
            Err(error) => panic!("{error} instead of an answer or the end"),
        }
    }

    fn fill(&mut self, so_far: &dyn fmt::Debug) {
        let mut bytes = [0; 64 * 1024];
        match self.stream.read(&mut bytes) {
            Ok(n) if n > 0 => self.buffer.extend_from_slice(&bytes[..n]),
            end => panic!("{end:?} after {so_far:?}, then {}", start_of(&self.buffer)),
        }
    }
}

/// As much of some bytes as a message can hold.
fn start_of(bytes: &[u8]) -> String {
    format!("{} bytes: {}", bytes.len(), bytes[..bytes.len().min(200)].escape_ascii())
}

/// Whether this has the form of `Sun, 06 Nov 1994 08:49:37 GMT` (RFC 9110, section 5.6.7).
fn is_date(text: &str) -> bool {
    let form = b"Www, 00 Mmm 0000 00:00:00 GMT";
    let fits = |(have, form): (u8, &u8)| match form {
        b'0' => have.is_ascii_digit(),
        b'W' | b'M' => have.is_ascii_uppercase(),
        b'w' | b'm' => have.is_ascii_lowercase(),
        form => have == *form,
    };
    text.len() == form.len() && text.ends_with("GMT") && text.bytes().zip(form).take(26).all(fits)
}
