//! Responses that are kept until their user has judged them.

use super::decode::Encoding;
use super::events::{StreamEvent, StreamPart};
use crate::request::outgoing::{Keep, RequestInfo};
use std::borrow::Cow;
use std::collections::VecDeque;
use std::ops::Range;

/// The limit of kept content in bytes; what is beyond is not kept.
const MAX_CONTENT: usize = 16 * 1024 * 1024;
/// The largest buffer that a connection holds on to between responses, in bytes.
const MAX_IDLE_BUFFER: usize = 4096;

/// A response, as far as it was to be kept.
#[derive(Debug, Default)]
pub struct KeptResponse {
    /// The status code.
    pub status: u16,
    /// The version: `1.0`, `1.1`, `2` or `3`.
    pub version: &'static str,
    /// Whether content beyond the limit of 16 MiB was left out.
    pub is_cut: bool,
    /// The part of the response that is kept.
    pub(crate) keep: Keep,
    /// Whether the response is an event stream, whose content is kept without its content codings.
    pub(crate) is_stream: bool,
    /// Whether events are handed over one by one; the text of a stream is not kept then.
    pub(crate) hands_events: bool,
    /// The events that have not been handed over.
    events: VecDeque<StreamEvent>,
    /// The bytes of these events.
    events_bytes: usize,
    /// The reason phrase of HTTP/1.
    reason: String,
    bytes: Vec<u8>,
    fields: Vec<(Range<u32>, Range<u32>)>,
    content: Vec<u8>,
}

impl KeptResponse {
    /// Returns an empty response for a request that asks for more than the status code.
    pub(crate) fn wanted(info: &RequestInfo) -> Option<Box<Self>> {
        (info.keep != Keep::Status).then(|| {
            let mut kept = Box::<Self>::default();
            kept.want(info);
            kept
        })
    }

    /// Notes what is to be kept of the response to a request.
    pub(crate) fn want(&mut self, info: &RequestInfo) {
        (self.keep, self.hands_events) = (info.keep, info.hands_events);
    }

    /// Takes a part of a stream, as far as it is to be kept.
    pub(crate) fn add_part(&mut self, part: StreamPart<'_>) {
        match part {
            StreamPart::Text(text) if !self.hands_events => self.add(text),
            StreamPart::Event(event) if self.hands_events => {
                self.events_bytes += event.kind.len() + event.data.len() + event.id.len();
                self.is_cut |= self.events_bytes > MAX_CONTENT;
                if !self.is_cut {
                    self.events.push_back(StreamEvent::from(event));
                }
            }
            StreamPart::Text(_) | StreamPart::Event(_) => {}
        }
    }

    /// Takes the events that have not been handed over, which have all arrived at once.
    pub(crate) fn take_events(&mut self) -> VecDeque<StreamEvent> {
        self.events_bytes = 0;
        std::mem::take(&mut self.events)
    }

    /// Whether so many events have arrived at once that some were left out.
    pub(crate) fn lacks_events(&self) -> bool {
        self.hands_events && self.is_cut && self.is_stream
    }

    /// Returns the field lines in their order: names and values.
    pub fn fields(&self) -> impl Iterator<Item = (&str, &[u8])> {
        self.fields.iter().map(|(name, value)| (std::str::from_utf8(self.at(name)).unwrap_or_default(), self.at(value)))
    }

    /// Returns the reason phrase, which only HTTP/1 has.
    pub fn reason(&self) -> &str {
        &self.reason
    }

