//! Flags as a command line gave them.

use crate::setting::{Kind, Setting};
use crate::settings::find;
use clap::parser::ValueSource;
use clap::{Arg, ArgMatches};

/// A flag or a word of a command line as it was given once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Given {
    /// The name in the program's grammar: that of a setting, or one that only a command has.
    pub id: String,
    /// The long name with its hyphens; nothing for a word that is no flag.
    pub name: String,
    /// The value, if it takes one.
    pub value: Option<String>,
}

impl Given {
    /// Returns a setting with a value.
    pub fn of(setting: &Setting, value: Option<String>) -> Self {
        let name = if setting.is_positional() { String::new() } else { setting.flag() };
        Self { id: setting.name.to_owned(), name, value }
    }

    /// Returns the setting of this name, if there is one.
    pub fn setting(&self) -> Option<&'static Setting> {
        find(&self.id)
    }

    /// Returns the flag as a word of a command line.
    pub fn word(&self) -> String {
        match &self.value {
            Some(value) if self.name.is_empty() => value.clone(),
            Some(value) => format!("{}={value}", self.name),
            None => self.name.clone(),
        }
    }
}

/// Returns those of a command's arguments that were given, in the order of the command line.
pub fn given<'a>(known: impl Iterator<Item = &'a Arg>, matches: &ArgMatches) -> Vec<Given> {
    in_order(known.flat_map(|arg| {
        let name = arg.get_long().map(|long| format!("--{long}")).unwrap_or_default();
        let (takes_values, delimiter) = (arg.get_action().takes_values(), arg.get_value_delimiter());
        occurrences(arg.get_id().as_str(), &name, takes_values, delimiter, matches)
    }))
}

/// Returns those of the settings that were given, in the order of the command line.
pub(crate) fn given_of(settings: impl Iterator<Item = &'static Setting>, matches: &ArgMatches) -> Vec<Given> {
    in_order(settings.flat_map(|setting| {
        let Given { id, name, .. } = Given::of(setting, None);
        occurrences(&id, &name, setting.kind != Kind::Switch, None, matches)
    }))
}

fn in_order(found: impl Iterator<Item = (usize, Given)>) -> Vec<Given> {
    let mut found: Vec<_> = found.collect();
    found.sort_by_key(|&(at, _)| at);
    found.into_iter().map(|(_, given)| given).collect()
}

/// Returns all occurrences of an argument with their positions on the command line.
fn occurrences(
    id: &str,
    name: &str,
    takes_values: bool,
    delimiter: Option<char>,
    matches: &ArgMatches,
) -> Vec<(usize, Given)> {
    if matches.try_contains_id(id).is_err() || matches.value_source(id) != Some(ValueSource::CommandLine) {
        return vec![];
    }
    let given = |value| Given { id: id.to_owned(), name: name.to_owned(), value };
    if !takes_values {
        return matches.index_of(id).map(|at| (at, given(None))).into_iter().collect();
    }
    let mut indices = matches.indices_of(id).into_iter().flatten();
    let mut found = vec![];
    for values in matches.get_raw_occurrences(id).into_iter().flatten() {
        let values: Vec<_> = values.map(|value| value.to_string_lossy().into_owned()).collect();
        let at: Vec<_> = indices.by_ref().take(values.len().max(1)).collect();
        let first = at.iter().min().copied().unwrap_or_default();
        match delimiter {
            // The value may be left out.
            _ if values.is_empty() => found.push((first, given(None))),
            // Values that were split at a delimiter have an index each.
            Some(delimiter) => found.push((first, given(Some(values.join(&delimiter.to_string()))))),
            None => found.extend(
                values
                    .into_iter()
                    .enumerate()
                    .map(|(number, value)| (at.get(number).copied().unwrap_or(first), given(Some(value)))),
            ),
        }
    }
    found
}
