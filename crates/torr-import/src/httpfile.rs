//! Files of requests as editors read them (`.http`, `.rest`), with environments: one entry for each request, in order.

mod block;
mod content;
mod function;
mod handler;
mod request;

use crate::draft::{Draft, ImportError};
use crate::node::{Node, check_size};
use crate::postman::reader::Reader;
use crate::variables::{Part, Variables, in_braces};

/// What an import reads beside the file.
pub struct Options<'o> {
    /// Files of environments and whether their values are secrets, those that win last.
    pub environments: Vec<(String, bool)>,
    /// The environment whose variables are used.
    pub environment: Option<String>,
    /// Reads a file by its path relative to the file of requests.
    pub read: &'o dyn Fn(&str) -> Result<Vec<u8>, String>,
}

/// Imports a file of requests.
///
/// # Errors
/// If the text is too large or has no request, or if no file has the environment.
pub fn import(text: &str, options: &Options<'_>) -> Result<Draft, ImportError> {
    check_size(text, "file of HTTP requests")?;
    let text = text.trim_start_matches('\u{feff}');
    let names = in_braces(text).into_iter().filter_map(|part| match part {
        Part::Reference(name) if !name.starts_with('$') => Some(name),
        _ => None,
    });
    let mut variables = Variables::of(names.collect::<Vec<_>>());
    know(options, &mut variables)?;
    let blocks = block::blocks(text);
    let mut reader = Reader { secrets: variables.secrets(), variables, draft: Draft::default() };
    request::add_all(&mut reader, &blocks, options.read);
    let Reader { secrets, variables, mut draft } = reader;
    if draft.entries.is_empty() {
        return Err(ImportError("the file has no HTTP requests".to_owned()));
    }
    variables.finish(&mut draft);
    draft.secrets = secrets.finish();
    Ok(draft)
}

/// Learns the variables of the environment, and those that all environments share.
fn know(options: &Options<'_>, variables: &mut Variables) -> Result<(), ImportError> {
    let mut known: Vec<String> = Vec::new();
    for (text, is_secret) in &options.environments {
        let root = Node::read(text, "file of environments", false)?;
        for (name, values) in root.members() {
            let is_chosen = options.environment.as_deref() == Some(name);
            if is_chosen || name == "$shared" {
                for (name, value) in values.members() {
                    variables.know(name, &value.plain(), *is_secret);
                }
            }
            known.push(name.clone());
        }
    }
    match &options.environment {
        Some(name) if !known.contains(name) => {
            known.retain(|name| name != "$shared");
            known.sort();
            known.dedup();
            let others =
                if known.is_empty() { "no file has one".to_owned() } else { format!("use {}", known.join(", ")) };
            Err(ImportError(format!("unknown environment '{name}': {others}")))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests;
