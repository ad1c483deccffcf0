//! The outcome of a run, as `done` has it.

use crate::stats::Stats;
use mlua::{Lua, Result, Table};
use torr_gauge::collector::Measurement;
use torr_gauge::{FailureKind, Latency};

/// The figures of a run that `done` is called with.
#[derive(Debug)]
pub struct Outcome {
    /// In microseconds.
    duration: f64,
    requests: u64,
    bytes: u64,
    errors: [(&'static str, u64); 5],
    latency: Latency,
    /// The responses per second of each thread in each second.
    rates: Latency,
}

impl Outcome {
    /// Returns the figures of a run.
    pub fn of(measured: &Measurement) -> Self {
        let of = |kinds: &[FailureKind]| measured.total.failures.of_any(kinds);
        Self {
            duration: (measured.result.duration_s * 1e6).round(),
            requests: measured.result.requests,
            bytes: measured.result.bytes.received,
            errors: [
                ("connect", of(&[FailureKind::Connect, FailureKind::Tls, FailureKind::Ports])),
                ("read", of(&[FailureKind::Read, FailureKind::Protocol])),
                ("write", of(&[FailureKind::Write])),
                ("status", measured.result.errors.of_responses()),
                ("timeout", of(&[FailureKind::Timeout])),
            ],
            latency: measured.total.latency(),
            rates: thread_rates(measured),
        }
    }

    /// Returns the arguments of `done`.
    pub(super) fn arguments(self, lua: &Lua) -> Result<(Table, Stats, Stats)> {
        let errors = lua.create_table_from(self.errors)?;
        let summary = lua.create_table()?;
        summary.set("duration", self.duration)?;
        summary.set("requests", self.requests)?;
        summary.set("bytes", self.bytes)?;
        summary.set("errors", errors)?;
        Ok((summary, Stats::new(self.latency), Stats::new(self.rates)))
    }
}

/// Returns the responses per second of each thread in each second, or in a shorter run of each thread.
fn thread_rates(measured: &Measurement) -> Latency {
    if measured.thread_rates.count() > 0 {
        return measured.thread_rates.clone();
    }
    let mut rates = Latency::default();
    let seconds = measured.result.duration_s.max(1e-6);
    measured.threads.iter().for_each(|thread| rates.record_number((thread.answered as f64 / seconds) as u64));
    rates
}
