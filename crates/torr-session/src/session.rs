//! A session: the entries of a hurl file, compiled before the run.

use crate::expected::Expected;
use crate::files::Files;
use crate::hurl::{ParseError, Position, ast, option_name};
use crate::options::Options;
use crate::request::Request;
use crate::scope::{Names, Variables};
use std::collections::BTreeSet;

/// The entries that a virtual user walks through.
#[derive(Debug, Clone)]
pub struct Session {
    /// The entries, in order.
    pub entries: Vec<Entry>,
    /// The names of all variables.
    pub names: Names,
    /// What the file asks for and has no meaning under load, with its place.
    pub ignored: Vec<(Position, String)>,
    /// The variables whose values no output may show, by number.
    pub redacted: Vec<usize>,
}

/// An entry, compiled.
#[derive(Debug, Clone)]
pub struct Entry {
    /// The entry's name in results: the file's, or method and path.
    pub name: String,
    /// The request.
    pub request: Request,
    /// The options.
    pub options: Options,
    /// What the response must be; without it, every response passes.
    pub expected: Option<Expected>,
    /// The place of the request.
    pub at: Position,
}

impl Session {
    /// Compiles a hurl file. `given` are the names of the variables that have a value from the beginning.
    ///
    /// # Errors
    /// Where an expression is none, a file cannot be read, or something is not supported.
    pub fn compile<'n>(
        file: &ast::File,
        files: &dyn Files,
        given: impl IntoIterator<Item = &'n str>,
    ) -> Result<Self, ParseError> {
        let (mut names, mut ignored) = (Names::default(), Vec::new());
        names.refuses_environment = files.refuses_environment();
        for name in given {
            names.assign(name);
        }
        let entries = file.entries.iter().map(|entry| Entry::compile(entry, &mut names, files, &mut ignored));
        let entries = entries.collect::<Result<Vec<_>, _>>()?;
        ignored.extend(held_by_all(&entries));
        ignored.sort_by_key(|(at, _)| *at);
        // What every entry has is said once.
        let mut said = BTreeSet::new();
        ignored.retain(|(_, what)| said.insert(what.clone()));
        let expected = entries.iter().filter_map(|entry| entry.expected.as_ref());
        let redacted = expected.flat_map(Expected::redacted).collect();
        Ok(Self { entries, names, ignored, redacted })
    }
}

/// Returns a line for each option of the connection that some entries have and others do not, since it holds for the whole run.
fn held_by_all(entries: &[Entry]) -> Vec<(Position, String)> {
    // The protocol is one for all, and these two name the hosts that they are for.
    let is_of_all = |name: &str| !matches!(name, "resolve" | "connect-to" | "http1.1");
    let mut first: Vec<(&str, Position)> = Vec::new();
    for (option, value, at) in entries.iter().flat_map(|entry| &entry.options.transport) {
        let name = option_name(*option);
        if is_of_all(name) && !value.is_false() && first.iter().all(|(known, _)| *known != name) {
            first.push((name, *at));
        }
    }
    let has =
        |entry: &Entry, name: &str| entry.options.transport.iter().any(|(option, ..)| option_name(*option) == name);
    first.retain(|(name, _)| entries.iter().any(|entry| !has(entry, name)));
    let line = |(name, at)| (at, format!("'{name}' applies to the whole run, also to requests without it"));
    first.into_iter().map(line).collect()
}

impl Entry {
    /// Gives variables the values that the entry's options define, as far as these are known.
    pub fn define(&self, variables: &mut Variables) {
        for (variable, operand) in &self.options.definitions {
            match operand.get(variables) {
                Ok(value) => variables.set(*variable, value),
                Err(_) => variables.forget(*variable),
            }
        }
    }

    fn compile(
        entry: &ast::Entry,
        names: &mut Names,
        files: &dyn Files,
        ignored: &mut Vec<(Position, String)>,
    ) -> Result<Self, ParseError> {
        // In the order in which a virtual user evaluates them.
        names.keeps_json_lists = false;
        let options = Options::compile(&entry.request.options, names, files, ignored)?;
        let request = Request::compile(&entry.request, names, files)?;
        Ok(Self {
            name: entry.name.clone().unwrap_or_else(|| request.title(&entry.request.url)),
            request,
            options,
            expected: entry.response.as_ref().map(|response| Expected::compile(response, names, files)).transpose()?,
            at: entry.request.at,
        })
    }
}
