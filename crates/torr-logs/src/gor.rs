//! Recordings of GoReplay: requests with their bodies, and responses if they were recorded.
//!
//! A record is a line of its kind, id and time, then the message as it was on the wire, then the separator.

use crate::logged::{Line, LogLine};
use crate::time::{SECOND, Stamp};
use bytes::Bytes;
use std::collections::{HashMap, VecDeque};
use std::io::{self, BufRead, Read};
use torr_wire::body::{BodyReader, Framing};

/// What stands behind each record.
const SEPARATOR: &[u8] = "\n\u{1f435}\u{1f648}\u{1f649}\n".as_bytes();
/// The longest record that is read, in bytes. The end of a longer one is skipped, and it cannot be read.
const LONGEST_RECORD: usize = 8 * 1024 * 1024;
/// The longest first line of a record, in bytes.
const LONGEST_HEADING: usize = 256;
/// How long a request waits for its response, by the clock of the recording.
const WAIT: i64 = 10 * SECOND;
/// The most requests that wait for their responses, ...
const MOST_WAITING: usize = 10_000;
/// ... and the most bytes of their bodies.
const MOST_BYTES: usize = 64 * 1024 * 1024;
/// The most responses that wait for their requests: GoReplay may write a short exchange in the wrong order.
const MOST_EARLY: usize = 10_000;

/// The first line of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Heading<'r> {
    kind: Kind,
    id: &'r str,
    /// Nanoseconds since the Unix epoch.
    at: i64,
    /// A time span in nanoseconds, if there is one. Of a message of GoReplay 1.3 and later, which has one for requests too, it is that
    /// from the first packet of the message to the last; of a response of older versions it is the response time.
    span: Option<i64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Request,
    Response,
    /// The response to a request that GoReplay has sent again.
    Replayed,
}

impl<'r> Heading<'r> {
    fn parse(line: &'r [u8]) -> Option<Self> {
        let line = std::str::from_utf8(line).ok()?.trim_end_matches('\r');
        let mut words = line.split(' ');
        let kind = match words.next()? {
            "1" => Kind::Request,
            "2" => Kind::Response,
            "3" => Kind::Replayed,
            _ => return None,
        };
        let id = words.next().filter(|id| !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_alphanumeric()))?;
        let at = words.next()?.parse().ok().filter(|at| *at > 0)?;
        let span = words.next().and_then(|span| span.parse().ok());
        words.next().is_none().then_some(Self { kind, id, at, span })
    }
}

/// Returns whether a file that begins with these bytes is a recording.
pub(crate) fn is_recording(start: &[u8]) -> bool {
    let line = start.split(|&byte| byte == b'\n').next().unwrap_or_default();
    line.len() <= LONGEST_HEADING && Heading::parse(line).is_some()
}

/// The requests of a recording.
pub(crate) struct Recording {
    input: Box<dyn BufRead + Send>,
    /// Requests in the order of the recording, from the number `first` on.
    waiting: VecDeque<Waiting>,
    first: u64,
    by_id: HashMap<String, u64>,
    /// The responses whose requests have not come yet.
    early: HashMap<String, Responded>,
    bytes: usize,
    newest: i64,
    is_end: bool,
}

/// A request that waits for its response.
struct Waiting {
    id: String,
    line: Box<Line>,
    at: i64,
    /// Whether the recording is of GoReplay 1.3 or later.
    has_spans: bool,
}

/// What is recorded of a response.
struct Responded {
    status: u16,
    at: i64,
    span: Option<i64>,
}

impl Waiting {
    /// Takes over the response.
    fn settle(&mut self, response: &Responded) {
        let since = response.at.saturating_sub(self.at);
        let took = match response.span.filter(|span| *span > 0) {
            Some(span) if self.has_spans => since.saturating_add(span),
            Some(span) => span,
            None => since,
        };
        self.line.status = Some(response.status);
        self.line.took = u64::try_from(took).ok().filter(|took| *took > 0);
    }
}

impl Recording {
    pub fn new(input: Box<dyn BufRead + Send>) -> Self {
        let (waiting, by_id, early) = (VecDeque::new(), HashMap::new(), HashMap::new());
        Self { input, waiting, first: 0, by_id, early, bytes: 0, newest: i64::MIN, is_end: false }
    }

