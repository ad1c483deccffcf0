//! The result of a step: whether the service met its objectives, why not, and whether the generator was the reason.

use super::ask::{Ask, Load, Purpose};
use super::slo::Slo;
use super::streams::StreamReading;
use super::taken::Taken;
use serde::Serialize;
use torr_gauge::collector::Measurement;
use torr_gauge::latency::Summary;
use torr_gauge::result::validity::Criterion;
use torr_gauge::result::{Arrivals, RunResult};
use torr_gauge::threshold::ObjectiveResult;
use torr_gauge::verdict::{Fact, Finding, StepReason};
use torr_gauge::{Factor, FailureSide};

/// The share of due requests that must have a response once the load is steady.
const KEEPS_UP: f64 = 0.97;
/// The least time in seconds over which a shortfall counts: a shorter one may be a pause of the machine.
const SEEN_S: f64 = 0.3;
/// The standard deviations of a random count that are not a shortfall.
const DEVIATIONS: f64 = 4.0;
/// The growth of the median response time that a step may have, in seconds per second.
const GROWN: f64 = 0.04;
/// The share of a response time from which send lag is a reason for it.
const MATTERS: f64 = 0.1;
/// The share of client-side failures from which the client is the reason of a failed step.
const MOSTLY: f64 = 0.5;

/// A step and its result.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Reading {
    /// The purpose.
    pub purpose: Purpose,
    /// The reason. JSON has it in words, which the program adds.
    #[serde(skip)]
    pub why: StepReason,
    /// The load.
    pub load: Load,
    /// The time of its begin, in seconds since the search began.
    pub at_s: f64,
    /// The measured time in seconds.
    pub seconds: f64,
    /// Complete responses per second with any status.
    pub answered_per_s: f64,
    /// Complete responses per second with a status below 400.
    pub good_per_s: f64,
    /// The share of the requests that failed.
    pub error_share: f64,
    /// Response times; of streams, the times to the first event.
    pub latency_us: Option<Summary>,
    /// The streams, in a step whose responses are streams of events.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub streams: Option<StreamReading>,
    /// The most connections at a time.
    pub connections: u64,
    /// The result of each objective.
    pub objectives: Vec<ObjectiveResult>,
    /// Whether all objectives were met, and the service kept up with the offered rate.
    pub kept: bool,
    /// How the service fell short. JSON has it among the facts and in words, which the program adds.
    #[serde(skip)]
    pub failure: Option<Fact>,
    /// Why the generator may have caused the failure. JSON has it among the facts and in words, which the program adds.
    #[serde(skip)]
    pub generator: Option<Fact>,
    /// Whether the generator's busiest thread was saturated.
    pub generator_saturated: bool,
    /// Whether the step was ended early, since it clearly failed.
    pub ended_early: bool,
    /// The CPU that other programs used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub taken: Option<Taken>,
    /// The passive finding. `None` if the step failed, and nothing but the objectives tells. JSON has it as a verdict with
    /// sentences, which the program adds.
    #[serde(skip)]
    pub finding: Option<Finding>,
}

impl Reading {
    /// Returns the result of a measured step.
    pub(super) fn of(ask: &Ask, slo: &Slo, run: &Measurement, at_s: f64, ended_early: bool) -> Self {
        let result = &run.result;
        let seconds = result.duration_s.max(1e-9);
        let objectives = slo.judge(run);
        let behind = match ask.load {
            Load::Rate(rate) if result.plan.arrivals == Some(Arrivals::Logged) => left_behind(result, rate),
            Load::Rate(rate) => falls_behind(result, rate).or_else(|| keeps_growing(result)),
            Load::Connections(_) => None,
            Load::Streams(streams) => crate::streams::waiting(result, streams),
        };
        let nothing = (!result.has_responses()).then_some(Fact::NoResponse);
        let early = ended_early.then_some(Fact::EndedEarly);
        let failed = || objectives.iter().find(|kept| !kept.kept).map(|kept| missed(kept, result));
        let failure = nothing.or_else(|| no_gap(result, slo)).or_else(failed).or(behind).or(early);
        let (finding, is_kept) = (crate::passive(result), failure.is_none());
        Self {
            purpose: ask.purpose,
            why: ask.why,
            load: ask.load,
            at_s,
            seconds,
            answered_per_s: result.completed() as f64 / seconds,
            good_per_s: result.good_rps(),
            error_share: result.errors.total() as f64 / result.started.max(1) as f64,
            latency_us: result.waits_us(),
            streams: StreamReading::of(result, ask),
            // Of a fleet that lost an agent there is no step.
            connections: result.connections.peak.unwrap_or(result.connections.opened),
            kept: is_kept,
            generator: failure.as_ref().and_then(|_| generator_to_blame(result, &objectives, &finding)),
            failure,
            objectives,
            generator_saturated: result.generator.saturated,
            ended_early,
            taken: Taken::during(result),
            // A service that responds as fast as requests come, and misses an objective, has a limit that a plain run does not see.
            finding: Some(finding).filter(|finding| is_kept || finding.factor != Factor::None),
        }
    }

