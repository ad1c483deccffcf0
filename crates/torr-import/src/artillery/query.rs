//! Parameters of queries and forms, in the encoding of node's `URLSearchParams`.

use super::reader::{Found, Reader};
use super::text;
use crate::form::{ESCAPES, is_serialized_alike, serialized};
use crate::javascript;
use crate::node::Node;
use crate::parts::{NOWHERE, push};
use torr_session::hurl::ast::{Filter, KeyValue, Piece, Request, Template};

/// Parameters, each with a name and a value.
#[derive(Default)]
pub(super) struct Parameters {
    pub(super) pairs: Vec<KeyValue>,
    /// Whether a hurl file encodes all of them as node does.
    pub(super) is_same: bool,
}

impl Parameters {
    /// Returns no parameters yet.
    pub(super) fn new() -> Self {
        Self { pairs: Vec::new(), is_same: true }
    }

    /// Adds a parameter, with a variable for a credential.
    pub(super) fn add(&mut self, reader: &mut Reader<'_>, name: Template, value: Template) {
        let value = match name.literal() {
            Some(name) => reader.secrets.in_parameter(name, value),
            None => value,
        };
        self.is_same &= !name.0.is_empty() && [&name, &value].iter().all(|of| is_alike(reader, of));
        self.pairs.push(KeyValue { name, value, at: NOWHERE });
    }

    /// Returns the parameters as text.
    pub(super) fn text(self) -> Template {
        let [to_text, escape] = ESCAPES;
        // A space becomes a plus.
        serialized(self.pairs, &[to_text, escape, Filter::Replace("%20".into(), "+".into())])
    }
}

/// Adds the parameters of `qs`, which replace the query of the URL.
pub(super) fn add(reader: &mut Reader<'_>, qs: &Node, request: &mut Request) {
    if !matches!(qs, Node::Object(_)) {
        return;
    }
    without_query(&mut request.url);
    let mut parameters = Parameters::new();
    for (name, value) in in_order(qs.members()) {
        let items = if let Node::List(items) = value { &items[..] } else { std::slice::from_ref(value) };
        for item in items {
            let name = reader.template(name);
            let value = single(reader, item);
            parameters.add(reader, name, value);
        }
    }
    if parameters.pairs.is_empty() {
        return;
    }
    if parameters.is_same {
        request.query = parameters.pairs;
        return;
    }
    push(&mut request.url.0, Piece::Text("?".to_owned()));
    parameters.text().0.into_iter().for_each(|piece| push(&mut request.url.0, piece));
}

/// Returns members in the order in which they are sent: those whose names have variables come last.
pub(super) fn in_order(members: &[(String, Node)]) -> Vec<&(String, Node)> {
    let (last, first): (Vec<_>, Vec<_>) =
        javascript::in_order(members).into_iter().partition(|(name, _)| text::has_names(name));
    first.into_iter().chain(last).collect()
}

/// Returns the value of a parameter of `qs`: nothing for null, lists and objects.
fn single(reader: &mut Reader<'_>, value: &Node) -> Template {
    match value {
        Node::Text(text) => match text::whole(text).map(|name| reader.find(name)) {
            Some(Found::Undefined | Found::Constant(Node::Null | Node::List(_) | Node::Object(_))) => {
                Template::default()
            }
            _ => reader.template(text),
        },
        Node::Null | Node::List(_) | Node::Object(_) => Template::default(),
        other => javascript::string(other).as_str().into(),
    }
}

fn without_query(url: &mut Template) {
    let mark = url.0.iter().position(|piece| matches!(piece, Piece::Text(text) if text.contains('?')));
    let Some(at) = mark else { return };
    url.0.truncate(at + 1);
    if let Some(Piece::Text(text)) = url.0.last_mut() {
        text.truncate(text.find('?').unwrap_or(text.len()));
    }
}

/// Whether a hurl file encodes a name or a value as node does. Values that are not known are taken to be plain.
fn is_alike(reader: &Reader<'_>, template: &Template) -> bool {
    template.0.iter().all(|piece| match piece {
        Piece::Text(text) => is_serialized_alike(text),
        Piece::Placeholder(expression) => match &expression.source {
            torr_session::hurl::ast::Source::Variable(name) => {
                reader.variables.value(name).is_none_or(|value| value.contains("{{") || is_serialized_alike(value))
            }
            _ => true,
        },
    })
}
