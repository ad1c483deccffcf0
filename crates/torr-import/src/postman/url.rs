//! URLs of requests, which Postman keeps as text and as parts.

use crate::draft::LeftOut;
use crate::node::Node;
use std::borrow::Cow;

/// Returns text in which variables in encoded braces stand in braces.
pub(super) fn without_encoded_braces(text: &str) -> Cow<'_, str> {
    if !text.contains("%7") {
        return text.into();
    }
    let mut text = text.to_owned();
    for (encoded, plain) in [("%7B%7B", "{{"), ("%7b%7b", "{{"), ("%7D%7D", "}}"), ("%7d%7d", "}}")] {
        text = text.replace(encoded, plain);
    }
    text.into()
}

/// Returns a request's URL as text, its path variables filled in and without what is disabled.
pub(super) fn text(url: &Node, left_out: &mut Vec<LeftOut>) -> String {
    let raw = match url {
        Node::Text(text) => text.clone(),
        _ => url.get("raw").text().map_or_else(|| of_parts(url), str::to_owned),
    };
    let raw = without_encoded_braces(raw.trim()).into_owned();
    let raw = without_fragment(&raw);
    let (address, query) = raw.split_once('?').map_or((raw, None), |(address, query)| (address, Some(query)));
    let mut text = path_variables(address, url.get("variable"));
    let rows = url.get("query").items();
    let disabled = rows.iter().filter(|row| row.get("disabled").is_true());
    disabled.for_each(|row| {
        left_out.push(LeftOut::new("query parameter", row.get("key").text_or_empty(), "disabled in the collection"));
    });
    let query = if rows.is_empty() {
        query.map(str::to_owned)
    } else {
        let on = rows.iter().filter(|row| !row.get("disabled").is_true());
        let pairs: Vec<_> = on
            .filter_map(|row| match (row.get("key"), row.get("value")) {
                (Node::Null, Node::Null) => None,
                (key, Node::Null) => Some(key.plain()),
                (key, value) => Some(format!("{}={}", key.plain(), value.plain())),
            })
            .collect();
        Some(without_encoded_braces(&pairs.join("&")).into_owned())
    };
    if let Some(query) = query.filter(|query| !query.is_empty()) {
        text.push('?');
        text.push_str(&query);
    }
    text
}

/// Returns a URL without its fragment; a `#` within a variable's name begins none.
fn without_fragment(raw: &str) -> &str {
    let mut depth = 0usize;
    for (at, next) in raw.char_indices() {
        match next {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            '#' if depth == 0 => return &raw[..at],
            _ => {}
        }
    }
    raw
}

fn of_parts(url: &Node) -> String {
    let joined = |name: &str, separator: &str| match url.get(name) {
        Node::List(items) => items
            .iter()
            .map(|item| match item {
                // Parts of a path may be objects.
                Node::Object(_) => item.get("value").plain(),
                item => item.plain(),
            })
            .collect::<Vec<_>>()
            .join(separator),
        other => other.plain(),
    };
    let mut text = match url.get("protocol").text() {
        Some(protocol) => format!("{protocol}://"),
        None => String::new(),
    };
    text.push_str(&joined("host", "."));
    let port = url.get("port").plain();
    if !port.is_empty() {
        text.push_str(&format!(":{port}"));
    }
    let path = joined("path", "/");
    if !path.is_empty() {
        text.push_str(&format!("/{}", path.trim_start_matches('/')));
    }
    text
}

/// Fills in the segments of a path that stand for variables, such as `/users/:id`.
fn path_variables(address: &str, variables: &Node) -> String {
    let value = |segment: &str| {
        let name = segment.strip_prefix(':').filter(|name| !name.is_empty())?;
        let key = |variable: &&Node| variable.get("key").text().or(variable.get("id").text()) == Some(name);
        Some(variables.items().iter().find(key)?.get("value").plain())
    };
    let (scheme, rest) =
        address.split_once("://").map_or(("", address), |(_, rest)| (&address[..address.len() - rest.len()], rest));
    let segments: Vec<_> =
        rest.split('/').map(|segment| value(segment).unwrap_or_else(|| segment.to_owned())).collect();
    format!("{scheme}{}", segments.join("/"))
}
