//! Collections of Postman, formats 2.0 and 2.1, with environments: one entry for each request, folders in order.

mod auth;
mod body;
mod item;
mod reader;
mod script;
mod url;

use crate::draft::{Draft, ImportError};
use crate::node::Node;
use crate::reader::Reader;
use crate::variables::{Part, Variables, in_braces};
use item::Folder;
use reader::know;

/// Files that Postman exports beside a collection.
#[derive(Debug, Clone, Copy, Default)]
pub struct Beside<'t> {
    /// An environment, whose variables win over the collection's.
    pub environment: Option<&'t str>,
    /// Globals, over whose variables the collection's win.
    pub globals: Option<&'t str>,
}

/// Imports a collection, with the variables of an environment that Postman exported.
///
/// # Errors
/// If a text is no JSON, no collection or no environment, or if the collection has no request.
pub fn import(text: &str, environment: Option<&str>) -> Result<Draft, ImportError> {
    import_with(text, Beside { environment, globals: None })
}

/// Imports a collection, with what Postman exported beside it.
///
/// # Errors
/// If a text is no JSON, no collection, no environment or no globals, or if the collection has no request.
pub fn import_with(text: &str, beside: Beside<'_>) -> Result<Draft, ImportError> {
    let root = Node::read(text, "Postman collection", false)?;
    let values = |text: &str, what: &str| values(Node::read(text, &format!("file of Postman {what}"), false)?, what);
    let globals = beside.globals.map(|text| values(text, "globals")).transpose()?;
    let environment = beside.environment.map(|text| values(text, "environment")).transpose()?;
    import_nodes(text, &root, globals.as_ref(), environment.as_ref())
}

/// Returns the variables of an environment or of globals.
fn values(root: Node, what: &str) -> Result<Node, ImportError> {
    // Postman's own API wraps environments.
    let root = if root.get("environment").is_null() { root } else { root.get("environment").clone() };
    match root.get("values") {
        Node::List(_) => Ok(root.get("values").clone()),
        _ => Err(ImportError(format!("the file of the {what} has no 'values': export it from Postman as JSON"))),
    }
}

/// Imports a collection that is read already. `text` names all its variables.
pub(crate) fn import_nodes(
    text: &str,
    root: &Node,
    globals: Option<&Node>,
    environment: Option<&Node>,
) -> Result<Draft, ImportError> {
    // Postman's own API wraps collections.
    let root = if root.get("collection").is_null() { root } else { root.get("collection") };
    check_format(root)?;
    let encoded = url::without_encoded_braces(text);
    let names = in_braces(&encoded).into_iter().filter_map(|part| match part {
        Part::Reference(name) if !name.starts_with('$') => Some(name),
        _ => None,
    });
    let mut variables = Variables::of(names.collect::<Vec<_>>());
    for values in [globals, Some(root.get("variable")), environment].into_iter().flatten() {
        know(values, &mut variables);
    }
    let mut reader = Reader::new(variables);
    let top = Folder { auth: root.get("auth"), events: Vec::new() };
    reader.folder(root, &top, 0);
    reader.finish("the collection has no requests")
}

fn check_format(root: &Node) -> Result<(), ImportError> {
    let schema = root.get("info").get("schema").text_or_empty();
    if !root.get("requests").is_null() && root.get("item").is_null() {
        return Err(ImportError("collection format 1 is not supported: export it from Postman as 2.1".to_owned()));
    }
    if !root.get("values").is_null() && root.get("item").is_null() {
        let kind =
            root.get("_postman_variable_scope").text().filter(|kind| *kind == "globals").unwrap_or("environment");
        let message =
            format!("expected a collection, found a file of variables: pass it with --{kind} beside the collection");
        return Err(ImportError(message));
    }
    if !root.get("collections").items().is_empty() && root.get("item").is_null() {
        let message = "expected a collection, found a whole workspace: export the collection from Postman as 2.1";
        return Err(ImportError(message.to_owned()));
    }
    if root.get("item").items().is_empty() && !schema.contains("/collection/") {
        return Err(ImportError("not a Postman collection: 'item' is missing".to_owned()));
    }
    Ok(())
}

#[cfg(test)]
mod tests;
