//! Responses: a client reads the same ones, in any pieces.
//!
//! Option: bit n says that the nth request was a HEAD; of 5.

use crate::input::{Input, Piece};
use torr_wire::WireError;
use torr_wire::response::{Response, ResponseReader};

/// All that a connection gave.
#[derive(Debug, PartialEq)]
struct Got {
    /// The responses, and where in the stream each ended.
    responses: Vec<(Response, usize)>,
    /// What the end of the connection gave, or the error before it.
    end: Result<Option<Response>, WireError>,
}

/// Checks one input.
pub fn check(bytes: &[u8]) {
    let input = Input::new(bytes);
    let whole = read(&input.whole(), input.option);
    let got = read(&input.pieces(), input.option);
    // A head in pieces is looked at once its end has come, and if that never comes its faults are not seen.
    let unseen = matches!(whole.end, Err(WireError::Syntax(_) | WireError::TooManyHeaders))
        && got.end == Err(WireError::Truncated);
    assert_eq!(got.responses, whole.responses, "in pieces");
    assert!(got.end == whole.end || unseen, "{:?}, not {:?}, in pieces", got.end, whole.end);
}

/// Reads a connection as an engine that knows its requests.
fn read(pieces: &[Piece<'_>], heads: u8) -> Got {
    let (mut reader, mut consumed, mut responses) = (ResponseReader::default(), 0, Vec::new());
    for &Piece { bytes: mut rest, .. } in pieces {
        while !rest.is_empty() {
            let to_head = responses.len() < 5 && heads >> responses.len() & 1 == 1;
            let (used, response) = match reader.read(rest, to_head) {
                Ok(read) => read,
                Err(error) => return Got { responses, end: Err(error) },
            };
            consumed += used;
            match response {
                Some(response) => {
                    assert!(used > 0 && !reader.is_mid_response(), "a response without bytes");
                    assert!(response.status == 101 || (200..1000).contains(&response.status));
                    assert!(response.body <= consumed as u64);
                    responses.push((response, consumed));
                }
                None => assert_eq!(used, rest.len(), "left without a response: {}", rest.escape_ascii()),
            }
            rest = &rest[used..];
        }
    }
    let was_inside = reader.is_mid_response();
    let end = reader.end();
    assert_eq!(was_inside, end != Ok(None), "whether the end was inside a response");
    assert_eq!(reader.end(), Ok(None), "an end after the end");
    Got { responses, end }
}
