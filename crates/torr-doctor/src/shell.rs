//! The quotation of texts for a POSIX shell.

/// Returns a text as a shell takes it for one word.
pub fn quoted(text: &str) -> String {
    // Only a NUL cannot be quoted, and no argument of a program has one.
    shlex::try_quote(text).map_or_else(|_| "''".to_owned(), std::borrow::Cow::into_owned)
}

/// Returns a text as it stands within double quotes.
pub(crate) fn in_double_quotes(text: &str) -> String {
    let escaped = |c: char| match c {
        '"' | '\\' | '$' | '`' => format!("\\{c}"),
        // An interactive shell expands it to a line of its history.
        '!' => "\"'!'\"".to_owned(),
        _ => c.to_string(),
    };
    text.chars().map(escaped).collect()
}
