//! Comments in JSON, which Bruno removes before it sends the content.

/// Returns text without the comments `//` and `/* */` outside strings. A line that has nothing but a comment is removed as
/// a whole.
pub(super) fn without_comments(text: &str) -> String {
    // Text that begins as HTML has no such comments.
    if text.trim_start().starts_with('<') || !text.contains('/') {
        return text.to_owned();
    }
    let newline = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let mut out = String::with_capacity(text.len());
    // Space of a line on which nothing else has stood so far.
    let mut space = String::new();
    let mut is_empty = true;
    let mut quote = None;
    let mut rest = text;
    while let Some(next) = rest.chars().next() {
        if quote.is_none() && rest.starts_with("//") {
            let Some(end) = rest.find(newline) else { return out };
            rest = &rest[end..];
            if is_empty {
                space.clear();
                rest = &rest[newline.len()..];
            }
            continue;
        }
        if quote.is_none() && rest.starts_with("/*") {
            let Some(end) = rest[2..].find("*/") else { return out };
            rest = &rest[end + 4..];
            if is_empty {
                space.clear();
                if let Some(next) = rest.trim_start_matches([' ', '\t']).strip_prefix(newline) {
                    rest = next;
                }
            }
            continue;
        }
        rest = &rest[next.len_utf8()..];
        match (quote, next) {
            (None, '"' | '\'' | '`') => quote = Some(next),
            (Some(end), next) if end == next => quote = None,
            (Some(_), '\\') => {
                out.push(next);
                if let Some(escaped) = rest.chars().next() {
                    out.push(escaped);
                    rest = &rest[escaped.len_utf8()..];
                }
                continue;
            }
            _ => {}
        }
        if next == '\n' {
            is_empty = true;
        }
        if is_empty && matches!(next, ' ' | '\t') {
            space.push(next);
            continue;
        }
        if !matches!(next, '\n' | '\r') {
            is_empty = false;
        }
        out.push_str(&std::mem::take(&mut space));
        out.push(next);
    }
    out.push_str(&space);
    out
}

#[cfg(test)]
mod tests {
    use super::without_comments;

    #[test]
    fn comments_outside_strings_are_removed() {
        for (text, expected) in [
            ("{\n  \"a\": 1 // c\n}", "{\n  \"a\": 1 \n}"),
            (
                "{\n  // full line\n  \"a\": \"http://x/y\", /* b */ \"c\": 2\n}",
                "{\n  \"a\": \"http://x/y\",  \"c\": 2\n}",
            ),
            ("// top\n{}", "{}"),
            ("{\"a\":1}/* m\n n */\n", "{\"a\":1}\n"),
            ("/* a */ {\"b\":1}", " {\"b\":1}"),
            ("{\n\n  // a\n\n  \"b\": 1\n}", "{\n\n\n  \"b\": 1\n}"),
            ("{\"a\": \"it's // q\"}\n// ' z", "{\"a\": \"it's // q\"}\n"),
            ("{\"a\": \"\\\"//\\\"\" // c\n}", "{\"a\": \"\\\"//\\\"\" \n}"),
            ("{\"a\": 1 / 2}", "{\"a\": 1 / 2}"),
        ] {
            assert_eq!(without_comments(text), expected, "{text}");
        }
    }
}