    /// Returns the next request; `None` at the end.
    pub fn next(&mut self) -> io::Result<Option<LogLine>> {
        loop {
            if let Some(line) = self.take_settled() {
                return Ok(Some(LogLine::Line(line)));
            }
            if self.is_end {
                return Ok(None);
            }
            let Some(record) = self.read_record()? else {
                self.is_end = true;
                continue;
            };
            if let Err(unreadable) = self.put(&record) {
                return Ok(Some(LogLine::Unreadable(unreadable)));
            }
        }
    }

    /// Removes the first request, unless its response may still come.
    fn take_settled(&mut self) -> Option<Box<Line>> {
        let first = self.waiting.front()?;
        let is_settled = self.is_end
            || first.line.status.is_some()
            || self.newest.saturating_sub(first.at) > WAIT
            || self.waiting.len() > MOST_WAITING
            || self.bytes > MOST_BYTES;
        let Waiting { id, line, .. } = if is_settled { self.waiting.pop_front()? } else { return None };
        // A later request may have the same id.
        if self.by_id.get(&id) == Some(&self.first) {
            self.by_id.remove(&id);
        }
        self.first += 1;
        self.bytes -= line.body.len();
        Some(line)
    }

    /// Takes a record over. Returns its first line if it cannot be read.
    fn put(&mut self, record: &[u8]) -> Result<(), String> {
        let (first, message) = record.split_at(memchr::memchr(b'\n', record).unwrap_or(record.len()));
        let message = message.get(1..).unwrap_or_default();
        let unreadable = || String::from_utf8_lossy(&first[..first.len().min(LONGEST_HEADING)]).into_owned();
        let heading = Heading::parse(first).ok_or_else(unreadable)?;
        match heading.kind {
            Kind::Request => {
                let line = Box::new(request(message, heading.at).ok_or_else(unreadable)?);
                self.newest = self.newest.max(heading.at);
                self.bytes += line.body.len();
                self.by_id.insert(heading.id.to_owned(), self.first + self.waiting.len() as u64);
                let (id, has_spans) = (heading.id.to_owned(), heading.span.is_some());
                let mut request = Waiting { id, line, at: heading.at, has_spans };
                if let Some(response) = self.early.remove(heading.id) {
                    request.settle(&response);
                }
                self.waiting.push_back(request);
            }
            Kind::Response => {
                let status = status(message).ok_or_else(unreadable)?;
                let response = Responded { status, at: heading.at, span: heading.span };
                let number = self.by_id.get(heading.id).and_then(|number| number.checked_sub(self.first));
                match number.and_then(|number| self.waiting.get_mut(number as usize)) {
                    Some(request) => request.settle(&response),
                    None => {
                        if self.early.len() >= MOST_EARLY {
                            // A recording that began in the middle has responses without requests.
                            self.early.clear();
                        }
                        self.early.insert(heading.id.to_owned(), response);
                    }
                }
            }
            Kind::Replayed => {}
        }
        Ok(())
    }

    /// Reads the next record without its separator; of one that is too long the first line.
    fn read_record(&mut self) -> io::Result<Option<Vec<u8>>> {
        let mut record = Vec::new();
        let mut too_long = None;
        loop {
            let room = (LONGEST_RECORD + SEPARATOR.len() - record.len()) as u64;
            let read = (&mut self.input).take(room).read_until(b'\n', &mut record)?;
            if record.ends_with(SEPARATOR) {
                record.truncate(record.len() - SEPARATOR.len());
                return Ok(Some(too_long.unwrap_or(record)));
            }
            if read == 0 {
                // A recording that was cut off may end anywhere.
                let rest = too_long.unwrap_or(record);
                return Ok(Some(rest).filter(|rest| !rest.trim_ascii().is_empty()));
            }
            if record.len() >= LONGEST_RECORD {
                let first = record.split(|&byte| byte == b'\n').next().unwrap_or_default();
                too_long.get_or_insert_with(|| first[..first.len().min(LONGEST_HEADING)].to_vec());
                record.drain(..record.len() - SEPARATOR.len());
            }
        }
    }
}

