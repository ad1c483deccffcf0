//! Descriptions of services in the OpenAPI format, versions 2.0 to 3.2, as JSON or YAML: one entry for each operation.

mod document;
mod operation;
mod others;
mod parameter;
mod sample;
mod security;
mod server;
mod swagger;

use crate::draft::{Draft, ImportError, LeftOut};
use crate::node::Node;
use crate::parts::option;
use crate::secret::Secrets;
use document::{Document, METHODS};
use operation::{Invented, Operation};
use others::Others;
pub use others::ReadFile;
use server::BASE_URL;
use torr_session::hurl::ast::{OptionName, OptionValue, Value};

/// What of a description is imported.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Only operations with one of these tags, unless there are none.
    pub tags: Vec<String>,
    /// Only operations whose path is one of these or below one of these, unless there are none.
    pub paths: Vec<String>,
    /// Only operations with one of these methods, unless there are none.
    pub methods: Vec<String>,
    /// The server's URL, instead of the description's.
    pub server: Option<String>,
}

impl Options {
    fn takes(&self, path: &str, method: &str, operation: &Node) -> bool {
        let is_below = |wanted: &String| {
            let wanted = wanted.trim_end_matches('/');
            path.strip_prefix(wanted).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        let has_tag = |wanted: &String| operation.get("tags").items().iter().any(|tag| tag.text() == Some(wanted));
        (self.tags.is_empty() || self.tags.iter().any(has_tag))
            && (self.paths.is_empty() || self.paths.iter().any(is_below))
            && (self.methods.is_empty() || self.methods.iter().any(|wanted| wanted.eq_ignore_ascii_case(method)))
    }
}

/// Imports a description that refers to no other file.
///
/// # Errors
/// If the text is no OpenAPI description, or no operation was chosen.
pub fn import(text: &str, options: &Options) -> Result<Draft, ImportError> {
    import_with(text, options, &|_| Err("other files are not available here".to_owned()))
}

/// Imports a description, with the files that it refers to.
///
/// # Errors
/// If the text is no OpenAPI description, or no operation was chosen.
pub fn import_with(text: &str, options: &Options, read: ReadFile<'_>) -> Result<Draft, ImportError> {
    let mut root = Node::read(text, "OpenAPI description", true)?;
    let is_swagger = is_swagger(&root)?;
    let others = Others::load(&mut root, read);
    if is_swagger {
        root = swagger::converted(&Document::new(&root, &others));
    }
    let document = Document::new(&root, &others);
    let (mut draft, mut invented) = (Draft::default(), Invented::default());
    let mut secrets = Secrets::beside(vec![BASE_URL.to_owned()]);
    let base = server::base(&document, options.server.as_deref(), &mut draft)?;
    let base_url = secrets.url(base.as_str().into());
    for (path, item) in document.resolve(root.get("paths")).members() {
        let item = document.resolve(item);
        let more = document.resolve(item.get("additionalOperations")).members().iter();
        let operations = item.members().iter().filter(|(name, _)| METHODS.contains(&name.as_str())).chain(more);
        for (method, operation) in operations {
            let operation = document.resolve(operation);
            if operation.is_null() {
                draft.left_out.push(LeftOut::new("operations", format!("{method} {path}"), "no description"));
                continue;
            }
            if !options.takes(path, method, operation) {
                draft.left_out.push(LeftOut::new("operations", "", "not chosen by --tag, --path or --method"));
                continue;
            }
            let operation = Operation { document: &document, path, item, method, operation, base: &base };
            let mut made = operation.entry(&mut secrets, &mut invented);
            made.left_out.extend(document.missing());
            draft.entries.push(made);
        }
        draft.left_out.extend(document.missing());
    }
    if draft.entries.is_empty() {
        let reference = draft.left_out.iter().find(|left_out| left_out.kind == "reference");
        let why = match reference {
            Some(LeftOut { which, reason, .. }) => format!("no operation in the description: '{which}': {reason}"),
            None if draft.left_out.iter().any(|left_out| left_out.kind == "operations") => {
                "no operation matches --tag, --path and --method".to_owned()
            }
            None => "no operation in the description: 'paths' is empty".to_owned(),
        };
        return Err(ImportError(why));
    }
    for (name, _) in root.get("webhooks").members() {
        draft.left_out.push(LeftOut::new("webhooks", name, "requests that the service sends"));
    }
    if let Some(first) = draft.entries.first_mut() {
        let of = OptionValue::Definition { name: BASE_URL.to_owned(), value: Value::Text(base_url) };
        first.entry.request.options.insert(0, option(OptionName::Variable, of));
    }
    for ((name, value), count) in invented {
        let times = if count == 1 { String::new() } else { format!(" in {count} operations") };
        draft
            .notes
            .push(format!("path parameter '{name}' has no example{times}: replace the invented value '{value}'"));
    }
    draft.secrets = secrets.finish();
    Ok(draft)
}

/// Whether a description is of version 2.0, which was called Swagger.
fn is_swagger(root: &Node) -> Result<bool, ImportError> {
    let (version, swagger) = (root.get("openapi").plain(), root.get("swagger").plain());
    let is_known =
        |version: &str| version == "3" || ["3.0", "3.1", "3.2"].iter().any(|known| version.starts_with(known));
    match (version.as_str(), swagger.as_str()) {
        (version, _) if is_known(version) => Ok(false),
        ("", "2" | "2.0") => Ok(true),
        ("", "") => Err(ImportError("not an OpenAPI description: 'openapi' is missing".to_owned())),
        ("", other) | (other, _) => {
            let other = crate::line::one_line(other);
            Err(ImportError(format!("OpenAPI {other} is not supported: use 2.0, 3.0, 3.1 or 3.2")))
        }
    }
}

#[cfg(test)]
mod tests;
