//! The slots of a thread: which of them are available, which are deferred, and how many hold a request in flight.

use super::slot_queue::SlotQueue;
use crate::pace::pacer::Due;
use crate::plan::Plan;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use torr_net::Nanos;

/// All slots of a thread's connections.
pub(super) struct Slots {
    available: SlotQueue,
    deferred: BinaryHeap<Reverse<DeferredSlot>>,
    /// Slots whose users are in a session and have a request to send, which no pacer holds back.
    pub continuing: VecDeque<u32>,
    /// When the pacer is to be called again, if that is known.
    pub next_due: Option<Nanos>,
    /// Whether requests may be due for which no slot was available.
    pub backlogged: bool,
    /// Whether the pacer has begun its last request.
    pub all_begun: bool,
    /// The number of requests in flight.
    pub in_flight: usize,
    /// The number of connections, or users, that slots belong to.
    pub connections: usize,
}

/// A slot that becomes available at a time: after a failure, or a think time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct DeferredSlot {
    pub until: Nanos,
    pub connection: u32,
    pub then: AfterWait,
}

/// The next use of a deferred slot once its time has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum AfterWait {
    /// The slot is available.
    Available,
    /// The slot is available, and the pacer is notified of the request that has ended in it.
    RequestEnded,
    /// The slot's user takes the next step of a session.
    NextStep,
    /// The slot's user takes the next step of a session, whatever the back-off of its connection is.
    NextStepAtOnce,
}

impl Slots {
    pub fn new(plan: &Plan, connections: usize) -> Self {
        Self {
            available: SlotQueue::new(connections, plan.depth, plan.prefers_open()),
            deferred: BinaryHeap::new(),
            continuing: VecDeque::new(),
            next_due: None,
            backlogged: false,
            all_begun: false,
            in_flight: 0,
            connections,
        }
    }

    /// Returns the connection of the next available slot. `is_open` tells whether a connection has a socket.
    #[inline]
    pub fn next(&mut self, is_open: impl Fn(u32) -> bool) -> Option<u32> {
        self.available.next(is_open)
    }

    /// Takes the slot that [`Slots::next`] has returned.
    #[inline]
    pub fn take(&mut self) {
        self.available.take();
    }

    /// Makes a slot of a connection available.
    #[inline]
    pub fn release(&mut self, connection: u32) {
        self.available.put(connection);
    }

    /// Makes a slot available at a later time.
    pub fn defer(&mut self, slot: DeferredSlot) {
        self.deferred.push(Reverse(slot));
    }

    /// Removes a deferred slot whose time has come.
    #[inline]
    pub fn pop_deferred(&mut self, now: Nanos) -> Option<DeferredSlot> {
        self.deferred.peek().filter(|Reverse(slot)| slot.until <= now)?;
        self.deferred.pop().map(|Reverse(slot)| slot)
    }

    /// Notes until when no request is due. Returns whether connections without requests are not needed until then.
    #[inline]
    pub fn pause(&mut self, due: Due) -> bool {
        self.next_due = match due {
            Due::At(time) | Due::Later(time) => {
                self.backlogged = false;
                Some(time)
            }
            Due::NotBefore(time) => Some(time),
            Due::Never => {
                self.all_begun = true;
                self.available.clear();
                None
            }
            Due::Immediately => None,
        };
        matches!(due, Due::NotBefore(_))
    }

    /// Whether a slot is available that may be filled at once.
    pub fn can_fill(&self) -> bool {
        !self.continuing.is_empty() || !self.available.is_empty() && self.next_due.is_none() && !self.all_begun
    }

    /// Whether a slot is available, so that the next request that is due can begin.
    pub fn has_available(&self) -> bool {
        !self.available.is_empty()
    }

    /// Returns when a slot has to be filled or becomes available.
    pub fn next_time(&self) -> Nanos {
        let deferred = self.deferred.peek().map_or(Nanos::MAX, |Reverse(slot)| slot.until);
        deferred.min(self.next_due.unwrap_or(Nanos::MAX))
    }

    /// Returns the connections with available slots that may be open, where slots are ordered by that.
    pub fn open_connections(&self) -> &[u32] {
        self.available.open()
    }
}
