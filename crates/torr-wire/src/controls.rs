//! Control characters in the values of a response's head, which RFC 9110 (section 5.5) forbids and user agents accept.

use httparse::Header;

/// The byte that stands for a control character while the head is parsed. It is valid in a value and in a reason phrase, and
/// invalid in a name.
const PLACEHOLDER: u8 = 0xff;

/// Returns a head whose control characters are replaced, each by one byte. NUL, tabs and the ends of lines stay. A CR
/// that does not end a field line is replaced too (RFC 9112, section 2.2).
pub(crate) fn replaced(head: &[u8]) -> Vec<u8> {
    let mut replaced = head.to_vec();
    let mut is_field = false;
    for (at, byte) in replaced.iter_mut().enumerate() {
        let is_replaced = match *byte {
            0 | b'\t' => false,
            b'\n' => {
                is_field = true;
                false
            }
            // The next byte may still have to arrive.
            b'\r' => is_field && head.get(at + 1).is_some_and(|&next| next != b'\n'),
            byte => byte.is_ascii_control(),
        };
        if is_replaced {
            *byte = PLACEHOLDER;
        }
    }
    replaced
}

/// Replaces the values of fields that were parsed from `replaced` by the bytes at the same positions of `original`.
pub(crate) fn restore<'b>(fields: &mut [Header<'b>], replaced: &'b [u8], original: &'b [u8]) {
    for field in fields {
        // A value without bytes may point anywhere.
        let at = (field.value.as_ptr() as usize).wrapping_sub(replaced.as_ptr() as usize);
        if let Some(value) = original.get(at..at.saturating_add(field.value.len())) {
            field.value = value;
        }
    }
}
