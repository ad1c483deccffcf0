//! Decoding of message bodies that arrive in pieces, by their framing (RFC 9112, section 6.3).

use crate::{WireError, is_token};

/// The framing of a body: how a reader finds its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Framing {
    /// The message has no body.
    None,
    /// `Content-Length`: the body has this many bytes.
    Length(u64),
    /// `Transfer-Encoding: chunked`: the last chunk ends the body.
    Chunked,
    /// The end of the connection ends the body; responses only.
    UntilClose,
}

/// The limit of one chunk's extensions in bytes, which carry nothing that is used.
const MAX_EXTENSION: u32 = 4 * 1024;
/// The limit of the whole trailer section in bytes; the header section of a response has the same one.
const MAX_TRAILERS: u32 = 64 * 1024;

/// A decoder of one body, which keeps the state of the framing and no content.
#[derive(Debug, Clone, Copy)]
pub struct BodyReader(State);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Done,
    Length(u64),
    UntilClose,
    /// Inside the hexadecimal size: the value and the number of digits so far.
    ChunkSize(u64, u8),
    /// White space after the size, which only an extension may follow: the size and the bytes so far.
    ChunkSizeSpace(u64, u32),
    ChunkExtension(u64, u32),
    ChunkSizeLf(u64),
    ChunkData(u64),
    ChunkDataCr,
    ChunkDataLf,
    /// At the start of a trailer field or of the final blank line: the bytes of the trailer section so far.
    TrailerStart(u32),
    TrailerName(u32),
    TrailerValue(u32),
    TrailerLf(u32),
    EndLf,
}

impl BodyReader {
    /// Creates a decoder at the start of a body.
    pub fn new(framing: Framing) -> Self {
        Self(match framing {
            Framing::None | Framing::Length(0) => State::Done,
            Framing::Length(n) => State::Length(n),
            Framing::Chunked => State::ChunkSize(0, 0),
            Framing::UntilClose => State::UntilClose,
        })
    }

    /// Returns whether the body is complete; always false for [`Framing::UntilClose`], which only the connection's end
    /// completes.
    pub fn is_done(&self) -> bool {
        self.0 == State::Done
    }

    /// Returns whether the body is complete if the connection ends now.
    pub fn ends_with_connection(&self) -> bool {
        matches!(self.0, State::Done | State::UntilClose)
    }

    /// Decodes this body's bytes at the front of `input` and passes each piece of content to `sink`.
    ///
    /// Returns the number of bytes consumed: all of `input`, unless the body ends within it.
    ///
    /// # Errors
    /// [`WireError::Chunk`] if the chunked framing is malformed, or extensions or trailers exceed their limits.
    pub fn read(&mut self, input: &[u8], mut sink: impl FnMut(&[u8])) -> Result<usize, WireError> {
        let mut at = 0;
        while at < input.len() {
            let rest = &input[at..];
            match self.0 {
                State::Done => break,
                State::UntilClose => {
                    sink(rest);
                    at = input.len();
                }
                State::Length(left) | State::ChunkData(left) => {
                    let piece = &rest[..rest.len().min(usize::try_from(left).unwrap_or(usize::MAX))];
                    sink(piece);
                    at += piece.len();
                    let left = left - piece.len() as u64;
                    self.0 = match (self.0, left) {
                        (State::Length(_), 0) => State::Done,
                        (State::Length(_), left) => State::Length(left),
                        (_, 0) => State::ChunkDataCr,
                        (_, left) => State::ChunkData(left),
                    };
                }
                state => {
                    self.0 = chunk_byte(state, rest[0]).ok_or(WireError::Chunk)?;
                    at += 1;
                }
            }
        }
        Ok(at)
    }
}

