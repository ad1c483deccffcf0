//! A slot: a virtual user with what it waits for, and its requests on their way.

use super::exchange::Sending;
use crate::executors::Start;
use crate::machine::Machine;
use crate::user::exchange::Outgoing;
use crate::user::{Task, Woken};
use std::collections::VecDeque;
use std::time::Instant;
use torr_net::Nanos;

/// A virtual user on its thread.
pub(super) struct VuSlot {
    pub machine: Machine,
    pub state: State,
    /// The number of the latest timer: earlier ones have no meaning any more.
    pub timer: u32,
    pub job: Job,
    /// The request that the script waits for.
    pub own: Option<Sending>,
    /// The requests that go on beside the script, by lane.
    pub lanes: Vec<Option<Sending>>,
    /// Requests that wait for a lane.
    pub queue: VecDeque<Outgoing>,
    /// The number of iterations that have begun.
    pub begun: u64,
}

/// What a virtual user does, or waits for.
pub(super) enum State {
    /// No task runs.
    Idle,
    /// The virtual user goes on at its next step.
    Ready(Resumption),
    /// The script waits for a time.
    Sleeping,
    /// The script waits for a request, which is not sent yet.
    Unsent,
    /// The script waits for a request in flight.
    InFlight,
    /// The script waits for a request or a socket that goes on beside it, or a time.
    Event,
    /// The script waits for a socket, or a time.
    Mail,
}

/// How a virtual user goes on.
pub(super) enum Resumption {
    Begin(Task, Option<Instant>),
    Woken(Woken),
    Interrupt,
}

/// What the running task is for.
pub(super) enum Job {
    None,
    Setup,
    Iteration(Start, Nanos),
    Teardown,
}

impl VuSlot {
    pub fn new(machine: Machine, lanes: usize) -> Self {
        Self {
            machine,
            state: State::Idle,
            timer: 0,
            job: Job::None,
            own: None,
            lanes: (0..lanes).map(|_| None).collect(),
            queue: VecDeque::new(),
            begun: 0,
        }
    }

    /// Returns whether no task runs.
    pub fn is_idle(&self) -> bool {
        matches!(self.state, State::Idle)
    }

    /// Returns a lane for the next request of the queue that may be sent now, with the request.
    pub fn next_for_lane(&mut self, most: usize, most_per_host: usize) -> Option<(usize, Outgoing)> {
        let busy = self.lanes.iter().flatten().count();
        if busy >= most {
            return None;
        }
        let free = self.lanes.iter().position(Option::is_none)?;
        let lanes = &self.lanes;
        let to_host = |origin: &str| lanes.iter().flatten().filter(|lane| *lane.outgoing.origin == *origin).count();
        let at = self.queue.iter().position(|outgoing| to_host(&outgoing.origin) < most_per_host)?;
        Some((free, self.queue.remove(at)?))
    }
}
