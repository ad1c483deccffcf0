//! The judgement of a run's figures: criteria and their limits.
//!
//! Each criterion has its own limit. A statistical test fails only if the effect exceeds the limit *and* its probability by
//! chance is below [`CHANCE`](crate::result::validity::CHANCE), so that all tests together reject at most one sound run in a hundred.

mod drift;
mod exponential;
mod schedule;
mod silence;
mod trend;
mod unfinished;

pub use exponential::{Fit, exponential};
pub use silence::longest_silence;
pub use trend::{Trend, trend};

use crate::numbers::percent;
use crate::result::RunResult;
use crate::result::validity::{Criterion, Finding, Validity};

/// The limit of the share of the time in which threads are runnable without a CPU.
const QUEUED: f64 = 0.1;
/// The CPU use in cores above which another program is named beside a generator that waits for a CPU.
const OTHERS: f64 = 0.05;
/// The limit of the stolen share of the machine's CPU time.
const STOLEN: f64 = 0.01;
/// The number of response times that the 99th percentile needs.
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
    findings.extend(run.generator.busy_share.map(|busy| generator(run, busy)));
    findings.extend(run.generator.queued_share.map(|share| queued(share, run)));
    findings.extend(facts.steal.map(steal));
    findings.extend(samples(run));
    findings.extend(unfinished::unfinished(run));
    Validity { ok: findings.iter().all(|finding| finding.ok), findings }
}

fn generator(run: &RunResult, busy: f64) -> Finding {
    let note = format!("Torr's busiest thread was busy {} of the time", percent(busy));
    let limit = crate::generator::SATURATED;
    let advice = match run.plan.arrivals {
        None => "the run may show Torr's limit, not the service's: run Torr on another machine, or with more threads",
        Some(_) => "response times include Torr's own delays: lower the rate, or run Torr on another machine",
    };
    Finding { ok: !run.generator.saturated, ..Finding::at_most(Criterion::Generator, busy, limit, note) }.or(advice)
}

fn queued(share: f64, run: &RunResult) -> Finding {
    let others = run.signals.as_ref().filter(|_| share > QUEUED).and_then(|signals| signals.busiest_others(OTHERS));
    let others = others.map_or(String::new(), |others| format!("; busiest other programs: {others}"));
    let note = format!("Torr's threads waited for a CPU {} of the time{others}", percent(share));
    Finding::at_most(Criterion::Queued, share, QUEUED, note)
        .or("response times include Torr's own delays: run Torr on another machine, or leave it a free CPU")
}

fn steal(share: f64) -> Finding {
    let note = format!("the hypervisor gave {} of this machine's CPU time to other machines", percent(share));
    Finding::at_most(Criterion::Steal, share, STOLEN, note)
        .or("response times include these pauses: run again, or on a dedicated machine")
}

fn samples(run: &RunResult) -> Option<Finding> {
    let s = run.latency_us.as_ref()?;
    let all = [
        ("p50", s.p50),
        ("p75", s.p75),
        ("p90", s.p90),
        ("p95", s.p95),
        ("p99", s.p99),
        ("p99.9", s.p99_9),
        ("p99.99", s.p99_99),
    ];
    let missing: Vec<_> = all.iter().filter(|(_, us)| us.is_none()).map(|(name, _)| *name).collect();
    let samples = run.requests + run.unfinished + run.errors.timeout;
    let left_out = match missing.len() {
        0 => "enough for every percentile".to_owned(),
        _ => format!("{} left out", missing.join(", ")),
    };
    let note = format!("{samples} response times: {left_out}");
    Some(
        Finding { ok: s.p99.is_some(), ..Finding::at_most(Criterion::Samples, samples as f64, SAMPLES as f64, note) }
            .or("run longer: the 99th percentile needs 500 response times"),
    )
}

#[cfg(test)]
mod tests;
