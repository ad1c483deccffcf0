//! What reading a collection has made so far, and templates of text.

use super::item::Level;
use super::scope::{self, DEEPEST, MOST, Meaning, Scope};
use super::tag;
use super::template::{Part, is_template, parts, path};
use crate::draft::LeftOut;
use crate::node::LARGEST;
use crate::parts::{push, variable_name};
use std::collections::{BTreeMap, BTreeSet};
use torr_session::hurl::ast::{Piece, Template};

/// Reads a collection.
pub(super) struct Reader<'c> {
    pub(super) inner: crate::reader::Reader,
    pub(super) scope: Scope<'c>,
    /// The numbers of entries by the ids of their requests.
    pub(super) entries: BTreeMap<String, usize>,
    /// Tokens that entries capture: the level whose authorization it is, and the variable.
    pub(super) tokens: Vec<(&'c Level, String)>,
    /// Variables that stand for tags, by the tags.
    pub(super) tags: BTreeMap<String, String>,
    /// The names of the request that is read and of the folders around it, from inside out.
    pub(super) around: Vec<String>,
    /// Variables of the URL whose values need no encoding.
    pub(super) plain: BTreeSet<String>,
    /// The bytes that values of variables may still take in all requests together.
    left: usize,
}

/// How a text is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reading {
    /// As it is.
    Text,
    /// As a URL, in which a known value with characters that are encoded stands as it is.
    Url,
    /// As a part of a query.
    Query,
}

/// The state of reading one text.
struct Text {
    reading: Reading,
    /// Names whose values are read, with the numbers of their layers.
    within: Vec<(String, usize)>,
    /// The number of names that may still be read.
    steps: usize,
    /// The number of names that may still be looked up to know values before the run.
    left: usize,
}

impl<'c> Reader<'c> {
    /// Returns a reader that has read nothing yet.
    pub(super) fn new(inner: crate::reader::Reader, scope: Scope<'c>) -> Self {
        Self {
            inner,
            scope,
            entries: BTreeMap::new(),
            tokens: Vec::new(),
            tags: BTreeMap::new(),
            around: Vec::new(),
            plain: BTreeSet::new(),
            left: LARGEST,
        }
    }

    /// Returns a template of text with variables and tags.
    pub(super) fn template(&mut self, text: &str, left_out: &mut Vec<LeftOut>) -> Template {
        self.template_as(Reading::Text, text, left_out)
    }

    /// Returns a template of text that is read in some way.
    pub(super) fn template_as(&mut self, reading: Reading, text: &str, left_out: &mut Vec<LeftOut>) -> Template {
        let mut pieces = Vec::new();
        let mut state = Text { reading, within: Vec::new(), steps: MOST, left: MOST };
        self.add(text, &mut state, left_out, &mut pieces);
        if state.steps == 0 {
            left_out.push(LeftOut::new("values of variables", "", format!("more than {MOST} names in one text")));
        }
        Template(pieces)
    }

    /// Returns a credential: a variable that the collection names, otherwise a new one.
    pub(super) fn credential(&mut self, name: &str, value: &str, left_out: &mut Vec<LeftOut>) -> Template {
        let template = self.template(value, left_out);
        if template.literal() == Some("") { template } else { self.inner.secrets.credential(name, template) }
    }

    /// Returns the name of a variable that stands for what a tag gives: the same for the same tag, and that of nothing else.
    pub(super) fn name_of(&mut self, tag: &str, base: &str) -> String {
        if let Some(known) = self.tags.get(tag) {
            return known.clone();
        }
        let is_taken = |name: &str| self.scope.has(name) || self.tags.values().any(|known| known == name);
        let name = variable_name(base, is_taken);
        self.tags.insert(tag.to_owned(), name.clone());
        name
    }

    /// Returns a variable that stands for what a tag gives, with a value if that is known.
    pub(super) fn variable(&mut self, name: &str, value: Option<&str>, is_secret: bool) -> Piece {
        let crate::reader::Reader { variables, secrets, .. } = &mut self.inner;
        if value.is_some() || is_secret {
            variables.know(name, value.unwrap_or_default(), is_secret);
        }
        Piece::Placeholder(variables.used(name, secrets, &mut |_, _, value| value.into()))
    }

