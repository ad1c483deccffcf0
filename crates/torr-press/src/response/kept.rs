//! Responses that are kept until their user has judged them.

use super::decode::Encoding;
use crate::request::outgoing::Keep;
use std::borrow::Cow;
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
    /// The version: `1.0`, `1.1` or `2`.
    pub version: &'static str,
    /// Whether content beyond the limit of 16 MiB was left out.
    pub is_cut: bool,
    /// The part of the response that is kept.
    pub(crate) keep: Keep,
    bytes: Vec<u8>,
    fields: Vec<(Range<u32>, Range<u32>)>,
    content: Vec<u8>,
}

impl KeptResponse {
    /// Returns an empty response for a request that asks for more than the status code.
    pub(crate) fn wanted(keep: Keep) -> Option<Box<Self>> {
        (keep != Keep::Status).then(|| Box::new(Self { keep, ..Self::default() }))
    }

    /// Returns the field lines in their order: names and values.
    pub fn fields(&self) -> impl Iterator<Item = (&str, &[u8])> {
        self.fields.iter().map(|(name, value)| (std::str::from_utf8(self.at(name)).unwrap_or_default(), self.at(value)))
    }

    /// Returns the content without its content coding; as received, if there is no coding or none that is known.
    pub fn decoded(&self) -> Cow<'_, [u8]> {
        let named = |(name, _): &(&str, &[u8])| name.eq_ignore_ascii_case("content-encoding");
        let coding = self.fields().find(named).and_then(|(_, value)| Encoding::of(value));
        match coding.and_then(|coding| coding.decode(&self.content, MAX_CONTENT)) {
            Some(decoded) => Cow::Owned(decoded),
            None => Cow::Borrowed(&self.content),
        }
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
        if self.keep != Keep::Status {
            for (name, value) in fields {
                let field = (self.push(name), self.push(value));
                self.fields.push(field);
            }
        }
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
        self.is_cut = false;
    }
}
