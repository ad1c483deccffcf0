//! Event streams (WHATWG HTML, section 9.2, "Server-sent events"), decoded from pieces of any size.
//!
//! A stream is lines, which end with CRLF, LF or CR; a blank line ends an event. Only an event with a `data` field is
//! dispatched, and an event that the end of the stream cuts short is not. Bytes that are no UTF-8 are kept as they are.

use memchr::{memchr, memchr2};
use std::ops::ControlFlow;

/// The limit of an event's data, and of a line, in bytes. What is longer is cut, and the event says so.
pub const MOST_DATA: usize = 1024 * 1024;
/// The byte order mark that may precede a stream.
const MARK: &[u8] = b"\xef\xbb\xbf";

/// An event of a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Event<'a> {
    /// The type; empty if the stream names none, which means `message`.
    pub kind: &'a [u8],
    /// The values of the `data` fields, joined by LF; empty unless the reader keeps data.
    pub data: &'a [u8],
    /// The value of the stream's latest `id` field; empty unless the reader keeps data.
    pub id: &'a [u8],
    /// Whether `data` is complete: it was cut at [`MOST_DATA`] otherwise.
    pub is_whole: bool,
}

/// What a reader keeps of events.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Keeps {
    /// That there is one.
    Nothing,
    /// Its type and data.
    Data,
}

/// A decoder of the lines of one event stream, which end with CRLF, LF or CR. It holds the line that is incomplete, up to a limit.
#[derive(Debug)]
pub struct LineReader {
    /// The limit of a line, in bytes.
    most: usize,
    /// The number of bytes of the byte order mark that have been read, or its length once the first line has begun.
    mark: usize,
    /// Whether the last byte was a CR, so that an LF that follows belongs to it.
    after_return: bool,
    /// The line that has arrived in part, and whether it was cut.
    line: Vec<u8>,
    is_cut: bool,
}

impl LineReader {
    /// Returns a reader of lines, of which those that arrive in pieces are cut at `most` bytes.
    #[must_use]
    pub fn new(most: usize) -> Self {
        Self { most, mark: 0, after_return: false, line: Vec::new(), is_cut: false }
    }

    /// Forgets what is incomplete: the next bytes begin another stream.
    pub fn reset(&mut self) {
        *self = Self { line: std::mem::take(&mut self.line), ..Self::new(self.most) };
        self.line.clear();
    }

    /// Decodes a piece of the stream up to the line at which `each` breaks off, or all of it. `each` gets each line that is complete,
    /// and whether it is whole. Returns the number of bytes up to the end of the last line, or of the piece.
    pub fn read_until(&mut self, piece: &[u8], mut each: impl FnMut(&[u8], bool) -> ControlFlow<()>) -> usize {
        let mut rest = self.without_mark(piece);
        if self.after_return && !rest.is_empty() {
            self.after_return = false;
            rest = rest.strip_prefix(b"\n").unwrap_or(rest);
        }
        while let Some(end) = memchr2(b'\n', b'\r', rest) {
            let (line, behind) = (&rest[..end], &rest[end + 1..]);
            let is_return = rest[end] == b'\r';
            self.after_return = is_return && behind.is_empty();
            rest = if is_return { behind.strip_prefix(b"\n").unwrap_or(behind) } else { behind };
            let is_held = !self.line.is_empty();
            if is_held {
                self.hold(line);
            }
            let goes_on = each(if is_held { &self.line } else { line }, !self.is_cut);
            if is_held {
                self.line.clear();
                self.is_cut = false;
            }
            if goes_on.is_break() {
                return piece.len() - rest.len();
            }
        }
        if !rest.is_empty() {
            self.hold(rest);
        }
        piece.len()
    }

    /// Returns a piece without the byte order mark at the beginning of the stream.
    fn without_mark<'p>(&mut self, mut piece: &'p [u8]) -> &'p [u8] {
        while self.mark < MARK.len() {
            let Some((first, behind)) = piece.split_first() else { break };
            if *first != MARK[self.mark] {
                // What looked like the mark is text.
                let looked = std::mem::replace(&mut self.mark, MARK.len());
                self.hold(&MARK[..looked]);
                break;
            }
            self.mark += 1;
            piece = behind;
        }
        piece
    }

    /// Holds a part of a line, as far as it can matter.
    fn hold(&mut self, part: &[u8]) {
        let room = self.most.saturating_sub(self.line.len());
        self.is_cut |= part.len() > room;
        self.line.extend_from_slice(&part[..part.len().min(room)]);
    }
}

/// Returns the name and the value of a line that is not blank; the name of a comment is empty.
#[inline]
pub fn field(line: &[u8]) -> (&[u8], &[u8]) {
    match memchr(b':', line) {
        Some(at) => (&line[..at], line[at + 1..].strip_prefix(b" ").unwrap_or(&line[at + 1..])),
        None => (line, b""),
    }
}

