//! JSON and YAML as a tree that keeps the order of members: a description's operations and fields stay in the order in which
//! people wrote them. Programs disagree about types (a URL is text or an object), so imports read the tree, not fixed types.

use crate::draft::ImportError;
use crate::line::one_line;
use serde::de::{MapAccess, SeqAccess, Visitor};
use serde::ser::{SerializeMap, SerializeSeq};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Number;
use std::fmt;

/// The largest description that is read, in bytes: several times the largest that is published.
pub(crate) const LARGEST: usize = 64 * 1024 * 1024;
/// The levels of nesting that YAML may have; `serde_json` has this limit too.
const DEEPEST: usize = 128;

/// The values and ends of values of YAML: several times those of the largest description that is published.
const MOST_EVENTS: usize = 10_000_000;
/// The values that aliases of YAML may repeat.
const MOST_REPEATED: usize = 200_000;

/// A value of JSON or YAML.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Node {
    Null,
    Boolean(bool),
    Number(Number),
    Text(String),
    List(Vec<Node>),
    Object(Vec<(String, Node)>),
}

/// What stands for a member that is not there.
static NULL: Node = Node::Null;

impl Node {
    /// Reads JSON, or YAML where `yaml` says so and the text does not begin as JSON.
    ///
    /// # Errors
    /// If the text is neither, too large or too deep: one line that begins with `what` it should be.
    pub(crate) fn read(text: &str, what: &str, yaml: bool) -> Result<Self, ImportError> {
        check_size(text, what)?;
        // Some programs begin the file with a byte order mark.
        let text = text.trim_start_matches('\u{feff}');
        let wrong = |error: String| ImportError(format!("not a valid {what}: {}", one_line(&error)));
        if !yaml || text.trim_start().starts_with(['{', '[']) {
            return serde_json::from_str(text).map_err(|error| wrong(error.to_string()));
        }
        let options = serde_saphyr::options! {
            budget: serde_saphyr::budget! {
                max_depth: DEEPEST,
                max_events: MOST_EVENTS,
                max_nodes: MOST_EVENTS,
                max_documents: 1,
            },
            alias_limits: serde_saphyr::alias_limits! { max_total_replayed_events: MOST_REPEATED },
            // In YAML 1.1 a country's code could be a boolean.
            strict_booleans: true,
            with_snippet: false,
        };
        serde_saphyr::from_str_with_options(text, options).map_err(|error| wrong(error.to_string()))
    }

    /// Returns the member of an object; null where there is none.
    pub(crate) fn get(&self, name: &str) -> &Node {
        self.members().iter().find(|(member, _)| member == name).map_or(&NULL, |(_, value)| value)
    }

    /// Returns the members of an object; of everything else none.
    pub(crate) fn members(&self) -> &[(String, Node)] {
        if let Self::Object(members) = self { members } else { &[] }
    }

    /// Returns the items of a list; of everything else none.
    pub(crate) fn items(&self) -> &[Node] {
        if let Self::List(items) = self { items } else { &[] }
    }

    /// Returns text; of everything else nothing.
    pub(crate) fn text(&self) -> Option<&str> {
        if let Self::Text(text) = self { Some(text) } else { None }
    }

    /// Returns text; of everything else the empty text.
    pub(crate) fn text_or_empty(&self) -> &str {
        self.text().unwrap_or_default()
    }

    /// Returns a value as a field or a parameter has it: text as it is, everything else as JSON, null as nothing.
    pub(crate) fn plain(&self) -> String {
        match self {
            Self::Null => String::new(),
            Self::Text(text) => text.clone(),
            other => other.to_json(),
        }
    }

    /// Returns a number.
    pub(crate) fn number(&self) -> Option<f64> {
        if let Self::Number(number) = self { number.as_f64() } else { None }
    }

    /// Whether the value is `true`.
    pub(crate) fn is_true(&self) -> bool {
        *self == Self::Boolean(true)
    }

    /// Whether the value is null, or a member that is not there.
    pub(crate) fn is_null(&self) -> bool {
        *self == Self::Null
    }

