//! What the conductor orders the threads to do, and what they report.

use torr_net::Nanos;

/// An order to the thread of a virtual user. Virtual users are numbered from 0: the script sees the number plus 1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Order {
    /// Begins an iteration. The thread reports its end.
    Begin(Start),
    /// Interrupts the running iteration. The thread reports its end.
    Interrupt(usize),
    /// Creates a virtual user. The thread reports when it exists.
    Create(usize),
    /// Records iterations of a scenario that were dropped.
    Dropped {
        /// The number of the scenario.
        scenario: usize,
        /// The number of iterations.
        count: u64,
    },
    /// Warns that an arrival rate of a scenario has no virtual users left.
    Insufficient {
        /// The number of the scenario.
        scenario: usize,
    },
}

/// The beginning of an iteration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Start {
    /// The number of the virtual user.
    pub vu: usize,
    /// The number of the scenario, in the order of names.
    pub scenario: usize,
    /// The number of the iteration among all of the scenario, from 0, in the order of their beginnings.
    pub in_test: u64,
    /// The number of the iteration among those of the virtual user in the scenario, from 0.
    pub in_scenario: u64,
    /// When the iteration was due, if it has an arrival rate.
    pub due: Option<Nanos>,
    /// When the iteration is interrupted at the latest.
    pub deadline: Nanos,
}

/// The end of an iteration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// The function returned or threw an error.
    Complete,
    /// The iteration was interrupted.
    Interrupted,
}
