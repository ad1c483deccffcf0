//! The timers of the conductor: those of scenarios, which any thread takes, and those of virtual users, which their own thread
//! takes.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use torr_net::Nanos;

/// A timer of a scenario.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Timer {
    /// The scenario begins.
    Begin(usize),
    /// The number of virtual users changes.
    Step(usize),
    /// A virtual user that is no longer wanted is interrupted.
    Stop {
        /// The number of the virtual user.
        vu: usize,
        /// The number of the state that the timer is for.
        generation: u64,
    },
    /// Iterations may have been dropped.
    Drops(usize),
    /// No iteration begins any more.
    RegularEnd(usize),
    /// Iterations are interrupted.
    HardEnd(usize),
}

/// A timer of a virtual user, with the number of the state that it is for.
pub(super) type VuTimer = (usize, u64);

/// All timers.
#[derive(Debug)]
pub(super) struct Timers {
    scenarios: BinaryHeap<Reverse<(Nanos, Timer)>>,
    vus: Vec<BinaryHeap<Reverse<(Nanos, VuTimer)>>>,
}

impl Timers {
    pub(super) fn new(threads: usize) -> Self {
        Self { scenarios: BinaryHeap::new(), vus: (0..threads).map(|_| BinaryHeap::new()).collect() }
    }

    pub(super) fn add(&mut self, at: Nanos, timer: Timer) {
        self.scenarios.push(Reverse((at, timer)));
    }

    pub(super) fn add_vu(&mut self, thread: usize, at: Nanos, timer: VuTimer) {
        self.vus[thread].push(Reverse((at, timer)));
    }

    /// Takes the next timer of a scenario that is due.
    pub(super) fn due(&mut self, now: Nanos) -> Option<(Nanos, Timer)> {
        let Reverse((at, _)) = self.scenarios.peek()?;
        if *at > now { None } else { self.scenarios.pop().map(|Reverse(timer)| timer) }
    }

    /// Takes the next timer of a thread's virtual users that is due.
    pub(super) fn due_vu(&mut self, thread: usize, now: Nanos) -> Option<VuTimer> {
        let Reverse((at, _)) = self.vus[thread].peek()?;
        if *at > now { None } else { self.vus[thread].pop().map(|Reverse((_, timer))| timer) }
    }

    /// Returns when the next timer of a scenario is due; the maximum if there is none.
    pub(super) fn next_of_scenarios(&self) -> Nanos {
        self.scenarios.peek().map_or(Nanos::MAX, |Reverse((at, _))| *at)
    }

    /// Returns when the next timer of a thread's virtual users is due; the maximum if there is none.
    pub(super) fn next_of_vus(&self, thread: usize) -> Nanos {
        self.vus[thread].peek().map_or(Nanos::MAX, |Reverse((at, _))| *at)
    }
}
