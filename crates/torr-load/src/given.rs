//! Flags as a command line gave them.

use crate::setting::{Kind, Part, Setting};
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

    /// Returns whether it is a setting of what is sent, or of the way there.
    pub fn is_sent(&self) -> bool {
        self.setting().is_some_and(|setting| setting.part.is_sent())
    }

    /// Returns whether it is a setting of what is sent, of the way there, or of how streams of events are read.
    pub fn is_exchanged(&self) -> bool {
        self.setting().is_some_and(|setting| setting.part.is_sent() || setting.part == Part::Stream)
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
        of_argument(arg.get_id().as_str(), &name, takes_values, delimiter, matches)
    }))
}

/// Returns those of the settings that were given, in the order of the command line.
pub(crate) fn given_of(settings: impl Iterator<Item = &'static Setting>, matches: &ArgMatches) -> Vec<Given> {
    in_order(settings.flat_map(|setting| {
        let Given { id, name, .. } = Given::of(setting, None);
        of_argument(&id, &name, setting.kind != Kind::Switch, None, matches)
    }))
}

fn in_order(found: impl Iterator<Item = (usize, Given)>) -> Vec<Given> {
    let mut found: Vec<_> = found.collect();
    found.sort_by_key(|&(at, _)| at);
    found.into_iter().map(|(_, given)| given).collect()
}

/// Returns what was given for an argument, with the positions on the command line.
fn of_argument(
    id: &str,
    name: &str,
    takes_values: bool,
    delimiter: Option<char>,
    matches: &ArgMatches,
) -> Vec<(usize, Given)> {
    let given = |value| Given { id: id.to_owned(), name: name.to_owned(), value };
    let mut found = vec![];
    for one in occurrences(id, takes_values, matches) {
        let first = one.first();
        match delimiter {
            // The value may be left out.
            _ if one.values.is_empty() => found.push((first, given(None))),
            // Values that were split at a delimiter have an index each.
            Some(delimiter) => found.push((first, given(Some(one.values.join(&delimiter.to_string()))))),
            None => {
                let at = one.positions.into_iter().chain(std::iter::repeat(first));
                found.extend(at.zip(one.values).map(|(at, value)| (at, given(Some(value)))));
            }
        }
    }
    found
}

/// One occurrence of an argument on a command line.
pub struct Occurrence {
    /// The positions of its values, or of the flag.
    positions: Vec<usize>,
    /// The values, none for a switch and where the value was left out.
    pub values: Vec<String>,
}

impl Occurrence {
    /// Returns the first of its positions.
    pub fn first(&self) -> usize {
        self.positions.iter().min().copied().unwrap_or_default()
    }
}

/// Returns all occurrences of an argument on a command line; none of one that the command has not.
pub fn occurrences(id: &str, takes_values: bool, matches: &ArgMatches) -> Vec<Occurrence> {
    if matches.try_contains_id(id).is_err() || matches.value_source(id) != Some(ValueSource::CommandLine) {
        return vec![];
    }
    if !takes_values {
        let occurrence = |at| Occurrence { positions: vec![at], values: vec![] };
        return matches.index_of(id).map(occurrence).into_iter().collect();
    }
    let mut indices = matches.indices_of(id).into_iter().flatten();
    let all = matches.get_raw_occurrences(id).into_iter().flatten();
    all.map(|values| {
        let values: Vec<_> = values.map(|value| value.to_string_lossy().into_owned()).collect();
        Occurrence { positions: indices.by_ref().take(values.len().max(1)).collect(), values }
    })
    .collect()
}
