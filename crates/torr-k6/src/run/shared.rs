//! What all virtual users of a run share, on all threads.

use crate::log::Log;
use crate::metrics::Registry;
use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, OnceLock};
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
    /// What `setup` returned in JSON, once it has; `None` within if that was nothing.
    pub setup_data: OnceLock<Option<Arc<str>>>,
    /// Whether the run ends at once, without teardown.
    pub leave: Arc<AtomicBool>,
}
