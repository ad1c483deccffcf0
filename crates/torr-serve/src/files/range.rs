//! Ranges of bytes (RFC 9110, section 14).

use std::ops::Range;

/// The part of a content that a request wants.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Wanted {
    /// All of it: also for several ranges, which a server need not send as such.
    Whole,
    /// The bytes in this range.
    Part(Range<u64>),
    /// None of the bytes that there are.
    Beyond,
}

/// Reads the value of a `Range` field for a content of so many bytes. One that is not understood is as good as none.
pub(super) fn wanted(value: &[u8], length: u64) -> Wanted {
    read(value, length).unwrap_or(Wanted::Whole)
}

fn read(value: &[u8], length: u64) -> Option<Wanted> {
    let text = std::str::from_utf8(value).ok()?.trim();
    let (unit, range) = text.split_once('=')?;
    let (first, last) = range.trim().split_once('-')?;
    if !unit.eq_ignore_ascii_case("bytes") || range.contains(',') {
        return None;
    }
    if first.is_empty() {
        let suffix = number(last)?.min(length);
        return Some(if suffix == 0 { Wanted::Beyond } else { Wanted::Part(length - suffix..length) });
    }
    let first = number(first)?;
    let end = match last {
        "" => length,
        last => number(last)?.checked_add(1)?.min(length),
    };
    if !last.is_empty() && number(last)? < first {
        return None;
    }
    Some(if first >= length { Wanted::Beyond } else { Wanted::Part(first..end) })
}

/// Returns a number of digits alone; one that is too large is as good as the largest.
fn number(text: &str) -> Option<u64> {
    let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| text.parse().unwrap_or(u64::MAX - 1))
}

#[cfg(test)]
mod tests {
    use super::{Wanted, wanted};
    use Wanted::{Beyond, Part, Whole};

    #[test]
    fn ranges_are_those_of_the_rfc() {
        let cases: [(&str, Wanted); 16] = [
            ("bytes=0-499", Part(0..500)),
            ("Bytes=500-", Part(500..1000)),
            ("bytes=-200", Part(800..1000)),
            ("bytes=-2000", Part(0..1000)),
            ("bytes=999-999", Part(999..1000)),
            ("bytes=10-99999999999999999999999", Part(10..1000)),
            ("bytes=1000-", Beyond),
            ("bytes=99999999999999999999999-", Beyond),
            ("bytes=-0", Beyond),
            ("bytes=0-1,5-6", Whole),
            ("bytes=5-4", Whole),
            ("bytes=-", Whole),
            ("bytes=a-b", Whole),
            ("bytes=+1-2", Whole),
            ("rows=0-1", Whole),
            ("bytes", Whole),
        ];
        for (text, expected) in cases {
            assert_eq!(wanted(text.as_bytes(), 1000), expected, "{text}");
        }
        assert_eq!(wanted(b"bytes=0-", 0), Beyond);
        assert_eq!(wanted(b"bytes=\xff-", 9), Whole);
    }
}
