//! Values from schemas: an example where there is one, otherwise the simplest value that the schema allows.

use super::document::{Document, last_step};
use crate::node::Node;
use serde_json::Number;

/// The levels of a value that is made.
const DEEPEST: usize = 12;
/// The schemas that are looked at for one value: more would make a value that is too long to read.
const MOST: usize = 4000;
/// The items of a list and the characters of a text that are made at most because a schema demands them.
const LONGEST: f64 = 64.0;

/// The text that stands for any other.
const ANY: &str = "text";

/// Makes values for requests.
pub(super) struct Sampler<'d> {
    document: &'d Document<'d>,
    /// The references that lead to the schema at hand.
    path: Vec<&'d str>,
    left: usize,
}

impl<'d> Sampler<'d> {
    pub(super) fn new(document: &'d Document<'d>) -> Self {
        Self { document, path: Vec::new(), left: MOST }
    }

    /// Returns a value that a schema allows; `None` where the schema leads back to itself, or too deep.
    pub(super) fn value(&mut self, schema: &'d Node) -> Option<Node> {
        self.left = self.left.checked_sub(1)?;
        if self.path.len() >= DEEPEST * 2 {
            return None;
        }
        let reference = schema.get("$ref").text();
        if reference.is_some_and(|reference| self.path.contains(&reference)) {
            return None;
        }
        self.path.push(reference.unwrap_or_default());
        let value = if self.path.iter().filter(|step| step.is_empty()).count() > DEEPEST {
            None
        } else if reference.is_some() {
            let target = self.document.resolve(schema);
            if target.is_null() { None } else { self.plain(target) }
        } else {
            self.plain(schema)
        };
        self.path.pop();
        value
    }

    fn plain(&mut self, schema: &'d Node) -> Option<Node> {
        if let Some(given) = given(schema) {
            return Some(given);
        }
        for (word, all) in [("allOf", true), ("oneOf", false), ("anyOf", false)] {
            let parts = schema.get(word).items();
            if !parts.is_empty() {
                return self.composed(schema, parts, all);
            }
        }
        Some(match kind(schema) {
            "object" => self.object(schema),
            "array" => self.list(schema),
            "boolean" => Node::Boolean(true),
            "null" => Node::Null,
            "integer" | "number" => number(schema),
            _ => Node::Text(text(schema)),
        })
    }

    /// Returns the value of all parts together, or of the first one that allows a value.
    fn composed(&mut self, schema: &'d Node, parts: &'d [Node], all: bool) -> Option<Node> {
        let own = if schema.get("properties").members().is_empty() { None } else { Some(self.object(schema)) };
        let mut values = Vec::new();
        for part in parts {
            let is_null = kind(self.document.resolve(part)) == "null";
            if !all && is_null {
                continue;
            }
            if let Some(value) = self.value(part) {
                let value = if all { value } else { discriminated(schema, part, value) };
                values.push(value);
                if !all {
                    break;
                }
            }
        }
        values.extend(own);
        let mut merged = values.pop()?;
        while let Some(before) = values.pop() {
            merged = merge(before, merged);
        }
        Some(merged)
    }

    fn object(&mut self, schema: &'d Node) -> Node {
        let required: Vec<&str> = schema.get("required").items().iter().filter_map(Node::text).collect();
        let mut members = Vec::new();
        for (name, property) in schema.get("properties").members() {
            if self.document.resolve(property).get("readOnly").is_true() {
                continue;
            }
            match self.value(property) {
                Some(value) => members.push((name.clone(), value)),
                None if required.contains(&name.as_str()) => members.push((name.clone(), Node::Null)),
                None => {}
            }
        }
        let more = schema.get("additionalProperties");
        if members.is_empty() && !more.members().is_empty() {
            members.extend(self.value(more).map(|value| ("key".to_owned(), value)));
        }
        Node::Object(members)
    }

    fn list(&mut self, schema: &'d Node) -> Node {
        let least = schema.get("minItems").number().unwrap_or(1.0).clamp(0.0, LONGEST) as usize;
        let most = schema.get("maxItems").number().unwrap_or(LONGEST).clamp(0.0, LONGEST) as usize;
        let prefix = schema.get("prefixItems").items();
        let mut items: Vec<Node> = prefix.iter().filter_map(|item| self.value(item)).collect();
        let item = if items.is_empty() { self.value(schema.get("items")) } else { None };
        if let Some(item) = item {
            // Copies count too, since lists of lists would grow without bound.
            let size = size(&item);
            let copies = least.max(1).min(most).min(1 + self.left / size);
            self.left = self.left.saturating_sub(copies * size);
            items.extend(vec![item; copies]);
        }
        Node::List(items)
    }
}

/// Returns the number of values within a value, itself included.
fn size(node: &Node) -> usize {
    let within: usize = match node {
        Node::List(items) => items.iter().map(size).sum(),
        Node::Object(members) => members.iter().map(|(_, value)| size(value)).sum(),
        _ => 0,
    };
    within + 1
}