/// Returns a request as it was on the wire, `None` if it is none, or not whole.
fn request(message: &[u8], at: i64) -> Option<Line> {
    let end = memchr::memmem::find(message, b"\r\n\r\n")?;
    let (head, content) = (String::from_utf8_lossy(&message[..end]), &message[end + 4..]);
    let mut lines = head.split("\r\n");
    let stamp = Some(Stamp { at, offset: 0, is_whole: false });
    let mut line = Line { stamp, is_start: true, ..Line::default() };
    line.set_request(lines.next()?)?;
    let mut framing = Framing::None;
    for (name, value) in lines.filter_map(|field| field.split_once(':')) {
        let value = value.trim();
        match name.to_ascii_lowercase().as_str() {
            "host" => line.set_host(value),
            "content-length" if framing == Framing::None => framing = Framing::Length(value.parse().ok()?),
            "transfer-encoding" if value.to_ascii_lowercase().ends_with("chunked") => framing = Framing::Chunked,
            _ => line.set_field(name, value),
        }
    }
    line.body = body(content, framing)?;
    line.is_whole().then_some(line)
}

/// Returns the body of a request, `None` if it is not whole.
fn body(content: &[u8], framing: Framing) -> Option<Bytes> {
    let (mut body, mut reader) = (Vec::new(), BodyReader::new(framing));
    reader.read(content, |piece| body.extend_from_slice(piece)).ok()?;
    reader.is_done().then(|| body.into())
}

