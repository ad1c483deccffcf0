//! The events of a stream as the extension `k6/x/sse` has them: each blank line ends one, whatever fields it has.

use std::ops::ControlFlow;
use torr_wire::event_stream::{LineReader, field};

/// The largest line, and the largest data of an event, in bytes.
const LARGEST: usize = 16 << 20;

/// An event. What the stream does not name is empty.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ServerEvent {
    /// The id.
    pub id: String,
    /// The latest comment.
    pub comment: String,
    /// The type.
    pub name: String,
    /// The lines of data, joined by LF, without line ends behind them.
    pub data: String,
}

/// What a piece of a stream has.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// An event.
    Event(ServerEvent),
    /// A line that belongs to no event.
    Unknown(String),
    /// A line, or the data of an event, that is larger than [`LARGEST`].
    TooLarge,
}

/// The decoder of a stream, whose bytes arrive in pieces of any size.
#[derive(Debug)]
pub(super) struct StreamReader {
    lines: LineReader,
    event: ServerEvent,
    data: Vec<u8>,
}

impl Default for StreamReader {
    fn default() -> Self {
        Self { lines: LineReader::new(LARGEST), event: ServerEvent::default(), data: Vec::new() }
    }
}

impl StreamReader {
    /// Decodes a piece of the stream, and passes what it completes to `each`.
    pub fn read(&mut self, piece: &[u8], mut each: impl FnMut(Part)) {
        let Self { lines, event, data } = self;
        lines.read_until(piece, |line, is_whole| {
            if !is_whole || data.len() + line.len() > LARGEST {
                data.clear();
                each(Part::TooLarge);
            } else if line.is_empty() {
                while data.last().is_some_and(|last| matches!(last, b'\r' | b'\n')) {
                    data.pop();
                }
                event.data = text(data);
                data.clear();
                each(Part::Event(std::mem::take(event)));
            } else {
                let (name, value) = field(line);
                match name {
                    b"id" => event.id = text(value),
                    b"" => event.comment = text(value),
                    b"event" => event.name = text(value),
                    b"data" => {
                        data.extend_from_slice(value);
                        data.push(b'\n');
                    }
                    b"retry" => {}
                    _ => each(Part::Unknown(text(line))),
                }
            }
            ControlFlow::Continue(())
        });
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(stream: &[u8], size: usize) -> Vec<Part> {
        let (mut reader, mut parts) = (StreamReader::default(), Vec::new());
        stream.chunks(size).for_each(|piece| reader.read(piece, |part| parts.push(part)));
        parts
    }

    fn event(id: &str, comment: &str, name: &str, data: &str) -> Part {
        let [id, comment, name, data] = [id, comment, name, data].map(str::to_owned);
        Part::Event(ServerEvent { id, comment, name, data })
    }

    #[test]
    fn each_blank_line_ends_an_event() {
        let stream = b"retry: 10000\n: hello\nid: ABCD\ndata: {\"ping\": \"pong\"}\ndata:{\"hello\": \"sse\"}\n\n\
            event: EFGH\r\ndata: a\r\n\r\n: alive\n\n\ndata\ndata\nid:  7\n\ndata: cut";
        for size in [1, 3, stream.len()] {
            let expected = [
                event("ABCD", "hello", "", "{\"ping\": \"pong\"}\n{\"hello\": \"sse\"}"),
                event("", "", "EFGH", "a"),
                event("", "alive", "", ""),
                event("", "", "", ""),
                event(" 7", "", "", ""),
            ];
            assert_eq!(parts(stream, size), expected, "in pieces of {size}");
        }
    }

    #[test]
    fn lines_of_no_event_are_passed_on() {
        let junk = |line: &str| Part::Unknown(line.to_owned());
        assert_eq!(parts(b"junk\nid : 1\ndata: x\n\n", 4), [junk("junk"), junk("id : 1"), event("", "", "", "x")]);
    }

    #[test]
    fn memory_is_bounded() {
        let long = vec![b'x'; 1 << 20];
        let (mut reader, mut seen) = (StreamReader::default(), Vec::new());
        reader.read(b"data: ", |_| panic!("nothing is complete"));
        (0..20).for_each(|_| reader.read(&long, |_| panic!("nothing is complete")));
        reader.read(b"\n", |part| seen.push(part));
        let line = [b"data: ", &long[..], b"\n"].concat();
        (0..20).for_each(|_| reader.read(&line, |part| seen.push(part)));
        assert_eq!(seen, [Part::TooLarge, Part::TooLarge]);
        assert!(reader.data.capacity() <= 2 * LARGEST, "{}", reader.data.capacity());
    }
}
