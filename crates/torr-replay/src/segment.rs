//! Segments of paths that name one of many things.

/// The longest segment that stands for itself.
const LONGEST: usize = 48;

/// Returns whether a segment of a path looks like an identifier: a number, a UUID or digest, or a long mix of letters and digits.
pub(crate) fn is_identifier(segment: &str) -> bool {
    let digits = segment.bytes().filter(u8::is_ascii_digit).count();
    let all = |is: fn(u8) -> bool| segment.bytes().all(is);
    let is_hex = || all(|byte| byte.is_ascii_hexdigit() || byte == b'-');
    let is_mixed = || all(|byte| byte.is_ascii_alphanumeric() || b"-_~=%".contains(&byte));
    match segment.len() {
        0 => false,
        length if length > LONGEST => true,
        length if length == digits => true,
        length if length >= 8 && digits > 0 && is_hex() => true,
        length if length >= 16 && digits > 1 && is_mixed() => true,
        _ => digits >= 4 && is_mixed() || segment.contains('@') || segment.contains("%40"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_differ_from_names() {
        for segment in [
            "17",
            "2026",
            "550e8400-e29b-41d4-a716-446655440000",
            "d41d8cd98f00b204",
            "order-10482",
            "eyJhbGciOiJIUzI1NiJ9abc",
            "ann@example.org",
            &"x".repeat(49),
        ] {
            assert!(is_identifier(segment), "{segment}");
        }
        for segment in ["", "orders", "v1", "api2", "app.3f2a.js", "facade", "jquery-3.7.1.min.js", "checkout_step_2"] {
            assert!(!is_identifier(segment), "{segment}");
        }
    }
}
