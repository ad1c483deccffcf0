//! Scripts of Artillery 2 (YAML or JSON): one hurl file for each scenario, and the flags of a run with the same arrivals.

mod capture;
mod condition;
mod config;
mod content;
mod expect;
mod flow;
mod function;
mod load;
mod payload;
mod query;
mod reader;
mod request;
mod text;
mod value;

use crate::draft::{Draft, ImportError, LeftOut, Secret};
use crate::node::Node;
use config::Config;
use load::Longest;
use reader::{Captured, Reader};
use std::collections::HashMap;
use text::Part;
use torr_session::hurl::ast::{OptionName, OptionValue};

/// The largest weight of a scenario.
const HEAVIEST: f64 = 1_000_000.0;

/// What is imported of a script.
pub struct Options<'o> {
    /// The name of an environment; without one, the script as it is.
    pub environment: Option<String>,
    /// The folder of the script with a slash, as the command of the load writes it; empty for the current folder.
    pub folder: String,
    /// Reads a file by its path relative to the script.
    pub read: &'o dyn Fn(&str) -> Result<Vec<u8>, String>,
}

/// A scenario, as a hurl file.
#[derive(Debug, Clone)]
pub struct Scenario {
    /// The scenario's name, or its number.
    pub name: String,
    /// How many users it gets, in proportion to the weights of the others.
    pub weight: u64,
    /// The file.
    pub draft: Draft,
}

/// A script.
#[derive(Debug, Clone)]
pub struct Script {
    /// The scenarios that have requests, in order.
    pub scenarios: Vec<Scenario>,
    /// What runs once before the load.
    pub before: Option<Draft>,
    /// What runs once after it.
    pub after: Option<Draft>,
    /// The flags of a run with the same arrivals, each with its value.
    pub flags: Vec<String>,
}

/// Imports a script.
///
/// # Errors
/// If the text is no script, too large or too deep, if there is no such environment or no target, or if no scenario has a request.
pub fn import(text: &str, options: &Options<'_>) -> Result<Script, ImportError> {
    let script = Node::read(text, "Artillery script", true)?;
    if !matches!(script.get("scenarios"), Node::List(_)) {
        return Err(ImportError("not an Artillery script: expected the list 'scenarios'".to_owned()));
    }
    let config = Config::read(&script, options.environment.as_deref(), options.read)?;
    let names: Vec<&str> = text::parts(text).into_iter().filter_map(|part| name(&part)).collect();
    let mut around = Around { left_out: config.left_out.clone(), notes: config.notes.clone(), secrets: Vec::new() };
    let mut captured = HashMap::new();
    let before = once(&config, &names, script.get("before"), "before", &mut captured, &mut around);
    let after = once(&config, &names, script.get("after"), "after", &mut captured.clone(), &mut around);
    let mut scenarios = Vec::new();
    for (at, of) in script.get("scenarios").items().iter().enumerate() {
        let name = of.get("name").text().map_or_else(|| (at + 1).to_string(), str::to_owned);
        let engine = engine(of, &config);
        if engine != "http" {
            around.left_out.push(LeftOut::new(
                format!("scenario '{name}'"),
                "",
                format!("the engine {engine} is not HTTP"),
            ));
            continue;
        }
        let weight = weight(of.get("weight"), &name, &config, &mut around);
        if weight == 0 {
            around.left_out.push(LeftOut::new(format!("scenario '{name}'"), "", "its weight is 0"));
            continue;
        }
        let reader = Reader::new(&config, names.iter().copied(), &captured, &around.secrets);
        match draft(reader, of, &mut around.secrets).0 {
            Some(mut draft) => {
                draft.notes.insert(0, format!("scenario '{name}', weight {weight}"));
                scenarios.push(Scenario { name, weight, draft });
            }
            None => around.left_out.push(LeftOut::new(format!("scenario '{name}'"), "", "without an HTTP request")),
        }
    }
    if scenarios.is_empty() {
        let because = around.left_out.iter().find(|said| said.kind.starts_with("scenario"));
        let because = because.map(|said| format!(" ({}: {})", said.kind, said.reason)).unwrap_or_default();
        return Err(ImportError(format!("the script has no scenario with an HTTP request{because}")));
    }
    let longest = Longest {
        requests: scenarios.iter().map(|of| requests(&of.draft)).max().unwrap_or_default(),
        least_requests: scenarios.iter().map(|of| requests(&of.draft)).min().unwrap_or_default(),
        pause: scenarios.iter().map(|of| pause(&of.draft)).max().unwrap_or_default(),
    };
    let load = load::read(&config, &options.folder, longest);
    around.left_out.extend(load.left_out);
    around.notes.extend(load.notes);
    // What concerns all scenarios is said once, with the first.
    if let Some(first) = scenarios.first_mut() {
        first.draft.left_out.splice(0..0, around.left_out);
        first.draft.notes.splice(0..0, around.notes);
    }
    Ok(Script { scenarios, before, after, flags: load.flags })
}

