//! Queries of GraphQL, which are sent as JSON.

use crate::httpfile::made::Made;
use crate::node::Node;
use crate::pattern::pattern;
use regex::Regex;
use std::sync::LazyLock;

static QUERY: LazyLock<Regex> = LazyLock::new(|| pattern(r"^\s*(?:query|mutation)(?:[\s({]|$)"));
static OPERATION: LazyLock<Regex> = LazyLock::new(|| pattern(r"^\s*(?:query|mutation|subscription)\s+(\w+)"));
static FILE: LazyLock<Regex> = LazyLock::new(|| pattern(r"^\s*gql(?:\s+([^\s(]+))?\s+<\s+(.+?)\s*$"));

/// Whether a line begins a query.
pub(super) fn is_query(line: &str) -> bool {
    QUERY.is_match(line) || FILE.is_match(line)
}

/// Returns the JSON of a query and of its variables, which stand behind an empty line; `None` for a query in a file that cannot be
/// read.
pub(super) fn content(made: &mut Made<'_>, lines: &[String]) -> Option<String> {
    let blank = lines.iter().position(|line| line.trim().is_empty()).unwrap_or(lines.len());
    let variables = lines[blank..].join("\n").trim().to_owned();
    let (end, variables) = if variables.starts_with('{') { (blank, variables) } else { (lines.len(), String::new()) };
    let mut query = lines[..end].join("\n");
    let mut name = OPERATION.captures(&query).map(|found| found[1].to_owned());
    if let Some(found) = FILE.captures(&lines[0]) {
        let file = found[2].to_owned();
        match made.files.text(&file) {
            Ok(text) => query = text,
            Err(reason) => {
                made.leave_out("content", &file, &reason);
                return None;
            }
        }
        name = Some(found.get(1).map_or(file, |name| name.as_str().to_owned()));
    }
    let mut json = format!("{{\"query\":{}", Node::Text(query).to_json());
    if let Some(name) = name {
        json.push_str(&format!(",\"operationName\":{}", Node::Text(name).to_json()));
    }
    if !variables.is_empty() {
        json.push_str(&format!(",\"variables\":{}", compact(&variables)));
    }
    Some(json + "}")
}

/// Returns JSON without the spaces between its parts.
fn compact(json: &str) -> String {
    let (mut out, mut is_string, mut is_escaped) = (String::new(), false, false);
    for next in json.chars() {
        if next == '"' && !is_escaped {
            is_string = !is_string;
        }
        is_escaped = is_string && next == '\\' && !is_escaped;
        if is_string || !next.is_whitespace() {
            out.push(next);
        }
    }
    out
}