/// Returns the value that a schema, a parameter or a media type gives itself.
pub(super) fn given(node: &Node) -> Option<Node> {
    let first = |name: &str| node.get(name).items().first().cloned();
    let named = |name: &str| match node.get(name) {
        Node::Null => None,
        value => Some(value.clone()),
    };
    named("example").or_else(|| first("examples")).or_else(|| named("const")).or_else(|| named("default")).or_else(
        || {
            let mut values = node.get("enum").items().iter();
            values.find(|value| !value.is_null()).cloned()
        },
    )
}

/// Returns the type of a schema's values: the first that is not null, otherwise what its other words say.
fn kind(schema: &Node) -> &str {
    let types = match schema.get("type") {
        Node::List(types) => types.iter().filter_map(Node::text).find(|kind| *kind != "null").or(Some("null")),
        kind => kind.text(),
    };
    let has = |name: &str| !schema.get(name).is_null();
    match types {
        Some(kind) => kind,
        None if has("properties") || has("additionalProperties") => "object",
        None if has("items") || has("prefixItems") => "array",
        None if has("minimum") || has("maximum") => "number",
        None => "string",
    }
}

fn number(schema: &Node) -> Node {
    let is_integer = kind(schema) == "integer";
    let step = if is_integer { 1.0 } else { 0.5 };
    // Version 3.0 says with a boolean that a bound is exclusive, version 3.1 gives the bound there.
    let bound = |name: &str, exclusive: &str, step: f64| {
        let own = schema.get(name).number();
        match schema.get(exclusive) {
            Node::Boolean(true) => own.map(|bound| bound + step),
            Node::Number(_) => schema.get(exclusive).number().map(|bound| bound + step),
            _ => own,
        }
    };
    let least = bound("minimum", "exclusiveMinimum", step);
    let most = bound("maximum", "exclusiveMaximum", -step);
    let mut value = least.unwrap_or_else(|| most.map_or(1.0, |most| most.min(1.0)));
    if let Some(unit) = schema.get("multipleOf").number().filter(|unit| *unit > 0.0) {
        value = (value / unit).ceil() * unit;
    }
    if is_integer || value.fract() == 0.0 {
        let value = value.ceil().clamp(i64::MIN as f64, i64::MAX as f64) as i64;
        return Node::Number(value.into());
    }
    Number::from_f64(value).map_or(Node::Null, Node::Number)
}

fn text(schema: &Node) -> String {
    let text = match schema.get("format").text_or_empty() {
        "date" => "2026-01-31",
        "date-time" => "2026-01-31T12:00:00Z",
        "time" => "12:00:00Z",
        "duration" => "P1D",
        "uuid" => "6f1b2c9a-4f6d-4c55-9a2e-3d1f7b8c0e12",
        "email" | "idn-email" => "user@example.org",
        "hostname" | "idn-hostname" => "example.org",
        "uri" | "url" | "iri" => "https://example.org/",
        "uri-reference" | "iri-reference" => "/path",
        "ipv4" => "192.0.2.1",
        "ipv6" => "2001:db8::1",
        "byte" => "dGV4dA==",
        "password" => "password",
        _ => ANY,
    };
    fitted(text, schema)
}

/// Returns what stands for text of no format.
pub(super) fn any_text(schema: &Node) -> String {
    fitted(ANY, schema)
}

/// Returns a text with the length that a schema demands.
pub(super) fn fitted(text: &str, schema: &Node) -> String {
    let length = |name: &str| schema.get(name).number().map(|length| length.clamp(0.0, LONGEST) as usize);
    let mut text = text.to_owned();
    while text.len() < length("minLength").unwrap_or(0) {
        text.push('x');
    }
    if let Some(most) = length("maxLength") {
        text = text.chars().take(most).collect();
    }
    text
}

/// Adds the member that tells which of several schemas a value is of.
fn discriminated(schema: &Node, part: &Node, value: Node) -> Node {
    let discriminator = schema.get("discriminator");
    let (Some(name), Some(reference), Node::Object(members)) =
        (discriminator.get("propertyName").text(), part.get("$ref").text(), &value)
    else {
        return value;
    };
    let mapped = discriminator.get("mapping").members().iter().find(|(_, target)| target.text() == Some(reference));
    let label = mapped.map_or(last_step(reference), |(label, _)| label);
    let mut members = members.clone();
    members.retain(|(member, _)| member != name);
    members.insert(0, (name.to_owned(), label.into()));
    Node::Object(members)
}

/// Merges two values: members of both objects, otherwise the second.
fn merge(first: Node, second: Node) -> Node {
    match (first, second) {
        (Node::Object(mut members), Node::Object(more)) => {
            for (name, value) in more {
                members.retain(|(member, _)| *member != name);
                members.push((name, value));
            }
            Node::Object(members)
        }
        (first, Node::Null) => first,
        (first @ Node::Object(_), _) => first,
        (_, second) => second,
    }
}
