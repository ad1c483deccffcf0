//! Whether a text has a secret at a position, whatever of it is escaped.

use std::collections::HashSet;

/// A character that a text spells by an escape.
struct Escaped {
    /// The character in UTF-8.
    bytes: [u8; 4],
    /// How many of `bytes` it takes.
    count: usize,
    /// How many bytes of the text the escape takes.
    length: usize,
}

/// The bytes of the longest escape: a pair of surrogates in JSON.
const LONGEST_ESCAPE: usize = 12;

/// Returns the position behind a secret that stands in a text at a position; `None` if it does not stand there. Any of its
/// characters may be percent-encoded, escaped as in JSON or source code, or a reference as in XML and HTML. Of a text that was
/// cut, the end counts as the rest of a secret that begins before.
pub(super) fn end_of_match(text: &[u8], at: usize, secret: &[u8], is_cut: bool) -> Option<usize> {
    // Where a character both is one of the secret and begins an escape for one, the escape is followed first.
    let mut open = vec![(at, 0)];
    let mut seen = HashSet::new();
    while let Some((mut at, mut done)) = open.pop() {
        while done < secret.len() {
            if is_cut && done > 0 && ends_within(&text[at..]) {
                return Some(text.len());
            }
            let is_literal = text.get(at) == secret.get(done);
            match escaped(text.get(at..)?).filter(|found| secret[done..].starts_with(&found.bytes[..found.count])) {
                Some(found) => {
                    if is_literal {
                        if !seen.insert((at, done)) {
                            break;
                        }
                        open.push((at + 1, done + 1));
                    }
                    (at, done) = (at + found.length, done + found.count);
                }
                None if is_literal => (at, done) = (at + 1, done + 1),
                None => break,
            }
        }
        if done >= secret.len() {
            return Some(at);
        }
    }
    None
}

/// Returns whether a text ends here, or within an escape.
fn ends_within(rest: &[u8]) -> bool {
    rest.is_empty() || rest.len() < LONGEST_ESCAPE && b"%\\&".contains(&rest[0]) && escaped(rest).is_none()
}

/// Returns a text without the beginning of an escape at its end.
pub(super) fn without_cut_escape(text: &[u8]) -> &[u8] {
    let last = text.len().saturating_sub(LONGEST_ESCAPE)..text.len();
    let cut = last.clone().find(|&at| ends_within(&text[at..]));
    &text[..cut.unwrap_or(text.len())]
}

/// Returns a text with every escape in it replaced by its character. A plus sign stays, which is a space in forms only.
pub fn unescaped(text: &[u8]) -> Vec<u8> {
    unescaped_by(text, b"%\\&")
}

/// Returns a text with the escapes in it that begin with one of these bytes replaced by their characters.
pub(super) fn unescaped_by(text: &[u8], leads: &[u8]) -> Vec<u8> {
    let (mut out, mut rest) = (Vec::with_capacity(text.len()), text);
    while let Some((byte, after)) = rest.split_first() {
        match escaped(rest).filter(|_| leads.contains(byte)) {
            Some(found) => {
                out.extend_from_slice(&found.bytes[..found.count]);
                rest = &rest[found.length..];
            }
            None => {
                out.push(*byte);
                rest = after;
            }
        }
    }
    out
}

/// Reads the escape at the front of a text.
fn escaped(text: &[u8]) -> Option<Escaped> {
    match text {
        [b'+', ..] => of_char(' ', 1),
        [b'%', high, low, ..] => Some(of_byte(digits(&[*high, *low])? as u8, 3)),
        [b'\\', rest @ ..] => backslash(rest),
        [b'&', rest @ ..] => reference(rest),
        _ => None,
    }
}

fn of_byte(byte: u8, length: usize) -> Escaped {
    Escaped { bytes: [byte, 0, 0, 0], count: 1, length }
}

