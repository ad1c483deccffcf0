//! A request in the making, with the variables of its file.

use super::files::Files;
use super::text::{self, Part};
use super::{function, reference};
use crate::draft::LeftOut;
use crate::parts::{self, capture, nothing, option, push, response};
use crate::reader::Reader;
use crate::secret::Secrets;
use crate::variables::Variables;
use std::collections::HashMap;
use torr_session::hurl::ast::{OptionName, OptionValue, Piece, Request, Template, Value};

/// A request in the making.
pub(super) struct Made<'m> {
    pub(super) reader: &'m mut Reader,
    pub(super) request: Request,
    pub(super) left_out: Vec<LeftOut>,
    pub(super) files: &'m Files<'m>,
    /// The entries of the requests that have a name.
    pub(super) named: &'m HashMap<String, usize>,
}

impl<'m> Made<'m> {
    /// Returns a request of nothing.
    pub(super) fn new(
        reader: &'m mut Reader,
        left_out: Vec<LeftOut>,
        files: &'m Files<'m>,
        named: &'m HashMap<String, usize>,
    ) -> Self {
        Self { reader, request: nothing(), left_out, files, named }
    }

    /// Says what is left out.
    pub(super) fn leave_out(&mut self, kind: &str, which: &str, reason: &str) {
        self.left_out.push(LeftOut::new(kind, which, reason));
    }

    /// Adds an option.
    pub(super) fn option(&mut self, name: OptionName, value: OptionValue) {
        self.request.options.push(option(name, value));
    }

    /// Returns a template of text with variables.
    pub(super) fn template(&mut self, text: &str) -> Template {
        let mut captured = HashMap::new();
        for expression in text::expressions(text) {
            if let Some(variable) = self.captured(expression) {
                captured.insert(expression.to_owned(), variable);
            }
        }
        let left_out = &mut self.left_out;
        if text::parts(text).iter().any(|part| matches!(part, Part::Plain(text) if text.contains("{{"))) {
            left_out.push(LeftOut::new("expression in braces", "", "sent as it stands in the file"));
        }
        let mut function = |expression: &str| match captured.get(expression) {
            Some(variable) => Some(Piece::Placeholder(parts::variable(variable))),
            None => function::piece(expression, left_out),
        };
        let Reader { variables, secrets, .. } = &mut *self.reader;
        resolved(variables, secrets, text, &mut function)
    }

    /// Gives a variable a value from here on.
    pub(super) fn define(&mut self, name: &str, value: &str) {
        let value = self.template(value);
        let value = self.reader.secrets.in_parameter(name, value);
        let name = self.reader.variables.assign(name);
        self.option(OptionName::Variable, OptionValue::Definition { name, value: Value::Text(value) });
    }

    /// Returns the variable for a part of an earlier response, which a capture there gives its value.
    fn captured(&mut self, expression: &str) -> Option<String> {
        let (name, path) = reference::split(expression)?;
        let (at, is_response) = match (self.named.get(&name), name.strip_suffix("Response")) {
            (Some(at), _) => (*at, false),
            (None, Some(name)) => (*self.named.get(name)?, true),
            // The response before this request.
            (None, None) if name == "response" => (self.reader.draft.entries.len().checked_sub(1)?, true),
            (None, None) => return None,
        };
        let query = reference::query(&path, is_response)?;
        // Each request has a last response of its own.
        let key = if name == "response" { format!("response_{}{path}", at + 1) } else { expression.to_owned() };
        let variable = self.reader.variables.assign(&key);
        let expected = response(&mut self.reader.draft.entries.get_mut(at)?.entry);
        if !expected.captures.iter().any(|capture| capture.name.literal() == Some(&variable)) {
            expected.captures.push(capture(&variable, query));
            self.reader.draft.notes.push(format!("captured: '{variable}' from the response of request {}", at + 1));
        }
        Some(variable)
    }
}

/// Returns a template of text whose functions and variables have their counterparts.
fn resolved(
    variables: &mut Variables,
    secrets: &mut Secrets,
    text: &str,
    function: &mut dyn FnMut(&str) -> Option<Piece>,
) -> Template {
    let mut pieces: Vec<Piece> = Vec::new();
    for part in text::parts(text) {
        let expression = match part {
            Part::Plain(text) => {
                push(&mut pieces, Piece::Text(text.to_owned()));
                continue;
            }
            Part::Expression(expression) => expression,
        };
        // An expression may lead to a value within another one, and a file of variables may have the value.
        let name = expression.strip_prefix("$dotenv").map_or(expression, str::trim);
        let is_known = variables.value(name).is_some();
        let piece = if is_known { None } else { function(expression) };
        let name = if is_known { name } else { expression };
        let piece =
            piece.unwrap_or_else(|| {
                Piece::Placeholder(variables.used(name, secrets, &mut |variables, secrets, value| {
                    resolved(variables, secrets, value, function)
                }))
            });
        push(&mut pieces, piece);
    }
    Template(pieces)
}
