//! A session: the entries of a hurl file, compiled before the run.

use crate::expected::Expected;
use crate::files::Files;
use crate::hurl::{ParseError, Position, ast};
use crate::options::Options;
use crate::request::Request;
use crate::scope::{Names, Variables};

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
        let expected = entries.iter().filter_map(|entry| entry.expected.as_ref());
        let redacted = expected.flat_map(Expected::redacted).collect();
        Ok(Self { entries, names, ignored, redacted })
    }
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