    /// Returns the content without its content codings; as received, if there is none that is known, or if it is malformed.
    pub fn decoded(&self) -> Cow<'_, [u8]> {
        self.well_formed().unwrap_or(Cow::Borrowed(&self.content))
    }

    /// Returns the content without its content codings, the last one taken off first. One that is not known is left out. `None` if
    /// the content is malformed, or larger than 16 MiB without them.
    pub fn well_formed(&self) -> Option<Cow<'_, [u8]>> {
        let named = |(name, _): &(&str, &[u8])| name.eq_ignore_ascii_case("content-encoding");
        let mut content = Cow::Borrowed(self.content.as_slice());
        let Some((_, codings)) = self.fields().find(named).filter(|_| !content.is_empty() && !self.is_stream) else {
            return Some(content);
        };
        for coding in codings.rsplit(|byte| *byte == b',') {
            if let Some(coding) = Encoding::of(coding).filter(|coding| *coding != Encoding::Other) {
                content = Cow::Owned(coding.decode(&content, MAX_CONTENT)?);
            }
        }
        Some(content)
    }

    /// Returns the content as received, with content codings.
    pub fn content(&self) -> &[u8] {
        &self.content
    }

    fn at(&self, range: &Range<u32>) -> &[u8] {
        &self.bytes[range.start as usize..range.end as usize]
    }

    fn push(&mut self, bytes: &[u8]) -> Range<u32> {
        let start = self.bytes.len() as u32;
        self.bytes.extend_from_slice(bytes);
        start..self.bytes.len() as u32
    }

    /// Begins a response whose header section has arrived. An interim response is replaced by the final one.
    pub(crate) fn begin<'f>(&mut self, status: u16, fields: impl Iterator<Item = (&'f [u8], &'f [u8])>) {
        self.clear();
        self.status = status;
        self.add_fields(fields);
    }

    /// Adds field lines, such as those of trailers.
    pub(crate) fn add_fields<'f>(&mut self, fields: impl Iterator<Item = (&'f [u8], &'f [u8])>) {
        if self.keep != Keep::Status {
            for (name, value) in fields {
                let field = (self.push(name), self.push(value));
                self.fields.push(field);
            }
        }
    }

    /// Keeps the reason phrase of the response whose header section follows.
    pub(crate) fn keep_reason(&mut self, reason: &str) {
        self.reason.clear();
        self.reason.push_str(reason);
    }

    /// Adds a piece of content.
    pub(crate) fn add(&mut self, piece: &[u8]) {
        if self.keep == Keep::Content {
            let room = MAX_CONTENT - self.content.len();
            self.is_cut |= piece.len() > room;
            self.content.extend_from_slice(&piece[..piece.len().min(room)]);
        }
    }

    /// Forgets the response. Of a hundred thousand idle users none holds a large buffer.
    pub(crate) fn clear(&mut self) {
        for buffer in [&mut self.bytes, &mut self.content] {
            buffer.clear();
            buffer.shrink_to(MAX_IDLE_BUFFER);
        }
        self.fields.clear();
        (self.is_cut, self.is_stream) = (false, false);
        self.take_events();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::Compression;
    use flate2::write::{GzEncoder, ZlibEncoder};
    use std::io::Write;

    fn kept(coding: &str, content: &[u8]) -> KeptResponse {
        let mut kept = KeptResponse { keep: Keep::Content, ..KeptResponse::default() };
        kept.begin(200, [(&b"content-encoding"[..], coding.as_bytes())].into_iter());
        kept.add(content);
        kept
    }

    #[test]
    fn codings_are_taken_off_from_the_last_to_the_first() {
        let mut packed = GzEncoder::new(Vec::new(), Compression::default());
        packed.write_all(b"hello").unwrap();
        let mut twice = ZlibEncoder::new(Vec::new(), Compression::default());
        twice.write_all(&packed.finish().unwrap()).unwrap();
        let twice = twice.finish().unwrap();
        assert_eq!(kept("gzip, deflate", &twice).well_formed().as_deref(), Some(&b"hello"[..]));
        assert_eq!(kept("deflate, own", &twice).decoded().len(), kept("deflate", &twice).decoded().len());
        assert_eq!(kept("own, identity", b"x").well_formed().as_deref(), Some(&b"x"[..]));
    }

    #[test]
    fn malformed_content_is_not_taken_for_content_without_a_coding() {
        let broken = kept("gzip", b"not gzip");
        assert_eq!((broken.well_formed(), &*broken.decoded()), (None, &b"not gzip"[..]));
        assert_eq!(kept("gzip", b"").well_formed().as_deref(), Some(&b""[..]));
    }

    #[test]
    fn the_reason_phrase_is_that_of_the_latest_response() {
        let mut kept = kept("", b"");
        kept.keep_reason("Gone Fishing");
        kept.begin(404, std::iter::empty());
        assert_eq!(kept.reason(), "Gone Fishing");
        kept.keep_reason("");
        assert_eq!(kept.reason(), "");
    }
}
