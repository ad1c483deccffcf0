//! What reading a collection has made so far.

use super::scope::Scope;
use crate::draft::{Draft, LeftOut};
use crate::secret::Secrets;
use crate::variables::Variables;
use torr_session::hurl::ast::{EntryOption, Template};

/// Reads a collection.
pub(super) struct Reader {
    pub(super) variables: Variables,
    pub(super) secrets: Secrets,
    pub(super) scope: Scope,
    pub(super) draft: Draft,
    /// Definitions for the next request, of the scripts behind the response before.
    pub(super) pending: Vec<EntryOption>,
    /// Tokens that entries capture: credentials and variables.
    pub(super) tokens: Vec<(String, String)>,
}

impl Reader {
    /// Returns a template of text with variables.
    pub(super) fn template(&mut self, text: &str, left_out: &mut Vec<LeftOut>) -> Template {
        self.scope.template(text, &mut self.variables, &mut self.secrets, left_out)
    }

    /// Returns a credential: a variable that the collection names, otherwise a new one.
    pub(super) fn credential(&mut self, name: &str, value: &str, left_out: &mut Vec<LeftOut>) -> Template {
        let template = self.template(value, left_out);
        if template.literal() == Some("") { template } else { self.secrets.credential(name, template) }
    }

    /// Says what is left out of the whole collection.
    pub(super) fn leave_out(&mut self, kind: &str, which: &str, reason: &str) {
        self.draft.left_out.push(LeftOut::new(kind, which, reason));
    }
}
