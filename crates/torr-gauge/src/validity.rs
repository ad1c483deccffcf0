//! The judgement of a run's figures: criteria and their limits.
//!
//! Each criterion has its own limit. A statistical test fails only if the effect exceeds the limit *and* its probability by
//! chance is below [`CHANCE`](crate::result::validity::CHANCE), so that all tests together reject at most one sound run in a hundred.

mod datagrams;
mod drift;
mod exponential;
mod schedule;
mod silence;
mod trend;
mod unfinished;

pub use exponential::{Fit, exponential};
pub use silence::longest_silence;
pub use trend::{Trend, trend};

use crate::result::RunResult;
use crate::result::validity::{Caution, Finding, Validity};

/// The limit of the share of the time in which threads are runnable without a CPU.
const QUEUED: f64 = 0.1;
/// The CPU use in cores above which another program is named beside a generator that waits for a CPU.
const OTHERS: f64 = 0.05;
/// The limit of the stolen share of the machine's CPU time.
const STOLEN: f64 = 0.01;
/// The number of samples that the 99th percentile needs.
const SAMPLES: u64 = 500;

/// The facts of a run that the result does not contain.
#[derive(Debug, Clone, Copy)]
pub struct UnreportedFacts<'s> {
    /// The number of requests sent on a schedule.
    pub sent: u64,
    /// A sample of the times between consecutive requests of a thread in nanoseconds.
    pub gaps: &'s [u64],
    /// The stolen share of this machine's CPU time, `None` if unknown.
    pub steal: Option<f64>,
}

/// Judges a run by all criteria that apply.
pub fn judge(run: &RunResult, facts: &UnreportedFacts<'_>) -> Validity {
    let mut findings = Vec::new();
    findings.extend(drift::throughput(run));
    findings.extend(drift::latency(run));
    findings.extend(silence::silence(run));
    let lag = schedule::lag(run);
    let behind = run.generator.saturated || lag.as_ref().is_some_and(|lag| !lag.ok);
    findings.extend(lag);
    findings.extend(schedule::rate(run, facts.sent, behind));
    findings.extend(schedule::arrivals(run, facts.gaps));
    findings.extend(run.generator.busy_share.map(|share| generator(run, share)));
    findings.extend(run.generator.queued_share.map(|share| queued(share, run)));
    findings.extend(facts.steal.map(|share| Finding::at_most(STOLEN, Caution::Steal { share })));
    findings.extend(samples(run));
    findings.extend(unfinished::unfinished(run));
    findings.extend(datagrams::drops(run));
    findings.extend(datagrams::bursts(run));
    Validity { ok: findings.iter().all(|finding| finding.ok), findings }
}

fn generator(run: &RunResult, share: f64) -> Finding {
    let fact = Caution::Generator { share, scheduled: run.plan.arrivals.is_some() };
    Finding { ok: !run.generator.saturated, ..Finding::at_most(crate::generator::SATURATED, fact) }
}

fn queued(share: f64, run: &RunResult) -> Finding {
    let signals = run.signals.as_ref().filter(|_| share > QUEUED);
    let others = signals.map_or_else(Vec::new, |signals| signals.busiest_others(OTHERS).cloned().collect());
    Finding::at_most(QUEUED, Caution::Queued { share, others })
}

fn samples(run: &RunResult) -> Option<Finding> {
    // Of streams there may be few, with many events.
    let (times, count) = match &run.streams {
        Some(streams) => (streams.gap_us.as_ref(), streams.events.saturating_sub(streams.begun)),
        None => (run.latency_us.as_ref(), run.requests + run.unfinished + run.errors.timeout + run.errors.abandoned),
    };
    let (s, is_of_events) = (times?, run.streams.is_some());
    let all = [
        ("p50", s.p50),
        ("p75", s.p75),
        ("p90", s.p90),
        ("p95", s.p95),
        ("p99", s.p99),
        ("p99.9", s.p99_9),
        ("p99.99", s.p99_99),
    ];
    let left_out = all.iter().filter(|(_, us)| us.is_none()).map(|(name, _)| (*name).to_owned()).collect();
    let fact = Caution::Samples { count, left_out, of_events: is_of_events };
    Some(Finding { ok: s.p99.is_some(), ..Finding::at_most(SAMPLES as f64, fact) })
}

#[cfg(test)]
mod tests;