fn of_char(c: char, length: usize) -> Option<Escaped> {
    let mut bytes = [0; 4];
    let count = c.encode_utf8(&mut bytes).len();
    Some(Escaped { bytes, count, length })
}

/// Returns the number that hexadecimal digits stand for.
fn digits(digits: &[u8]) -> Option<u32> {
    let text = std::str::from_utf8(digits).ok().filter(|text| text.bytes().all(|byte| byte.is_ascii_hexdigit()))?;
    u32::from_str_radix(text, 16).ok()
}

/// Reads what follows a backslash: `\n`, `\"`, `\x41`, `\u0041`, a pair of surrogates, `\u{41}`.
fn backslash(rest: &[u8]) -> Option<Escaped> {
    match rest {
        [b'u', b'{', rest @ ..] => {
            let end = rest.iter().take(7).position(|byte| *byte == b'}')?;
            of_char(char::from_u32(digits(&rest[..end])?)?, end + 4)
        }
        [b'u', rest @ ..] => {
            let unit = digits(rest.get(..4)?)?;
            let low = || digits(rest.get(4..)?.strip_prefix(b"\\u")?.get(..4)?);
            match (unit, low()) {
                (0xd800..0xdc00, Some(low @ 0xdc00..0xe000)) => {
                    of_char(char::from_u32(0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00))?, 12)
                }
                _ => of_char(char::from_u32(unit)?, 6),
            }
        }
        [b'x', rest @ ..] => Some(of_byte(digits(rest.get(..2)?)? as u8, 4)),
        // As in an attribute that holds JSON.
        [b'&', rest @ ..] => reference(rest).map(|found| Escaped { length: found.length + 1, ..found }),
        [byte, ..] => {
            let byte = match byte {
                b'n' => b'\n',
                b'r' => b'\r',
                b't' => b'\t',
                b'b' => 8,
                b'f' => 12,
                b'0' => 0,
                b'"' | b'\\' | b'/' | b'\'' => *byte,
                _ => return None,
            };
            Some(of_byte(byte, 2))
        }
        [] => None,
    }
}

/// Reads what follows the ampersand of a reference of XML or HTML.
fn reference(rest: &[u8]) -> Option<Escaped> {
    let end = rest.iter().take(10).position(|byte| *byte == b';')?;
    let c = match &rest[..end] {
        b"amp" => '&',
        b"lt" => '<',
        b"gt" => '>',
        b"quot" => '"',
        b"apos" => '\'',
        b"nbsp" => '\u{a0}',
        [b'#', b'x' | b'X', hex @ ..] => char::from_u32(digits(hex)?)?,
        [b'#', decimal @ ..] => char::from_u32(std::str::from_utf8(decimal).ok()?.parse().ok()?)?,
        _ => return None,
    };
    of_char(c, end + 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_found_where_it_is_escaped() {
        for (text, secret, end) in [
            ("ab", "ab", Some(2)),
            ("a", "ab", None),
            ("%41B", "AB", Some(4)),
            ("%2541", "%41", Some(5)),
            ("%41", "%41", Some(3)),
            ("\\\\\\\\", "\\\\", Some(4)),
            ("\\\\", "\\\\", Some(2)),
            ("\\u00e9\\ud83d\\uDE00x", "é😀x", Some(19)),
            ("\\u{1b}", "\u{1b}", Some(6)),
            ("\\&quot;", "\"", Some(7)),
            ("a+b", "a b", Some(3)),
            ("&#034;&#x26;&amp;", "\"&&", Some(17)),
            ("%4", "A", None),
            ("\\u00", "A", None),
            ("&amp", "&amp", Some(4)),
        ] {
            assert_eq!(end_of_match(text.as_bytes(), 0, secret.as_bytes(), false), end, "{text} {secret}");
        }
        // Each position is left once, however many ways lead there.
        let (text, secret) = ("\\".repeat(2_000), "\\".repeat(1_500) + "x");
        assert_eq!(end_of_match(text.as_bytes(), 0, secret.as_bytes(), false), None);
    }
}
