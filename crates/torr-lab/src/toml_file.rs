//! TOML files of subjects and suites, with mistakes by file, line and column.

use serde::de::DeserializeOwned;

/// Reads a file's text.
///
/// # Errors
/// One line: the file, the line, the column and what is wrong.
pub(crate) fn parse<T: DeserializeOwned>(file: &str, text: &str) -> Result<T, String> {
    toml::from_str(text).map_err(|error| {
        let message = in_words(error.message().lines().next().unwrap_or_default());
        match error.span() {
            Some(span) => format!("{}: {message}", position(file, text, span.start)),
            None => format!("{file}: {message}"),
        }
    })
}

/// Returns a message without the names that types have in this program.
fn in_words(message: &str) -> String {
    let Some((what, expected)) = message.split_once("expected ") else { return message.to_owned() };
    let expected = match expected {
        "usize" | "u64" => "a whole number",
        "f64" => "a number",
        other if other.starts_with("struct ") => "a table",
        other => other,
    };
    format!("{what}expected {expected}")
}

/// Returns a position in a file as `FILE:LINE:COLUMN`, both from 1.
fn position(file: &str, text: &str, at: usize) -> String {
    let before = &text.as_bytes()[..at.min(text.len())];
    let line = 1 + before.iter().filter(|&&byte| byte == b'\n').count();
    let start = before.iter().rposition(|&byte| byte == b'\n').map_or(0, |newline| newline + 1);
    let column = 1 + String::from_utf8_lossy(&before[start..]).chars().count();
    format!("{file}:{line}:{column}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Deserialize;

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Two {
        #[expect(dead_code, reason = "only its reading is looked at")]
        one: u8,
    }

    #[test]
    fn a_mistake_has_its_position() {
        let error = parse::<Two>("a.toml", "one = 1\n  two = 2\n").unwrap_err();
        assert!(error.starts_with("a.toml:2:3: unknown field `two`"), "{error}");
        let error = parse::<Two>("a.toml", "one = \n").unwrap_err();
        assert!(error.starts_with("a.toml:1:"), "{error}");
    }

    #[test]
    fn a_value_of_another_kind_is_refused_in_words() {
        #[derive(Debug, Deserialize)]
        struct Counts {
            #[expect(dead_code, reason = "only its reading is looked at")]
            rounds: Option<usize>,
            #[expect(dead_code, reason = "only its reading is looked at")]
            row: Option<Two>,
        }
        let error = |text: &str| parse::<Counts>("a.toml", text).unwrap_err();
        assert!(error("rounds = 'x'").ends_with("expected a whole number"), "{}", error("rounds = 'x'"));
        assert!(error("row = 5").ends_with("expected a table"), "{}", error("row = 5"));
    }
}
