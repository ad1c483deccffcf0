//! The metrics of a whole run, which all threads' recorders hand over to.

use super::merged::Merged;
use super::plan::MetricsPlan;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The metrics of a run. Copies share them.
#[derive(Debug, Clone, Default)]
pub struct Collector(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    plan: Arc<MetricsPlan>,
    merged: Mutex<Merged>,
}

impl Collector {
    /// Returns the collector of a run.
    #[must_use]
    pub fn new(plan: Arc<MetricsPlan>) -> Self {
        Self(Arc::new(Shared { plan, merged: Mutex::default() }))
    }

    /// Returns what is kept of samples.
    #[must_use]
    pub fn plan(&self) -> &Arc<MetricsPlan> {
        &self.0.plan
    }

    /// Returns the metrics that were handed over so far. Recorders wait while they are in use.
    pub fn merged(&self) -> MutexGuard<'_, Merged> {
        self.0.merged.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