/// A decoder of one event stream. It holds what is incomplete: of an endless line not more than [`MOST_DATA`], and without
/// data not more than the longest name of a field.
#[derive(Debug)]
pub struct EventReader {
    lines: LineReader,
    partial: Partial,
}

/// The event that has arrived in part.
#[derive(Debug)]
struct Partial {
    keeps: Keeps,
    has_data: bool,
    is_cut: bool,
    kind: Vec<u8>,
    data: Vec<u8>,
    /// The latest `id`, which events without one have too.
    id: Vec<u8>,
}

impl EventReader {
    /// Returns a reader that counts events, and knows neither their types nor their data.
    pub fn counting() -> Self {
        Self::new(Keeps::Nothing)
    }

    /// Returns a reader of events with their types and data.
    pub fn with_data() -> Self {
        Self::new(Keeps::Data)
    }

    fn new(keeps: Keeps) -> Self {
        // With one byte more than the name, `data` differs from `database`.
        let most = if keeps == Keeps::Data { MOST_DATA } else { b"data:".len() };
        let (kind, data, id) = (Vec::new(), Vec::new(), Vec::new());
        let partial = Partial { keeps, has_data: false, is_cut: false, kind, data, id };
        Self { lines: LineReader::new(most), partial }
    }

    /// Forgets what is incomplete: the next bytes begin another stream.
    pub fn reset(&mut self) {
        self.lines.reset();
        self.partial.clear();
        self.partial.id.clear();
    }

