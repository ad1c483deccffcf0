//! What is busy with events: the load generator, the server's CPU, a quota of it, or the link.

use super::load::{flat, is_flat, pace, times, verify, wanted};
use crate::evidence::Evidence;
use crate::experiment::Step;
use crate::figures::Figures;
use crate::passive;
use crate::rules::cpu::rule as cpu_rule;
use crate::rules::generator::rule as generator_rule;
use crate::survey::streams::null_rule;
use crate::thresholds::{NEAR_NULL, PACE_KEPT, RELIEVED};
use crate::witnesses::{throttled, throttled_fact};
use torr_gauge::host::Host;
use torr_gauge::verdict::{Advice, Change, Fact, Finding, Headline, Promise, UnknownGain};
use torr_gauge::{Confidence, Factor, RunResult};
use torr_signals::{QuotaUse, Signals};

/// The load generator cannot receive more.
pub fn generator(evidence: &Evidence) -> Step {
    null_rule(evidence)?;
    Ok(generator_rule(evidence)?.map(|finding| in_events(evidence, finding)))
}

/// A CPU quota throttles the server, though not with one stream.
pub fn quota(evidence: &Evidence) -> Step {
    let figures = &evidence.figures;
    let Some(quota) = throttled(figures.signals.as_ref()) else { return Ok(None) };
    let alone = evidence.alone().signals.as_ref().and_then(Signals::quota).map(QuotaUse::throttled_share);
    let is_relieved = alone.is_some_and(|share| share < quota.throttled_share() / RELIEVED);
    let is_certain = is_relieved && is_flat(evidence);
    let confidence = if is_certain { Confidence::Certain } else { Confidence::Likely };
    let cores = figures.signals.as_ref().and_then(|signals| signals.machine).map(|machine| machine.cores);
    Ok(Some(
        Finding::new(Factor::CpuQuota, confidence, Headline::CpuQuota)
            .because(throttled_fact(quota, cores))
            .because(pace(evidence))
            .because(flat(evidence))
            .because(figures.server_cpu())
            .because(figures.machine_cpu())
            .advice(Advice::RaiseQuota)
            .gain(Promise::unknown(Change::WholeMachine, UnknownGain::NextLimitNotReached)),
    ))
}

/// The link to the service is saturated: packets queue.
pub fn link(evidence: &Evidence) -> Step {
    let full = evidence.full();
    let signals = full.signals.clone();
    let run = RunResult { host: signals.as_ref().and_then(Host::of), signals, ..full.run.clone() };
    let finding = passive::link(&run).map(|finding| finding.because(pace(evidence)).because(flat(evidence)));
    Ok(finding)
}

/// The server uses all CPU that it can use.
pub fn cpu(evidence: &Evidence) -> Step {
    let figures = &evidence.figures;
    // What other requests cost tells nothing of events, and the service that does nothing had the pace of the target.
    let of_events = Figures { cheap: None, beside: None, null_rps: None, ..figures.clone() };
    let Some(finding) = cpu_rule(&evidence.with_figures(of_events))? else { return Ok(None) };
    let due = wanted(evidence) as f64 / figures.alone_mean_s.max(1e-9);
    // No service keeps the pace here, and the target is nearly as good as one that does nothing.
    let is_machine = figures.null_rps.is_some_and(|null| null < PACE_KEPT * due && figures.rps() > NEAR_NULL * null);
    let confidence = match finding.confidence {
        Confidence::Certain if is_machine => Confidence::Likely,
        confidence => confidence,
    };
    let finding = Finding { confidence, ..finding }.because(pace(evidence)).because(times(evidence));
    Ok(Some(in_events(evidence, finding.because(figures.null_service().filter(|_| is_machine)))))
}

/// Returns a finding of a rule about requests as one about events.
fn in_events(evidence: &Evidence, finding: Finding) -> Finding {
    let each = (wanted(evidence) / evidence.figures.connections.max(1)).max(1) as u64;
    let fact = |fact| match fact {
        Fact::ThroughputFlat { rps, from, to } => {
            let to = to.map(|to| to as u64 * each);
            Fact::EventsFlat { events_per_s: rps, from: from as u64 * each, to }
        }
        Fact::NullService { null_rps, rps } => Fact::NullStreams { null_events_per_s: null_rps, events_per_s: rps },
        other => other,
    };
    let advice = |advice| match advice {
        Advice::CheaperRequests => Advice::CheaperEvents,
        other => other,
    };
    let headline = match finding.headline {
        Headline::GeneratorHere => Headline::Generator,
        other => other,
    };
    let gain = finding.gain.map(|promise| match promise.change {
        Change::CheaperRequests => Promise { change: Change::CheaperEvents, ..promise },
        _ => promise,
    });
    Finding {
        because: finding.because.into_iter().map(fact).collect(),
        advice: finding.advice.into_iter().map(advice).collect(),
        headline,
        gain,
        verify: finding.verify.or_else(|| Some(verify(evidence))),
        ..finding
    }
}
