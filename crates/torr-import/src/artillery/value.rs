//! Values of a script as JavaScript writes them.

use crate::node::Node;
use std::collections::HashMap;

/// Returns a number as JavaScript writes it: `1.0` is 1, and very large and very small numbers have an exponent.
fn number(number: &serde_json::Number) -> String {
    let Some(float) = number.as_f64() else { return number.to_string() };
    if !(number.is_f64() || float.abs() >= 9_007_199_254_740_992.0) {
        return number.to_string();
    }
    let size = float.abs();
    if float == 0.0 {
        "0".to_owned()
    } else if (1e-6..1e21).contains(&size) {
        float.to_string()
    } else {
        let text = format!("{float:e}");
        if size >= 1.0 { text.replace('e', "e+") } else { text }
    }
}

/// Returns a value within other text: text as it is, lists and objects as JSON.
pub(super) fn in_text(value: &Node) -> String {
    match value {
        Node::Text(text) => text.clone(),
        other => json(other),
    }
}

/// Returns a value as `String()` has it: the items of a list with commas.
pub(super) fn string(value: &Node) -> String {
    match value {
        Node::List(items) => {
            let item = |item: &Node| if item.is_null() { String::new() } else { string(item) };
            items.iter().map(item).collect::<Vec<_>>().join(",")
        }
        Node::Object(_) => "[object Object]".to_owned(),
        other => in_text(other),
    }
}

/// Returns a value as JSON in the spelling of `JSON.stringify`.
pub(super) fn json(value: &Node) -> String {
    match value {
        Node::Number(of) => number(of),
        Node::List(items) => format!("[{}]", items.iter().map(json).collect::<Vec<_>>().join(",")),
        Node::Object(members) => {
            let member = |(name, value): &&(String, Node)| format!("{}:{}", quoted(name), json(value));
            format!("{{{}}}", in_order(members).iter().map(member).collect::<Vec<_>>().join(","))
        }
        other => other.to_json(),
    }
}

/// Returns text as a string of JSON.
pub(super) fn quoted(text: &str) -> String {
    Node::from(text).to_json()
}

/// Returns members in the order of a JavaScript object: names that are indexes come first, by their size.
pub(super) fn in_order(members: &[(String, Node)]) -> Vec<&(String, Node)> {
    let index = |name: &str| name.parse::<u32>().ok().filter(|index| *index < u32::MAX && index.to_string() == name);
    let (mut indexes, others): (Vec<_>, Vec<_>) = members.iter().partition(|(name, _)| index(name).is_some());
    indexes.sort_by_key(|(name, _)| index(name));
    indexes.into_iter().chain(others).collect()
}

/// Whether a condition holds for a value.
pub(super) fn is_true(value: &Node) -> bool {
    match value {
        Node::Null => false,
        Node::Boolean(value) => *value,
        Node::Number(number) => number.as_f64() != Some(0.0),
        Node::Text(text) => !text.is_empty(),
        Node::List(_) | Node::Object(_) => true,
    }
}

/// Returns the number that a value is, also one that is text.
pub(super) fn as_number(value: &Node) -> Option<f64> {
    match value {
        Node::Number(number) => number.as_f64(),
        Node::Text(text) => text.trim().parse().ok().filter(|number: &f64| number.is_finite()),
        _ => None,
    }
}

/// Returns the steps of a path such as `user.names[0]`; `None` for text that is none.
pub(super) fn steps(path: &str) -> Option<Vec<&str>> {
    let mut steps = Vec::new();
    let mut rest = path;
    while !rest.is_empty() {
        if let Some(inner) = rest.strip_prefix('[') {
            let (step, after) = inner.split_once(']')?;
            steps.push(step.trim_matches(['"', '\'']));
            rest = after.strip_prefix('.').unwrap_or(after);
        } else {
            let end = rest.find(['.', '[']).unwrap_or(rest.len());
            if end == 0 {
                return None;
            }
            steps.push(&rest[..end]);
            rest = rest[end..].strip_prefix('.').unwrap_or(&rest[end..]);
        }
    }
    Some(steps)
}

/// Returns the member of a value to which steps lead.
pub(super) fn at<'n>(value: &'n Node, steps: &[&str]) -> Option<&'n Node> {
    steps.iter().try_fold(value, |value, step| match value {
        Node::Object(members) => members.iter().find(|(name, _)| name == step).map(|(_, value)| value),
        Node::List(items) => items.get(step.parse::<usize>().ok()?),
        _ => None,
    })
}

/// Returns steps as the end of a JSONPath.
pub(super) fn json_path(steps: &[&str]) -> String {
    let step = |step: &&str| match step.parse::<u32>() {
        Ok(index) => format!("[{index}]"),
        Err(_) => format!("['{}']", step.replace('\\', "\\\\").replace('\'', "\\'")),
    };
    steps.iter().map(step).collect()
}

/// Returns a value with the members of another one instead of its own, as lodash merges objects and lists.
pub(super) fn merged(value: Node, over: &Node) -> Node {
    match (value, over) {
        (Node::Object(mut members), Node::Object(others)) => {
            let mut places: HashMap<String, usize> = HashMap::new();
            for (at, (name, _)) in members.iter().enumerate() {
                places.entry(name.clone()).or_insert(at);
            }
            for (name, other) in others {
                match places.get(name).and_then(|at| members.get_mut(*at)) {
                    Some((_, known)) => *known = merged(std::mem::replace(known, Node::Null), other),
                    None => {
                        places.insert(name.clone(), members.len());
                        members.push((name.clone(), other.clone()));
                    }
                }
            }
            Node::Object(members)
        }
        (Node::List(mut items), Node::List(others)) => {
            for (at, other) in others.iter().enumerate() {
                match items.get_mut(at) {
                    Some(known) => *known = merged(std::mem::replace(known, Node::Null), other),
                    None => items.push(other.clone()),
                }
            }
            Node::List(items)
        }
        (_, other) => other.clone(),
    }
}

/// Returns the milliseconds that text such as `1.5s` or `2 minutes` is; `None` for other text. A number alone is in milliseconds.
pub(super) fn milliseconds(text: &str) -> Option<f64> {
    let text = text.trim();
    let end = text.find(|c: char| !(c.is_ascii_digit() || c == '.' || c == '-')).unwrap_or(text.len());
    let number: f64 = text[..end].parse().ok()?;
    let unit = match text[end..].trim().to_ascii_lowercase().as_str() {
        "" | "ms" | "msec" | "msecs" | "millisecond" | "milliseconds" => 1.0,
        "s" | "sec" | "secs" | "second" | "seconds" => 1000.0,
        "m" | "min" | "mins" | "minute" | "minutes" => 60_000.0,
        "h" | "hr" | "hrs" | "hour" | "hours" => 3_600_000.0,
        "d" | "day" | "days" => 86_400_000.0,
        "w" | "week" | "weeks" => 604_800_000.0,
        _ => return None,
    };
    Some(number * unit)
}
