//! Readings: what a reader of a runtime returns.

use crate::stack::StackSample;
use crate::unseen::Unseen;
use std::collections::BTreeMap;
use std::time::Duration;

/// What a reader may do to a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Permission {
    /// Read its memory and its files in `/proc`.
    Reading,
    /// Send it requests by its own diagnostic interface too (`--ask`).
    Asking,
}

/// The samples of one process of a runtime.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Reading {
    /// Samples of threads that computed. Their weights are in proportion to CPU time, and 1 on average or less.
    pub cpu: Vec<StackSample>,
    /// All threads at one time, again and again: those that wait and those that compute. All weights are 1.
    pub rounds: Vec<Vec<StackSample>>,
    /// The CPU time of each thread while it was sampled.
    pub used: BTreeMap<u64, Duration>,
    /// What of the process was not visible.
    pub unseen: Option<Unseen>,
}
