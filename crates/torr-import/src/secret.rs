//! Values that must not stand in a file that is committed: credentials become variables.

use crate::draft::Secret;
use crate::parts::{filled, filled_piece, push, user_of, variable, variable_name};
use regex::{Captures, Regex};
use std::collections::HashSet;
use std::sync::LazyLock;
use torr_gauge::redact::is_secret_parameter;
use torr_session::hurl::ast::{JsonPiece, Piece, Template};
use torr_wire::percent::form_decoded;

/// Names of fields whose values are credentials, in lower case.
const FIELDS: &[&str] = &[
    "authorization",
    "proxy-authorization",
    "cookie",
    "x-api-key",
    "api-key",
    "apikey",
    "x-auth-token",
    "x-access-token",
    "x-csrf-token",
    "x-xsrf-token",
];

/// A member of a JSON object with a string: name and value, escapes included.
static MEMBER: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r#""((?:[^"\\]|\\.)*)"(\s*:\s*)"((?:[^"\\]|\\.)*)""#).expect("the pattern is constant and tested")
});

/// The first character that marks a placeholder's place in JSON text.
pub(crate) const MARKS: char = '\u{100000}';

/// The secrets of a file so far.
#[derive(Debug, Default)]
pub(crate) struct Secrets {
    found: Vec<Secret>,
    /// Names of variables that stand for these, or for something else.
    taken: HashSet<String>,
}

impl Secrets {
    /// Returns no secrets yet, beside variables of these names.
    pub(crate) fn beside(taken: Vec<String>) -> Self {
        Self { found: Vec::new(), taken: taken.into_iter().collect() }
    }

    /// Notes a variable that stands for something else, so that no secret gets its name.
    pub(crate) fn reserve(&mut self, variable: &str) {
        self.taken.insert(variable.to_owned());
    }

    /// Whether a variable of this name stands for something already.
    pub(crate) fn has(&self, variable: &str) -> bool {
        self.taken.contains(variable)
    }

    /// Returns secrets of one more file that runs together with those of these: a value has one variable in all of them.
    pub(crate) fn after(mut self, found: &[Secret]) -> Self {
        self.taken.extend(found.iter().map(|secret| secret.variable.clone()));
        Self { found: found.to_vec(), ..self }
    }

    /// Returns all secrets.
    pub(crate) fn finish(self) -> Vec<Secret> {
        self.found
    }

    /// Returns the value of a field, with a variable for a credential. An authentication scheme stays, since it is no secret.
    pub(crate) fn field(&mut self, name: &str, value: &str) -> Template {
        let lower = name.to_ascii_lowercase();
        if !FIELDS.contains(&lower.as_str()) || value.is_empty() {
            return value.into();
        }
        let scheme = value.split_once(' ').map(|(scheme, _)| scheme);
        let scheme =
            scheme.filter(|scheme| lower.ends_with("authorization") && scheme.chars().all(char::is_alphanumeric));
        let kept = scheme.map_or(0, |scheme| scheme.len() + 1);
        self.behind(&value[..kept], &lower, &format!("field {name}"), &value[kept..])
    }

    /// Returns the value of a parameter, with a variable for a credential.
    pub(crate) fn parameter(&mut self, name: &str, value: &str) -> Template {
        if value.is_empty() || !is_secret_parameter(name) {
            return value.into();
        }
        self.behind("", name, &format!("parameter {name}"), value)
    }

    /// Returns a template, with a variable for a literal credential.
    pub(crate) fn in_field(&mut self, name: &str, value: Template) -> Template {
        match value.literal() {
            Some(text) => self.field(name, text),
            None => value,
        }
    }

    /// Returns a template, with a variable for a literal credential.
    pub(crate) fn in_parameter(&mut self, name: &str, value: Template) -> Template {
        match value.literal() {
            Some(text) => self.parameter(name, text),
            None => value,
        }
    }

    /// Whether a variable of this name holds a credential.
    pub(crate) fn is_credential(name: &str) -> bool {
        FIELDS.contains(&name.to_ascii_lowercase().as_str()) || is_secret_parameter(name)
    }

    /// Notes a variable that holds a credential under a name of its own.
    pub(crate) fn note(&mut self, variable: &str, place: &str, value: &str) {
        if !self.found.iter().any(|secret| secret.variable == variable) {
            let secret = Secret { variable: variable.to_owned(), place: place.to_owned(), value: value.to_owned() };
            self.taken.insert(variable.to_owned());
            self.found.push(secret);
        }
    }

    /// Returns a variable for a credential of this name.
    pub(crate) fn whole(&mut self, name: &str, place: &str, value: &str) -> Template {
        self.behind("", name, place, value)
    }

    /// Returns a credential of an authorization: a variable that the template names, otherwise a new one.
    pub(crate) fn credential(&mut self, name: &str, template: Template) -> Template {
        match template.literal() {
            Some(text) => self.whole(name, "authorization", text),
            None => template,
        }
    }

    /// Returns JSON text as content, with variables for the strings of members that are credentials.
    pub(crate) fn json(&mut self, text: &str) -> Vec<JsonPiece> {
        let mut pieces = Vec::new();
        let mut end = 0;
        for captures in MEMBER.captures_iter(text).filter(is_credential) {
            let (name, value) = (&captures[1], captures.get(3).expect("the pattern has three groups"));
            pieces.push(JsonPiece::Text(plain_json(&text[end..value.start()])));
            let decoded = serde_json::from_str(&format!("\"{}\"", value.as_str()));
            let decoded = decoded.unwrap_or_else(|_| value.as_str().to_owned());
            let name = self.name(name, &format!("member {name}"), &decoded);
            pieces.push(JsonPiece::InString(variable(&name)));
            end = value.end();
        }
        pieces.push(JsonPiece::Text(plain_json(&text[end..])));
        pieces
    }

