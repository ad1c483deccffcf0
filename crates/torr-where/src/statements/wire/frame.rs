//! Frames of a protocol whose messages begin with their length, cut out of segments of any size.

use super::Fault;

/// The most bytes of a header.
const HEADER: usize = 5;

/// What a header says about its message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Header {
    /// The bytes of the content.
    pub(super) length: usize,
    /// The bytes of it that the decoder needs.
    pub(super) kept: usize,
}

/// How a kind of messages begins.
#[derive(Debug, Clone, Copy)]
pub(super) struct Layout {
    /// The bytes of a header, at most [`HEADER`].
    pub(super) header: usize,
    /// Reads a header; `None` if no message begins like this.
    pub(super) read: fn(&[u8]) -> Option<Header>,
}

/// A message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Frame<'f> {
    /// The header.
    pub(super) header: [u8; HEADER],
    /// The beginning of the content, as much as the layout keeps.
    pub(super) content: &'f [u8],
    /// The bytes of the whole content.
    pub(super) length: usize,
}

/// Cuts one direction of a connection into frames. It holds the beginning of one message at most.
#[derive(Debug, Default)]
pub(super) struct Frames {
    header: [u8; HEADER],
    filled: usize,
    current: Option<Header>,
    /// The bytes of the content that were passed.
    passed: usize,
    kept: Vec<u8>,
}

impl Frames {
    /// Returns the next whole message, and moves `bytes` behind it. `None` if all bytes were taken.
    pub(super) fn next(&mut self, bytes: &mut &[u8], layout: Layout) -> Result<Option<Frame<'_>>, Fault> {
        if self.current.is_none() {
            if self.filled == 0 {
                self.kept.clear();
                self.passed = 0;
            }
            let taken = bytes.len().min(layout.header - self.filled.min(layout.header));
            self.header[self.filled..self.filled + taken].copy_from_slice(&bytes[..taken]);
            self.filled += taken;
            *bytes = &bytes[taken..];
            if self.filled < layout.header {
                return Ok(None);
            }
            self.current = Some((layout.read)(&self.header[..layout.header]).ok_or(Fault::Lost)?);
        }
        let Some(header) = self.current else { return Ok(None) };
        let taken = bytes.len().min(header.length - self.passed);
        let kept = taken.min(header.kept.saturating_sub(self.kept.len()));
        self.kept.extend_from_slice(&bytes[..kept]);
        self.passed += taken;
        *bytes = &bytes[taken..];
        if self.passed < header.length {
            return Ok(None);
        }
        self.current = None;
        self.filled = 0;
        Ok(Some(Frame { header: self.header, content: &self.kept, length: header.length }))
    }
}
