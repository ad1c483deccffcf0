//! The token grammar of HTTP, of which field names, methods and parameters consist.

/// Returns whether a byte may be part of a token (`tchar` of RFC 9110, section 5.6.2).
#[inline]
pub const fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
        || matches!(byte, b'!' | b'#'..=b'\'' | b'*' | b'+' | b'-' | b'.' | b'^'..=b'`' | b'|' | b'~')
}