    /// Returns the result of a step in which the service was unreachable.
    pub(super) fn unreached(ask: &Ask, why: String, at_s: f64) -> Self {
        Self {
            purpose: ask.purpose,
            why: ask.why,
            load: ask.load,
            at_s,
            seconds: 0.0,
            answered_per_s: 0.0,
            good_per_s: 0.0,
            error_share: 1.0,
            latency_us: None,
            streams: None,
            connections: 0,
            objectives: Vec::new(),
            kept: false,
            failure: Some(Fact::NotConnected { why }),
            generator: None,
            generator_saturated: false,
            ended_early: true,
            taken: None,
            finding: None,
        }
    }

    /// Returns that the step failed, and how.
    pub fn failed(&self) -> Fact {
        let why = self.failure.clone().map(Box::new);
        match self.load {
            Load::Streams(streams) => Fact::StreamsFailed { streams: streams as u64, why },
            Load::Rate(_) | Load::Connections(_) => Fact::RateFailed { rps: self.rate(), why },
        }
    }

    /// Returns the offered rate of an open loop.
    pub fn rate(&self) -> Option<f64> {
        match self.load {
            Load::Rate(rate) => Some(rate),
            Load::Connections(_) | Load::Streams(_) => None,
        }
    }

    /// Returns the load of which a search finds the limit: the offered rate, or the streams at a time.
    pub fn offered(&self) -> Option<f64> {
        self.rate().or_else(|| self.load.streams().map(|streams| streams as f64))
    }

    /// Returns what the service did per second: good responses, or events of streams.
    pub(super) fn done_per_s(&self) -> f64 {
        self.streams.map_or(self.good_per_s, |streams| streams.events_per_s)
    }

    /// Returns what the service is to do per second at the load: as many responses as requests, or the events of streams.
    pub(super) fn full_per_s(&self) -> f64 {
        self.rate().unwrap_or_else(|| self.done_per_s())
    }

    /// Returns whether other programs used enough CPU to make the step fail.
    pub(super) fn is_disturbed(&self) -> bool {
        self.taken.is_some_and(Taken::disturbs)
    }

    /// Returns the median response time, or else the mean, in microseconds.
    pub(super) fn typical_us(&self) -> Option<f64> {
        self.latency_us.map(|latency| latency.typical_us())
    }
}

/// Returns the reason if no stream had a gap, of which there is an objective.
fn no_gap(run: &RunResult, slo: &Slo) -> Option<Fact> {
    let streams = run.streams.as_ref().filter(|_| slo.is_of_gaps())?;
    (streams.events > 0 && streams.gap_us.is_none()).then_some(Fact::NoGap { seconds: run.duration_s })
}

/// Returns the reason if the service falls behind: in the second half of an open loop as many responses arrive as requests are due,
/// at any response time.
fn falls_behind(run: &RunResult, rate: f64) -> Option<Fact> {
    let middle = run.duration_s / 2.0;
    let points: Vec<_> = run.series.windows(2).filter(|pair| pair[0].t >= middle).map(|pair| &pair[1]).collect();
    let from = run.series.iter().map(|point| point.t).find(|&t| t >= middle)?;
    let until = points.last()?.t;
    if until - from < SEEN_S {
        return None;
    }
    let due = rate * (until - from);
    let answered = points.iter().map(|point| point.requests).sum::<u64>() as f64;
    let random = run.plan.arrivals == Some(Arrivals::Poisson);
    let slack = ((1.0 - KEEPS_UP) * due).max(if random { DEVIATIONS * due.sqrt() } else { 2.0 });
    (answered < due - slack).then(|| Fact::FellBehind { share: answered / due })
}

/// Returns the reason if the service falls behind with the bursts of a log, whose rate is that of the whole step only.
fn left_behind(run: &RunResult, rate: f64) -> Option<Fact> {
    let (due, answered) = (rate * run.duration_s, run.requests as f64);
    (answered < KEEPS_UP * due - 2.0).then(|| Fact::FellBehind { share: answered / due })
}

