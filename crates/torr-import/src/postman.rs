//! Collections of Postman, formats 2.0 and 2.1, with environments: one entry for each request, folders in order.

mod auth;
mod body;
mod dynamic;
mod expectation;
mod item;
mod reader;
mod script;
mod url;

use crate::draft::{Draft, ImportError};
use crate::node::Node;
use crate::variables::{Part, Variables, in_braces};
use item::Folder;
use reader::{Reader, know};

/// Imports a collection, with the variables of an environment that Postman exported.
///
/// # Errors
/// If a text is no JSON, no collection or no environment, or if the collection has no request.
pub fn import(text: &str, environment: Option<&str>) -> Result<Draft, ImportError> {
    let root = Node::read(text, "Postman collection", false)?;
    let environment = environment.map(|text| Node::read(text, "Postman environment", false)).transpose()?;
    import_nodes(text, &root, environment.as_ref())
}

/// Imports a collection that is read already. `text` names all its variables.
pub(crate) fn import_nodes(text: &str, root: &Node, environment: Option<&Node>) -> Result<Draft, ImportError> {
    // Postman's own API wraps collections and environments.
    let root = if root.get("collection").is_null() { root } else { root.get("collection") };
    check_format(root)?;
    let encoded = url::without_encoded_braces(text);
    let names = in_braces(&encoded).into_iter().filter_map(|part| match part {
        Part::Reference(name) if !name.starts_with('$') => Some(name),
        _ => None,
    });
    let mut variables = Variables::of(names.collect::<Vec<_>>());
    know(root.get("variable"), &mut variables);
    if let Some(environment) = environment {
        let environment =
            if environment.get("environment").is_null() { environment } else { environment.get("environment") };
        if environment.get("values").items().is_empty() {
            return Err(ImportError("the environment has no 'values': export it from Postman as JSON".to_owned()));
        }
        know(environment.get("values"), &mut variables);
    }
    let mut reader = Reader { secrets: variables.secrets(), variables, draft: Draft::default() };
    let top = Folder { auth: root.get("auth"), events: Vec::new() };
    reader.folder(root, &top, 0);
    let Reader { secrets, variables, mut draft } = reader;
    if draft.entries.is_empty() {
        return Err(ImportError("the collection has no request".to_owned()));
    }
    variables.finish(&mut draft);
    draft.secrets = secrets.finish();
    Ok(draft)
}

fn check_format(root: &Node) -> Result<(), ImportError> {
    let schema = root.get("info").get("schema").text_or_empty();
    if !root.get("requests").is_null() && root.get("item").is_null() {
        return Err(ImportError("this is a collection of format 1: export it from Postman as 2.1".to_owned()));
    }
    if !root.get("values").is_null() && root.get("item").is_null() {
        return Err(ImportError("this is an environment: give the collection, and this with --environment".to_owned()));
    }
    if root.get("item").items().is_empty() && !schema.contains("/collection/") {
        return Err(ImportError("this is no Postman collection: it has no 'item'".to_owned()));
    }
    Ok(())
}

#[cfg(test)]
mod tests;
