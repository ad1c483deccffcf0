//! Settings from a TOML file, each with its line.

use super::serve_config::ServeConfig;
use super::settings::{Kind, SETTINGS, Setting};
use super::similar;
use crate::exit::CliError;
use crate::toml_value::{excerpt, plain};
use std::path::Path;
use toml::de::{DeTable, DeValue};
use torr_net::errors::describe;

/// Reads all settings of a file. `took` is called with each setting and its line.
pub fn read(path: &Path, chosen: &mut ServeConfig, mut took: impl FnMut(&'static str, usize)) -> Result<(), CliError> {
    let name = shown(path);
    let read = std::fs::read_to_string(path);
    let text = read.map_err(|error| {
        CliError::Usage(format!("cannot read the configuration from '{name}': {}", describe(&error)))
    })?;
    let line_of = |at: usize| 1 + text.bytes().take(at).filter(|&byte| byte == b'\n').count();
    let failed = |line: usize, what: String| CliError::Usage(format!("{name}:{line}: {what}"));
    let table = DeTable::parse(&text).map_err(|error| {
        let line = line_of(error.span().map_or(0, |span| span.start));
        let source = text.lines().nth(line - 1).unwrap_or_default().trim();
        failed(line, malformed(error.message(), source))
    })?;
    let mut entries: Vec<_> = table.get_ref().iter().collect();
    // Mistakes are reported from the top.
    entries.sort_by_key(|(key, _)| key.span().start);
    for (key, value) in entries {
        let line = line_of(key.span().start);
        let setting = find(key.get_ref(), value.get_ref()).map_err(|what| failed(line, what))?;
        take(setting, chosen, value.get_ref(), &text[value.span()]).map_err(|what| failed(line, what))?;
        took(setting.key, line);
    }
    Ok(())
}

/// Returns a path as text of one line.
pub fn shown(path: &Path) -> String {
    path.to_string_lossy().chars().map(|c| if c.is_control() { '?' } else { c }).collect()
}

/// Returns the message for a line that is not TOML.
fn malformed(message: &str, source: &str) -> String {
    let known = |(key, value): (&str, &str)| Some((setting(key.trim())?, value.trim().to_owned()));
    match source.split_once('=').and_then(known) {
        // Without the rest of the line, which may hold a password.
        Some((setting, _)) if setting.kind == Kind::Secret => {
            format!("{} must be {}, in quotes", setting.key, setting.must_be)
        }
        Some((setting, value)) if value.is_empty() || value.starts_with('#') => {
            format!("missing value of {}: it must be {}", setting.key, setting.must_be)
        }
        // Most often a value without its quotes; a line that is sound by itself has some other fault.
        Some((setting, value)) if DeTable::parse(source).is_err() => {
            let bare = value.split(" #").next().unwrap_or_default().trim();
            format!("{} must be {}, found {}{}", setting.key, setting.must_be, excerpt(&value), mended(setting, bare))
        }
        _ => format!("{} at '{}'", message.lines().next().unwrap_or_default(), excerpt(source)),
    }
}

fn setting(key: &str) -> Option<&'static Setting> {
    SETTINGS.iter().find(|setting| setting.key == key)
}

fn find(key: &str, value: &DeValue<'_>) -> Result<&'static Setting, String> {
    if let Some(setting) = setting(key) {
        return Ok(setting);
    }
    let hint = match (similar::to_key(key), value) {
        (_, DeValue::Table(_)) => "tables are not supported: write all keys at the top level".into(),
        (Some(known), _) => format!("did you mean '{known}'?"),
        (None, _) => "see 'torr serve --print-config' for all keys".into(),
    };
    Err(format!("unknown key '{}' ({hint})", excerpt(key)))
}

/// Returns the correct form of a value, if that is known.
fn mended(setting: &Setting, text: &str) -> String {
    let mut chosen = ServeConfig::default();
    let taken = (setting.take)(&mut chosen, text);
    taken.map_or_else(String::new, |()| format!(" (did you mean {} = {}?)", setting.key, setting.toml(&chosen)))
}

/// Sets a setting to a value of the file.
fn take(setting: &Setting, chosen: &mut ServeConfig, value: &DeValue<'_>, source: &str) -> Result<(), String> {
    let wrong = |hint: &str| {
        let written = match value {
            _ if setting.kind == Kind::Secret => "this".into(),
            DeValue::Array(_) => "an array".into(),
            DeValue::Table(_) => "a table".into(),
            _ => excerpt(source),
        };
        format!("{} must be {}, found {written}{hint}", setting.key, setting.must_be)
    };
    let text = plain(value).ok_or_else(|| wrong(""))?;
    let right = match value {
        DeValue::String(_) => matches!(setting.kind, Kind::Text | Kind::Secret | Kind::Duration),
        DeValue::Integer(_) => matches!(setting.kind, Kind::Number | Kind::Duration),
        DeValue::Float(_) => setting.kind == Kind::Duration,
        DeValue::Boolean(_) => setting.kind == Kind::Boolean,
        _ => false,
    };
    if !right {
        return Err(wrong(&mended(setting, &text)));
    }
    (setting.take)(chosen, &text).ok_or_else(|| wrong(""))
}