/// What is said once for all scenarios.
struct Around {
    left_out: Vec<LeftOut>,
    notes: Vec<String>,
    /// The secrets of all files so far.
    secrets: Vec<Secret>,
}

fn name<'t>(part: &Part<'t>) -> Option<&'t str> {
    match part {
        Part::Name(name) if !name.starts_with('$') => Some(name),
        _ => None,
    }
}

fn engine(of: &Node, config: &Config) -> String {
    let engine = [of.get("engine"), config.get("engine")].into_iter().find_map(Node::text);
    engine.unwrap_or("http").to_owned()
}

/// Reads the flow that runs once before or after the load.
fn once(
    config: &Config,
    names: &[&str],
    of: &Node,
    what: &str,
    captured: &mut HashMap<String, Captured>,
    around: &mut Around,
) -> Option<Draft> {
    if of.is_null() {
        return None;
    }
    let engine = engine(of, config);
    if engine != "http" {
        around.left_out.push(LeftOut::new(what, "", format!("the engine {engine} is not HTTP")));
        return None;
    }
    let reader = Reader::new(config, names.iter().copied(), captured, &around.secrets);
    let (draft, known) = draft(reader, of, &mut around.secrets);
    if draft.is_none() {
        around.left_out.push(LeftOut::new(what, "", "without an HTTP request"));
    }
    *captured = known;
    draft.map(|mut draft| {
        draft.notes.insert(0, format!("{what}: runs once"));
        draft
    })
}

/// Reads a flow; `None` for one without a request.
fn draft(mut reader: Reader<'_>, of: &Node, found: &mut Vec<Secret>) -> (Option<Draft>, HashMap<String, Captured>) {
    reader.hooks(of);
    reader.flow(of.get("flow").items());
    if reader.pause > 0 {
        reader.leave_out("think", format!("{} ms", reader.pause), "without a request behind it");
    }
    let Reader { variables, secrets, mut draft, pending, captured, .. } = reader;
    if draft.entries.is_empty() {
        return (None, captured);
    }
    draft.left_out_behind = pending;
    variables.finish(&mut draft);
    *found = secrets.finish();
    let text = draft.text();
    let is_here =
        |secret: &&Secret| ["}}", " "].iter().any(|end| text.contains(&format!("{{{{{}{end}", secret.variable)));
    draft.secrets = found.iter().filter(is_here).cloned().collect();
    (Some(draft), captured)
}

/// Returns a scenario's weight, a whole number.
fn weight(of: &Node, name: &str, config: &Config, around: &mut Around) -> u64 {
    if of.is_null() {
        return 1;
    }
    let known = of.text().and_then(text::whole).and_then(|name| config.variable(name)).unwrap_or(of);
    if known.text().is_some_and(text::has_names) {
        around.left_out.push(LeftOut::new("weight", name, "not known: 1 is used"));
        return 1;
    }
    value::as_number(known).map_or(0, |weight| weight.clamp(0.0, HEAVIEST) as u64)
}

/// Returns the number of requests of a session.
fn requests(draft: &Draft) -> usize {
    let times = |draft: &crate::draft::DraftEntry| {
        let count = draft.entry.request.options.iter().find_map(|option| match (&option.name, &option.value) {
            (OptionName::Repeat, OptionValue::Count(Some(count))) => usize::try_from(*count).ok(),
            _ => None,
        });
        count.unwrap_or(1)
    };
    draft.entries.iter().map(times).fold(0, usize::saturating_add)
}

/// Returns all pauses of a session together, in milliseconds.
fn pause(draft: &Draft) -> u64 {
    let options = draft.entries.iter().flat_map(|draft| &draft.entry.request.options);
    let pauses = options.filter_map(|option| match (&option.name, &option.value) {
        (OptionName::Delay, OptionValue::Milliseconds(pause)) => Some(*pause),
        _ => None,
    });
    pauses.fold(0, u64::saturating_add)
}

#[cfg(test)]
mod tests;
