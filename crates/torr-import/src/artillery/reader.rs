//! What reading a flow has made so far, and the values of its names.

use super::config::Config;
use super::function;
use super::payload::{Kind, Records};
use super::text::{self, Part};
use super::value;
use crate::draft::{Draft, LeftOut, Secret};
use crate::javascript;
use crate::node::{LARGEST, Node};
use crate::parts::{self, capture, push, response};
use crate::reason;
use crate::secret::Secrets;
use crate::variables::{Variables, new_uuid, of_environment};
use std::collections::{HashMap, HashSet};
use torr_session::hurl::ast::{Piece, Query, Template};

/// The variable of the UUID that a virtual user has in its whole session.
const USER: &str = "user_uuid";

/// What stands for a name.
pub(super) enum Found {
    /// A value that is the same in each session.
    Constant(Node),
    Piece(Piece, Kind),
    /// A name without a value, for which Artillery sends `undefined`.
    Undefined,
}

/// A value that a response gives.
#[derive(Debug, Clone)]
pub(super) struct Captured {
    /// The position of the entry, in this file.
    pub(super) entry: Option<usize>,
    /// The JSONPath that finds it.
    pub(super) path: Option<String>,
    pub(super) kind: Kind,
    /// Whether a capture gives the name its value.
    pub(super) is_made: bool,
}

/// Reads a flow.
pub(super) struct Reader<'c> {
    pub(super) config: &'c Config,
    pub(super) variables: Variables,
    pub(super) secrets: Secrets,
    pub(super) draft: Draft,
    /// What was left out since the last request, for the comments above the next one.
    pub(super) pending: Vec<LeftOut>,
    /// The pause before the next request, in milliseconds.
    pub(super) pause: u64,
    /// The values of the loops around a step, the innermost last.
    pub(super) constants: Vec<(String, Node)>,
    pub(super) captured: HashMap<String, Captured>,
    /// The names to which the flow before gives values, as long as nothing says so.
    before: HashSet<String>,
    /// What was said for the whole script, and must not be said again.
    said: HashSet<String>,
    /// The bytes of constants and entries that were made: names and loops can repeat them.
    size: usize,
    /// The steps that were read: loops within loops multiply.
    pub(super) steps: usize,
}

