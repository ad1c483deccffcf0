//! The kinds of lines of a file of requests.

use crate::pattern::pattern;
use regex::Regex;
use std::sync::LazyLock;

/// A request line with a method and a target that is no text of a content.
static REQUEST: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r"^\s*(?:GET|POST|PUT|DELETE|PATCH|HEAD|OPTIONS|TRACE|CONNECT|GRAPHQL)\s+(?:https?://|/|\{\{)\S*")
});
static DEFINITION: LazyLock<Regex> = LazyLock::new(|| pattern(r"^@([^\s=:]+)\s*(:?)\s*(=?)\s*(.+)$"));
static DIRECTIVE: LazyLock<Regex> = LazyLock::new(|| pattern(r#"^(?:#+|/{2,})\s*@([^\s=]+)\s*=?\s*"?(.*?)"?$"#));
static FIELD: LazyLock<Regex> = LazyLock::new(|| pattern(r"^([!#$%&'*+\-.^_`|~0-9A-Za-z]+)\s*:\s*(.*?),?$"));
static QUERY: LazyLock<Regex> = LazyLock::new(|| pattern(r"^[?&](?:[^(=?&)]+=.*|\{\{.*\}\})$"));
static BRACES: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"(?i)^\{\{(?:@js\s+)?([+@]?(?:request|streaming|response|after|responseLogging)?)$"));
static STATUS: LazyLock<Regex> = LazyLock::new(|| pattern(r"^HTTP/\S+\s+[1-5][0-9][0-9](?:\s|$)"));
static OUTPUT: LazyLock<Regex> = LazyLock::new(|| pattern(r"^>>!?\s+(.+)$"));

/// Whether a request line is a method without a target.
pub(super) fn is_method(trimmed: &str) -> bool {
    matches!(trimmed, "GET" | "POST" | "PUT" | "DELETE" | "PATCH" | "HEAD" | "OPTIONS")
}

/// Returns the title of a line that separates requests.
pub(super) fn separator(line: &str) -> Option<&str> {
    let rest = line.trim().strip_prefix("###")?;
    Some(rest.trim_matches(|next: char| next == '#' || next.is_whitespace()))
}

/// Whether a line begins a request, though no separator stands above it.
pub(super) fn is_request(line: &str) -> bool {
    REQUEST.is_match(line)
}

/// Whether a line continues the target.
pub(super) fn is_target(trimmed: &str) -> bool {
    QUERY.is_match(trimmed) || trimmed.starts_with('/') && !trimmed.contains('*')
}

/// Whether a line is a comment.
pub(super) fn is_comment(trimmed: &str) -> bool {
    trimmed.starts_with('#') || trimmed.starts_with("//")
}

/// Whether a line begins a response.
pub(super) fn is_status(trimmed: &str) -> bool {
    STATUS.is_match(trimmed)
}

/// Returns what stands behind the beginning of a script.
pub(super) fn script(trimmed: &str, mark: char) -> Option<&str> {
    trimmed.strip_prefix(mark)?.trim_start().strip_prefix("{%")
}

/// Returns the event of a script in braces.
pub(super) fn braces(trimmed: &str) -> Option<&str> {
    BRACES.captures(trimmed).and_then(|found| found.get(1)).map(|event| event.as_str())
}

/// Returns the name of a file behind a mark.
pub(super) fn file(trimmed: &str, mark: char) -> Option<&str> {
    let rest = trimmed.strip_prefix(mark)?;
    let file = rest.trim();
    let is_name = !file.is_empty() && !file.contains(|next: char| next.is_whitespace() || "{%}".contains(next));
    (rest.starts_with(char::is_whitespace) && is_name).then_some(file)
}

/// Returns the file that a response is written to.
pub(super) fn output(trimmed: &str) -> Option<&str> {
    OUTPUT.captures(trimmed).and_then(|found| found.get(1)).map(|file| file.as_str())
}

/// Returns the name and the value that a line defines, and whether the value is read again at each use. Below a request, only a
/// line with `=` defines anything.
pub(super) fn definition(trimmed: &str, is_above: bool) -> Option<(&str, &str, bool)> {
    let found = DEFINITION.captures(trimmed)?;
    let has_sign = !found[3].is_empty();
    let (name, value) = (found.get(1)?.as_str(), found.get(4)?.as_str());
    (has_sign || is_above).then_some((name, value, has_sign && !found[2].is_empty()))
}

/// Returns the name and the value of a comment such as `# @no-redirect`, the name in lower case with hyphens.
pub(super) fn directive(trimmed: &str) -> Option<(String, String)> {
    let found = DIRECTIVE.captures(trimmed)?;
    let mut name = String::new();
    for next in found[1].chars() {
        if next.is_ascii_uppercase() && !name.is_empty() {
            name.push('-');
        }
        name.push(next.to_ascii_lowercase());
    }
    Some((name, found[2].trim().to_owned()))
}

/// Returns the name and the value of a field.
pub(super) fn field(trimmed: &str) -> Option<(&str, &str)> {
    let found = FIELD.captures(trimmed)?;
    Some((found.get(1)?.as_str(), found.get(2)?.as_str()))
}
