//! A flag for every setting, made from the list of settings. Values are checked with those of all other sources.

use super::serve_config::ServeConfig;
use super::settings::{Kind, SETTINGS, Setting};
use clap::{Arg, ArgMatches, Args, Command, Error, FromArgMatches};

/// The flags that were given.
#[derive(Debug, Clone, Default)]
pub struct Flags(Vec<(&'static Setting, String)>);

impl Flags {
    /// Each with its value.
    pub fn given(&self) -> impl Iterator<Item = (&'static Setting, &str)> {
        self.0.iter().map(|(setting, value)| (*setting, &**value))
    }
}

impl Args for Flags {
    fn augment_args(command: Command) -> Command {
        let defaults = ServeConfig::default();
        command.args(SETTINGS.iter().map(|setting| flag(setting, &defaults)))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for Flags {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        let given = |setting: &'static Setting| Some((setting, matches.get_one::<String>(setting.key)?.clone()));
        Ok(Self(SETTINGS.iter().filter_map(given).collect()))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

fn flag(setting: &'static Setting, defaults: &ServeConfig) -> Arg {
    let default = setting.default.map_or_else(|| (setting.text)(defaults), str::to_owned);
    let default = if default == "none" { String::new() } else { format!(" [default: {default}]") };
    let flag = Arg::new(setting.key).long(setting.flag()).value_name(setting.value);
    let flag = flag.help(format!("{}{default}", setting.meaning));
    // A flag alone switches its setting on.
    if setting.kind == Kind::Boolean { flag.num_args(0..=1).default_missing_value("true") } else { flag }
}
