//! The settings of a plan: the flags of `torr TARGET`, and the targets.

use crate::flags::needs::{self, SOME_TARGET};
use crate::flags::values::Stages;
use crate::press::PressArgs;
use clap::builder::{Resettable, StyledStr};
use clap::{Arg, ArgAction, Args, Command};
use std::any::TypeId;
use std::error::Error;
use std::ffi::OsString;
use std::time::Duration;
use torr_press::{Schedule, ThinkTime};

/// The key of the targets, which are no flag.
pub const TARGET: &str = "target";
/// The id of the targets.
pub const TARGETS: &str = "targets";

/// Flags that are no settings.
const NO_SETTINGS: &[&str] = &["print_plan"];

/// What a setting's value is in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// `true` or `false`.
    Switch,
    /// A number, or text with a unit.
    Number,
    /// Text.
    Text,
}

/// All settings.
pub struct Settings {
    command: Command,
}

impl Settings {
    pub fn new() -> Self {
        Self { command: PressArgs::augment_args(Command::new("torr")) }
    }

    /// Returns the settings that are flags of a command.
    pub fn of(command: Command) -> Self {
        Self { command }
    }

    /// Returns all settings in the order of the help, the targets first.
    pub fn all(&self) -> impl Iterator<Item = &Arg> {
        let is_setting = |arg: &&Arg| key(arg).is_some() && !NO_SETTINGS.contains(&arg.get_id().as_str());
        let targets = self.command.get_arguments().filter(|arg| arg.is_positional());
        targets.chain(self.command.get_arguments().filter(|arg| !arg.is_positional())).filter(is_setting)
    }

    /// Returns the setting with this key.
    pub fn with_key(&self, wanted: &str) -> Option<&Arg> {
        self.all().find(|arg| key(arg) == Some(wanted))
    }

    /// Returns the setting with this id.
    pub fn with_id(&self, id: &str) -> Option<&Arg> {
        self.all().find(|arg| arg.get_id() == id)
    }

    /// Returns the key that was probably meant by a mistyped one.
    pub fn similar(&self, typed: &str) -> Option<&str> {
        let typed = typed.to_lowercase().replace('_', "-");
        let short = |arg: &&Arg| arg.get_short().is_some_and(|short| short.to_string() == typed);
        let alias = |arg: &&Arg| arg.get_all_aliases().is_some_and(|aliases| aliases.contains(&typed.as_str()));
        if let Some(arg) = self.all().find(|arg| short(arg) || alias(arg)) {
            return key(arg);
        }
        let rated = self.all().filter_map(key).map(|key| (strsim::jaro_winkler(&typed, key), key));
        rated.max_by(|a, b| a.0.total_cmp(&b.0)).filter(|best| best.0 > 0.8).map(|best| best.1)
    }

    /// Returns whether two settings exclude each other.
    pub fn exclude(&self, one: &str, other: &str) -> bool {
        let (Some(one_arg), Some(other_arg)) = (self.with_id(one), self.with_id(other)) else { return false };
        let conflict = |arg: &Arg, with: &str| {
            self.command.get_arg_conflicts_with(arg).iter().any(|conflicting| conflicting.get_id() == with)
        };
        let within = |group: &clap::ArgGroup| {
            let has = |id: &str| group.get_args().any(|member| member == id);
            !group.clone().is_multiple() && has(one) && has(other)
        };
        one != other && (conflict(one_arg, other) || conflict(other_arg, one) || self.command.get_groups().any(within))
    }

    /// Returns whether a word of a command line needs another one, and nothing of what `stays` stands in for it.
    pub fn depends(&self, word: &str, other: &str, stays: &[String]) -> bool {
        let missing = |beside: Option<&str>| {
            let words = ["torr", SOME_TARGET, word].into_iter().chain(beside);
            needs::missing(&self.command, &words.map(OsString::from).collect::<Vec<_>>())
        };
        let needed = missing(None).unwrap_or_default();
        let fulfils = |beside: &str, what: &String| missing(Some(beside)).is_some_and(|lacks| !lacks.contains(what));
        needed.iter().any(|what| fulfils(other, what) && !stays.iter().any(|word| fulfils(word, what)))
    }

    /// Returns the command line's grammar without what flags ask of each other: half of the settings stands elsewhere.
    pub fn relaxed(&self) -> Command {
        let groups: Vec<_> = self.command.get_groups().map(|group| group.get_id().clone()).collect();
        let relaxed = self.command.clone().mut_args(alone);
        groups.into_iter().fold(relaxed, |command, group| command.mut_group(group, |group| group.multiple(true)))
    }
}

/// Returns a setting's key.
pub fn key(arg: &Arg) -> Option<&str> {
    if arg.is_positional() { Some(TARGET) } else { arg.get_long() }
}

/// Returns what a setting's value is.
pub fn kind(arg: &Arg) -> Kind {
    let numbers = [
        TypeId::of::<usize>(),
        TypeId::of::<u64>(),
        TypeId::of::<u16>(),
        TypeId::of::<f64>(),
        TypeId::of::<Duration>(),
        TypeId::of::<Schedule>(),
        TypeId::of::<ThinkTime>(),
    ];
    let of = arg.get_value_parser().type_id();
    match arg.get_action() {
        ArgAction::SetTrue => Kind::Switch,
        _ if numbers.iter().any(|number| of == *number) => Kind::Number,
        _ => Kind::Text,
    }
}

/// Returns whether a setting can have several values, which are an array in a file.
pub fn is_many(arg: &Arg) -> bool {
    matches!(arg.get_action(), ArgAction::Append)
}

/// Returns whether the values of an array are parts of the setting's one value, with commas between them.
pub fn is_joined(arg: &Arg) -> bool {
    arg.get_value_parser().type_id() == TypeId::of::<Stages>()
}

/// Returns whether a table of a file can give the setting's values, each with its name.
pub fn is_table(arg: &Arg) -> bool {
    let names = arg.get_value_names().unwrap_or_default();
    arg.is_positional() || names.iter().any(|name| name.as_str() == "NAME=VALUE")
}

/// Returns a setting's meaning.
pub fn help(arg: &Arg) -> String {
    arg.get_help().map(StyledStr::to_string).unwrap_or_default()
}

/// Returns why a value is none of a setting, if it is none.
pub fn mistake(arg: &Arg, value: &str) -> Option<String> {
    let long = key(arg)?;
    // The targets are looked at when the command line is whole.
    if arg.is_positional() {
        return None;
    }
    let command = Command::new("torr").no_binary_name(true).disable_help_flag(true).arg(alone(arg.clone()));
    let error = command.try_get_matches_from([format!("--{long}={value}")]).err()?;
    let possible: Vec<_> = arg.get_possible_values().iter().map(|value| value.get_name().to_owned()).collect();
    if !possible.is_empty() {
        return Some(format!("it is one of {}", possible.join(", ")));
    }
    let text = error.source().map_or_else(|| error.to_string(), ToString::to_string);
    Some(text.lines().next().unwrap_or_default().trim_start_matches("error: ").to_owned())
}

/// Returns a flag that requires no other and excludes none.
fn alone(arg: Arg) -> Arg {
    arg.requires(Resettable::Reset).conflicts_with(Resettable::Reset)
}
