//! Whether a run's figures mean what they seem to: what was examined, and what was found.
//!
//! Each finding has its own limit, stated beside it. Those that are tests of chance are bad only if the effect is large
//! enough to matter *and* less likely than [`CHANCE`] without a cause, so that a sound run is called bad at most once in
//! a hundred times for all of them together.

mod ends;
mod exponential;
mod pace;
mod steady;
mod trend;
mod words;

pub use exponential::{Fit, exponential};
pub use trend::{Trend, trend};

use crate::result::RunResult;
use serde::{Deserialize, Serialize};
use words::percent;

/// The probability below which an effect is not put down to chance. Three findings use it.
pub const CHANCE: f64 = 0.003;
/// The share of the time for which threads may be ready without a CPU.
const QUEUED: f64 = 0.1;
/// CPU in cores from which another program is named where the generator waits for a CPU.
const OTHERS: f64 = 0.05;
/// The share of the machine's time that the hypervisor may give to others.
const STOLEN: f64 = 0.01;
/// Answers that it takes for the 99th percentile to be told.
const SAMPLES: u64 = 500;

/// What was examined of a run, and found. What could not be examined is not in it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Validity {
    /// Whether nothing bad was found.
    pub ok: bool,
    /// All that was examined.
    pub findings: Vec<Finding>,
}

/// One thing that was examined.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    /// What.
    pub what: Criterion,
    /// Whether it is as it should be.
    pub ok: bool,
    /// What was measured, in the unit that [`Criterion`] tells.
    pub value: f64,
    /// How far from 0 it may be; how much there has to be, for [`Criterion::Samples`].
    pub limit: f64,
    /// How likely so much is by chance; it is not bad unless that is below [`CHANCE`], or the change is one clean step.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub p: Option<f64>,
    /// In words with numbers.
    pub note: String,
    /// What to do, if it is bad.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub advice: Option<String>,
}

/// What is examined of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Criterion {
    /// The share by which throughput changed from the first third of the run to the last.
    Throughput,
    /// The share by which the median response time did.
    Latency,
    /// The 99th percentile of how late requests were sent, in microseconds.
    SendLag,
    /// The share by which the rate of sending differs from the one that was asked for.
    Rate,
    /// The most by which the share of gaps between requests up to some length differs from that of independent users.
    Arrivals,
    /// The share of the time in which the generator's busiest thread had work to do.
    Generator,
    /// The share of the time for which the generator's threads were ready but without a CPU.
    Queued,
    /// The share of this machine's CPU time that the hypervisor gave to others.
    Steal,
    /// How many samples there are for percentiles.
    Samples,
    /// The share of the requests that were without a response when a closed loop ended.
    Unfinished,
}

/// What the result itself does not tell.
#[derive(Debug, Clone, Copy)]
pub struct Unseen<'s> {
    /// Requests that were sent on a schedule.
    pub sent: u64,
    /// Some of the times between requests of a thread, in nanoseconds.
    pub gaps: &'s [u64],
    /// The share of this machine's CPU time that was stolen, if that is known.
    pub steal: Option<f64>,
}

/// Examines a run.
pub fn judge(run: &RunResult, unseen: &Unseen<'_>) -> Validity {
    let mut findings = Vec::new();
    findings.extend(steady::throughput(run));
    findings.extend(steady::latency(run));
    let lag = pace::lag(run);
    let behind = run.generator.saturated || lag.as_ref().is_some_and(|lag| !lag.ok);
    findings.extend(lag);
    findings.extend(pace::rate(run, unseen.sent, behind));
    findings.extend(pace::arrivals(run, unseen.gaps));
    findings.push(generator(run));
    findings.extend(run.generator.queued_share.map(|share| queued(share, run)));
    findings.extend(unseen.steal.map(steal));
    findings.extend(samples(run));
    findings.extend(ends::unfinished(run));
    Validity { ok: findings.iter().all(|finding| finding.ok), findings }
}

impl Finding {
    /// One that is good up to its limit.
    fn at_most(what: Criterion, value: f64, limit: f64, note: String) -> Self {
        Self { what, ok: value <= limit, value: round4(value), limit, p: None, note, advice: None }
    }

    /// With what to do if it is bad.
    fn or(mut self, advice: &str) -> Self {
        if !self.ok {
            self.advice = Some(advice.to_owned());
        }
        self
    }
}

fn round4(number: f64) -> f64 {
    (number * 1e4).round() / 1e4
}

fn generator(run: &RunResult) -> Finding {
    let busy = run.generator.busy_share;
    let note = format!("the generator's busiest thread had work for {} of the time", percent(busy));
    let limit = crate::generator::SATURATED;
    let advice = match run.plan.arrivals {
        None => "the run may show Torr's limit, not the service's: press from another machine, or with more threads",
        Some(_) => "latency is not the service's alone: ask for less, or press from another machine",
    };
    Finding { ok: !run.generator.saturated, ..Finding::at_most(Criterion::Generator, busy, limit, note) }.or(advice)
}

fn queued(share: f64, run: &RunResult) -> Finding {
    let others = run.signals.as_ref().filter(|_| share > QUEUED).and_then(|signals| signals.busiest_others(OTHERS));
    let others = others.map_or(String::new(), |others| format!(", while other programs used it: {others}"));
    let note = format!("the generator's threads waited for a CPU for {} of the time{others}", percent(share));
    Finding::at_most(Criterion::Queued, share, QUEUED, note)
        .or("latency is not the service's alone: press from another machine, or leave this one a CPU free")
}

fn steal(share: f64) -> Finding {
    let note = format!("the hypervisor gave {} of this machine's CPU time to others", percent(share));
    Finding::at_most(Criterion::Steal, share, STOLEN, note)
        .or("response times have the pauses in them: press again, or on a machine of its own")
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
            .or("press longer: the 99th percentile takes 500 of them"),
    )
}

#[cfg(test)]
mod tests;
