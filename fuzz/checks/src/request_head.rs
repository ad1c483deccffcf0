//! Request heads: what a server has read of one stays as it is when more arrives.
//!
//! Option: the lowest bit sets small limits.

use crate::input::Input;
use torr_wire::WireError;
use torr_wire::body::Framing;
use torr_wire::request::{self, Limits, header_buffer};

const LIMITS: Limits = Limits { head: 8 * 1024, headers: 100 };
const SMALL: Limits = Limits { head: 200, headers: 4 };
/// Beyond this, not every length is tried.
const SHORT: usize = 200;

/// Checks one input.
pub fn check(bytes: &[u8]) {
    let input = Input::new(bytes);
    let limits = if input.option & 1 == 1 { SMALL } else { LIMITS };
    let mut lengths: Vec<usize> = (0..=input.wire.len().min(SHORT)).collect();
    let mut at = 0;
    for piece in input.pieces() {
        at += piece.bytes.len();
        lengths.push(at);
    }
    lengths.sort_unstable();
    lengths.dedup();
    let mut last = Ok(None);
    for length in lengths {
        let got = parsed(&input.wire[..length], limits);
        let text = || input.wire[..length].escape_ascii();
        assert!(last == Ok(None) || got == last, "{last:?} became {got:?} at the end of {}", text());
        last = got;
    }
    if let Ok(Some((length, _))) = last {
        let head = &input.wire[..length];
        assert_eq!(parsed(head, limits), last, "without what follows it");
        assert_eq!(parsed(&head[..length - 1], limits), Ok(None), "without its last byte: {}", head.escape_ascii());
    }
}

/// All that a parse gave: the length of the head, and the whole of it as text.
fn parsed(input: &[u8], limits: Limits) -> Result<Option<(usize, String)>, WireError> {
    let mut headers = header_buffer();
    let Some(head) = request::parse(input, &mut headers, limits)? else {
        // The request line and the header section have the same limit, each.
        assert!(input.len() < 2 * limits.head, "{} bytes, and no end in sight", input.len());
        return Ok(None);
    };
    assert!(head.len <= input.len().min(2 * limits.head) && head.headers.len() <= limits.headers);
    assert!(head.framing != Framing::UntilClose && input[..head.len].ends_with(b"\r\n\r\n"));
    assert!(!head.path().is_empty() && (head.path() == "/" || head.target.contains(head.path())));
    assert!(!head.http_1_1 || head.header("HOST").is_some());
    Ok(Some((head.len, format!("{head:?} {}", head.path()))))
}
