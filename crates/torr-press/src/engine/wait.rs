//! The waiting of a thread: for events and what is due, or, in an open loop, only for the next request that is due.
//!
//! A wake-up costs more CPU than a request. With time stamps of the kernel a response's time does not depend on when it is
//! read, so that the thread can sleep through the arrival of responses until it has to send anyway.

use super::Engine;
use super::coordinator::Coordinator;
use crate::pace::pacer::Pacer;
use crate::protocol::Protocol;
use std::io;
use std::thread;
use std::time::Duration;
use torr_net::Nanos;

/// The longest sleep through events. A request that is due later than that is waited for with an eye on events.
const LONGEST_SLEEP: Nanos = 1_000_000;
impl<P: Protocol, A: Pacer, C: Coordinator> Engine<'_, P, A, C> {
    /// Waits until sockets are ready or something is due.
    #[inline]
    pub(super) fn wait(&mut self, now: Nanos) -> io::Result<Nanos> {
        let timeout = if self.readiness.has_more() || self.slots.can_fill() {
            0
        } else {
            let next = self.deadline.min(self.next_sweep).min(self.recorder.next_time()).min(self.slots.next_time());
            let next = if self.may_park { next.min(self.next_wake()) } else { next };
            let next = if P::DATAGRAMS { next.min(self.timers.next_time()) } else { next };
            next.saturating_sub(now)
        };
        let asleep_from = if timeout == 0 { now } else { self.clock.now() };
        if timeout > 0 && timeout <= LONGEST_SLEEP && self.sleeps_through_events() {
            thread::sleep(Duration::from_nanos((now + timeout).saturating_sub(asleep_from)));
            self.readiness.wait(0)?;
        } else {
            self.readiness.wait(timeout)?;
        }
        let now = self.clock.now();
        if timeout > 0 {
            self.recorder.idle += now - asleep_from;
        }
        if let Some(stamps) = &mut self.timestamps {
            stamps.refresh();
        }
        Ok(now)
    }

    /// Whether no event matters before the next request is due: no request waits for a slot, and no connection is on its
    /// way to its first request.
    fn sleeps_through_events(&self) -> bool {
        self.late_reading.is_possible() && self.slots.has_available() && self.connector.opening == 0
    }
}
