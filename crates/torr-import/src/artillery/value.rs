//! Values of a script, and paths into them.

use crate::node::Node;
use std::collections::HashMap;

/// Returns the items of a list, or the one object that stands for a list of one.
pub(super) fn list(of: &Node) -> &[Node] {
    if matches!(of, Node::Object(_)) { std::slice::from_ref(of) } else { of.items() }
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
