//! The configuration of `torr serve`: defaults, under a file, under the environment, under flags.
//!
//! Flags, variables, the reader of the file and `--print-config` come from one table of settings. clap's `env` and serde with spans
//! would not carry it: clap tells neither the variable's name in a mistake nor finds a mistyped variable, serde stops at the first type
//! that does not fit without the hint how the value would be right, and both would need the source of each value kept beside it.

mod file;
mod flags;
mod print;
mod serve_config;
mod settings;
mod similar;
mod values;

pub use flags::Flags;

use crate::exit::CliError;
pub use serve_config::ServeConfig;
use settings::{FILE_VARIABLE, Kind, PREFIX, SETTINGS, Setting};
use std::collections::HashMap;
use std::env;
use std::ffi::OsString;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The whole configuration.
#[derive(Debug)]
pub struct Config {
    /// The values of all settings.
    pub chosen: ServeConfig,
    /// The sources of all values that are not defaults, by key.
    sources: HashMap<&'static str, Source>,
}

/// The source of a value.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Source {
    File { name: String, line: usize },
    Variable(String),
    Flag(String),
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File { name, line } => write!(f, "file {name}, line {line}"),
            Self::Variable(name) => write!(f, "environment, {name}"),
            Self::Flag(name) => write!(f, "flag --{name}"),
        }
    }
}

impl Config {
    /// Reads the settings from all sources. A mistake is reported also if a stronger source overrides the setting.
    pub fn gather(path: Option<&Path>, flags: &Flags) -> Result<Self, CliError> {
        let (mut chosen, mut sources) = (ServeConfig::default(), HashMap::new());
        let path = path.map(Path::to_owned).or_else(|| env::var_os(FILE_VARIABLE).map(PathBuf::from));
        if let Some(path) = path {
            let name = file::shown(&path);
            let took = |key, line| drop(sources.insert(key, Source::File { name: name.clone(), line }));
            file::read(&path, &mut chosen, took)?;
        }
        check_variables()?;
        for setting in SETTINGS {
            let variable = setting.variable();
            let Some(value) = env::var_os(&variable) else { continue };
            let value = value.to_string_lossy();
            (setting.take)(&mut chosen, &value).ok_or_else(|| wrong(&variable, setting, &value))?;
            sources.insert(setting.key, Source::Variable(variable));
        }
        for (setting, value) in flags.given() {
            (setting.take)(&mut chosen, value)
                .ok_or_else(|| wrong(&format!("--{}", setting.flag()), setting, value))?;
            sources.insert(setting.key, Source::Flag(setting.flag()));
        }
        chosen.complete().map_err(CliError::Usage)?;
        Ok(Self { chosen, sources })
    }

    /// Returns the first setting of the demo application that was given.
    pub fn of_demo(&self) -> Option<&'static str> {
        let is_of_demo =
            |key: &str| ["router", "database"].contains(&key) || key.starts_with("db_") || key.starts_with("cache");
        let mut keys = SETTINGS.iter().map(|setting| setting.key);
        keys.find(|key| is_of_demo(key) && self.sources.contains_key(key))
    }

    /// Returns the source of the address to listen on, for a message about it.
    pub fn origin_of_listen(&self) -> String {
        self.sources.get("listen").map_or_else(|| "default".into(), Source::to_string)
    }
}

/// Returns the mistake of a value from a variable or a flag. The value is shown unless it may hold a password.
fn wrong(name: &str, setting: &Setting, value: &str) -> CliError {
    let found = || format!(", found '{}'", value.escape_debug());
    let not = if setting.kind == Kind::Secret { String::new() } else { found() };
    CliError::Usage(format!("{name} must be {}{not}", setting.must_be))
}

/// Finds variables that were mistyped. Others that begin like ours may belong to other programs: Kubernetes sets some for a
/// service by the name of torr-serve.
fn check_variables() -> Result<(), CliError> {
    let known = |name: &str| name == FILE_VARIABLE || SETTINGS.iter().any(|setting| setting.variable() == name);
    let mut names: Vec<_> = env::vars_os().filter_map(|(name, _)| name.into_string().ok()).collect();
    names.sort();
    let ours = names.iter().filter(|name| name.starts_with(PREFIX) && !known(name));
    match ours.filter_map(|name| Some((name, similar::to_variable(name)?))).next() {
        Some((name, meant)) => Err(CliError::Usage(format!("unknown variable {name} (did you mean '{meant}'?)"))),
        None => Ok(()),
    }
}

/// Returns this program once more, without the variables of its environment that are settings.
///
/// # Errors
/// If the program's own file cannot be found.
pub fn this_program() -> io::Result<Command> {
    let mut command = Command::new(env::current_exe()?);
    let ours = |name: &OsString| name.to_string_lossy().starts_with(PREFIX);
    for name in env::vars_os().map(|(name, _)| name).filter(ours) {
        command.env_remove(name);
    }
    Ok(command)
}
