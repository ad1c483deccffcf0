//! Collections of Insomnia, as its exports of versions 5 (YAML) and 4 (JSON or YAML) have them: one entry for each request, in the
//! order in which Insomnia shows and runs them.

mod address;
mod auth;
mod content;
mod export;
mod item;
mod reader;
mod request;
mod scope;
mod script;
mod tag;
mod template;
mod text;
mod tree;

use crate::draft::{Draft, ImportError, LeftOut};
use crate::node::Node;
use crate::variables::Variables;
use item::{Collection, Environments, Level};
use reader::Reader;
use scope::Scope;
use template::Part;

/// What is imported of a collection.
#[derive(Debug, Clone, Copy, Default)]
pub struct Options<'t> {
    /// The name of a sub-environment; without one, only the base environment counts.
    pub environment: Option<&'t str>,
    /// The text of an exported global environment, over whose variables the collection's win.
    pub globals: Option<&'t str>,
}

/// The type of a global environment's file, up to its version.
const GLOBALS: &str = "environment.insomnia.rest/";

/// Imports a collection.
///
/// # Errors
/// If a text is no export of Insomnia or too large, if there is no such environment, or if the collection has no request.
pub fn import(text: &str, options: &Options<'_>) -> Result<Draft, ImportError> {
    let root = Node::read(text, "Insomnia export", true)?;
    let collection = collection(&root)?;
    let globals = options.globals.map(globals).transpose()?.unwrap_or_default();
    let mut draft = Draft::default();
    let layers = layers(&collection.environments, &globals, options.environment, &mut draft)?;
    let items = tree::in_order(&collection.folder, &mut draft.left_out);
    for (kind, which, reason) in &collection.left_out {
        draft.left_out.push(LeftOut::new(kind.as_str(), which.as_str(), reason.as_str()));
    }
    let mut names: Vec<String> = [Some(text), options.globals].into_iter().flatten().flat_map(names).collect();
    let mut above: Vec<&Level> = Vec::new();
    for (levels, item) in &items {
        // Folders around several requests are read once, as these follow each other.
        let new = levels.iter().filter(|level| !above.iter().any(|known| std::ptr::eq(*known, **level)));
        for level in new.copied().chain([&item.level]) {
            names.extend([&level.before, &level.after].into_iter().flat_map(|script| script::set_by(script)));
        }
        above.clone_from(levels);
    }
    let variables = Variables::of(names.iter().map(String::as_str));
    let secrets = variables.secrets();
    let scope = Scope::new(layers, &items);
    let mut reader = Reader::new(crate::reader::Reader { variables, secrets, draft }, scope, &items, request::add);
    for (levels, item) in &items {
        request::add(&mut reader, levels, item);
    }
    let empty = nothing(&reader.inner.draft);
    reader.inner.finish(&empty)
}

/// Returns the collection of an export.
fn collection(root: &Node) -> Result<Collection, ImportError> {
    let kind = root.get("type").text_or_empty();
    if root.get("_type").text() == Some("export") {
        let format = root.get("__export_format").number().unwrap_or_default();
        if format != 4.0 && format != 3.0 {
            let message = format!("export format {format} is not supported: export it from Insomnia as version 5 or 4");
            return Err(ImportError(message));
        }
        return export::read(root);
    }
    if kind.starts_with("collection.insomnia.rest/5") || kind.starts_with("spec.insomnia.rest/5") {
        return Ok(tree::read(root));
    }
    Err(ImportError(match kind {
        kind if kind.starts_with(GLOBALS) => {
            "expected a collection, found a global environment: pass it with --globals beside the collection".to_owned()
        }
        kind if kind.contains("insomnia") => {
            format!("'{kind}' has no collection: export a collection of version 5 or 4")
        }
        _ => "not an Insomnia export: expected 'type: collection.insomnia.rest/5.0' or '_type: export'".to_owned(),
    }))
}

/// Returns the environments of a file with a global environment.
fn globals(text: &str) -> Result<Environments, ImportError> {
    let root = Node::read(text, "file of Insomnia globals", true)?;
    if root.get("type").text_or_empty().starts_with(GLOBALS) {
        return Ok(tree::environments(root.get("environments")));
    }
    let made = if root.get("_type").text() == Some("export") { export::environments(&root) } else { None };
    let message = "the file of the globals is no environment of Insomnia: export it as version 5 or 4";
    made.ok_or_else(|| ImportError(message.to_owned()))
}

/// Returns the variables of the environments, those that win last: the globals' base and sub-environment, then the collection's.
fn layers(
    own: &Environments,
    globals: &Environments,
    name: Option<&str>,
    draft: &mut Draft,
) -> Result<[Node; 4], ImportError> {
    let chosen = |of: &Environments| {
        of.subs.iter().find(|(known, _)| Some(known.as_str()) == name).map(|(_, data)| data.clone())
    };
    let (sub, sub_of_globals) = (chosen(own), chosen(globals));
    let names: Vec<&str> = own.subs.iter().chain(&globals.subs).map(|(name, _)| name.as_str()).collect();
    match name {
        None if !names.is_empty() => {
            draft.notes.push(format!("environments: {}; choose one with --env NAME", names.join(", ")));
        }
        Some(name) if sub.is_none() && sub_of_globals.is_none() && name != own.name => {
            let there = if names.is_empty() { "the collection has none".to_owned() } else { names.join(", ") };
            return Err(ImportError(format!("no such environment: '{name}' (expected: {there})")));
        }
        _ => {}
    }
    let or_empty = |node: Option<Node>| node.unwrap_or(Node::Null);
    Ok([globals.base.clone(), or_empty(sub_of_globals), own.base.clone(), or_empty(sub)])
}

/// Returns the names of variables that a text names, so that no other variable takes one of them.
fn names(text: &str) -> Vec<String> {
    let name = |part: Part<'_>| if let Part::Name(steps) = part { Some(steps.join(".")) } else { None };
    template::parts(text).into_iter().filter_map(name).collect()
}

/// Says why there is no request.
fn nothing(draft: &Draft) -> String {
    let first = draft.left_out.first();
    let because = first.map(|first| format!(" ({} {}: {})", first.kind, first.which, first.reason)).unwrap_or_default();
    format!("the collection has no requests{because}")
}

#[cfg(test)]
mod tests;
