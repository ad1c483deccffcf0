//! One exchange over a socket: sends a case's bytes and a further request, reads the responses strictly, and tells what
//! happened in the corpus' own words.

use super::case::{End, Expected, Outcome};
use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::time::Duration;

/// How long a server may be silent before it counts as silent: much longer than it needs on a busy machine.
const PATIENCE: Duration = Duration::from_secs(10);

/// Follows every case: whether it is answered tells whether the connection takes another request.
const PROBE: &[u8] = b"GET /probe HTTP/1.1\r\nHost: x\r\n\r\n";
const PROBED: &str = "200 GET /probe 0";

/// What every response begins with, but for those in HTTP/0.9.
const BEGIN: &[u8] = b"HTTP/1.";

/// The field in which a server's handler says which request it saw.
pub const SAW: &str = "X-Saw";

/// One response.
struct ClientResponse {
    text: String,
    closes: bool,
    http_1_1: bool,
}

/// What follows in the bytes that were received.
enum Part {
    ClientResponse(ClientResponse),
    Ended,
    Silent,
    Malformed(String),
}

/// The responses and the end, as a case would have them.
pub struct Observed {
    pub words: Vec<String>,
    /// For each response, whether it said that it is the last one.
    pub closes: Vec<bool>,
    /// Whether all responses were in HTTP/1.1.
    pub http_1_1: bool,
}

/// A request that offers another protocol, which no handler here takes up.
const OFFER: &[u8] = b"GET /offer HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: other\r\n\r\n";
const OFFERED: &str = "200 GET /offer 0";

/// What a connection has brought before a case's bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Before {
    Nothing,
    /// An offer of another protocol, which has been answered.
    AnsweredOffer,
    /// An offer of another protocol, in one write with the case's first bytes.
    PipelinedOffer,
}

/// Sends the writes and looks for the expected outcome; any other is told as far as it can be seen.
pub fn exchange(address: SocketAddr, before: Before, writes: &[Vec<u8>], expected: &Outcome) -> Observed {
    let mut wire = Wire::connect(address);
    let mut seen = Observed { words: Vec::new(), closes: Vec::new(), http_1_1: true };
    let mut joined = Vec::new();
    let writes = match (before, writes) {
        (Before::PipelinedOffer, [first, rest @ ..]) => {
            joined.push([OFFER, first].concat());
            joined.extend_from_slice(rest);
            wire.send(&joined[0]);
            &joined[1..]
        }
        (Before::AnsweredOffer, _) => {
            wire.send(OFFER);
            writes
        }
        _ => writes,
    };
    if before != Before::Nothing {
        match wire.next() {
            Part::ClientResponse(response) if response.text == OFFERED && !response.closes => {}
            _ => return seen.ending("the offer has no answer"),
        }
    }
    let is_interim = |response: Option<&Expected>| response.is_some_and(|it| it.statuses == ["100"] && !it.optional);
    for (n, write) in writes.iter().enumerate() {
        // Whoever waits to be told to go on sends the rest only then.
        if (n > 0 || before == Before::PipelinedOffer) && is_interim(expected.responses.get(seen.words.len())) {
            match wire.next() {
                Part::ClientResponse(response) => seen.add(response),
                _ => return seen.ending("no interim answer"),
            }
        }
        wire.send(write);
    }
    match expected.end {
        End::Cut => wire.end_sending(),
        End::Open | End::Close => wire.send(PROBE),
    }
    loop {
        match wire.next() {
            Part::ClientResponse(response) if response.text == PROBED && expected.end != End::Cut => break,
            Part::ClientResponse(response) => seen.add(response),
            Part::Ended if expected.end == End::Cut => return seen.ending("cut"),
            Part::Ended => return seen.ending("close"),
            Part::Silent => return seen.ending("neither open nor closed"),
            Part::Malformed(what) => return seen.ending(&what),
        }
    }
    if expected.end == End::Close {
        return seen.ending("open");
    }
    // Nothing may follow the last response.
    wire.end_sending();
    match wire.next() {
        Part::Ended => seen.ending("open"),
        Part::ClientResponse(response) => seen.ending(&format!("another answer: {}", response.text)),
        Part::Silent => seen.ending("open for ever"),
        Part::Malformed(what) => seen.ending(&what),
    }
}

impl Observed {
    fn add(&mut self, response: ClientResponse) {
        self.words.push(response.text);
        self.closes.push(response.closes);
        self.http_1_1 &= response.http_1_1;
    }

    fn ending(mut self, end: &str) -> Self {
        self.words.push(end.to_owned());
        self
    }
}

struct Wire {
    stream: TcpStream,
    buffer: Vec<u8>,
}

