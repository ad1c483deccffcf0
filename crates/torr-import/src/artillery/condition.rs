//! Conditions of requests (`ifTrue`) whose values are the same in each session.

use super::reader::Reader;
use super::value;
use crate::node::Node;
use crate::pattern::pattern;
use regex::Regex;
use std::sync::LazyLock;

/// A name, alone or compared with a literal.
static SIMPLE: LazyLock<Regex> =
    LazyLock::new(|| pattern(r#"^\s*([A-Za-z_$][\w.$]*)\s*(?:(==|!=|<=|>=|<|>)\s*(-?\d+(?:\.\d+)?|"[^"\\]*"))?\s*$"#));

/// Returns whether a condition holds; `None` for one that each session decides.
pub(super) fn holds(reader: &Reader<'_>, condition: &str) -> Option<bool> {
    let found = SIMPLE.captures(condition)?;
    let known = reader.known(&found[1])?;
    let Some((operator, literal)) = found.get(2).zip(found.get(3)) else { return Some(value::is_true(&known)) };
    if let Some(text) = literal.as_str().strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) {
        let Node::Text(known) = known else { return None };
        return match operator.as_str() {
            "==" => Some(known == text),
            "!=" => Some(known != text),
            _ => None,
        };
    }
    let Node::Number(known) = known else { return None };
    let (known, other) = (known.as_f64()?, literal.as_str().parse::<f64>().ok()?);
    Some(match operator.as_str() {
        "==" => known == other,
        "!=" => known != other,
        "<=" => known <= other,
        ">=" => known >= other,
        "<" => known < other,
        _ => known > other,
    })
}
