//! What all threads of a run share whose sessions are iterations.

use super::entries::Entries;
use crate::control::StopCause;
use crate::error::{ErrorKind, ScriptError};
use crate::modules::Program;
use crate::shared::RunShared;
use std::collections::BTreeMap;
use std::fmt;
use std::rc::Rc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use torr_press::learnt::LearntServers;

/// The part of a script that sessions run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Part {
    /// `setup`, once, within this time.
    Setup(Duration),
    /// One iteration.
    FirstIteration,
    /// Iterations, until the run ends.
    Iterations,
    /// `teardown`, once, within this time.
    Teardown(Duration),
}

/// What all threads of a run share whose sessions are iterations.
pub(super) struct SessionRun {
    pub run: Arc<RunShared>,
    pub program: Arc<Program>,
    pub part: Part,
    /// The number of the scenario whose function the iterations call.
    pub scenario: usize,
    /// The name by which the function is exported.
    pub function: String,
    pub entries: Entries,
    /// The numbers of the servers that are known before the run, by origin.
    pub known: BTreeMap<String, usize>,
    /// The servers that the run learns of.
    pub learnt: Arc<LearntServers>,
    /// The number of iterations that have begun.
    pub begun: Arc<AtomicU64>,
    /// The number of tasks that have ended.
    pub ended: AtomicUsize,
    pub seen: Mutex<Seen>,
}

/// What the single task of a run has shown: of `setup`, of the first iteration, or of `teardown`.
#[derive(Debug, Default)]
pub(super) struct Seen {
    /// The requests in their order.
    pub entries: Entries,
    /// The origins of their servers, in the order of their first requests.
    pub origins: Vec<String>,
    /// Whether there was a response.
    pub is_answered: bool,
    /// Why the latest request without a response had none.
    pub failure: Option<String>,
    /// The error that the script has thrown, or the time limit that it has exceeded.
    pub error: Option<ScriptError>,
}

impl fmt::Debug for SessionRun {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("SessionRun").field("part", &self.part).field("known", &self.known).finish_non_exhaustive()
    }
}

impl SessionRun {
    pub fn seen(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns whether the script has stopped the test, which `teardown` follows.
    pub fn is_stopped(&self) -> bool {
        !matches!(self.part, Part::Teardown(_)) && self.run.control.is_stopped()
    }

    /// Returns whether the run is to end: its only task has ended, or the script has stopped the test.
    pub fn is_over(&self) -> bool {
        self.part != Part::Iterations && self.ended.load(Ordering::Acquire) > 0 || self.is_stopped()
    }

    /// Returns the numbers of the known servers as a thread has them.
    pub fn known(&self) -> impl Iterator<Item = (Rc<str>, usize)> {
        self.known.iter().map(|(origin, number)| (Rc::from(origin.as_str()), *number))
    }
}

/// Returns the error by which a script has ended its run, if it has.
pub(super) fn stop_error(run: &RunShared) -> Option<ScriptError> {
    match run.control.cause()? {
        StopCause::Failed(error) => Some(error),
        StopCause::Aborted(why) => {
            Some(ScriptError::new(ErrorKind::Aborted, format!("the script has stopped the test: {why}")))
        }
        StopCause::Interrupted | StopCause::Ended | StopCause::Thresholds => None,
    }
}
