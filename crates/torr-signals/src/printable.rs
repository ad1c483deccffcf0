//! Texts that others choose, such as names of processes, without what a terminal acts on.

use std::borrow::Cow;

/// Returns the text with all that a terminal could act on written out as `\u{1b}`: control characters, of which line ends
/// are some, and characters that change the direction of what follows or have no width.
pub fn printable(text: &str) -> Cow<'_, str> {
    let acts = |c: char| {
        let is_hidden = matches!(c, '\u{ad}' | '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}')
            || matches!(c, '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}');
        c.is_control() || is_hidden
    };
    if !text.contains(acts) {
        return Cow::Borrowed(text);
    }
    let shown = text.chars().map(|c| if acts(c) { c.escape_default().to_string() } else { c.to_string() });
    Cow::Owned(shown.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_left_for_a_terminal_to_act_on() {
        assert_eq!(printable("plain, schön, 漢字 😀"), "plain, schön, 漢字 😀");
        assert_eq!(printable("a\x1b[2J\u{9b}b\r\n\tc\u{202e}d\x7f"), r"a\u{1b}[2J\u{9b}b\r\n\tc\u{202e}d\u{7f}");
        for hidden in ['\u{ad}', '\u{61c}', '\u{200b}', '\u{200d}', '\u{2060}', '\u{2069}', '\u{feff}', '\u{e0041}'] {
            assert_eq!(printable(&format!("a{hidden}b")), format!("a{}b", hidden.escape_default()));
        }
    }
}
