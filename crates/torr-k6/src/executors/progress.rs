//! What a test has done so far.

use std::time::Duration;

/// The numbers of a test so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// The virtual users that are active: those of scenarios with arrival rates only while they run an iteration.
    pub active: usize,
    /// The virtual users that exist.
    pub initialized: usize,
    /// The complete iterations.
    pub complete: u64,
    /// The interrupted iterations.
    pub interrupted: u64,
}

/// Whether a scenario goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// The scenario has not begun.
    Waiting,
    /// The scenario goes on.
    Running,
    /// No iteration begins any more.
    Stopping,
    /// The scenario has ended.
    Done,
}

/// What a scenario has done so far.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Progress {
    /// Whether the scenario goes on.
    pub status: Status,
    /// The part that is done, from 0 to 1.
    pub share: f64,
    /// The time since the scenario's beginning, at most its regular duration.
    pub elapsed: Duration,
    /// The virtual users that are active.
    pub active: usize,
    /// The virtual users that the scenario has.
    pub vus: usize,
    /// The iterations that have begun.
    pub begun: u64,
    /// The iterations that were complete.
    pub complete: u64,
    /// The iterations that there are to be in all, of executors that count them.
    pub iterations: Option<u64>,
    /// Whether the scenario was stopped before its end, or has dropped iterations.
    pub is_cut: bool,
}
