//! The end of a run before its time: who ended it, and why.

use crate::error::ScriptError;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// The text of a run that the script has ended without one.
pub const ABORTED: &str = "test aborted";

/// Returns the text of a run that the script has ended, as logs have it.
pub(crate) fn aborted(why: &str) -> String {
    if why == ABORTED { ABORTED.to_owned() } else { format!("{ABORTED}: {why}") }
}

/// Why a run ends before its time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StopCause {
    /// The person or program that runs the test has ended it.
    Interrupted,
    /// The script has ended the test, with this text.
    Aborted(String),
    /// A threshold that ends the test was crossed.
    Thresholds,
    /// The operator of the run has ended it, and its thresholds decide.
    Ended,
    /// The run cannot go on.
    Failed(ScriptError),
}

/// The signal that a run is to end: iterations are interrupted, then teardown and summary follow.
#[derive(Debug, Default)]
pub struct Control {
    is_stopped: Arc<AtomicBool>,
    cause: Mutex<Option<StopCause>>,
    /// The text of `exec.test.fail`, if the script has called it.
    failed: Mutex<Option<String>>,
}

impl Control {
    /// Ends the run. The first cause counts.
    pub fn stop(&self, cause: StopCause) {
        self.cause.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(cause);
        self.is_stopped.store(true, Ordering::Release);
    }

    /// Returns whether the run is to end.
    pub fn is_stopped(&self) -> bool {
        self.is_stopped.load(Ordering::Acquire)
    }

    /// Returns the flag that is set when the run is to end.
    pub(crate) fn flag(&self) -> Arc<AtomicBool> {
        self.is_stopped.clone()
    }

    /// Returns why the run ends before its time, if it does.
    pub fn cause(&self) -> Option<StopCause> {
        self.cause.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Marks the run as failed, which goes on.
    pub fn fail(&self, why: impl Into<String>) {
        self.failed.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(why.into());
    }

    /// Returns why the script has marked the run as failed, if it has.
    pub fn failure(&self) -> Option<String> {
        self.failed.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
