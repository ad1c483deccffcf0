//! What reading a description has made so far, and its variables.

use crate::draft::{Draft, ImportError, LeftOut};
use crate::secret::Secrets;
use crate::variables::Variables;

/// Reads a description whose requests share variables.
pub(crate) struct Reader {
    pub(crate) variables: Variables,
    pub(crate) secrets: Secrets,
    pub(crate) draft: Draft,
}

impl Reader {
    /// Returns a reader with these variables, which has read nothing yet.
    pub(crate) fn new(variables: Variables) -> Self {
        Self { secrets: variables.secrets(), variables, draft: Draft::default() }
    }

    /// Says what is left out of the whole description.
    pub(crate) fn leave_out(&mut self, kind: &str, reason: &str) {
        self.draft.left_out.push(LeftOut::new(kind, "", reason));
    }

    /// Returns what was read; `empty` is the error where there was no request.
    pub(crate) fn finish(self, empty: &str) -> Result<Draft, ImportError> {
        let Self { variables, secrets, mut draft } = self;
        if draft.entries.is_empty() {
            return Err(ImportError(empty.to_owned()));
        }
        variables.finish(&mut draft);
        draft.secrets = secrets.finish();
        Ok(draft)
    }
}
