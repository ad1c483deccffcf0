//! Numbers within a bound, as most of the programs take them.

/// Parses a whole number from 1 to `most`.
pub fn up_to(most: u64, text: &str) -> Option<u64> {
    text.parse().ok().filter(|n| (1..=most).contains(n))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_are_within() {
        assert_eq!(
            [(12, "0"), (12, "12"), (11, "12"), (12, "1.5")].map(|(most, text)| up_to(most, text)),
            [None, Some(12), None, None]
        );
    }
}
