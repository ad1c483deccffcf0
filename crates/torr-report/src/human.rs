//! What people read: numbers with units, and foreign text that is safe to show.

pub use torr_gauge::numbers::{
    bits, bytes, count, difference, mean, micros, per_second, percent, plural, rate, seconds, times,
};
pub use torr_gauge::redact::printable;

/// Returns the first `most` characters of a text, with `...` for what follows.
pub fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        None => text.to_owned(),
        Some(_) => text.chars().take(most.saturating_sub(3)).chain("...".chars()).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_text_is_cut() {
        assert_eq!(["short", "é longer"].map(|text| cut(text, 5)), ["short", "é ..."]);
    }
}
