//! What all virtual users of a run share, on all threads.

use crate::log::Log;
use crate::metrics::Registry;
use std::collections::BTreeMap;
use std::sync::OnceLock;
use std::time::Instant;

/// The state that all virtual users of a run share. Each room adds its own field with a lock of its own where it changes.
#[derive(Debug, Default)]
pub struct RunShared {
    /// The environment that scripts see as `__ENV`.
    pub env: BTreeMap<String, String>,
    /// The log, with the lines of the console.
    pub log: Log,
    /// The metrics.
    pub registry: Registry,
    /// When the clock of the test started, once it has.
    pub started: OnceLock<Instant>,
}