/// Returns the reason if the response time keeps growing: a growing queue adds to it, for each second, the share of due requests
/// without a response.
fn keeps_growing(run: &RunResult) -> Option<Fact> {
    let medians: Vec<_> = run.series.iter().filter_map(|point| Some((point.t, point.p50? as f64))).collect();
    let third = medians.len() / 3;
    let mean = |part: &[(f64, f64)], of: fn(&(f64, f64)) -> f64| part.iter().map(of).sum::<f64>() / part.len() as f64;
    let (first, last) = (medians.get(..third)?, medians.get(medians.len() - third..)?);
    if third == 0 {
        return None;
    }
    let seconds = mean(last, |point| point.0) - mean(first, |point| point.0);
    let slope = (mean(last, |point| point.1) - mean(first, |point| point.1)) / 1e6 / seconds;
    (slope > GROWN).then_some(Fact::QueueGrew { seconds_per_s: slope })
}

/// Returns an objective that was missed, with its cause.
fn missed(kept: &ObjectiveResult, run: &RunResult) -> Fact {
    if kept.objective.starts_with("errors") || run.errors.total() > 0 && kept.times_limit.is_none() {
        let share = |count: u64| count as f64 / run.started.max(1) as f64;
        let refused = run.status.iter().filter(|(status, _)| **status >= 400);
        let refused = refused.map(|(&status, &count)| (count, Fact::StatusShare { status, share: share(count) }));
        let failed = run.causes.iter().map(|cause| {
            let (kind, what) = (cause.kind.to_string(), cause.what.clone());
            (cause.count, Fact::CauseShare { kind, what, share: share(cause.count) })
        });
        if let Some((_, most)) = refused.chain(failed).max_by_key(|(count, _)| *count) {
            return most;
        }
    }
    let is_within = kept.times_limit.is_none_or(|times| times < 1.0);
    if let Some(streams) = run.streams.as_ref().filter(|_| is_within && kept.objective.starts_with("gap_")) {
        // Gaps that have ended are within the limit: those that the end of the step cut off are not.
        return Fact::LongestSilence { seconds: streams.longest_silence_us as f64 / 1e6 };
    }
    Fact::ObjectiveMissed { objective: kept.objective.clone(), measured: kept.measured.clone() }
}

/// Returns the reason why the step may have failed by the generator's own limits.
fn generator_to_blame(run: &RunResult, objectives: &[ObjectiveResult], finding: &Finding) -> Option<Fact> {
    let own = run.causes.iter().filter(|cause| cause.side == FailureSide::Client);
    if let Some(cause) = own.clone().max_by_key(|cause| cause.count) {
        let count: u64 = own.map(|cause| cause.count).sum();
        if count as f64 >= MOSTLY * run.errors.total() as f64 {
            return Some(Fact::ClientFailures { what: cause.what.clone() });
        }
    }
    // Refusals do not depend on the generator.
    let late = objectives.iter().filter(|kept| !kept.kept).all(|kept| !kept.objective.starts_with("errors"));
    if !late {
        return None;
    }
    if let Some(share) = run.generator.busy_share.filter(|_| run.generator.saturated) {
        return Some(Fact::GeneratorBusy { share, cores: None });
    }
    let findings = run.validity.as_ref().map_or(&[][..], |validity| &validity.findings);
    let lag = findings.iter().find(|finding| finding.what == Criterion::SendLag && !finding.ok);
    let tail = run.latency_us.map_or(0.0, |latency| latency.p99.unwrap_or(latency.max) as f64);
    if let Some(lag) = lag.filter(|lag| lag.value >= MATTERS * tail) {
        return Some(Fact::SendLag { p99_s: lag.value / 1e6 });
    }
    (finding.factor == Factor::Generator).then_some(Fact::GeneratorMostCpu)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;
    use torr_gauge::collector::{Collector, RunFacts};

    #[test]
    fn a_step_with_the_bursts_of_a_log_falls_behind_as_a_whole() {
        let facts = RunFacts { duration: Duration::from_secs(2), ..RunFacts::default() };
        let run = Collector::new(1, Duration::from_millis(100)).finish(facts).result;
        let of = |requests| left_behind(&RunResult { requests, ..run.clone() }, 500.0);
        assert_eq!((of(1000), of(970)), (None, None));
        assert_eq!(of(900), Some(Fact::FellBehind { share: 0.9 }));
    }
}
