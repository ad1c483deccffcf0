//! What reading a collection has made so far, and its variables.

use super::dynamic;
use crate::draft::{Draft, LeftOut};
use crate::node::Node;
use crate::secret::Secrets;
use crate::variables::{Variables, braced};
use torr_session::hurl::ast::Template;

/// Reads a collection.
pub(super) struct Reader {
    pub(super) variables: Variables,
    pub(super) secrets: Secrets,
    pub(super) draft: Draft,
}

impl Reader {
    /// Returns a template of text with variables.
    pub(super) fn template(&mut self, text: &str, left_out: &mut Vec<LeftOut>) -> Template {
        let mut function = |name: &str| dynamic::piece(name, left_out);
        braced(&mut self.variables, &mut self.secrets, text, &mut function)
    }

    /// Says what is left out of the whole collection.
    pub(super) fn leave_out(&mut self, kind: &str, reason: &str) {
        self.draft.left_out.push(LeftOut::new(kind, "", reason));
    }
}

/// Reads the variables of a collection, a folder or an environment.
pub(super) fn know(list: &Node, variables: &mut Variables) {
    for variable in list.items() {
        let key = if variable.get("key").is_null() { variable.get("id") } else { variable.get("key") };
        let is_off = variable.get("disabled").is_true() || *variable.get("enabled") == Node::Boolean(false);
        if let Some(name) = key.text().filter(|name| !name.is_empty() && !is_off) {
            let is_secret = variable.get("type").text() == Some("secret");
            variables.know(name, &variable.get("value").plain(), is_secret);
        }
    }
}
