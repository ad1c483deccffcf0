//! Frames: a type, a length and a payload (RFC 9114, section 7).

use super::error::{ErrorCode, Http3Error};
use super::varint;

/// The types of frames.
pub mod kind {
    /// Content.
    pub const DATA: u64 = 0x0;
    /// A header or trailer section.
    pub const HEADERS: u64 = 0x1;
    /// The cancellation of a push.
    pub const CANCEL_PUSH: u64 = 0x3;
    /// The settings of a connection.
    pub const SETTINGS: u64 = 0x4;
    /// The promise of a push.
    pub const PUSH_PROMISE: u64 = 0x5;
    /// The announcement that a connection is going to end.
    pub const GOAWAY: u64 = 0x7;
    /// The limit of pushes.
    pub const MAX_PUSH_ID: u64 = 0xd;
    /// The types of HTTP/2 that have no meaning in HTTP/3, and must not be sent.
    pub const OF_HTTP2: [u64; 4] = [0x2, 0x6, 0x8, 0x9];
}

/// Appends the header of a frame.
///
/// # Panics
/// If a number has more than 62 bits.
pub fn write_header(kind: u64, length: u64, out: &mut Vec<u8>) {
    varint::write(kind, out);
    varint::write(length, out);
}

/// A piece of a stream of frames.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Piece<'b> {
    /// A frame begins, of this type and length.
    Begin(u64, u64),
    /// Bytes of its payload, at least one; whether they are the last ones.
    Payload(&'b [u8], bool),
}

/// The largest header of a frame, in bytes: two numbers.
const LARGEST_HEADER: usize = 16;

/// Reads frames from the bytes of a stream, in whatever pieces they come.
#[derive(Debug, Default)]
pub struct FrameReader {
    /// The bytes of an incomplete header.
    header: [u8; LARGEST_HEADER],
    filled: u8,
    /// The bytes of the payload that are to come.
    left: u64,
}

impl FrameReader {
    /// Returns whether the stream may end here: between two frames.
    pub fn is_between(&self) -> bool {
        self.filled == 0 && self.left == 0
    }

    /// Takes the next piece off the front of the bytes; `None` if all have been taken, or the rest is of a header that is
    /// incomplete, which is kept.
    ///
    /// # Errors
    /// [`ErrorCode::FRAME_UNEXPECTED`] for a type of HTTP/2.
    #[inline]
    pub fn next<'b>(&mut self, input: &mut &'b [u8]) -> Result<Option<Piece<'b>>, Http3Error> {
        if self.left > 0 {
            if input.is_empty() {
                return Ok(None);
            }
            let len = usize::try_from(self.left).map_or(input.len(), |left| left.min(input.len()));
            let (payload, rest) = input.split_at(len);
            (*input, self.left) = (rest, self.left - len as u64);
            return Ok(Some(Piece::Payload(payload, self.left == 0)));
        }
        let Some((kind, length)) = self.header(input) else { return Ok(None) };
        if kind::OF_HTTP2.contains(&kind) {
            return Err(Http3Error::new(ErrorCode::FRAME_UNEXPECTED, "frame of a type that HTTP/3 does not have"));
        }
        self.left = length;
        Ok(Some(Piece::Begin(kind, length)))
    }

    #[inline]
    fn header(&mut self, input: &mut &[u8]) -> Option<(u64, u64)> {
        if self.filled == 0
            && let Some((header, len)) = header(input)
        {
            *input = &input[len..];
            return Some(header);
        }
        while let Some((&byte, rest)) = input.split_first() {
            // Two numbers are complete within the array, so that it is never full here.
            self.header[usize::from(self.filled)] = byte;
            self.filled += 1;
            *input = rest;
            if let Some((header, _)) = header(&self.header[..usize::from(self.filled)]) {
                self.filled = 0;
                return Some(header);
            }
        }
        None
    }
}

/// Returns the type and the length at the front of the bytes, and how many bytes they take.
#[inline]
fn header(bytes: &[u8]) -> Option<((u64, u64), usize)> {
    let (kind, of_kind) = varint::read(bytes)?;
    let (length, of_length) = varint::read(&bytes[of_kind..])?;
    Some(((kind, length), of_kind + of_length))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Returns the frames in bytes that come in pieces of these lengths, in turn.
    fn frames(bytes: &[u8], lengths: &[usize]) -> (Vec<(u64, u64, Vec<u8>)>, bool) {
        let (mut reader, mut all, mut rest) = (FrameReader::default(), Vec::new(), bytes);
        for length in lengths.iter().cycle() {
            let (mut piece, behind) = rest.split_at((*length).clamp(1, rest.len().max(1)).min(rest.len()));
            while let Some(piece) = reader.next(&mut piece).expect("there are no frames of HTTP/2") {
                match piece {
                    Piece::Begin(kind, length) => all.push((kind, length, Vec::new())),
                    Piece::Payload(bytes, is_last) => {
                        let frame = all.last_mut().expect("a frame has begun");
                        frame.2.extend_from_slice(bytes);
                        assert_eq!(is_last, frame.2.len() as u64 == frame.1);
                    }
                }
            }
            assert!(piece.is_empty(), "all is taken");
            rest = behind;
            if rest.is_empty() {
                break;
            }
        }
        (all, reader.is_between())
    }

    proptest! {
        #[test]
        fn frames_are_read_in_whatever_pieces_they_come(
            written in prop::collection::vec((10_u64..varint::MAX, prop::collection::vec(any::<u8>(), 0..300)), 0..8),
            lengths in prop::collection::vec(1_usize..200, 1..8),
            cut in 0_usize..400,
        ) {
            let mut bytes = Vec::new();
            for (kind, payload) in &written {
                write_header(*kind, payload.len() as u64, &mut bytes);
                bytes.extend_from_slice(payload);
            }
            let (read, is_between) = frames(&bytes, &lengths);
            let expected: Vec<_> = written.iter().map(|(kind, payload)| (*kind, payload.len() as u64, payload.clone())).collect();
            prop_assert_eq!(&read, &expected);
            prop_assert!(is_between);
            let cut = cut.min(bytes.len());
            prop_assert_eq!(frames(&bytes[..cut], &lengths), frames(&bytes[..cut], &[cut.max(1)]));
        }

        #[test]
        fn whatever_bytes_come_all_are_taken(bytes: Vec<u8>) {
            let mut reader = FrameReader::default();
            let mut input = &bytes[..];
            while let Ok(Some(_)) = reader.next(&mut input) {}
        }
    }

    #[test]
    fn types_of_http2_are_refused() {
        for kind in kind::OF_HTTP2 {
            let error = FrameReader::default().next(&mut &[kind as u8, 0][..]).expect_err("it is refused");
            assert_eq!(error.code, ErrorCode::FRAME_UNEXPECTED);
        }
    }
}
