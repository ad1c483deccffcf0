//! The virtual users of a number that changes in stages: which one is wanted, and which one finishes its last iteration.

use super::ramp::{Ramp, Step};
use torr_net::Nanos;

/// The state of a virtual user within the scenario.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Handle {
    /// Not wanted, and without a virtual user.
    Off,
    /// Wanted, but no virtual user is available yet.
    Waiting,
    /// Running iterations.
    On(usize),
    /// Finishing its iteration, which goes on until this time at most.
    Leaving(usize, Nanos),
    /// Interrupted. Goes on afterwards if it is wanted again.
    Stopped(usize, bool),
}

/// What follows from a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Change {
    /// The handle needs a virtual user.
    Acquire(usize),
    /// The handle no longer waits for a virtual user.
    Forget(usize),
    /// The virtual user may finish its iteration until this time.
    Leave(usize, Nanos),
    /// Nothing changes.
    Nothing,
}

/// The virtual users of a scenario.
#[derive(Debug)]
pub(super) struct Ramping {
    steps: std::iter::Peekable<Ramp>,
    handles: Vec<Handle>,
    ramp_down: Nanos,
}

impl Ramping {
    /// Returns the virtual users of a ramp.
    pub(super) fn new(ramp: Ramp, most: usize, ramp_down: Nanos) -> Self {
        Self { steps: ramp.peekable(), handles: vec![Handle::Off; most], ramp_down }
    }

    /// Returns the time of the next step.
    pub(super) fn next_step(&mut self) -> Option<Nanos> {
        self.steps.peek().map(|step| step.at)
    }

    /// Takes the next step.
    pub(super) fn step(&mut self) -> Change {
        let Some(Step { at, handle, is_start }) = self.steps.next() else { return Change::Nothing };
        let state = &mut self.handles[handle];
        let (changed, change) = match (*state, is_start) {
            (Handle::Off, true) => (Handle::Waiting, Change::Acquire(handle)),
            (Handle::Leaving(vu, _), true) => (Handle::On(vu), Change::Nothing),
            (Handle::Stopped(vu, _), is_start) => (Handle::Stopped(vu, is_start), Change::Nothing),
            (Handle::Waiting, false) => (Handle::Off, Change::Forget(handle)),
            (Handle::On(vu), false) => {
                let until = at.saturating_add(self.ramp_down);
                (Handle::Leaving(vu, until), Change::Leave(vu, until))
            }
            (state, _) => (state, Change::Nothing),
        };
        *state = changed;
        change
    }

    /// Gives a waiting handle a virtual user.
    pub(super) fn attach(&mut self, handle: usize, vu: usize) {
        self.handles[handle] = Handle::On(vu);
    }

    /// Returns whether the virtual user of a handle is to be interrupted now, and notes that it was.
    pub(super) fn stops(&mut self, handle: usize, now: Nanos) -> bool {
        match self.handles[handle] {
            Handle::Leaving(vu, until) if until <= now => {
                self.handles[handle] = Handle::Stopped(vu, false);
                true
            }
            _ => false,
        }
    }

    /// Returns whether the virtual user of a handle, which has ended an iteration, begins another one.
    pub(super) fn goes_on(&mut self, handle: usize) -> bool {
        match self.handles[handle] {
            Handle::On(_) => true,
            Handle::Stopped(vu, true) => {
                self.handles[handle] = Handle::On(vu);
                true
            }
            _ => false,
        }
    }

    /// Notes that a handle has no virtual user.
    pub(super) fn detach(&mut self, handle: usize) {
        self.handles[handle] = Handle::Off;
    }
}
