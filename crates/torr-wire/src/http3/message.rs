//! The message on a request's stream, a request or a response: frames in an order that is checked (RFC 9114, section 4.1).

use super::LARGEST_SECTION;
use super::error::{ErrorCode, Http3Error};
use super::frame::{FrameReader, Piece, kind};
use super::sender::Sender;

/// The number of frames without content that a message may have: interim responses, and frames of unknown types.
const MOST_EMPTY: u32 = 10_000;

/// The type that a frame is given whose payload is skipped: it is larger than any type.
const SKIPPED: u64 = u64::MAX;

/// A piece of a message.
#[derive(Debug, PartialEq, Eq)]
pub enum MessagePiece<'b> {
    /// An encoded field section: of a request, an interim or the final response, or the trailers.
    Section(Section<'b>),
    /// Bytes of the content, at least one.
    Content(&'b [u8]),
    /// A field section whose encoded form is above the limit. Its bytes are skipped.
    TooLarge,
}

/// The bytes of a field section: those that were received, or those that were collected.
#[derive(Debug, PartialEq, Eq)]
pub enum Section<'b> {
    /// All bytes came in one piece.
    Received(&'b [u8]),
    /// The bytes came in several pieces.
    Collected(Vec<u8>),
}

impl AsRef<[u8]> for Section<'_> {
    fn as_ref(&self) -> &[u8] {
        match self {
            Self::Received(bytes) => bytes,
            Self::Collected(bytes) => bytes,
        }
    }
}

/// A reader of a message's stream. Which of the sections is which, the reader of the fields tells: only that content has begun,
/// behind which at most one section follows.
#[derive(Debug)]
pub struct MessageStream {
    sender: Sender,
    /// The limit of an encoded field section, in bytes.
    largest: u64,
    reader: FrameReader,
    /// The type of the current frame.
    kind: u64,
    /// The bytes of an incomplete section.
    section: Vec<u8>,
    has_section: bool,
    has_content: bool,
    has_trailers: bool,
    /// The frames without content.
    empty: u32,
}

impl Default for MessageStream {
    /// Returns a reader of a server's responses, whose field sections are limited by [`LARGEST_SECTION`].
    fn default() -> Self {
        Self::new(Sender::Server, LARGEST_SECTION)
    }
}

impl MessageStream {
    /// Returns a reader of the messages of a sender, whose encoded field sections have at most this many bytes.
    pub fn new(sender: Sender, largest: usize) -> Self {
        Self {
            sender,
            largest: largest as u64,
            reader: FrameReader::default(),
            kind: 0,
            section: Vec::new(),
            has_section: false,
            has_content: false,
            has_trailers: false,
            empty: 0,
        }
    }

    /// Returns whether the stream may end here.
    pub fn is_between(&self) -> bool {
        self.reader.is_between()
    }

