//! Parameters of operations: where they stand, and how lists and objects are written there.

use super::document::Document;
use super::sample::{Sampler, any_text, fitted, given};
use crate::node::Node;
use percent_encoding::utf8_percent_encode;
use torr_wire::percent::{COMPONENT, RESERVED_QUERY};

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
    let list = |node: &'d Node| document.resolve(node.get("parameters")).items().iter();
    for node in list(item).chain(list(operation)) {
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

    /// Returns names and values of a cookie, or of a query whose values are percent-encoded whole.
    pub(super) fn pairs(&self, value: &Node) -> Vec<(String, String)> {
        if self.is_json() {
            return vec![(self.name.to_owned(), value.to_json())];
        }
        pairs(self.name, value, self.style(), self.node.get("explode"))
    }

    /// Returns the parameter as a query has it where characters of its value stay as they are: the commas between the values of
    /// `explode: false`, or all reserved ones with `allowReserved`. `None` where names and values are percent-encoded whole.
    pub(super) fn raw_query(&self, value: &Node) -> Option<String> {
        let is_reserved = self.node.get("allowReserved").is_true();
        let has_commas = matches!(self.style(), "" | "form") && *self.node.get("explode") == Node::Boolean(false);
        let is_several = matches!(value, Node::List(_) | Node::Object(_));
        if self.is_json() || !(is_reserved || has_commas && is_several) {
            return None;
        }
        let encode = |text: &str| match is_reserved {
            true => utf8_percent_encode(text, RESERVED_QUERY).to_string(),
            false => utf8_percent_encode(text, COMPONENT).to_string(),
        };
        let name = utf8_percent_encode(self.name, COMPONENT).to_string();
        if has_commas && is_several {
            return Some(format!("{name}={}", joined(value, ",", ",", &encode)));
        }
        let pairs = pairs(self.name, value, self.style(), self.node.get("explode")).into_iter();
        let pairs = pairs.map(|(name, value)| format!("{}={}", utf8_percent_encode(&name, COMPONENT), encode(&value)));
        Some(pairs.collect::<Vec<_>>().join("&"))
    }

    fn style(&self) -> &'d str {
        self.node.get("style").text_or_empty()
    }

    /// Whether the parameter's value is JSON as text.
    fn is_json(&self) -> bool {
        !self.node.get("content").is_null()
    }

    /// Returns the value as a field has it.
    pub(super) fn joined(&self, value: &Node) -> String {
        if self.is_json() {
            return value.to_json();
        }
        let between = if self.node.get("explode").is_true() { "=" } else { "," };
        joined(value, between, ",", &|text| text.to_owned())
    }

    /// Returns the value as a path has it, in its style (RFC 6570: simple, label or matrix).
    pub(super) fn segment(&self, value: &Node) -> String {
        let encode = |text: &str| utf8_percent_encode(text, COMPONENT).to_string();
        if self.is_json() {
            return encode(&value.to_json());
        }
        let explodes = self.node.get("explode").is_true();
        let between = if explodes { "=" } else { "," };
        let name = encode(self.name);
        match (self.style(), value) {
            ("label", value) => format!(".{}", joined(value, between, if explodes { "." } else { "," }, &encode)),
            ("matrix", Node::List(items)) if explodes => {
                items.iter().map(|item| format!(";{name}={}", encode(&item.plain()))).collect()
            }
            ("matrix", Node::Object(members)) if explodes => members
                .iter()
                .map(|(member, value)| format!(";{}={}", encode(member), encode(&value.plain())))
                .collect(),
            ("matrix", value) => match joined(value, between, ",", &encode) {
                // A name alone stands for an empty value.
                text if text.is_empty() => format!(";{name}"),
                text => format!(";{name}={text}"),
            },
            (_, value) => joined(value, between, ",", &encode),
        }
    }
}

/// Returns a value as text, each part of it encoded: `between` stands between the names and values of an object, `separator`
/// between the items of a list and the members of an object.
fn joined(value: &Node, between: &str, separator: &str, encode: &dyn Fn(&str) -> String) -> String {
    let parts: Vec<String> = match value {
        Node::List(items) => items.iter().map(|item| encode(&item.plain())).collect(),
        Node::Object(members) => {
            members.iter().map(|(name, value)| format!("{}{between}{}", encode(name), encode(&value.plain()))).collect()
        }
        plain => return encode(&plain.plain()),
    };
    parts.join(separator)
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