    /// Returns the value as JSON on one line.
    pub(crate) fn to_json(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    /// Returns the value as JSON that people read.
    pub(crate) fn to_pretty_json(&self) -> String {
        serde_json::to_string_pretty(self).unwrap_or_default()
    }
}

impl From<usize> for Node {
    fn from(number: usize) -> Self {
        Self::Number(number.into())
    }
}

impl From<&str> for Node {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

/// Refuses a text that is too large.
pub(crate) fn check_size(text: &str, what: &str) -> Result<(), ImportError> {
    if text.len() <= LARGEST {
        return Ok(());
    }
    let (size, limit) = (text.len() >> 20, LARGEST >> 20);
    Err(ImportError(format!("the {what} has {size} MiB, at most {limit} MiB are supported: split it")))
}

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(NodeVisitor)
    }
}

struct NodeVisitor;

impl<'de> Visitor<'de> for NodeVisitor {
    type Value = Node;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a value")
    }

    fn visit_unit<E>(self) -> Result<Node, E> {
        Ok(Node::Null)
    }

    fn visit_none<E>(self) -> Result<Node, E> {
        Ok(Node::Null)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Node, D::Error> {
        Node::deserialize(deserializer)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Node, E> {
        Ok(Node::Boolean(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Node, E> {
        Ok(Node::Number(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Node, E> {
        Ok(Node::Number(value.into()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Node, E> {
        // YAML has numbers that JSON has not.
        Ok(Number::from_f64(value).map_or_else(|| Node::Text(value.to_string()), Node::Number))
    }

    fn visit_str<E>(self, value: &str) -> Result<Node, E> {
        Ok(value.into())
    }

    fn visit_string<E>(self, value: String) -> Result<Node, E> {
        Ok(Node::Text(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Node, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element()? {
            list.push(item);
        }
        Ok(Node::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Node, A::Error> {
        let mut members = Vec::new();
        while let Some(name) = entries.next_key::<String>()? {
            members.push((name, entries.next_value()?));
        }
        Ok(Node::Object(members))
    }
}

impl Serialize for Node {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Null => serializer.serialize_unit(),
            Self::Boolean(value) => serializer.serialize_bool(*value),
            Self::Number(number) => number.serialize(serializer),
            Self::Text(text) => serializer.serialize_str(text),
            Self::List(items) => {
                let mut list = serializer.serialize_seq(Some(items.len()))?;
                items.iter().try_for_each(|item| list.serialize_element(item))?;
                list.end()
            }
            Self::Object(members) => {
                let mut object = serializer.serialize_map(Some(members.len()))?;
                members.iter().try_for_each(|(name, value)| object.serialize_entry(name, value))?;
                object.end()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_and_yaml_are_one_tree_in_the_order_of_the_file() {
        let yaml = "openapi: 3.0.3\npaths:\n  /b:\n    get:\n      responses:\n        200: {description: ok}\n  /a: &x\n    deep: [1, 2.5, true, ~, no, n]\n  /c: *x\n";
        let json = r#"{"openapi":"3.0.3","paths":{"/b":{"get":{"responses":{"200":{"description":"ok"}}}},"/a":{"deep":[1,2.5,true,null,"no","n"]},"/c":{"deep":[1,2.5,true,null,"no","n"]}}}"#;
        let (yaml, read) = (Node::read(yaml, "document", true), Node::read(json, "document", false));
        let (yaml, read) = (yaml.expect("it is YAML"), read.expect("it is JSON"));
        assert_eq!(read.to_json(), json);
        let names = |node: &Node| node.get("paths").members().iter().map(|(name, _)| name.clone()).collect::<Vec<_>>();
        assert_eq!(names(&yaml), ["/b", "/a", "/c"]);
        assert_eq!(yaml.get("paths").get("/b"), read.get("paths").get("/b"));
        assert_eq!(yaml.get("openapi").text(), Some("3.0.3"));
    }

    #[test]
    fn what_is_too_deep_or_grows_without_bound_is_refused_in_one_line() {
        let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
        let flow = format!("a: {deep}");
        let mut laughs = "a: &a [x, x, x, x, x, x, x, x, x]\n".to_owned();
        for (before, name) in ('a'..='i').zip('b'..='j') {
            let aliases = vec![format!("*{before}"); 9].join(", ");
            laughs.push_str(&format!("{name}: &{name} [{aliases}]\n"));
        }
        for text in [deep.as_str(), &flow, &laughs, "a: [", "a: b: c", "\u{0}"] {
            let error = Node::read(text, "document", true).expect_err("it must be refused").to_string();
            assert!(error.starts_with("not a valid document: ") && !error.contains('\n'), "{error}");
        }
    }
}
