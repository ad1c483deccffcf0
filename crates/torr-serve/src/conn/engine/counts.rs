//! The counts of an engine in one turn, before they are added to the worker's counts.

use crate::observe::metrics_table::{Count, Gauge};
use crate::observe::telemetry::Meter;
use torr_net::{Nanos, clock};

#[derive(Debug, Default)]
pub(super) struct TurnCounts {
    /// The time at which the turn began.
    pub woken: Nanos,
    /// The time in which requests were parsed and handlers ran.
    pub handling: Nanos,
    pub received: u64,
    pub sent: u64,
}

impl TurnCounts {
    /// Counts a batch of responses, which the kernel has. Their requests count as arrived at the beginning of the turn.
    #[inline]
    pub fn end_batch(&self, meter: &Meter) {
        let responses = meter.take_responses();
        if responses > 0 {
            meter.took(clock::exact().saturating_sub(self.woken), responses);
        }
    }

    /// Adds the turn to the worker's counts.
    #[inline]
    pub fn end_turn(&mut self, meter: &Meter, ready: usize, open: usize) {
        meter.busy_until(clock::exact());
        meter.add(Count::Handling, std::mem::take(&mut self.handling));
        meter.add(Count::Received, std::mem::take(&mut self.received));
        meter.add(Count::Sent, std::mem::take(&mut self.sent));
        meter.add(Count::Turns, 1);
        meter.add(Count::Ready, ready as u64);
        meter.set(Gauge::Open, open as u64);
    }
}