impl<'c> Reader<'c> {
    /// Returns a reader of a flow in which these names occur. `captured` has their values from a flow before, `secrets` those of
    /// other files.
    pub(super) fn new<'n>(
        config: &'c Config,
        names: impl IntoIterator<Item = &'n str>,
        captured: &HashMap<String, Captured>,
        secrets: &[Secret],
    ) -> Self {
        let mut variables = Variables::of(names);
        if let Some(target) = config.target() {
            variables.know("target", target, false);
        }
        config.records.iter().flat_map(|records| &records.fields).for_each(|(name, _)| {
            variables.assign(name);
        });
        let mut before = HashMap::new();
        for (name, known) in captured {
            variables.assign(name);
            before.insert(name.clone(), Captured { entry: None, ..known.clone() });
        }
        Self {
            config,
            secrets: variables.secrets().after(secrets),
            variables,
            draft: Draft::default(),
            pending: Vec::new(),
            pause: 0,
            constants: Vec::new(),
            before: before.keys().cloned().collect(),
            captured: before,
            said: HashSet::new(),
            size: 0,
            steps: 0,
        }
    }

    /// Says above the next request what is left out.
    pub(super) fn leave_out(&mut self, kind: impl Into<String>, which: impl Into<String>, reason: &str) {
        self.pending.push(LeftOut::new(kind, which, reason));
    }

    /// Says once what is left out of the whole script.
    pub(super) fn leave_out_once(&mut self, said: impl IntoIterator<Item = LeftOut>) {
        for said in said {
            if self.said.insert(format!("{} {}", said.kind, said.which)) {
                self.draft.left_out.push(said);
            }
        }
    }

    /// Says once what people should know.
    fn note(&mut self, note: String) {
        if self.said.insert(note.clone()) {
            self.draft.notes.push(note);
        }
    }

    /// Returns a template of text of the part `config`.
    pub(super) fn of_defaults(&mut self, text: &str) -> Template {
        let mut left_out = Vec::new();
        let template = self.config.template(text, &mut left_out);
        self.leave_out_once(left_out);
        template
    }

    /// Returns a template of text with names.
    pub(super) fn template(&mut self, text: &str) -> Template {
        let mut pieces = Vec::new();
        for part in text::parts(text) {
            match part {
                Part::Text(text) => push(&mut pieces, Piece::Text(text.to_owned())),
                Part::Call(name, inner) => {
                    let made = function::call(name, inner, &mut self.pending);
                    made.into_iter().for_each(|piece| push(&mut pieces, piece));
                }
                Part::Name(name) => push(&mut pieces, self.piece(name)),
            }
        }
        Template(pieces)
    }

    fn piece(&mut self, name: &str) -> Piece {
        match self.find(name) {
            Found::Constant(value) => Piece::Text(javascript::in_text(&value)),
            Found::Piece(piece, _) => piece,
            Found::Undefined => Piece::Text("undefined".to_owned()),
        }
    }

    /// Returns what stands for a name.
    pub(super) fn find(&mut self, name: &str) -> Found {
        if let Some(value) = self.constant(name) {
            let value = value.clone();
            return self.bounded(value);
        }
        if let Some(known) = self.captured.get(name).cloned() {
            if known.entry.is_none() && self.before.remove(name) {
                let variable = self.variables.name(name);
                self.note(format!(
                    "variable '{variable}' is captured by the file of --setup: without it, set HURL_VARIABLE_{variable}"
                ));
            }
            if !known.is_made {
                return self.take(name, known).unwrap_or_else(|| self.used(name, Kind::Unknown));
            }
            let variable = self.variables.name(name);
            return Found::Piece(Piece::Placeholder(parts::variable(&variable)), known.kind);
        }
        if name.starts_with('$') {
            return self.within_captured(name).unwrap_or_else(|| self.own(name));
        }
        if name == "target" && self.config.target().is_some() {
            return self.used(name, Kind::Text);
        }
        if let Some(value) = self.config.variable(name) {
            return self.of_config(name, value);
        }
        let records = self.config.records.iter().rev();
        let of = |records: &'c Records| {
            records.fields.iter().find(|(field, _)| field == name).map(|(_, kind)| (records, *kind))
        };
        if let Some((records, kind)) = records.filter_map(of).next() {
            let names: Vec<String> = records.fields.iter().map(|(name, _)| self.variables.name(name)).collect();
            let (file, how) = (&records.file, &records.how);
            self.note(format!("records: '{file}' provides {}: use --feeder{how}", names.join(",")));
            return self.used(name, kind);
        }
        self.within_captured(name).unwrap_or_else(|| self.used(name, Kind::Unknown))
    }

    /// Returns the value of a loop's name, or of a path into one.
    fn constant(&self, name: &str) -> Option<&Node> {
        let exact = self.constants.iter().rev().find(|(known, _)| known == name);
        if let Some((_, value)) = exact {
            return Some(value);
        }
        let steps = value::steps(name)?;
        let (first, rest) = steps.split_first()?;
        let (_, value) = self.constants.iter().rev().find(|(known, _)| known == first)?;
        value::at(value, rest)
    }

    /// Returns what stands for one of Artillery's own names.
    fn own(&mut self, name: &str) -> Found {
        if let Some(name) = text::of_process(name).filter(|name| text::is_plain(name)) {
            return Found::Piece(of_environment(name), Kind::Text);
        }
        match name {
            "$uuid" => {
                self.variables.know(USER, name, false);
                let variable = self.variables.used(USER, &mut self.secrets, &mut |_, _, _| Template(vec![new_uuid()]));
                Found::Piece(Piece::Placeholder(variable), Kind::Text)
            }
            "$environment" => match &self.config.environment {
                Some(name) => Found::Constant(Node::Text(name.clone())),
                None => Found::Undefined,
            },
            "$testId" | "$scenarioFile" | "$dirname" => {
                self.leave_out_once([LeftOut::new(format!("variable {name}"), "", reason::CONSTANT)]);
                Found::Constant(Node::from("test"))
            }
            _ => {
                let reason = "Artillery has no value for it, and sends undefined";
                self.leave_out_once([LeftOut::new(format!("variable {name}"), "", reason)]);
                Found::Undefined
            }
        }
    }

    /// Returns a constant, unless those of this file are too large together.
    fn bounded(&mut self, value: Node) -> Found {
        let is_kept = !self.is_full() && self.grow(javascript::in_text(&value).len());
        if is_kept { Found::Constant(value) } else { Found::Undefined }
    }

    /// Whether the file has as many bytes as it may have.
    pub(super) fn is_full(&self) -> bool {
        self.size > LARGEST
    }

    /// Counts bytes that are made; `false` where they are more than a file may have.
    pub(super) fn grow(&mut self, bytes: usize) -> bool {
        self.size = self.size.saturating_add(bytes);
        if self.is_full() {
            self.leave_out_once([LeftOut::new("repeated values and requests", "", "more than 64 MiB together")]);
        }
        !self.is_full()
    }

    fn used(&mut self, name: &str, kind: Kind) -> Found {
        let (config, pending) = (self.config, &mut self.pending);
        let mut template = |_: &mut Variables, _: &mut Secrets, value: &str| config.template(value, pending);
        let variable = self.variables.used(name, &mut self.secrets, &mut template);
        Found::Piece(Piece::Placeholder(variable), kind)
    }

    fn of_config(&mut self, name: &str, value: &Node) -> Found {
        let value = match value {
            Node::List(items) if self.config.is_sampled(name) => {
                if items.len() > 1 {
                    let reason = "the first value is used: Artillery takes a random one for each user";
                    if self.variables.value(name).is_none() {
                        self.leave_out("list of values", name, reason);
                        self.variables.know(name, &items.first().map(javascript::in_text).unwrap_or_default(), false);
                    }
                }
                items.first().unwrap_or(&Node::Null)
            }
            value => value,
        };
        match value {
            Node::List(_) | Node::Object(_) => self.bounded(value.clone()),
            Node::Text(text) => {
                if text::whole(text).is_some_and(|name| self.config.is_undefined(name)) {
                    return Found::Undefined;
                }
                self.variables.know(name, text, false);
                self.used(name, Kind::Text)
            }
            literal => {
                self.variables.know(name, &javascript::json(literal), false);
                self.used(name, Kind::Literal)
            }
        }
    }

    /// Returns the variable for a part of a value that a response gave, which a capture there takes as well.
    fn within_captured(&mut self, name: &str) -> Option<Found> {
        let steps = value::steps(name)?;
        let (first, rest) = steps.split_first()?;
        let list = self.captured.get(*first)?.clone();
        let path = format!("{}{}", list.path.as_ref()?, value::json_path(rest));
        // What has parts is a list or an object, which JSON has as it is.
        self.captured.insert((*first).to_owned(), Captured { kind: Kind::Literal, ..list.clone() });
        self.take(name, Captured { path: Some(path), kind: Kind::Unknown, ..list })
    }

    /// Captures a value where the one is captured that it is a part of.
    fn take(&mut self, name: &str, captured: Captured) -> Option<Found> {
        let entry = &mut self.draft.entries.get_mut(captured.entry?)?.entry;
        let path = captured.path.as_deref()?;
        let variable = self.variables.assign(name);
        response(entry).captures.push(capture(&variable, Query::JsonPath(path.into())));
        self.captured.insert(name.to_owned(), Captured { is_made: true, ..captured });
        Some(Found::Piece(Piece::Placeholder(parts::variable(&variable)), Kind::Unknown))
    }

    /// Returns the value of a name that is the same in each session, or the number of a think time.
    pub(super) fn known(&self, name: &str) -> Option<Node> {
        if let Some(value) = self.constant(name) {
            return Some(value.clone());
        }
        if self.captured.contains_key(name) {
            return None;
        }
        match self.config.variable(name)? {
            Node::List(items) if self.config.is_sampled(name) => items.first().cloned(),
            Node::Text(text) if text::has_names(text) => None,
            value => Some(value.clone()),
        }
    }
}