    /// Reads bytes up to the next piece of the message, or all of them, and takes them off the front.
    ///
    /// # Errors
    /// If the sender violates HTTP/3.
    #[inline]
    pub fn next<'b>(&mut self, input: &mut &'b [u8]) -> Result<Option<MessagePiece<'b>>, Http3Error> {
        while let Some(piece) = self.reader.next(input)? {
            match piece {
                Piece::Begin(kind, length) => {
                    self.begin(kind, length)?;
                    if kind == kind::HEADERS && length > self.largest {
                        self.kind = SKIPPED;
                        return Ok(Some(MessagePiece::TooLarge));
                    }
                    if kind == kind::HEADERS && length == 0 {
                        return Ok(Some(MessagePiece::Section(Section::Received(&[]))));
                    }
                }
                Piece::Payload(bytes, is_last) => match self.kind {
                    kind::DATA => return Ok(Some(MessagePiece::Content(bytes))),
                    kind::HEADERS if is_last && self.section.is_empty() => {
                        return Ok(Some(MessagePiece::Section(Section::Received(bytes))));
                    }
                    kind::HEADERS => {
                        self.section.extend_from_slice(bytes);
                        if is_last {
                            let section = std::mem::take(&mut self.section);
                            return Ok(Some(MessagePiece::Section(Section::Collected(section))));
                        }
                    }
                    _ => {}
                },
            }
        }
        Ok(None)
    }

    fn begin(&mut self, kind: u64, length: u64) -> Result<(), Http3Error> {
        self.kind = kind;
        if kind != kind::DATA || length == 0 {
            self.empty += 1;
            if self.empty > MOST_EMPTY {
                return Err(Http3Error::new(ErrorCode::EXCESSIVE_LOAD, "more than 10,000 frames without content"));
            }
        }
        match kind {
            kind::DATA if !self.has_section || self.has_trailers => {
                Err(Http3Error::new(ErrorCode::FRAME_UNEXPECTED, "DATA frame before HEADERS or behind the trailers"))
            }
            kind::DATA => {
                self.has_content = true;
                Ok(())
            }
            kind::HEADERS if self.has_trailers => {
                Err(Http3Error::new(ErrorCode::FRAME_UNEXPECTED, "HEADERS frame behind the trailers"))
            }
            kind::HEADERS => {
                self.has_trailers = self.has_content;
                self.has_section = true;
                Ok(())
            }
            kind::PUSH_PROMISE if self.sender == Sender::Client => {
                Err(Http3Error::new(ErrorCode::FRAME_UNEXPECTED, "PUSH_PROMISE frame of a client"))
            }
            kind::PUSH_PROMISE => {
                Err(Http3Error::new(ErrorCode::ID_ERROR, "PUSH_PROMISE although pushes are not allowed"))
            }
            kind::CANCEL_PUSH | kind::SETTINGS | kind::GOAWAY | kind::MAX_PUSH_ID => {
                Err(Http3Error::new(ErrorCode::FRAME_UNEXPECTED, "frame that is not allowed on a request's stream"))
            }
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A section, which is `true`, or content.
    type Part = (bool, Vec<u8>);

    /// Reads a stream in pieces of this length: sections, and content that is put together.
    fn read(bytes: &[u8], length: usize) -> Result<(Vec<Part>, bool), ErrorCode> {
        let (mut stream, mut pieces) = (MessageStream::default(), Vec::<Part>::new());
        for mut piece in bytes.chunks(length) {
            while let Some(piece) = stream.next(&mut piece).map_err(|error| error.code)? {
                match piece {
                    MessagePiece::Section(section) => pieces.push((true, section.as_ref().to_vec())),
                    MessagePiece::Content(content) => match pieces.last_mut() {
                        Some((false, before)) => before.extend_from_slice(content),
                        _ => pieces.push((false, content.to_vec())),
                    },
                    MessagePiece::TooLarge => return Err(ErrorCode::EXCESSIVE_LOAD),
                }
            }
        }
        Ok((pieces, stream.is_between()))
    }

    #[test]
    fn a_response_is_read_in_whatever_pieces_it_comes() {
        let bytes = [1, 3, 10, 11, 12, 0x21, 2, 0, 0, 1, 0, 0, 2, 20, 21, 0, 0, 0, 1, 22, 1, 1, 30, 0x21, 1, 9];
        let section = |bytes: &[u8]| (true, bytes.to_vec());
        let expected = vec![section(&[10, 11, 12]), section(&[]), (false, vec![20, 21, 22]), section(&[30])];
        for length in 1..=bytes.len() {
            assert_eq!(read(&bytes, length), Ok((expected.clone(), true)));
        }
        assert!(!read(&bytes[..4], 1).expect("it is sound so far").1);
    }

    #[test]
    fn violations_have_their_codes() {
        for (bytes, code) in [
            (&[0, 1, 1][..], ErrorCode::FRAME_UNEXPECTED),
            (&[1, 0, 0, 1, 1, 1, 0, 0, 0], ErrorCode::FRAME_UNEXPECTED),
            (&[1, 0, 0, 1, 1, 1, 0, 1, 0], ErrorCode::FRAME_UNEXPECTED),
            (&[1, 0, 4, 0], ErrorCode::FRAME_UNEXPECTED),
            (&[1, 0, 7, 1, 0], ErrorCode::FRAME_UNEXPECTED),
            (&[1, 0, 3, 1, 0], ErrorCode::FRAME_UNEXPECTED),
            (&[8, 0], ErrorCode::FRAME_UNEXPECTED),
            (&[5, 1, 0], ErrorCode::ID_ERROR),
            (&[1, 0x80, 1, 0, 1], ErrorCode::EXCESSIVE_LOAD),
        ] {
            assert_eq!(read(bytes, 1), Err(code), "{bytes:?}");
        }
        let many: Vec<u8> = [1, 0].into_iter().chain([0, 0].repeat(MOST_EMPTY as usize)).collect();
        assert_eq!(read(&many, 1000), Err(ErrorCode::EXCESSIVE_LOAD));
    }
}
