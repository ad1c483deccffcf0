//! The flags of the request and its route as the user gave them, in their order, for commands that are printed.

use super::request::RequestArgs;
use super::script::ScriptArgs;
use super::transport::TransportArgs;
use super::variables::VariableArgs;
use clap::{Arg, ArgMatches, Args, Command, FromArgMatches, parser::ValueSource};

/// The given flags of the request, of variables, of the script and of the route. Adds no flag to its command, and must come before the
/// parts whose flags it notes, since these remove the values.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GivenFlags {
    pub flags: Vec<GivenFlag>,
}

/// A flag as it was given once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GivenFlag {
    /// The flag's own name in the program.
    pub id: String,
    /// Its long name, with the hyphens.
    pub name: String,
    /// Its value, if it takes one.
    pub value: Option<String>,
}

impl GivenFlag {
    /// Returns the flag as a word of a command line.
    pub fn word(&self) -> String {
        match &self.value {
            Some(value) => format!("{}={value}", self.name),
            None => self.name.clone(),
        }
    }
}

impl GivenFlags {
    /// Returns the names of the flags that are noted.
    pub fn known() -> Vec<String> {
        noted().get_arguments().map(|arg| arg.get_id().to_string()).collect()
    }
}

/// The flags that are noted.
fn noted() -> Command {
    let known = VariableArgs::augment_args(RequestArgs::augment_args(Command::new("known")));
    ScriptArgs::augment_args(TransportArgs::augment_args(known))
}

impl Args for GivenFlags {
    fn augment_args(command: Command) -> Command {
        command
    }

    fn augment_args_for_update(command: Command) -> Command {
        command
    }
}

impl FromArgMatches for GivenFlags {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        Ok(Self { flags: given(noted().get_arguments(), matches) })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

/// Returns those of the flags that were given, in the order of the command line.
pub fn given<'a>(known: impl Iterator<Item = &'a Arg>, matches: &ArgMatches) -> Vec<GivenFlag> {
    let mut flags: Vec<_> = known.flat_map(|arg| occurrences(arg, matches)).collect();
    flags.sort_by_key(|&(at, _)| at);
    flags.into_iter().map(|(_, flag)| flag).collect()
}

/// Returns all occurrences of a flag with their positions on the command line.
fn occurrences(arg: &Arg, matches: &ArgMatches) -> Vec<(usize, GivenFlag)> {
    let id = arg.get_id().as_str();
    let Some(name) = arg.get_long().map(|long| format!("--{long}")) else { return vec![] };
    if matches.value_source(id) != Some(ValueSource::CommandLine) {
        return vec![];
    }
    let flag = |value| GivenFlag { id: id.to_owned(), name: name.clone(), value };
    if !arg.get_action().takes_values() {
        return matches.index_of(id).map(|at| (at, flag(None))).into_iter().collect();
    }
    let mut indices = matches.indices_of(id).into_iter().flatten();
    let delimiter = arg.get_value_delimiter().map(String::from).unwrap_or_default();
    let mut found = vec![];
    for values in matches.get_raw_occurrences(id).into_iter().flatten() {
        // Values that were split at a delimiter have an index each.
        let values: Vec<_> = values.map(|value| value.to_string_lossy().into_owned()).collect();
        if let Some(first) = indices.by_ref().take(values.len()).min() {
            found.push((first, flag(Some(values.join(&delimiter)))));
        }
    }
    found
}