/// Returns the state after one byte of chunked framing (RFC 9112, section 7.1), `None` if the byte is malformed there.
///
/// A bare CR or LF is malformed: requests can be smuggled between parsers that disagree about line ends.
fn chunk_byte(state: State, byte: u8) -> Option<State> {
    let text = byte == b'\t' || (byte >= b' ' && byte != 0x7f);
    Some(match (state, byte) {
        (State::ChunkSize(size, digits), b) if b.is_ascii_hexdigit() && digits < 16 => {
            let digit = char::from(b).to_digit(16).map(u64::from)?;
            State::ChunkSize(size << 4 | digit, digits + 1)
        }
        (State::ChunkSize(size, 1..), b'\r') => State::ChunkSizeLf(size),
        (State::ChunkSize(size, 1..), b';') => State::ChunkExtension(size, 1),
        (State::ChunkSize(size, 1..), b' ' | b'\t') => State::ChunkSizeSpace(size, 1),
        (State::ChunkSizeSpace(size, n), b' ' | b'\t') if n < MAX_EXTENSION => State::ChunkSizeSpace(size, n + 1),
        (State::ChunkSizeSpace(size, n), b';') => State::ChunkExtension(size, n + 1),
        (State::ChunkExtension(size, _), b'\r') => State::ChunkSizeLf(size),
        (State::ChunkExtension(size, n), _) if text && n < MAX_EXTENSION => State::ChunkExtension(size, n + 1),
        (State::ChunkSizeLf(0), b'\n') => State::TrailerStart(0),
        (State::ChunkSizeLf(size), b'\n') => State::ChunkData(size),
        (State::ChunkDataCr, b'\r') => State::ChunkDataLf,
        (State::ChunkDataLf, b'\n') => State::ChunkSize(0, 0),
        (State::TrailerStart(_), b'\r') => State::EndLf,
        (State::TrailerStart(n) | State::TrailerName(n), b) if is_token(b) && n < MAX_TRAILERS => {
            State::TrailerName(n + 1)
        }
        (State::TrailerName(n), b':') => State::TrailerValue(n + 1),
        (State::TrailerValue(n), b'\r') => State::TrailerLf(n),
        (State::TrailerValue(n), _) if text && n < MAX_TRAILERS => State::TrailerValue(n + 1),
        (State::TrailerLf(n), b'\n') => State::TrailerStart(n),
        (State::EndLf, b'\n') => State::Done,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_all(framing: Framing, input: &[u8]) -> Result<(Vec<u8>, usize, bool), WireError> {
        let (mut reader, mut content) = (BodyReader::new(framing), Vec::new());
        let used = reader.read(input, |piece| content.extend_from_slice(piece))?;
        Ok((content, used, reader.is_done()))
    }

    #[test]
    fn a_sized_body_leaves_what_follows() {
        assert_eq!(read_all(Framing::Length(3), b"abcGET"), Ok((b"abc".to_vec(), 3, true)));
        assert_eq!(read_all(Framing::Length(0), b"GET"), Ok((vec![], 0, true)));
        assert_eq!(read_all(Framing::None, b"GET"), Ok((vec![], 0, true)));
    }

    #[test]
    fn chunks_extensions_and_trailers_are_read() {
        let wire = b"5\r\nhello\r\n6 ;a=\"b\"\r\n world\r\n0\r\nX-Sum: 1\r\nY: 2\r\n\r\nnext";
        assert_eq!(read_all(Framing::Chunked, wire), Ok((b"hello world".to_vec(), wire.len() - 4, true)));
    }

    #[test]
    fn malformed_chunks_are_rejected() {
        for bad in [
            "\r\n",
            "g\r\n",
            "-1\r\n",
            "+1\r\n",
            "0x1\r\n",
            "1\nX",
            "1\rX",
            "1 2\r\n",
            "1 \r\nX",
            "1;\nX\r\n",
            "1;a\rb\r\n",
            "1\r\nXY",
            "1\r\nX\n",
            "1\r\nX\rY",
            "00000000000000001\r\n",
            "0\r\n\n",
            "0\r\n\rX",
            "0\r\nA: b\n",
            "0\r\n x\r\n",
            "0\r\n:x\r\n",
            "1;\0\r\n",
            "0\r\nA:\0\r\n",
        ] {
            assert_eq!(read_all(Framing::Chunked, bad.as_bytes()), Err(WireError::Chunk), "{bad:?}");
        }
    }

    #[test]
    fn extensions_and_trailers_have_a_limit() {
        let endless = format!("1;{}", "x".repeat(MAX_EXTENSION as usize + 1));
        assert_eq!(read_all(Framing::Chunked, endless.as_bytes()), Err(WireError::Chunk));
        let endless = format!("0\r\n{}", "A: b\r\n".repeat(MAX_TRAILERS as usize / 4 + 1));
        assert_eq!(read_all(Framing::Chunked, endless.as_bytes()), Err(WireError::Chunk));
    }
}
