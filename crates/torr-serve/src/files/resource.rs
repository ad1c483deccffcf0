//! What a path names: a file, and the ready-compressed forms beside it.

use super::form::Form;
use std::time::{Duration, Instant};

/// How long it is believed that no other form has appeared.
const LIFETIME: Duration = Duration::from_secs(1);

/// The forms of a file that were there at a time.
#[derive(Debug)]
pub(super) struct Resource {
    forms: Vec<Form>,
    found: Instant,
    settled: bool,
}

impl Resource {
    /// Returns a resource of these forms, the plain one first.
    pub fn new(forms: Vec<Form>) -> Self {
        let settled = forms.iter().all(|form| form.identity.is_settled());
        Self { forms, found: Instant::now(), settled }
    }

    /// Returns the forms: the plain one, then the compressed ones, the best first.
    pub fn forms(&self) -> &[Form] {
        &self.forms
    }

    /// Whether changes of the files since then would be known.
    pub fn is_settled(&self) -> bool {
        self.settled
    }

    /// Whether other forms may have appeared since.
    pub fn is_old(&self) -> bool {
        self.found.elapsed() > LIFETIME
    }

    /// Returns the number of bytes that it takes in memory with its contents.
    pub fn footprint(&self) -> usize {
        size_of::<Self>() + self.forms.iter().map(Form::footprint).sum::<usize>()
    }
}
