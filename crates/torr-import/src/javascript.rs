//! Values as JavaScript writes them.

use crate::node::Node;

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
pub(crate) fn in_text(value: &Node) -> String {
    match value {
        Node::Text(text) => text.clone(),
        other => json(other),
    }
}

/// Returns a value as `String()` has it: the items of a list with commas.
pub(crate) fn string(value: &Node) -> String {
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
pub(crate) fn json(value: &Node) -> String {
    match value {
        Node::Number(of) => number(of),
        Node::List(items) => format!("[{}]", items.iter().map(json).collect::<Vec<_>>().join(",")),
        Node::Object(members) => {
            let member =
                |(name, value): &&(String, Node)| format!("{}:{}", Node::from(name.as_str()).to_json(), json(value));
            format!("{{{}}}", in_order(members).iter().map(member).collect::<Vec<_>>().join(","))
        }
        other => other.to_json(),
    }
}

/// Returns members in the order of a JavaScript object: names that are indexes come first, by their size.
pub(crate) fn in_order(members: &[(String, Node)]) -> Vec<&(String, Node)> {
    let index = |name: &str| name.parse::<u32>().ok().filter(|index| *index < u32::MAX && index.to_string() == name);
    let (mut indexes, others): (Vec<_>, Vec<_>) = members.iter().partition(|(name, _)| index(name).is_some());
    indexes.sort_by_key(|(name, _)| index(name));
    indexes.into_iter().chain(others).collect()
}
