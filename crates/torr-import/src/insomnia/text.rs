//! Templates of text: variables and tags become their counterparts in a hurl file.

use super::reader::Reader;
use super::scope::{self, DEEPEST, MOST, Meaning};
use super::tag::{self, Base64, Tag};
use super::template::{Argument, Part, is_template, parts, path};
use crate::draft::LeftOut;
use crate::dynamic;
use crate::parts::{capture, push, response, variable};
use crate::variables::{new_date, new_uuid};
use torr_session::hurl::ast::{Piece, Query, Source, Template};
use torr_session::pattern::is_json_path;
use torr_xpath::Expression;

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
    /// Names whose values are read, with the numbers of the layers that they name themselves in.
    within: Vec<(String, usize)>,
    /// The number of names that may still be read.
    steps: usize,
    /// The number of names that may still be looked up to know values before the run.
    left: usize,
}

impl Reader<'_> {
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

    fn add(&mut self, text: &str, state: &mut Text, left_out: &mut Vec<LeftOut>, pieces: &mut Vec<Piece>) {
        if !is_template(text) {
            return push(pieces, Piece::Text(text.to_owned()));
        }
        for part in parts(text) {
            match part {
                Part::Text(text) => push(pieces, Piece::Text(text.to_owned())),
                Part::Name(steps) => self.add_name(&steps, state, left_out, pieces),
                Part::Expression(text) => {
                    let words: Vec<&str> =
                        text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
                    let name = self.name_of(text, &words.join("_"));
                    let reason = format!("no counterpart: give its value as the variable {name}");
                    left_out.push(LeftOut::new("expression", text, reason));
                    push(pieces, self.variable(&name, None, false));
                }
                Part::Tag(name, arguments) => {
                    state.steps = state.steps.saturating_sub(1);
                    if state.steps > 0 {
                        let within = state.within.last().map(|(name, _)| name.clone());
                        for piece in self.tag(name, arguments, within.as_deref(), left_out) {
                            push(pieces, piece);
                        }
                    }
                }
            }
        }
    }

    /// Returns what stands for a tag. `within` is the name of the variable whose value it is part of.
    fn tag(&mut self, name: &str, text: &str, within: Option<&str>, left_out: &mut Vec<LeftOut>) -> Vec<Piece> {
        let reason = match tag::read(name, text) {
            Tag::Uuid => return vec![new_uuid()],
            Tag::Date(format, is_local) => {
                if is_local {
                    left_out.push(LeftOut::new("time zone", text, "the time is sent in UTC"));
                }
                return vec![new_date(&format)];
            }
            Tag::MadeUp(name) => return dynamic::piece(&name, left_out).into_iter().collect(),
            Tag::Base64(action, value) => match self.base64(action, &value, left_out) {
                Some(piece) => return vec![piece],
                None => "no counterpart",
            },
            Tag::Response(response) => {
                if response.trigger == "always" {
                    let reason = "the request that it names is not sent again";
                    left_out.push(LeftOut::new("trigger of a response", "always", reason));
                }
                match self.captured(&response, within) {
                    Ok(piece) => return vec![piece],
                    Err(reason) => reason,
                }
            }
            Tag::Name => return self.around.first().map(|name| Piece::Text(name.clone())).into_iter().collect(),
            Tag::Folder(index) => match self.around.get(1 + index) {
                Some(name) => return vec![Piece::Text(name.clone())],
                None => "no such folder",
            },
            Tag::Given(title, value, is_secret) => {
                let name = self.name_of(text, &title);
                let value = Some(value.as_str()).filter(|value| !value.is_empty());
                return vec![self.variable(&name, value, is_secret)];
            }
            Tag::Secret => {
                let name = self.name_of(text, within.unwrap_or("external_secret"));
                return vec![self.variable(&name, None, true)];
            }
            Tag::Other(reason) => reason,
        };
        let whole = format!("{name} {text}");
        let variable = self.name_of(&whole, within.unwrap_or(name));
        let reason = format!("{reason}: give its value as the variable {variable}");
        left_out.push(LeftOut::new("tag", whole, reason));
        vec![self.variable(&variable, None, false)]
    }

    /// Encodes or decodes a value, which is known or a variable.
    fn base64(&mut self, action: Base64, value: &Argument, left_out: &mut Vec<LeftOut>) -> Option<Piece> {
        let known = match value {
            Argument::Text(_) => Some(value.text()),
            Argument::Other(text) => path(text).and_then(|steps| self.scope.literal(&steps, &mut MOST.clone())),
        };
        if let Some(known) = known {
            return action.apply(&known).map(Piece::Text);
        }
        let template = self.argument(&value.text(), left_out)?;
        match <[Piece; 1]>::try_from(template.0) {
            Ok([Piece::Placeholder(mut expression)]) => {
                expression.filters.extend(action.filters());
                Some(Piece::Placeholder(expression))
            }
            _ => None,
        }
    }

    /// Returns a value of the response to a request, which its entry captures. Where that comes later, the request is sent before too,
    /// if Insomnia does so.
    fn captured(&mut self, tag: &tag::Response, within: Option<&str>) -> Result<Piece, &'static str> {
        let (field, filter) = (tag.field.as_str(), tag.filter.as_str());
        let query = match field {
            "body" if filter.starts_with('$') => match is_json_path(filter) {
                true => Query::JsonPath(filter.into()),
                false => return Err("not supported as a JSONPath"),
            },
            "body" if !filter.is_empty() => {
                let text = format!("string({filter})");
                Expression::compile(&text).map_err(|_| "not a valid XPath")?;
                Query::XPath(text.as_str().into())
            }
            "raw" => Query::Body,
            "header" if !filter.is_empty() => Query::Header(filter.into()),
            "url" => Query::Url,
            _ => return Err("no counterpart"),
        };
        let is_sent = matches!(tag.trigger.as_str(), "no-history" | "when-expired" | "always");
        let has_entry = self.entries.contains_key(&tag.id) || is_sent && self.add_first(&tag.id);
        if !has_entry {
            return Err("the request that it names comes later, or is no entry");
        }
        let at = self.entries.get(&tag.id).copied().unwrap_or_default();
        let of_request = self.inner.draft.entries.get(at).and_then(|made| made.entry.name.clone()).unwrap_or_default();
        let key = format!("response {field} {} {filter}", tag.id);
        let known = self.tags.contains_key(&key);
        let last =
            filter.rsplit(['.', '/', '@']).next().unwrap_or_default().trim_matches(|c: char| !c.is_alphanumeric());
        let last = if last.is_empty() { field } else { last };
        let base = within.map_or_else(|| format!("{of_request} {last}"), |within| format!("{within} of {of_request}"));
        let name = self.name_of(&key, &base);
        let assigned = self.inner.variables.assign(&name);
        if let Some(made) = self.inner.draft.entries.get_mut(at).filter(|_| !known) {
            let captured = capture(&assigned, query);
            self.captures.entry(tag.id.clone()).or_default().push(captured.clone());
            response(&mut made.entry).captures.push(captured);
            let note = format!("captured: '{assigned}' from the response of request {}", at + 1);
            self.inner.draft.notes.push(note);
        }
        Ok(Piece::Placeholder(variable(&assigned)))
    }

    /// Returns the value of an argument of a tag that is a variable; `None` for any other expression.
    fn argument(&mut self, text: &str, left_out: &mut Vec<LeftOut>) -> Option<Template> {
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
            state.within.push((name.clone(), scope::layers_below(&name, &value, layer)));
            self.add(&value, state, left_out, pieces);
            state.within.pop();
            return;
        }
        // Its own value comes first, as its definition names others.
        let mut template = Template::default();
        if !is_secret && !self.inner.variables.is_used(&name) {
            state.within.push((name.clone(), scope::layers_below(&name, &value, layer)));
            let reading = std::mem::replace(&mut state.reading, Reading::Text);
            self.add(&value, state, left_out, &mut template.0);
            state.reading = reading;
            state.within.pop();
        }
        let crate::reader::Reader { variables, secrets, .. } = &mut self.inner;
        variables.know(&name, &value, is_secret);
        let expression = variables.used(&name, secrets, &mut |_, _, _| std::mem::take(&mut template));
        if let Source::Variable(variable) = &expression.source
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
