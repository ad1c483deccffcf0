//! Collections of Bruno, as files of the Bru language or of OpenCollection in YAML, with environments: one entry for each
//! request, in the order in which Bruno's command line runs them.

mod address;
mod assertion;
mod auth;
mod bru;
mod comments;
mod content;
mod dynamic;
mod item;
mod language;
mod reader;
mod request;
mod scope;
mod script;
mod tree;
mod yaml;

use crate::dotenv::{self, Line};
use crate::draft::{Draft, ImportError};
use crate::node::{Node, check_size};
use crate::variables::Variables;
use item::Environment;
use reader::Reader;
use scope::{Part, Scope, parts};
use std::collections::{BTreeMap, HashMap};
use tree::Format;

/// What is imported of a collection.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// The name of an environment; without one, that of the collection's settings, or none.
    pub environment: Option<String>,
    /// The path of a folder or a request, with slashes, from the collection's folder on; `None` for the whole collection.
    pub only: Option<String>,
}

/// The names of the files by which a folder is known as a collection.
pub const ROOTS: [&str; 2] = ["bruno.json", "opencollection.yml"];

/// Whether a file of this name is part of a collection, whose files are YAML if `is_yaml` says so.
pub fn is_part(name: &str, is_yaml: bool) -> bool {
    let end = if is_yaml { Format::Yaml } else { Format::Bru }.extension();
    ROOTS.contains(&name) || name == ".env" || name.ends_with(end)
}

/// Imports a collection. `files` are its files ([`is_part`]): paths from the collection's folder on, with slashes, and texts.
///
/// # Errors
/// If the files are no collection or too large, if there is no such environment, or if nothing to import is a request.
pub fn import(files: &BTreeMap<String, String>, options: &Options) -> Result<Draft, ImportError> {
    files.values().try_for_each(|text| check_size(text, "Bruno collection"))?;
    let format = match (files.contains_key("opencollection.yml"), files.contains_key("bruno.json")) {
        (true, _) => Format::Yaml,
        (false, true) => Format::Bru,
        (false, false) => {
            return Err(ImportError("not a Bruno collection: expected bruno.json or opencollection.yml".to_owned()));
        }
    };
    let mut draft = Draft::default();
    let only = options.only.as_deref().filter(|only| !only.is_empty());
    let bundle = match (format, files.get("opencollection.yml")) {
        (Format::Yaml, Some(text)) => Some(Node::read(text, "opencollection.yml", true)?),
        _ => None,
    };
    let root = tree::read(files, format, bundle.as_ref(), only, &mut draft.left_out)?;
    let items = tree::in_order(&root);
    let settings = match (bundle, files.get("bruno.json")) {
        (Some(bundle), _) => bundle,
        (None, Some(text)) => Node::read(text, "bruno.json", false)?,
        (None, None) => Node::Null,
    };
    let environment = environment(files, format, &settings, options.environment.as_deref(), &mut draft)?;
    let scope = Scope::new(&root.level, &environment, process(files), &items);
    let names = files.values().flat_map(|text| parts(text)).filter_map(|part| match part {
        Part::Name(name) if name.trim() == name && !name.starts_with('$') => Some(name),
        _ => None,
    });
    let variables = Variables::of(names);
    let secrets = variables.secrets();
    let mut reader = Reader { variables, secrets, scope, draft, pending: Vec::new(), tokens: Vec::new() };
    for (levels, item) in &items {
        request::add(&mut reader, levels, item);
    }
    let Reader { variables, secrets, draft, .. } = reader;
    let empty = nothing(&draft, only);
    crate::reader::Reader { variables, secrets, draft }.finish(&empty)
}

/// Says why there is no request.
fn nothing(draft: &Draft, only: Option<&str>) -> String {
    let first = draft.left_out.first();
    let because = first.map(|first| format!(" ({} {}: {})", first.kind, first.which, first.reason)).unwrap_or_default();
    match only {
        Some(only) => format!("'{only}' has no requests{because}"),
        None => format!("the collection has no requests{because}"),
    }
}

/// Returns the environment of this name, or that of the collection's settings.
fn environment(
    files: &BTreeMap<String, String>,
    format: Format,
    settings: &Node,
    name: Option<&str>,
    draft: &mut Draft,
) -> Result<Environment, ImportError> {
    let end = format.extension();
    let of_folder = |path: &str| path.strip_prefix("environments/")?.strip_suffix(end).map(str::to_owned);
    let of_folder = files.keys().filter_map(|path| of_folder(path)).filter(|name| !name.contains('/'));
    let bundled = settings.get("config").get("environments").items();
    let names: Vec<String> = of_folder.chain(bundled.iter().map(|inner| inner.get("name").plain())).collect();
    let by_settings = match format {
        Format::Bru => settings.get("presets"),
        Format::Yaml => settings.get("extensions").get("bruno").get("presets"),
    };
    let by_settings =
        by_settings.get("defaultEnvironment").text().filter(|name| names.iter().any(|known| known == name));
    let Some(name) = name.or(by_settings) else {
        if !names.is_empty() {
            draft.notes.push(format!("environments: {}; choose one with --env NAME", names.join(", ")));
        }
        return Ok(Environment::default());
    };
    let made = match (format, files.get(&format!("environments/{name}{end}"))) {
        (Format::Bru, Some(text)) => bru::environment(text)
            .map_err(|reason| ImportError(format!("not a valid environment '{name}': {reason}")))?,
        (Format::Yaml, Some(text)) => yaml::environment(&Node::read(text, "environment", true)?),
        (_, None) => match bundled.iter().find(|inner| inner.get("name").text() == Some(name)) {
            Some(inner) => yaml::environment(inner),
            None => {
                let there = if names.is_empty() { "the collection has none".to_owned() } else { names.join(", ") };
                return Err(ImportError(format!("no such environment: '{name}' (expected: {there})")));
            }
        },
    };
    for (kind, reason) in &made.left_out {
        draft.left_out.push((kind.clone(), reason.clone()).into());
    }
    Ok(made)
}

/// Returns the names and values of the file `.env`.
fn process(files: &BTreeMap<String, String>) -> HashMap<String, String> {
    let lines = files.get(".env").map_or("", String::as_str).lines().filter_map(dotenv::line);
    let value = |line: &Line<'_>| match line.has_escapes {
        true => line.value.replace("\\n", "\n").replace("\\r", "\r"),
        false => line.value.to_owned(),
    };
    lines.map(|line| (line.name.to_owned(), value(&line))).collect()
}

#[cfg(test)]
mod tests;