/// Returns the status code of a response.
fn status(message: &[u8]) -> Option<u16> {
    let text = std::str::from_utf8(message.get(..12)?).ok()?;
    let (version, code) = text.split_once(' ')?;
    version.starts_with("HTTP/").then_some(())?;
    code.parse().ok().filter(|code| (100..=999).contains(code))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Cursor;

    /// Target, body, status and response time.
    type Seen<'r> = (&'r str, &'r [u8], Option<u16>, Option<u64>);

    /// Returns the requests of a recording, and the first lines of what could not be read.
    fn read(records: &[&[u8]]) -> (Vec<Line>, Vec<String>) {
        let bytes = records.iter().flat_map(|record| [record, SEPARATOR].concat()).collect::<Vec<u8>>();
        read_bytes(bytes)
    }

    fn read_bytes(bytes: Vec<u8>) -> (Vec<Line>, Vec<String>) {
        let mut recording = Recording::new(Box::new(Cursor::new(bytes)));
        let (mut lines, mut unreadable) = (Vec::new(), Vec::new());
        while let Some(next) = recording.next().expect("it is memory") {
            match next {
                LogLine::Line(line) => lines.push(*line),
                LogLine::Unreadable(text) => unreadable.push(text),
            }
        }
        (lines, unreadable)
    }

    #[test]
    fn requests_have_their_bodies_and_what_was_recorded_of_their_responses() {
        let first = b"1 a1 1439818823587396305\nPOST /orders?x=1 HTTP/1.1\r\nHost: shop.example:80\r\nContent-Type: text/plain\r\n\
            Content-Length: 7\r\n\r\na\n\x00\xffb\r\n";
        let chunked = b"1 b2 1439818823587396400\nPUT /c HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2;x=y\r\nde\r\n0\r\n\r\n";
        let (lines, unreadable) = read(&[
            first,
            chunked,
            b"2 b2 1439818823587399999\nHTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n",
            b"3 a1 1439818823587400000 5\nHTTP/1.1 500 x\r\n\r\n",
            b"2 a1 1439818823588396305 2782013\nHTTP/1.1 404 Not Found\r\n\r\n",
            b"2 unknown 1439818823588396305 1\nHTTP/1.1 200 OK\r\n\r\n",
            b"1 c3 1439818823588396400\nGET /last HTTP/1.1\r\n\r\n",
        ]);
        assert!(unreadable.is_empty(), "{unreadable:?}");
        let seen: Vec<_> = lines.iter().map(|line| (&*line.target, &line.body[..], line.status, line.took)).collect();
        let expected: [Seen<'_>; 3] = [
            ("/orders?x=1", b"a\n\x00\xffb\r\n", Some(404), Some(2_782_013)),
            ("/c", b"abcde", Some(201), Some(3_599)),
            ("/last", b"", None, None),
        ];
        assert_eq!(seen, expected);
        assert_eq!(
            (lines[0].host.as_deref(), lines[0].stamp.map(|stamp| stamp.at)),
            (Some("shop.example"), Some(1_439_818_823_587_396_305))
        );
        assert_eq!(lines[0].fields, [("Content-Type".to_owned(), "text/plain".to_owned())]);
    }

    #[test]
    fn spans_of_later_versions_are_those_of_messages_and_responses_may_come_first() {
        // As GoReplay 1.3.2 wrote them.
        let (lines, unreadable) = read(&[
            b"2 db38 1796021632483913499 142336\nHTTP/1.0 200 OK\r\n\r\n",
            b"1 db38 1796021632482973119 0\nGET /?a=1 HTTP/1.1\r\n\r\n",
            b"1 db3e 1796021632503340525 0\nPOST /post HTTP/1.1\r\nContent-Length: 7\r\n\r\nx=1&y=2",
            b"2 db3e 1796021632504362187 112039\nHTTP/1.0 501 Unsupported method ('POST')\r\n\r\n",
        ]);
        assert!(unreadable.is_empty(), "{unreadable:?}");
        let seen: Vec<_> = lines.iter().map(|line| (&*line.target, line.status, line.took)).collect();
        assert_eq!(seen, [("/?a=1", Some(200), Some(1_082_716)), ("/post", Some(501), Some(1_133_701))]);
    }

    #[test]
    fn what_is_not_whole_is_unreadable_and_the_rest_is_read() {
        let good = b"1 a 5\nGET /good HTTP/1.1\r\n\r\n";
        for bad in [
            &b"junk"[..],
            b"1 a\nGET / HTTP/1.1\r\n\r\n",
            b"1 a -5\nGET / HTTP/1.1\r\n\r\n",
            b"1 a 99999999999999999999\nGET / HTTP/1.1\r\n\r\n",
            b"1 a 5\nGET / HTTP/1.1\r\nHost: x\r\n",
            b"1 a 5\nPOST / HTTP/1.1\r\nContent-Length: 10\r\n\r\nshort",
            b"1 a 5\nPOST / HTTP/1.1\r\nContent-Length: ten\r\n\r\n",
            b"1 a 5\nPOST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\n",
            b"1 a 5\n\x16\x03\x01\r\n\r\n",
        ] {
            let (lines, unreadable) = read(&[bad, good]);
            assert_eq!((lines.len(), unreadable.len()), (1, 1), "{}", String::from_utf8_lossy(bad));
        }
        let (lines, unreadable) = read_bytes([good, SEPARATOR, b"1 b 6\nGET /cut HTTP/1.1\r\nHo"].concat());
        assert_eq!((lines.len(), unreadable), (1, vec!["1 b 6".to_owned()]));
    }

    #[test]
    fn memory_has_a_bound() {
        let long = [b"1 a 5\nGET /".as_slice(), &vec![b'x'; 2 * LONGEST_RECORD]].concat();
        let (lines, unreadable) = read(&[&long, b"1 b 6\nGET /good HTTP/1.1\r\n\r\n"]);
        assert_eq!((lines.len(), unreadable), (1, vec!["1 a 5".to_owned()]));
        let mut recording = Recording::new(Box::new(Cursor::new(Vec::new())));
        for number in 0..3 * MOST_WAITING {
            let record = format!("1 {number} 5\nGET / HTTP/1.1\r\n\r\n");
            recording.put(record.as_bytes()).expect("it is a request");
            while recording.take_settled().is_some() {}
        }
        assert!(recording.waiting.len() <= MOST_WAITING && recording.by_id.len() <= MOST_WAITING);
        for number in 0..3 * MOST_EARLY {
            let record = format!("2 early{number} 5 1\nHTTP/1.1 200 OK\r\n\r\n");
            recording.put(record.as_bytes()).expect("it is a response");
        }
        assert!(recording.early.len() <= MOST_EARLY);
    }

    #[test]
    fn a_recording_is_known_by_its_first_line() {
        assert!(is_recording(b"1 f45590522cd1838b4a0d5c5aab80b77929dea3b3 1439818823587396305\nGET / HTTP/1.1"));
        assert!(is_recording(
            b"2 8e091765ae902fef8a2b7d9dd960e9d52222bd8c 1439818823587396305 2782013\nHTTP/1.1 200 OK"
        ));
        for other in [&b"1 - - [29/Nov/2026:10:00:00 +0100]"[..], b"{\"ts\":1}", b"", b"1 2 three\n", b"4 a 5\n"] {
            assert!(!is_recording(other), "{}", String::from_utf8_lossy(other));
        }
    }
}
