//! The variables of a collection.

use crate::draft::LeftOut;
use crate::dynamic;
use crate::node::Node;
use crate::reader::Reader;
use crate::variables::{Variables, braced};
use torr_session::hurl::ast::Template;

impl Reader {
    /// Returns a template of text with variables.
    pub(super) fn template(&mut self, text: &str, left_out: &mut Vec<LeftOut>) -> Template {
        let mut function = |name: &str| dynamic::piece(name, left_out);
        braced(&mut self.variables, &mut self.secrets, text, &mut function)
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
