//! A command line as a plan, for `--print-plan`.

use super::settings::{Kind, Settings, TARGET, TARGETS, key, kind};
use crate::exit::CliError;
use crate::flags::given::{GivenFlag, given};
use crate::flags::secret;
use clap::{Arg, ArgMatches};
use std::fmt::Write;

const HEAD: &str =
    "# A plan: 'torr FILE.toml' runs it, 'torr plan-schema' lists all keys. A flag beside it replaces its setting.\n";

/// The longest line of an array.
const WIDTH: usize = 100;

/// Flags whose order among each other counts.
const PIECES: [&str; 4] = ["data", "data_raw", "data_binary", "data_urlencode"];

/// Returns the flags and targets of a command line as a plan. Secrets are replaced by a comment.
///
/// # Errors
/// If a plan cannot say the same.
pub fn text(matches: &ArgMatches) -> Result<String, CliError> {
    let settings = Settings::new();
    let flags = given(settings.all(), matches);
    in_turns(&flags)?;
    let targets: Vec<String> = matches.get_many(TARGETS).into_iter().flatten().cloned().collect();
    let mut text = HEAD.to_owned();
    // The pieces of a body in the order in which they were given, all else in that of the help.
    let piece = |arg: &Arg| PIECES.contains(&arg.get_id().as_str());
    let first = |arg: &Arg| flags.iter().position(|flag| arg.get_id() == flag.id.as_str());
    let mut pieces: Vec<_> = settings.all().filter(|arg| piece(arg)).collect();
    pieces.sort_by_key(|arg| first(arg));
    let mut pieces = pieces.into_iter();
    let mut heading = None;
    for arg in settings.all() {
        let arg = if piece(arg) { pieces.next().unwrap_or(arg) } else { arg };
        let values = match arg.is_positional() {
            true => targets.iter().map(|target| Some(target.clone())).collect(),
            false => {
                flags.iter().filter(|flag| arg.get_id() == flag.id.as_str()).map(|flag| flag.value.clone()).collect()
            }
        };
        let lines = lines(arg, values);
        if !lines.is_empty() && arg.get_help_heading() != heading {
            heading = arg.get_help_heading();
            let _ = writeln!(text, "\n# {}", heading.unwrap_or_default());
        }
        text.push_str(&lines);
    }
    Ok(text)
}

/// Returns the lines for the values of one setting.
fn lines(arg: &Arg, values: Vec<Option<String>>) -> String {
    let (id, name) = (arg.get_id().as_str(), key(arg).unwrap_or_default());
    let (hidden, shown): (Vec<_>, Vec<_>) = values.into_iter().partition(|value| is_hidden(id, value));
    let mut text = String::new();
    if !hidden.is_empty() {
        let beside = if name == TARGET { "the URL".to_owned() } else { format!("--{name}") };
        let several = if shown.is_empty() { "is a secret" } else { "has secrets" };
        let _ = writeln!(text, "# {} {several} and is not written: give {beside} beside the file", quoted_key(name));
        // A field or a variable beside the file replaces those of its name, any other flag all values of its setting.
        if !["headers", "variables"].contains(&id) {
            return text;
        }
    }
    let values: Vec<_> =
        shown.into_iter().map(|value| value.map_or("true".into(), |value| literal(arg, &value))).collect();
    match &values[..] {
        [] => {}
        [value] => {
            let _ = writeln!(text, "{} = {value}", quoted_key(name));
        }
        _ => {
            let line = format!("{} = [{}]\n", quoted_key(name), values.join(", "));
            let broken = || format!("{} = [\n  {},\n]\n", quoted_key(name), values.join(",\n  "));
            text.push_str(&if line.chars().count() > WIDTH { broken() } else { line });
        }
    }
    text
}

fn is_hidden(id: &str, value: &Option<String>) -> bool {
    value.as_ref().is_some_and(|value| secret::is_secret(id, value))
}

/// Returns a value as TOML.
fn literal(arg: &Arg, value: &str) -> String {
    let is_plain = kind(arg) == Kind::Number && value.parse::<i64>().is_ok_and(|number| number.to_string() == value);
    if is_plain { value.to_owned() } else { toml::Value::String(value.to_owned()).to_string() }
}

/// Returns a key, in quotes if it has a dot.
fn quoted_key(name: &str) -> String {
    if name.contains('.') { format!("\"{name}\"") } else { name.to_owned() }
}

/// Refuses pieces of a body of two kinds in turns: a key stands in a file once.
fn in_turns(flags: &[GivenFlag]) -> Result<(), CliError> {
    let mut kinds: Vec<_> =
        flags.iter().filter(|flag| PIECES.contains(&flag.id.as_str())).map(|flag| &flag.name).collect();
    kinds.dedup();
    for (at, kind) in kinds.iter().enumerate() {
        if kinds[..at].contains(kind) {
            return Err(CliError::Usage(format!(
                "a plan cannot say {kind} and {} in turns: give the pieces of one flag one after the other",
                kinds[at - 1]
            )));
        }
    }
    Ok(())
}
