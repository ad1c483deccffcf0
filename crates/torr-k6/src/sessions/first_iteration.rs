//! What `setup` and the first iteration of a script have shown, as other machines need it to run the same sessions.

use serde::{Deserialize, Serialize};

/// The largest number of servers and entries.
const MOST: usize = 10_000;

/// What `setup` and the first iteration of a script have shown.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FirstIteration {
    /// What `setup` returned in JSON, if it returned something.
    pub data: Option<String>,
    /// The names of the requests in their order.
    pub entries: Vec<String>,
    /// The origins of their servers, in the order of their first requests.
    pub origins: Vec<String>,
}

impl FirstIteration {
    /// Returns whether there is something to be run, and not too much of it.
    #[must_use]
    pub fn is_bounded(&self) -> bool {
        !self.origins.is_empty() && self.origins.len() <= MOST && self.entries.len() <= MOST
    }
}
