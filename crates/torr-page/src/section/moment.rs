//! Moments as people read them.

/// Returns a moment of RFC 3339 as people read it: without `T` and fractions of a second.
pub fn moment(at: &str) -> String {
    let is_moment = at.len() >= 20 && at.is_ascii() && at.as_bytes()[10] == b'T' && at.ends_with('Z');
    if is_moment { format!("{} {} UTC", &at[..10], &at[11..19]) } else { at.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::moment;

    #[test]
    fn moments_are_readable() {
        assert_eq!(moment("2026-11-27T20:59:40.401Z"), "2026-11-27 20:59:40 UTC");
        assert_eq!(
            ["now", "2026-11-27", "ünnnnnnnnnnnnnnnnnnnnnnZ"].map(moment),
            ["now", "2026-11-27", "ünnnnnnnnnnnnnnnnnnnnnnZ"]
        );
    }
}