    /// Decodes a piece of the stream, and passes each event that it completes to `each`.
    pub fn read(&mut self, piece: &[u8], mut each: impl FnMut(Event<'_>)) {
        self.read_until(piece, |event| {
            each(event);
            ControlFlow::Continue(())
        });
    }

    /// Decodes a piece of the stream up to the event at which `each` breaks off, or all of it. Returns the number of bytes up to the end
    /// of that event, or of the piece.
    pub fn read_until(&mut self, piece: &[u8], mut each: impl FnMut(Event<'_>) -> ControlFlow<()>) -> usize {
        let Self { lines, partial } = self;
        lines.read_until(piece, |line, is_whole| partial.take_line(line, is_whole, &mut each))
    }
}

impl Partial {
    /// Takes a line that is complete.
    fn take_line(
        &mut self,
        line: &[u8],
        is_whole: bool,
        each: &mut impl FnMut(Event<'_>) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        if line.is_empty() {
            return self.dispatch(each);
        }
        let (name, value) = field(line);
        match name {
            b"data" => self.take_data(value, is_whole),
            b"event" if self.keeps == Keeps::Data => {
                self.kind.clear();
                self.kind.extend_from_slice(value);
            }
            b"id" if self.keeps == Keeps::Data && memchr(0, value).is_none() => {
                self.id.clear();
                self.id.extend_from_slice(value);
            }
            // A comment has no name. `retry` concerns clients that connect again.
            _ => {}
        }
        ControlFlow::Continue(())
    }

    fn take_data(&mut self, value: &[u8], is_whole: bool) {
        if self.keeps == Keeps::Data {
            if self.has_data && self.data.len() < MOST_DATA {
                self.data.push(b'\n');
            }
            let room = MOST_DATA - self.data.len();
            self.is_cut |= !is_whole || value.len() > room;
            self.data.extend_from_slice(&value[..value.len().min(room)]);
        }
        self.has_data = true;
    }

    fn dispatch(&mut self, each: &mut impl FnMut(Event<'_>) -> ControlFlow<()>) -> ControlFlow<()> {
        let goes_on = match self.has_data {
            true => each(Event { kind: &self.kind, data: &self.data, id: &self.id, is_whole: !self.is_cut }),
            false => ControlFlow::Continue(()),
        };
        self.clear();
        goes_on
    }

    fn clear(&mut self) {
        (self.has_data, self.is_cut) = (false, false);
        self.kind.clear();
        self.data.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The events of a stream, each as type and data, if it arrives in pieces of this size.
    fn events(stream: &[u8], size: usize) -> Vec<(String, String)> {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let (mut reader, mut counting, mut seen, mut count) =
            (EventReader::with_data(), EventReader::counting(), Vec::new(), 0);
        for piece in stream.chunks(size) {
            reader.read(piece, |event| seen.push((text(event.kind), text(event.data))));
            counting.read(piece, |_| count += 1);
        }
        assert_eq!(count, seen.len(), "both readers see the same events of {:?}", text(stream));
        seen
    }

    #[track_caller]
    fn is(stream: &[u8], expected: &[(&str, &str)]) {
        for size in [1, 2, 3, 5, stream.len().max(1)] {
            let seen = events(stream, size);
            let seen: Vec<_> = seen.iter().map(|(kind, data)| (kind.as_str(), data.as_str())).collect();
            assert_eq!(seen, expected, "in pieces of {size} of {:?}", String::from_utf8_lossy(stream));
        }
    }

    #[test]
    fn lines_end_in_three_ways_and_data_is_joined() {
        is(b"data: YHOO\ndata: +2\ndata: 10\n\n", &[("", "YHOO\n+2\n10")]);
        is(b"data: a\r\n\r\ndata: b\r\rdata: c\n\n", &[("", "a"), ("", "b"), ("", "c")]);
        is(b"data: a\r\ndata: b\rdata: c\n\r\n", &[("", "a\nb\nc")]);
        is(b"event: add\ndata: 73857293\n\nevent: remove\ndata: 2153\n\n", &[("add", "73857293"), ("remove", "2153")]);
    }

    #[test]
    fn only_events_with_data_that_are_complete_are_dispatched() {
        is(b": a comment\n\nid: 7\nretry: 10\n\nevent: x\n\ndata: y\n\ndata: cut", &[("", "y")]);
        is(b"data\n\ndata\ndata\n\ndata:", &[("", ""), ("", "\n")]);
        is(b"data:test\n\ndata: test\n\ndata:  two\n\n", &[("", "test"), ("", "test"), ("", " two")]);
        is(b"database: no\ndat: no\n Data: no\nDATA: no\n\ndata : no\n\n", &[]);
        is(b"", &[]);
    }

    #[test]
    fn an_id_holds_until_the_next_one() {
        let (mut reader, mut ids) = (EventReader::with_data(), Vec::new());
        let stream = b"data: a\n\nid: 1\ndata: b\n\ndata: c\n\nid\n\nid: x\0y\ndata: d\n\nid: 2\n\ndata: e\n\n";
        reader.read(stream, |event| ids.push(String::from_utf8_lossy(event.id).into_owned()));
        assert_eq!(ids, ["", "1", "1", "", "2"]);
    }

    #[test]
    fn one_byte_order_mark_precedes_a_stream() {
        is(b"\xef\xbb\xbfdata: a\n\n\xef\xbb\xbfdata: b\n\n", &[("", "a")]);
        is(b"\xef\xbbdata: a\n\ndata: b\n\n", &[("", "b")]);
        is(b"\xef\xbb\xbf\n\ndata: b\n\n", &[("", "b")]);
    }

    #[test]
    fn memory_is_bounded() {
        let long = vec![b'x'; 64 * 1024];
        let (mut reader, mut counting) = (EventReader::with_data(), EventReader::counting());
        let mut whole = Vec::new();
        for start in [&b"data: "[..], b"\ndata: 1\ndata: ", b"\nevent: "] {
            reader.read(start, |_| {});
            counting.read(start, |_| {});
            for _ in 0..40 {
                reader.read(&long, |_| {});
                counting.read(&long, |_| {});
            }
        }
        reader.read(b"\n\ndata: next\n\n", |event| whole.push((event.data.len(), event.is_whole)));
        assert_eq!(whole, [(MOST_DATA, false), (4, true)]);
        assert!(
            reader.lines.line.capacity() + reader.partial.data.capacity() <= 5 * MOST_DATA,
            "{}",
            reader.lines.line.capacity()
        );
        assert!(counting.lines.line.capacity() <= 64, "{}", counting.lines.line.capacity());
    }

    #[test]
    fn reading_stops_behind_the_event_at_which_it_is_broken_off() {
        for (stream, expected) in [
            (&b"data: 1\n\ndata: 2\n\ndata: 3\n\n"[..], 18),
            (b"data: 1\r\n\r\ndata: 2\r\n\r\n: rest", 22),
            (b"data: 1\n\n: only one\n\n", 21),
        ] {
            let (mut reader, mut seen) = (EventReader::counting(), 0);
            let used = reader.read_until(stream, |_| {
                seen += 1;
                if seen == 2 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            });
            assert_eq!(used, expected, "{:?}", String::from_utf8_lossy(stream));
        }
    }

    #[test]
    fn a_reader_that_is_reset_begins_another_stream() {
        let mut reader = EventReader::with_data();
        reader.read(b"event: x\ndata: cut\r", |_| panic!("the event is incomplete"));
        reader.reset();
        let mut seen = 0;
        reader.read(b"\n\xef\xbb\xbf\ndata: a\n\n", |event| {
            assert_eq!((event.kind, event.data), (&b""[..], &b"a"[..]));
            seen += 1;
        });
        assert_eq!(seen, 1);
    }
}
