//! Bodies: in whatever pieces one comes, its content and its end are the same.
//!
//! Option: `c` chunked, `u` until the connection closes, `n` none, `m` the longest, else that many bytes.

use crate::input::{Input, Piece};
use torr_wire::WireError;
use torr_wire::body::{BodyReader, Framing};

/// What one body gave.
#[derive(Debug, PartialEq)]
struct Body {
    content: Vec<u8>,
    /// The bytes taken; none are counted of a body that is broken.
    taken: usize,
    is_done: bool,
    ends_with_connection: bool,
    error: Option<WireError>,
}

/// Checks one input.
pub fn check(bytes: &[u8]) {
    let input = Input::new(bytes);
    let framing = match input.option {
        b'c' => Framing::Chunked,
        b'u' => Framing::UntilClose,
        b'n' => Framing::None,
        b'm' => Framing::Length(u64::MAX),
        length => Framing::Length(length.into()),
    };
    let whole = read(framing, &input.whole());
    assert!(whole.content.len() <= input.wire.len());
    assert_eq!(read(framing, &input.pieces()), whole, "in pieces");
    if whole.is_done {
        let piece = Piece { bytes: &input.wire[..whole.taken], marked: false };
        assert_eq!(read(framing, &[piece]), whole, "without what follows it");
    }
}

fn read(framing: Framing, pieces: &[Piece<'_>]) -> Body {
    let (mut reader, mut content, mut taken, mut error) = (BodyReader::new(framing), Vec::new(), 0, None);
    for Piece { bytes, .. } in pieces {
        let was_done = reader.is_done();
        match reader.read(bytes, |piece| content.extend_from_slice(piece)) {
            Ok(used) => {
                assert!(!was_done || used == 0, "{used} bytes after the end");
                assert!(reader.is_done() || used == bytes.len(), "took {used} of {}", bytes.escape_ascii());
                taken += used;
            }
            Err(broken) => {
                (error, taken) = (Some(broken), 0);
                break;
            }
        }
    }
    let (is_done, ends_with_connection) = (reader.is_done(), reader.ends_with_connection());
    Body { content, taken, is_done, ends_with_connection, error }
}
