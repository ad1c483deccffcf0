//! The headers of PostgreSQL's messages.

use super::super::frame::{Header, Layout};
use crate::statements::normalise::sql::INPUT;

/// The most bytes of a message that PostgreSQL takes or sends.
const LONGEST: usize = 1 << 30;

/// The most bytes of a client's first message.
const LONGEST_STARTUP: usize = 10_000;

/// The most bytes of a message with names that are kept.
const NAMES: usize = 256;

/// A client's first message: its length, then a code.
pub(super) const STARTUP: Layout = Layout {
    header: 4,
    read: |header| {
        let length = content_length(header)?;
        (4..=LONGEST_STARTUP).contains(&length).then_some(Header { length, kept: 4 })
    },
};

/// The client's further messages: a type, then the length.
pub(super) const CLIENT: Layout = Layout {
    header: 5,
    read: |header| {
        let kept = match header[0] {
            b'Q' | b'P' => INPUT + NAMES,
            b'B' | b'C' | b'D' | b'E' => NAMES,
            b'F' | b'H' | b'S' | b'X' | b'c' | b'd' | b'f' | b'p' => 0,
            _ => return None,
        };
        Some(Header { length: content_length(&header[1..])?, kept })
    },
};

/// The server's messages: a type, then the length.
pub(super) const SERVER: Layout = Layout {
    header: 5,
    read: |header| {
        let kept = match header[0] {
            b'C' => NAMES,
            b'Z' | b'R' => 4,
            b'1' | b'2' | b'3' | b'A' | b'D' | b'E' | b'G' | b'H' | b'I' | b'K' | b'N' | b'S' | b'T' | b'V' | b'W'
            | b'c' | b'd' | b'n' | b's' | b't' | b'v' => 0,
            _ => return None,
        };
        Some(Header { length: content_length(&header[1..])?, kept })
    },
};

/// Returns the length of the content behind a length that counts its own four bytes.
fn content_length(length: &[u8]) -> Option<usize> {
    let length = usize::try_from(u32::from_be_bytes(*length.first_chunk()?)).ok()?;
    (4..=LONGEST).contains(&length).then(|| length - 4)
}

/// Returns whether a segment of the client begins with a request.
pub(super) fn begins_request(bytes: &[u8]) -> bool {
    let Some(header) = bytes.first_chunk::<5>() else { return false };
    matches!(header[0], b'Q' | b'P' | b'B' | b'F') && content_length(&header[1..]).is_some_and(|length| length < INPUT)
}

/// Returns whether a segment of the server ends with `ReadyForQuery`.
pub(super) fn ends_response(bytes: &[u8]) -> bool {
    matches!(bytes.last_chunk(), Some([b'Z', 0, 0, 0, 5, b'I' | b'T' | b'E']))
}