impl Wire {
    fn connect(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).expect("it listens");
        stream.set_nodelay(true).expect("a socket takes options");
        stream.set_read_timeout(Some(PATIENCE)).expect("a socket takes options");
        stream.set_write_timeout(Some(PATIENCE)).expect("a socket takes options");
        Self { stream, buffer: Vec::new() }
    }

    /// Whoever has been refused may be unable to send the rest; the responses tell.
    fn send(&mut self, bytes: &[u8]) {
        let _ = self.stream.write_all(bytes);
    }

    fn end_sending(&mut self) {
        let _ = self.stream.shutdown(Shutdown::Write);
    }

    fn next(&mut self) -> Part {
        match self.response() {
            Ok(response) => Part::ClientResponse(response),
            Err(part) => part,
        }
    }

    fn response(&mut self) -> Result<ClientResponse, Part> {
        while self.buffer.len() < BEGIN.len() {
            if !self.fill()? {
                break;
            }
        }
        match &self.buffer[..self.buffer.len().min(BEGIN.len())] {
            [] => return Err(Part::Ended),
            BEGIN => {}
            _ => {
                // No status line: all there is of a response in HTTP/0.9.
                while self.fill()? {}
                self.buffer.clear();
                return Ok(ClientResponse { text: "0.9".to_owned(), closes: true, http_1_1: false });
            }
        }
        let head: String = self.take_through(b"\r\n\r\n")?.into_iter().map(char::from).collect();
        let (status, fields) = parse_head(&head).ok_or_else(|| Part::Malformed(format!("malformed head {head:?}")))?;
        let all = |wanted: &str| -> Vec<&str> {
            fields.iter().filter(|(name, _)| name.eq_ignore_ascii_case(wanted)).map(|(_, value)| *value).collect()
        };
        let saw = match &all(SAW)[..] {
            [] => String::new(),
            [saw] => format!(" {}", shortened(saw)),
            _ => return Err(self.malformed("seen twice")),
        };
        let closes = all("Connection").iter().any(|value| value.eq_ignore_ascii_case("close"));
        let bodiless = status < 200 || status == 204 || status == 304 || saw.starts_with(" HEAD ");
        match (&all("Content-Length")[..], &all("Transfer-Encoding")[..]) {
            _ if bodiless => {}
            ([length], []) => {
                let length = length.parse().map_err(|_| self.malformed("a length that is no number"))?;
                self.take(length)?;
            }
            ([], [coding]) if coding.eq_ignore_ascii_case("chunked") => self.take_chunks()?,
            ([], []) if closes => while self.fill()? {},
            _ => return Err(self.malformed("an answer without a sure end")),
        }
        Ok(ClientResponse { text: format!("{status}{saw}"), closes, http_1_1: head.starts_with("HTTP/1.1 ") })
    }

    fn take_chunks(&mut self) -> Result<(), Part> {
        loop {
            let line = String::from_utf8_lossy(&self.take_through(b"\r\n")?).into_owned();
            let length = usize::from_str_radix(line.trim_end(), 16).map_err(|_| self.malformed("a chunk"))?;
            self.take(length)?;
            if self.take(2)? != b"\r\n" {
                return Err(self.malformed("the end of a chunk"));
            }
            if length == 0 {
                return Ok(());
            }
        }
    }

    fn take(&mut self, length: usize) -> Result<Vec<u8>, Part> {
        while self.buffer.len() < length {
            if !self.fill()? {
                return Err(self.malformed("a body cut short"));
            }
        }
        Ok(self.buffer.drain(..length).collect())
    }

    fn take_through(&mut self, end: &[u8]) -> Result<Vec<u8>, Part> {
        loop {
            if let Some(at) = self.buffer.windows(end.len()).position(|window| window == end) {
                return self.take(at + end.len());
            }
            if !self.fill()? {
                return Err(self.malformed("a head cut short"));
            }
        }
    }

    /// Receives more; false at the end. A reset is an end too: it is what comes of bytes that were sent in vain.
    fn fill(&mut self) -> Result<bool, Part> {
        let mut bytes = [0; 16 * 1024];
        match self.stream.read(&mut bytes) {
            Ok(read) => {
                self.buffer.extend_from_slice(&bytes[..read]);
                Ok(read > 0)
            }
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => Err(Part::Silent),
            Err(error) if matches!(error.kind(), ErrorKind::ConnectionReset | ErrorKind::BrokenPipe) => Ok(false),
            Err(error) => Err(self.malformed(&error.to_string())),
        }
    }

    fn malformed(&self, what: &str) -> Part {
        Part::Malformed(format!("{what}, before {}", self.buffer[..self.buffer.len().min(100)].escape_ascii()))
    }
}

/// What a handler saw, with bytes above 127 as escapes, and the lengths of long words in their place.
fn shortened(saw: &str) -> String {
    let word = |word: &str| match word.len() {
        0..100 => {
            word.chars().map(|c| if c.is_ascii() { c.to_string() } else { format!("\\x{:02x}", c as u32) }).collect()
        }
        len => format!("<{len} bytes>"),
    };
    saw.split(' ').map(word).collect::<Vec<String>>().join(" ")
}

type Fields<'h> = Vec<(&'h str, &'h str)>;

/// Status and fields of a head in which every line is as RFC 9112, sections 4 and 5, have it.
fn parse_head(head: &str) -> Option<(u16, Fields<'_>)> {
    let mut lines = head.strip_suffix("\r\n\r\n")?.split("\r\n");
    let line = lines.next()?;
    let line = line.strip_prefix("HTTP/1.1 ").or(line.strip_prefix("HTTP/1.0 "))?;
    let (digits, _reason) = line.split_at_checked(3)?;
    let is_status = digits.bytes().all(|b| b.is_ascii_digit()) && line.as_bytes().get(3) == Some(&b' ');
    let status = digits.parse().ok().filter(|_| is_status)?;
    let field = |line| {
        let (name, value): (&str, &str) = str::split_once(line, ':')?;
        let token = |b: u8| b.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&b);
        let value = value.trim_matches([' ', '\t']);
        let sound = !name.is_empty() && name.bytes().all(token) && !value.bytes().any(|b| b < b' ' && b != b'\t');
        sound.then_some((name, value))
    };
    Some((status, lines.map(field).collect::<Option<_>>()?))
}
