//! What text is compiled to: regular expressions, JSONPath and XPath expressions, character encodings.

use encoding_rs::Encoding;
use regex::Regex;
use serde_json_path::JsonPath;
use torr_xpath::Expression;

/// What text is compiled to.
pub trait Compile: Clone {
    /// Compiles the text.
    ///
    /// # Errors
    /// In words, if the text is no such expression.
    fn compile(text: &str) -> Result<Self, String>;
}

impl Compile for Regex {
    fn compile(text: &str) -> Result<Self, String> {
        // The library's message draws the place below the pattern over several lines; its last line says what is wrong.
        let reason = |error: regex::Error| error.to_string().lines().last().unwrap_or_default().replace("error: ", "");
        Self::new(text).map_err(|error| format!("invalid regular expression '{text}': {}", reason(error)))
    }
}

impl Compile for JsonPath {
    fn compile(text: &str) -> Result<Self, String> {
        let wrong = |error| format!("invalid JSONPath expression '{text}': {error}");
        Self::parse(text).or_else(|error| Self::parse(&quote_names(text)).map_err(|_| wrong(error)))
    }
}

impl Compile for &'static Encoding {
    fn compile(text: &str) -> Result<Self, String> {
        Encoding::for_label(text.as_bytes())
            .ok_or_else(|| format!("unknown character encoding '{text}': use one such as utf-8 or iso-8859-1"))
    }
}

impl Compile for Expression {
    fn compile(text: &str) -> Result<Self, String> {
        Self::compile(text)
    }
}

/// Whether text is a JSONPath expression.
pub fn is_json_path(text: &str) -> bool {
    <JsonPath as Compile>::compile(text).is_ok()
}

/// Whether a JSONPath expression finds one value at most (RFC 9535, section 2.3.5.1): only names and indexes lead to it.
pub(crate) fn is_singular(path: &str) -> bool {
    let mut rest = path;
    while let Some(at) = rest.find(['\'', '"', '*', '?', ':', ',']).into_iter().chain(rest.find("..")).min() {
        let Some(quote) = rest[at..].chars().next().filter(|c| matches!(c, '\'' | '"')) else { return false };
        let mut is_escaped = false;
        let end = rest[at + 1..].find(|c| {
            let is_end = c == quote && !is_escaped;
            is_escaped = c == '\\' && !is_escaped;
            is_end
        });
        rest = end.map_or("", |end| &rest[at + end + 2..]);
    }
    true
}

/// Puts names with hyphens and names that begin with a digit, which RFC 9535 requires to be quoted, into brackets: `$.a-b` becomes
/// `$['a-b']`. Until its version 8, hurl read such names, and a dot before a bracket.
fn quote_names(path: &str) -> String {
    let is_name = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
    let (mut out, mut rest) = (String::new(), path);
    while let Some(next) = rest.chars().next() {
        if matches!(next, '\'' | '"') {
            let end = rest[1..].find(next).map_or(rest.len(), |end| end + 2);
            out.push_str(&rest[..end]);
            rest = &rest[end..];
            continue;
        }
        let name = rest.strip_prefix('.').map(|after| &after[..after.find(|c| !is_name(c)).unwrap_or(after.len())]);
        let is_fraction = out.ends_with(|c: char| c.is_ascii_digit());
        let is_other =
            |name: &&str| name.contains('-') || (name.starts_with(|c: char| c.is_ascii_digit()) && !is_fraction);
        match name.filter(is_other) {
            None if rest.starts_with(".[") && !out.ends_with('.') => rest = &rest[1..],
            Some(name) => {
                // The descendant operator keeps its two dots.
                if out.ends_with('.') {
                    out.push('.');
                }
                out.push_str(&format!("['{name}']"));
                rest = &rest[1 + name.len()..];
            }
            None => {
                out.push(next);
                rest = &rest[next.len_utf8()..];
            }
        }
    }
    out
}
