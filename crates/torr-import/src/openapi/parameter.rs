//! Parameters of operations: where they stand, and how lists and objects are written there.

use super::document::Document;
use super::sample::{Sampler, any_text, fitted, given};
use crate::node::Node;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

/// Characters that a segment of a path encodes: all but the unreserved ones (RFC 3986, section 2.3).
const SEGMENT: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// A parameter of an operation.
#[derive(Debug, Clone, Copy)]
pub(super) struct Parameter<'d> {
    pub(super) name: &'d str,
    pub(super) location: &'d str,
    node: &'d Node,
}

/// Returns the parameters of an operation: its own, and those of its path that it does not replace.
pub(super) fn all<'d>(document: &Document<'d>, item: &'d Node, operation: &'d Node) -> Vec<Parameter<'d>> {
    let mut parameters: Vec<Parameter<'d>> = Vec::new();
    for node in item.get("parameters").items().iter().chain(operation.get("parameters").items()) {
        let node = document.resolve(node);
        let parameter =
            Parameter { name: node.get("name").text_or_empty(), location: node.get("in").text_or_empty(), node };
        let same = |known: &&mut Parameter<'d>| known.name == parameter.name && known.location == parameter.location;
        match parameters.iter_mut().find(same) {
            Some(known) => *known = parameter,
            None => parameters.push(parameter),
        }
    }
    parameters
}

impl<'d> Parameter<'d> {
    /// Whether requests must have the parameter.
    pub(super) fn is_required(&self) -> bool {
        self.location == "path" || self.node.get("required").is_true()
    }

    /// Returns the value that the description gives.
    pub(super) fn given(&self, document: &Document<'d>) -> Option<Node> {
        let examples = || {
            let (_, example) = self.node.get("examples").members().first()?;
            Some(document.resolve(example).get("value").clone())
        };
        let (_, media) =
            self.node.get("content").members().first().map_or(("", self.node), |(kind, media)| (kind.as_str(), media));
        let own = given(self.node).or_else(examples).or_else(|| given(media));
        own.or_else(|| given(document.resolve(self.node.get("schema")))).filter(|value| !value.is_null())
    }

    /// Returns a value that the schema allows.
    pub(super) fn sample(&self, document: &'d Document<'d>) -> Node {
        let media = self.node.get("content").members().first().map_or(self.node, |(_, media)| media);
        Sampler::new(document).value(media.get("schema")).unwrap_or(Node::Null)
    }

    /// Returns a value that the schema allows, for a segment of a path: where the schema takes any text, an identifier is 1,
    /// and anything else its own name.
    pub(super) fn named_sample(&self, document: &'d Document<'d>) -> Node {
        let schema = document.resolve(self.node.get("schema"));
        match self.sample(document) {
            Node::Text(made) if made == any_text(schema) => {
                let is_id = self.name.eq_ignore_ascii_case("id")
                    || self.name.ends_with("Id")
                    || self.name.ends_with("ID")
                    || self.name.to_ascii_lowercase().ends_with("_id")
                    || self.name.to_ascii_lowercase().ends_with("-id");
                Node::Text(fitted(if is_id { "1" } else { self.name }, schema))
            }
            Node::Null => Node::Text("1".to_owned()),
            made => made,
        }
    }

    /// Returns names and values of a query, a cookie or a form.
    pub(super) fn pairs(&self, value: &Node) -> Vec<(String, String)> {
        if !self.node.get("content").is_null() {
            return vec![(self.name.to_owned(), value.to_json())];
        }
        pairs(self.name, value, self.node.get("style").text_or_empty(), self.node.get("explode"))
    }

    /// Returns the value as a field has it.
    pub(super) fn joined(&self, value: &Node) -> String {
        let explodes = self.node.get("explode").is_true();
        match value {
            Node::List(items) => items.iter().map(Node::plain).collect::<Vec<_>>().join(","),
            Node::Object(members) => {
                let separator = if explodes { "=" } else { "," };
                let member = |(name, value): &(String, Node)| format!("{name}{separator}{}", value.plain());
                members.iter().map(member).collect::<Vec<_>>().join(",")
            }
            plain => plain.plain(),
        }
    }

    /// Returns the value as a path has it.
    pub(super) fn segment(&self, value: &Node) -> String {
        let encode = |text: &str| utf8_percent_encode(text, SEGMENT).to_string();
        let text = match value {
            Node::List(items) => items.iter().map(|item| encode(&item.plain())).collect::<Vec<_>>().join(","),
            _ => encode(&self.joined(value)),
        };
        match self.node.get("style").text_or_empty() {
            "label" => format!(".{text}"),
            "matrix" => format!(";{}={text}", encode(self.name)),
            _ => text,
        }
    }
}

/// Returns names and values of a parameter in a style of the format; `explode` is null where the description does not say.
pub(super) fn pairs(name: &str, value: &Node, style: &str, explode: &Node) -> Vec<(String, String)> {
    let explodes = *explode != Node::Boolean(false) && matches!(style, "" | "form" | "deepObject");
    match value {
        Node::List(items) if explodes => items.iter().map(|item| (name.to_owned(), item.plain())).collect(),
        Node::List(items) => {
            let separator = match style {
                "spaceDelimited" => " ",
                "pipeDelimited" => "|",
                _ => ",",
            };
            vec![(name.to_owned(), items.iter().map(Node::plain).collect::<Vec<_>>().join(separator))]
        }
        Node::Object(members) if style == "deepObject" => {
            members.iter().map(|(member, value)| (format!("{name}[{member}]"), value.plain())).collect()
        }
        Node::Object(members) if explodes => {
            members.iter().map(|(member, value)| (member.clone(), value.plain())).collect()
        }
        Node::Object(members) => {
            let flat: Vec<_> = members.iter().flat_map(|(member, value)| [member.clone(), value.plain()]).collect();
            vec![(name.to_owned(), flat.join(","))]
        }
        plain => vec![(name.to_owned(), plain.plain())],
    }
}
