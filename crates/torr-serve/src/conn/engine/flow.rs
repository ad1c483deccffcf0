//! What an engine does in one turn, before it is added to the worker's counts.

use crate::observe::telemetry::{Count, Gauge, Meter};
use torr_net::{Nanos, clock};

#[derive(Debug, Default)]
pub(super) struct Flow {
    /// When the turn began.
    pub woken: Nanos,
    /// Time in which requests were read and handlers ran.
    pub handling: Nanos,
    pub received: u64,
    pub sent: u64,
}

impl Flow {
    /// The answers of a stage are with the kernel. Their requests were there when the turn began, as far as anybody knows.
    #[inline]
    pub fn end_stage(&self, meter: &Meter) {
        let answers = meter.take_answers();
        if answers > 0 {
            meter.took(clock::exact().saturating_sub(self.woken), answers);
        }
    }

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