    fn add(&mut self, text: &str, state: &mut Text, left_out: &mut Vec<LeftOut>, pieces: &mut Vec<Piece>) {
        if !is_template(text) {
            return push(pieces, Piece::Text(text.to_owned()));
        }
        for part in parts(text) {
            match part {
                Part::Text(text) => push(pieces, Piece::Text(text.to_owned())),
                Part::Name(steps) => self.add_name(&steps, state, left_out, pieces),
                Part::Expression(text) => {
                    left_out.push(LeftOut::new("expression", text, "no counterpart: give its value as a variable"));
                    let name = self.name_of(text, text);
                    push(pieces, self.variable(&name, None, false));
                }
                Part::Tag(name, arguments) => {
                    // What a tag's arguments name, and a name that has the tag as its value, are read as deep.
                    state.steps = state.steps.saturating_sub(1);
                    if state.steps > 0 {
                        let within = state.within.last().map(|(name, _)| name.clone());
                        for piece in tag::pieces(self, name, arguments, within.as_deref(), left_out) {
                            push(pieces, piece);
                        }
                    }
                }
            }
        }
    }

    /// Adds the value of an argument of a tag that is a variable; `false` for any other expression.
    pub(super) fn argument(&mut self, text: &str, left_out: &mut Vec<LeftOut>) -> Option<Template> {
        let steps = path(text)?;
        let mut pieces = Vec::new();
        let mut state = Text { reading: Reading::Text, within: Vec::new(), steps: MOST, left: MOST };
        self.add_name(&steps, &mut state, left_out, &mut pieces);
        Some(Template(pieces))
    }

    fn add_name(&mut self, steps: &[String], state: &mut Text, left_out: &mut Vec<LeftOut>, pieces: &mut Vec<Piece>) {
        let name = steps.join(".");
        state.steps = state.steps.saturating_sub(1);
        let own = state.within.iter().rev().find(|(outer, _)| *outer == name).map(|(_, layer)| *layer);
        let below = own.unwrap_or(self.scope.layers());
        let meaning = self.scope.meaning(steps, below);
        let is_circle = own.is_some() && !matches!(meaning, Meaning::Known(..));
        if state.steps == 0 || is_circle || state.within.len() > DEEPEST {
            left_out.push(LeftOut::new("variable", name.as_str(), "its value has no end"));
            return;
        }
        if scope::is_of_vault(steps) {
            let (last, name) = (steps.last().map_or("", String::as_str), format!("vault {name}"));
            let name = self.name_of(&name, last);
            return push(pieces, self.variable(&name, None, true));
        }
        let is_secret = scope::is_secret(steps);
        let Meaning::Known(value, layer) = meaning else {
            return push(pieces, self.variable(&name, None, false));
        };
        let is_text = is_template(&value);
        let known = match state.reading {
            Reading::Text => None,
            _ if own.is_some() => None,
            _ => self.scope.literal(steps, &mut state.left),
        };
        if let Some(known) = known.as_ref().filter(|known| is_special(known, state.reading, pieces)) {
            return push(pieces, Piece::Text(known.clone()));
        }
        let is_shown = own.is_some() || self.scope.is_shown(&name, &value) || is_secret && is_text;
        if is_shown && is_secret && !is_text && !value.is_empty() {
            let last = steps.last().map_or("", String::as_str);
            let secret = self.inner.secrets.whole(last, &format!("variable {name}"), &value);
            return secret.0.into_iter().for_each(|piece| push(pieces, piece));
        }
        if is_shown {
            let Some(left) = self.left.checked_sub(value.len()) else {
                return left_out.push(LeftOut::new("variable", name.as_str(), "the values grow too large"));
            };
            self.left = left;
            state.within.push((name, layer));
            self.add(&value, state, left_out, pieces);
            state.within.pop();
            return;
        }
        // Its own value comes first, as its definition names others.
        let mut template = Template::default();
        if !is_secret && !self.inner.variables.is_used(&name) {
            state.within.push((name.clone(), layer));
            let reading = std::mem::replace(&mut state.reading, Reading::Text);
            self.add(&value, state, left_out, &mut template.0);
            state.reading = reading;
            state.within.pop();
        }
        let crate::reader::Reader { variables, secrets, .. } = &mut self.inner;
        variables.know(&name, &value, is_secret);
        let expression = variables.used(&name, secrets, &mut |_, _, _| std::mem::take(&mut template));
        if let torr_session::hurl::ast::Source::Variable(variable) = &expression.source
            && known.is_some()
        {
            self.plain.insert(variable.clone());
        }
        push(pieces, Piece::Placeholder(expression));
    }
}

/// Whether a value has characters that are encoded where it stands in a URL.
fn is_special(value: &str, reading: Reading, before: &[Piece]) -> bool {
    let is_mark = |piece: &Piece| matches!(piece, Piece::Text(text) if text.contains('?'));
    let is_query = reading == Reading::Query || before.iter().any(is_mark);
    let is_plain = |c: char| {
        c.is_ascii_alphanumeric() || "-._~".contains(c) || !is_query && (c == '/' || before.is_empty() && c == ':')
    };
    !value.chars().all(is_plain)
}
