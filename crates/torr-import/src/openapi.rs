//! Descriptions of services in the OpenAPI format, versions 3.0 and 3.1, as JSON or YAML: one entry for each operation.

mod document;
mod operation;
mod parameter;
mod sample;
mod security;
mod server;

use crate::draft::{Draft, ImportError, LeftOut};
use crate::node::Node;
use crate::parts::option;
use crate::secret::Secrets;
use document::Document;
use operation::Operation;
use server::BASE_URL;
use torr_session::hurl::ast::{OptionName, OptionValue, Value};

/// Methods of a path, as the format names them.
const METHODS: &[&str] = &["get", "put", "post", "delete", "options", "head", "patch", "trace"];

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

/// Imports a description.
///
/// # Errors
/// If the text is no OpenAPI description of version 3, or no operation was chosen.
pub fn import(text: &str, options: &Options) -> Result<Draft, ImportError> {
    let root = Node::read(text, "OpenAPI description", true)?;
    check_version(&root)?;
    let document = Document::new(&root);
    let mut draft = Draft::default();
    let mut secrets = Secrets::beside(vec![BASE_URL.to_owned()]);
    let base = server::base(&document, options.server.as_deref(), &mut draft)?;
    for (path, item) in root.get("paths").members() {
        let item = document.resolve(item);
        for (method, operation) in item.members().iter().filter(|(name, _)| METHODS.contains(&name.as_str())) {
            if !options.takes(path, method, operation) {
                draft.left_out.push(LeftOut::new("operations", "", "not chosen by --tag, --path or --method"));
                continue;
            }
            let operation = Operation { document: &document, path, item, method, operation, base: &base };
            draft.entries.push(operation.entry(&mut secrets));
        }
    }
    if draft.entries.is_empty() {
        let chosen = "the description has no operation that --tag, --path and --method choose";
        let none = "the description has no operation: there is nothing below 'paths'";
        let why = if draft.left_out.is_empty() { none } else { chosen };
        return Err(ImportError(why.to_owned()));
    }
    for (name, _) in root.get("webhooks").members() {
        draft.left_out.push(LeftOut::new("webhooks", name, "requests that the service sends"));
    }
    if let Some(first) = draft.entries.first_mut() {
        let of = OptionValue::Definition { name: BASE_URL.to_owned(), value: Value::Text(base.as_str().into()) };
        first.entry.request.options.insert(0, option(OptionName::Variable, of));
    }
    draft.secrets = secrets.finish();
    Ok(draft)
}

fn check_version(root: &Node) -> Result<(), ImportError> {
    let version = root.get("openapi").plain();
    if version.starts_with("3.0") || version.starts_with("3.1") || version == "3" {
        return Ok(());
    }
    Err(ImportError(match (version.as_str(), root.get("swagger").is_null()) {
        ("", false) => "this is a description of Swagger 2.0: convert it to OpenAPI 3 first".to_owned(),
        ("", true) => "this is no OpenAPI description: it has no 'openapi' version".to_owned(),
        (other, _) => {
            format!("the description is of OpenAPI {}: 3.0 and 3.1 are supported", crate::line::one_line(other))
        }
    }))
}

#[cfg(test)]
mod tests;
