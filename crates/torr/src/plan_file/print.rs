//! A command line as a plan, for `--print-plan`.

use crate::exit::CliError;
use std::fmt::Write;
use torr_load::{DataKind, Given, Kind, Load, Merge, Setting};

const HEAD: &str =
    "# A plan: 'torr FILE.toml' runs it, 'torr plan-schema' lists all keys. A flag beside it replaces its setting.\n";

/// The longest line of an array.
const WIDTH: usize = 100;

/// Returns a load as a plan. Secrets are replaced by a comment.
///
/// # Errors
/// If a plan cannot say the same.
pub fn text(load: &Load) -> Result<String, CliError> {
    in_turns(load)?;
    let given = with_arguments(load).given();
    let mut text = HEAD.to_owned();
    let mut heading = None;
    for of_one in given.chunk_by(|one, next| one.id == next.id) {
        let Some(setting) = of_one.first().and_then(Given::setting).filter(|setting| setting.is_of_plans()) else {
            continue;
        };
        let of_part = setting.part.heading();
        if of_part != heading {
            heading = of_part;
            let _ = writeln!(text, "\n# {}", heading.unwrap_or_default());
        }
        text.push_str(&lines(setting, of_one));
    }
    Ok(text)
}

/// Returns the load with a script's arguments behind its URL, as a plan has them.
fn with_arguments(load: &Load) -> Load {
    let mut whole = load.clone();
    whole.targets.append(&mut whole.arguments);
    whole
}

/// Returns the lines for the values of one setting.
fn lines(setting: &Setting, given: &[Given]) -> String {
    let name = setting.name;
    let is_hidden = |given: &&Given| given.value.as_deref().is_some_and(|value| setting.is_secret(value));
    let (hidden, shown): (Vec<_>, Vec<_>) = given.iter().partition(is_hidden);
    let mut text = String::new();
    if !hidden.is_empty() {
        let beside = if setting.is_positional() { "the URL".to_owned() } else { setting.flag() };
        let several = if shown.is_empty() { "is a secret" } else { "has secrets" };
        let _ = writeln!(text, "# {} {several} and is not written: pass {beside} beside the file", quoted_key(name));
        // A field or a variable beside the file replaces those of its name, any other flag all values of its setting.
        if !matches!(setting.merge, Merge::Field | Merge::Adds) {
            return text;
        }
    }
    let literals: Vec<_> = shown.into_iter().map(|given| literal(setting, given)).collect();
    match &literals[..] {
        [] => {}
        [value] => {
            let _ = writeln!(text, "{} = {value}", quoted_key(name));
        }
        _ => {
            let line = format!("{} = [{}]\n", quoted_key(name), literals.join(", "));
            let broken = || format!("{} = [\n  {},\n]\n", quoted_key(name), literals.join(",\n  "));
            text.push_str(&if line.chars().count() > WIDTH { broken() } else { line });
        }
    }
    text
}

/// Returns a value as TOML.
fn literal(setting: &Setting, given: &Given) -> String {
    let Some(value) = &given.value else { return "true".to_owned() };
    let is_whole = || value.parse::<i64>().is_ok_and(|number| number.to_string() == *value);
    let is_number = matches!(setting.kind, Kind::Number(_)) && is_whole();
    if is_number { value.clone() } else { toml::Value::String(value.clone()).to_string() }
}

/// Returns a key, in quotes if it has a dot.
fn quoted_key(name: &str) -> String {
    if name.contains('.') { format!("\"{name}\"") } else { name.to_owned() }
}

/// Refuses pieces of a body of two kinds in turns: a key stands in a file once.
fn in_turns(load: &Load) -> Result<(), CliError> {
    let mut kinds: Vec<DataKind> = load.request.data.iter().map(|(kind, _)| *kind).collect();
    kinds.dedup();
    for (at, kind) in kinds.iter().enumerate() {
        if kinds[..at].contains(kind) {
            return Err(CliError::Usage(format!(
                "a plan cannot mix --{} and --{}: pass all values of one flag first",
                kind.name(),
                kinds[at - 1].name()
            )));
        }
    }
    Ok(())
}
