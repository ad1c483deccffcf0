//! The flags of a command line, from the rows of the table.

use crate::given::{Given, given_of};
use crate::load::Load;
use crate::setting::{Kind, Part, Setting, Times};
use crate::settings::SETTINGS;
use clap::builder::PossibleValuesParser;
use clap::error::ErrorKind;
use clap::{Arg, ArgAction, ArgMatches, Args, Command, Error, FromArgMatches, ValueHint};
use std::ops::{Deref, DerefMut};

/// Returns a setting as an argument of a command line. What it needs and excludes is found in the load, not here.
pub fn arg(setting: &'static Setting) -> Arg {
    let arg = Arg::new(setting.name).help(setting.help).help_heading(setting.part.heading());
    let arg = match setting.is_positional() {
        true => arg.num_args(1..).required_unless_present("urls"),
        false => arg.long(setting.name),
    };
    let arg = match setting.kind {
        Kind::Switch => return dressed(arg.action(ArgAction::SetTrue), setting),
        Kind::Choice(name, words) => arg.value_name(name).value_parser(PossibleValuesParser::new(words)),
        Kind::Path(name) => arg.value_name(name).value_hint(ValueHint::AnyPath),
        Kind::Number(name) | Kind::Text(name) => arg.value_name(name),
        Kind::OptionalText(name, missing) => {
            arg.value_name(name).num_args(0..=1).require_equals(true).default_missing_value(missing)
        }
    };
    let arg = match setting.kind {
        Kind::Choice(..) => arg,
        _ => arg.value_parser(|text: &str| setting.check(text).map(|()| text.to_owned())),
    };
    let is_many = setting.times == Times::Many;
    // A text of a body may begin as a flag does.
    let arg = arg.allow_hyphen_values(setting.name.starts_with("data"));
    dressed(arg.action(if is_many { ArgAction::Append } else { ArgAction::Set }), setting)
}

/// Adds what few settings have.
fn dressed(mut arg: Arg, setting: &Setting) -> Arg {
    if let Some(letter) = setting.short {
        arg = arg.short(letter);
    }
    if let Some(name) = setting.alias {
        arg = arg.visible_alias(name);
    }
    match setting.default {
        Some(value) => arg.default_value(value),
        None => arg,
    }
}

/// Returns the settings of a command: those of parts, and those that are named.
fn rows(parts: &[Part], names: &[&str]) -> impl Iterator<Item = &'static Setting> {
    SETTINGS.iter().filter(|setting| parts.contains(&setting.part) || names.contains(&setting.name))
}

fn augment(command: Command, parts: &[Part], names: &[&str]) -> Command {
    command.args(rows(parts, names).map(arg))
}

/// Returns the load of what clap found.
fn read(matches: &ArgMatches, parts: &[Part], names: &[&str]) -> Result<Load, Error> {
    let given: Vec<Given> = given_of(rows(parts, names), matches);
    let mut load = Load::of(&given).map_err(|error| Error::raw(ErrorKind::ValueValidation, error))?;
    load.take_arguments();
    Ok(load)
}

/// A load of which a command line has some parts only.
macro_rules! partial {
    ($(#[$meta:meta])* $name:ident, $($part:ident),+ $(; $($setting:literal),+)?) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Default)]
        pub struct $name(pub Load);

        impl Deref for $name {
            type Target = Load;

            fn deref(&self) -> &Load {
                &self.0
            }
        }

        impl DerefMut for $name {
            fn deref_mut(&mut self) -> &mut Load {
                &mut self.0
            }
        }

        arguments!($name, |load| Self(load), $($part),+ $(; $($setting),+)?);
    };
}

/// The arguments of some parts, and some settings of others.
macro_rules! arguments {
    ($name:ident, $of:expr, $($part:ident),+ $(; $($setting:literal),+)?) => {
        impl Args for $name {
            fn augment_args(command: Command) -> Command {
                augment(command, &[$(Part::$part),+], &[$($($setting),+)?])
            }

            fn augment_args_for_update(command: Command) -> Command {
                Self::augment_args(command)
            }
        }

        impl FromArgMatches for $name {
            fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
                read(matches, &[$(Part::$part),+], &[$($($setting),+)?]).map($of)
            }

            fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
                *self = Self::from_arg_matches(matches)?;
                Ok(())
            }
        }
    };
}

arguments!(
    Load,
    |load| load,
    Target,
    Pace,
    Request,
    Grpc,
    Script,
    Transport,
    Tls,
    Checks,
    Stream,
    Variables,
    Session,
    Output
);

partial!(
    /// What is sent and the way there, of a command that loads in its own way.
    Sent, Request, Grpc, Script, Transport, Tls, Variables
);

partial!(
    /// What is sent, the way there, and how streams of events are read, of a command that loads in its own way.
    Exchanged, Request, Grpc, Script, Transport, Tls, Stream, Variables
);

impl Exchanged {
    /// Returns what a load sends, the way there, and how it reads streams.
    pub fn of(load: &Load) -> Self {
        Self(load.without(|given| !given.is_exchanged()))
    }
}

impl Sent {
    /// Returns what a load sends, and the way there.
    pub fn of(load: &Load) -> Self {
        Self(load.without(|given| !given.is_sent()))
    }
}

partial!(
    /// A request, the way there, and how streams of events are read.
    RequestAndWay, Request, Grpc, Transport, Tls, Stream
);

partial!(
    /// Variables of sessions and scripts.
    OnlyVariables, Variables
);

partial!(
    /// What a replay of a log has of a load: its requests and their times come from the log.
    Replayed, Tls; "connections", "threads", "duration", "requests", "timestamps", "quick-ack", "timeout",
    "requests-per-connection", "no-keepalive", "header", "user", "oauth2-bearer", "cookie", "user-agent",
    "bind", "resolve", "unix-socket", "proxy", "proxy-user", "http2", "http2-prior-knowledge",
    "http3", "json",
    "csv", "hlog", "prometheus", "junit", "report", "otlp", "prometheus-remote-write",
    "influxdb", "push-interval", "fail-if", "abort-if", "quiet", "live", "dashboard",
    "dashboard-cert", "dashboard-key"
);
