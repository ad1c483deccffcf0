//! Rules with commas between them.

/// Splits a text at its commas, except those within braces, which are part of an entry's name.
pub fn split(text: &str) -> Vec<&str> {
    let (mut parts, mut depth, mut from) = (Vec::new(), 0_usize, 0);
    for (at, c) in text.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                parts.push(&text[from..at]);
                from = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&text[from..]);
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commas_within_braces_are_part_of_a_name() {
        for (text, parts) in [
            ("a>1", &["a>1"][..]),
            ("a>1,b<2", &["a>1", "b<2"]),
            ("a{x,{{y}},z}>1,b<2,", &["a{x,{{y}},z}>1", "b<2", ""]),
            ("a{x,b>1", &["a{x,b>1"]),
            ("a}>1,b>2", &["a}>1", "b>2"]),
        ] {
            assert_eq!(split(text), parts, "{text}");
        }
    }
}
