//! References to the responses of earlier requests, in the notations of VS Code and of httpyac.

use crate::pattern::pattern;
use regex::Regex;
use std::sync::LazyLock;
use torr_session::hurl::ast::Query;
use torr_session::pattern::is_json_path;
use torr_xpath::Expression;

/// The name of a request, and the path behind it.
static REFERENCE: LazyLock<Regex> = LazyLock::new(|| pattern(r"^([\w$-]+)((?:\??\.|\[).+)$"));
static FIELD: LazyLock<Regex> =
    LazyLock::new(|| pattern(r#"^\.headers(?:\.([\w-]+)|\[\s*(?:"([^"]+)"|'([^']+)')\s*\])$"#));
/// Steps of a path into parsed content.
static STEPS: LazyLock<Regex> =
    LazyLock::new(|| pattern(r#"^(?:\??\.[A-Za-z_$][\w$]*|\[\d+\]|\[\s*"[^"\\']+"\s*\]|\[\s*'[^'\\"]+'\s*\])+$"#));

/// Returns the name by which httpyac knows a request: words of a title become one.
pub(super) fn camel(name: &str) -> String {
    let mut out = String::new();
    let mut is_next = false;
    for next in name.trim().chars() {
        if next.is_whitespace() || next == '-' {
            is_next = true;
        } else if std::mem::take(&mut is_next) {
            out.extend(next.to_uppercase());
        } else {
            out.push(next);
        }
    }
    out
}

/// Returns the request that an expression names, and the path behind its name.
pub(super) fn split(expression: &str) -> Option<(String, String)> {
    let found = REFERENCE.captures(expression)?;
    Some((found[1].to_owned(), found[2].replace("?.", ".")))
}

/// Returns what a path takes from a response. `is_response` tells whether it begins at the response instead of its content.
pub(super) fn query(path: &str, is_response: bool) -> Option<Query> {
    if is_response {
        return of_response(path);
    }
    if let Some(rest) = path.strip_prefix(".response").filter(|rest| rest.starts_with(['.', '['])) {
        return of_vs_code(rest);
    }
    json_path(path)
}

fn json_path(steps: &str) -> Option<Query> {
    let path = format!("${steps}");
    (STEPS.is_match(steps) && !steps.ends_with(".length") && is_json_path(&path))
        .then(|| Query::JsonPath(path.as_str().into()))
}

fn field(path: &str) -> Option<Query> {
    let found = FIELD.captures(path)?;
    let name = found.get(1).or(found.get(2)).or(found.get(3))?;
    Some(Query::Header(name.as_str().into()))
}

/// Returns what a path takes from a response in httpyac.
fn of_response(path: &str) -> Option<Query> {
    match path {
        ".statusCode" => Some(Query::Status),
        ".body" => Some(Query::Body),
        path => field(path).or_else(|| json_path(path.strip_prefix(".parsedBody")?)),
    }
}

/// Returns what a path takes from a response in VS Code.
fn of_vs_code(path: &str) -> Option<Query> {
    let Some(of) = path.strip_prefix(".body") else { return field(path) };
    match of.strip_prefix('.').unwrap_or_default() {
        "" | "*" => Some(Query::Body),
        xpath if xpath.starts_with('/') => Expression::compile(xpath).is_ok().then(|| Query::XPath(xpath.into())),
        path if path.starts_with('$') => is_json_path(path).then(|| Query::JsonPath(path.into())),
        _ => json_path(of),
    }
}
