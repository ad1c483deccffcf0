//! What people read: numbers with units, and foreign text that is safe to show.

pub use torr_gauge::numbers::{bits, bytes, count, mean, micros, per_second, percent, plural, rate, seconds, times};

/// Returns foreign text safe for a terminal: control characters, and characters that change the writing direction or have
/// no width, become Rust escape sequences.
pub fn printable(text: &str) -> String {
    let is_hidden = |c: char| {
        matches!(c, '\u{ad}' | '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}')
            || matches!(c, '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}')
    };
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        match c.is_control() || is_hidden(c) {
            true => shown.extend(c.escape_default()),
            false => shown.push(c),
        }
    }
    shown
}

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
    fn foreign_text_is_safe_and_short() {
        assert_eq!(printable("é \"x\"\n\u{1b}[31m\u{202e}"), "é \"x\"\\n\\u{1b}[31m\\u{202e}");
        assert_eq!(["short", "é longer"].map(|text| cut(text, 5)), ["short", "é ..."]);
    }
}
