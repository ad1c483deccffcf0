//! The header fields that determine framing and connection reuse.

use crate::{WireError, authority};
use httparse::Header;

/// The values of the fields that concern framing and connection reuse, of a request or a response.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Fields {
    pub content_length: Option<u64>,
    /// Whether `Content-Length` appears several times, or as a list.
    pub repeated_length: bool,
    /// Whether the last transfer coding is `chunked`, which delimits the body.
    pub chunked: bool,
    /// Whether there is a transfer coding besides the last `chunked`.
    pub other_coding: bool,
    pub close: bool,
    pub keep_alive: bool,
    pub upgrade: bool,
    pub expect_continue: bool,
    /// The number of `Host` fields.
    pub hosts: usize,
    /// Whether a `Host` is not an authority.
    pub bad_host: bool,
}

impl Fields {
    /// Reads the fields of interest from a header section.
    ///
    /// The length of a name is compared first, since it rules out most fields at the cost of one comparison.
    #[inline]
    pub fn scan(headers: &[Header<'_>]) -> Result<Self, WireError> {
        let mut fields = Self::default();
        for header in headers {
            let name = header.name;
            match name.len() {
                4 if name.eq_ignore_ascii_case("host") => {
                    fields.hosts += 1;
                    fields.bad_host |= authority::split(header.value).is_none();
                }
                6 if name.eq_ignore_ascii_case("expect") => {
                    fields.expect_continue |= header.value.eq_ignore_ascii_case(b"100-continue");
                }
                10 if name.eq_ignore_ascii_case("connection") => fields.connection(header.value),
                14 if name.eq_ignore_ascii_case("content-length") => fields.length(header.value)?,
                17 if name.eq_ignore_ascii_case("transfer-encoding") => fields.coding(header.value),
                _ => {}
            }
        }
        Ok(fields)
    }

    fn connection(&mut self, value: &[u8]) {
        for option in value.split(|&b| b == b',').map(<[u8]>::trim_ascii) {
            self.close |= option.eq_ignore_ascii_case(b"close");
            self.keep_alive |= option.eq_ignore_ascii_case(b"keep-alive");
            self.upgrade |= option.eq_ignore_ascii_case(b"upgrade");
        }
    }

    /// Reads `Content-Length`. A list of equal numbers counts as that number (RFC 9110, section 8.6), and is marked as
    /// repeated, since only clients accept one.
    fn length(&mut self, value: &[u8]) -> Result<(), WireError> {
        for item in value.split(|&b| b == b',') {
            let number = decimal(item.trim_ascii()).ok_or(WireError::Length)?;
            match self.content_length {
                None => self.content_length = Some(number),
                Some(seen) if seen == number => self.repeated_length = true,
                Some(_) => return Err(WireError::Length),
            }
        }
        Ok(())
    }

    fn coding(&mut self, value: &[u8]) {
        for coding in value.split(|&b| b == b',').map(<[u8]>::trim_ascii) {
            let chunked = coding.eq_ignore_ascii_case(b"chunked");
            self.other_coding |= self.chunked || !chunked;
            self.chunked = chunked;
        }
    }
}

/// Returns the value of `1*DIGIT`, `None` if the bytes are something else or exceed 64 bits.
fn decimal(digits: &[u8]) -> Option<u64> {
    if digits.is_empty() {
        return None;
    }
    digits.iter().try_fold(0u64, |number, &b| {
        let digit = b.is_ascii_digit().then(|| u64::from(b - b'0'))?;
        number.checked_mul(10)?.checked_add(digit)
    })
}

#[cfg(test)]
mod tests {
    use super::decimal;

    #[test]
    fn a_length_is_digits_that_fit_64_bits() {
        assert_eq!(decimal(b"0"), Some(0));
        assert_eq!(decimal(b"18446744073709551615"), Some(u64::MAX));
        for bad in ["", "18446744073709551616", "-1", "+1", "1 2", "0x1", "1.0"] {
            assert_eq!(decimal(bad.as_bytes()), None, "{bad:?}");
        }
    }
}