    /// Returns text with variables for the credentials in it, each with the spelling that it has there: strings of JSON members, and
    /// parameters where the text is a form.
    pub(crate) fn text(&mut self, text: Template, is_form: bool) -> Template {
        let mut pieces = Vec::new();
        for piece in text.0 {
            match piece {
                Piece::Text(text) if is_form => self.form_text(&text, &mut pieces),
                Piece::Text(text) => self.json_text(&text, &mut pieces),
                placeholder => push(&mut pieces, placeholder),
            }
        }
        Template(pieces)
    }

    fn json_text(&mut self, text: &str, pieces: &mut Vec<Piece>) {
        let mut end = 0;
        for captures in MEMBER.captures_iter(text).filter(is_credential) {
            let (name, value) = (&captures[1], captures.get(3).expect("the pattern has three groups"));
            push(pieces, Piece::Text(text[end..value.start()].to_owned()));
            let variable = self.whole(name, &format!("member {name}"), value.as_str());
            variable.0.into_iter().for_each(|piece| push(pieces, piece));
            end = value.end();
        }
        push(pieces, Piece::Text(text[end..].to_owned()));
    }

    /// Returns a URL with variables for the credentials in it, each with the spelling that it has there: the password
    /// before the host, and parameters of the query.
    pub(crate) fn url(&mut self, url: Template) -> Template {
        let (mut pieces, mut is_query) = (Vec::new(), false);
        for piece in self.password_of_url(url).0 {
            match piece {
                Piece::Text(text) if is_query => self.form_text(&text, &mut pieces),
                Piece::Text(text) => {
                    let (before, query) = text.split_at(text.find('?').map_or(text.len(), |at| at + 1));
                    is_query = before.ends_with('?');
                    push(&mut pieces, Piece::Text(before.to_owned()));
                    self.form_text(query, &mut pieces);
                }
                placeholder => push(&mut pieces, placeholder),
            }
        }
        Template(pieces)
    }

    fn password_of_url(&mut self, url: Template) -> Template {
        let text = filled(&url);
        let Some((start, user)) = user_of(&text) else { return url };
        let Some((name, password)) = user.split_once(':').filter(|(_, password)| !password.is_empty()) else {
            return url;
        };
        let (from, to) = (start + name.len() + 1, start + user.len());
        let (mut pieces, mut at) = (Vec::new(), 0);
        for piece in url.0 {
            let length = filled_piece(&piece).len();
            match piece {
                // A password that a placeholder is part of is no value of this file.
                Piece::Text(text) if at < from && to < at + length => {
                    push(&mut pieces, Piece::Text(text[..from - at].to_owned()));
                    let variable = self.whole("password", "the password of the URL", password);
                    variable.0.into_iter().for_each(|piece| push(&mut pieces, piece));
                    push(&mut pieces, Piece::Text(text[to - at..].to_owned()));
                }
                piece => push(&mut pieces, piece),
            }
            at += length;
        }
        Template(pieces)
    }

    fn form_text(&mut self, text: &str, pieces: &mut Vec<Piece>) {
        for (at, pair) in text.split('&').enumerate() {
            if at > 0 {
                push(pieces, Piece::Text("&".to_owned()));
            }
            let Some((name, value)) = pair.split_once('=') else {
                push(pieces, Piece::Text(pair.to_owned()));
                continue;
            };
            push(pieces, Piece::Text(format!("{name}=")));
            let value = self.parameter(&form_decoded(name), value);
            value.0.into_iter().for_each(|piece| push(pieces, piece));
        }
    }

    fn behind(&mut self, kept: &str, name: &str, place: &str, value: &str) -> Template {
        let placeholder = Piece::Placeholder(variable(&self.name(name, place, value)));
        Template(if kept.is_empty() { vec![placeholder] } else { vec![Piece::Text(kept.to_owned()), placeholder] })
    }

    /// Returns the name of a value's variable: the same for the same value of the same name, otherwise a new one.
    fn name(&mut self, name: &str, place: &str, value: &str) -> String {
        let base = variable_name(name, |_| false);
        let known = self.found.iter().find(|secret| secret.value == value && secret.variable.starts_with(&base));
        if let Some(known) = known {
            return known.variable.clone();
        }
        let variable = variable_name(name, |variable| self.has(variable));
        let secret = Secret { variable: variable.clone(), place: place.to_owned(), value: value.to_owned() };
        self.taken.insert(variable.clone());
        self.found.push(secret);
        variable
    }
}

fn is_credential(captures: &Captures<'_>) -> bool {
    is_secret_parameter(&captures[1]) && !captures[3].is_empty() && !captures[3].contains(is_mark)
}

/// Whether a character marks a placeholder's place in JSON text: those of the last plane for private use.
pub(crate) fn is_mark(next: char) -> bool {
    next >= MARKS
}

/// Returns JSON text in which no string can be taken for a placeholder: two braces in a row occur within strings only.
fn plain_json(text: &str) -> String {
    text.replace("{{", "\\u007b\\u007b")
}
