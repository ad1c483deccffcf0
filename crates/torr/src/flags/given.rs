//! What was given on the command line, to be given again: the request and the way there, flag by flag in their order.

use super::request::RequestArgs;
use super::transport::TransportArgs;
use super::variables::VariableArgs;
use clap::{Arg, ArgMatches, Args, Command, FromArgMatches, parser::ValueSource};

/// The flags of the request, of variables and of the way there that were given. It adds no flag of its own to the command that it is a part of,
/// and has to stand before the parts whose flags it notes, since these take their values away.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Given {
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
    /// Returns the word of a command line that says the same.
    pub fn word(&self) -> String {
        match &self.value {
            Some(value) => format!("{}={value}", self.name),
            None => self.name.clone(),
        }
    }
}

impl Args for Given {
    fn augment_args(command: Command) -> Command {
        command
    }

    fn augment_args_for_update(command: Command) -> Command {
        command
    }
}

impl FromArgMatches for Given {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let known = VariableArgs::augment_args(RequestArgs::augment_args(Command::new("known")));
        let known = TransportArgs::augment_args(known);
        Ok(Self { flags: given(known.get_arguments(), matches) })
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

/// Each time that a flag was given, with its place on the command line.
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
