//! Requests that fail for no reason of this machine's: where that begins, and what is behind it.

use crate::below_errors::{self, Onset, failed_share};
use crate::evidence::Evidence;
use crate::experiment::Step;
use crate::thresholds::{FAILS_ALONE, MANY_FAILED, PORTS_TAKEN, UPSTREAM_OPENS};
use crate::witnesses;
use torr_gauge::verdict::{Advice, Change, ExperimentId, Fact, Finding, Headline, Promise, UnknownGain};
use torr_gauge::{Confidence, Factor};
use torr_signals::Role;

/// Examines failures. Where a limit is reached before they begin, the service is examined below them: then this rule passes.
pub fn rule(evidence: &Evidence) -> Step {
    // Closes of idle connections are no sign of a limit.
    let is_idle = witnesses::remedy(&evidence.full().run) == Some(Advice::RaiseKeepAliveTimeout);
    if let Some(onset) = below_errors::onset(evidence).filter(|_| !is_idle)
        && let Some(experiment) = below_errors::experiment(evidence, &onset, taken_ports(evidence).is_some())
    {
        evidence.observe_if_reached(experiment)?;
        if below_errors::is_examined(evidence) {
            return Ok(None);
        }
    }
    Ok(failures(evidence))
}

/// Returns the finding on failures, without further experiments.
pub fn failures(evidence: &Evidence) -> Option<Finding> {
    let (full, alone) = (evidence.full(), evidence.alone());
    let (share, alone_share) = (failed_share(evidence, full), failed_share(evidence, alone));
    let nothing = !full.run.has_responses() && !alone.run.has_responses();
    if share < MANY_FAILED && !nothing {
        return None;
    }
    if nothing && share < MANY_FAILED {
        let command = Some(evidence.setting.commands.press(&[("-c", &1), ("-n", &1)]));
        return Some(
            Finding::new(Factor::Errors, Confidence::Certain, Headline::NoResponses)
                .because(Fact::Unanswered { requests: full.run.unfinished, seconds: Some(full.run.duration_s) })
                .because(Fact::AloneUnanswered)
                .advice(Advice::TryOne { command }),
        );
    }
    let onset = below_errors::onset(evidence);
    if let Some(finding) = onset.and_then(|onset| proxy_out_of_ports(evidence, &onset)) {
        return Some(finding);
    }
    let shortened = evidence.setting.experiment_timeout_s() < evidence.setting.timeout_s;
    let requests = full.run.errors.timeout;
    if shortened && requests * 2 > full.run.errors.total() {
        return Some(
            Finding::new(Factor::Unknown, Confidence::Unknown, Headline::TimeoutTooShort)
                .because(Fact::TimedOut { requests, timeout_s: full.run.plan.timeout_s })
                .because(Fact::RequestAlone { seconds: evidence.figures.alone_mean_s })
                .advice(Advice::LongerBudget),
        );
    }
    // Sessions whose asserts fail need not have a failed request.
    if full.failed_share() < MANY_FAILED
        && let Some(finding) = witnesses::sessions_that_failed(&full.run, Confidence::Certain)
    {
        let unknown = Promise::unknown(Change::NoFailures, UnknownGain::FailuresTellLittle);
        return Some(finding.because(onset.map(|onset| onset.fact(evidence))).gain(unknown));
    }
    let (headline, advice) = match alone_share > share / FAILS_ALONE {
        true => (Headline::AlwaysFail, Advice::FixFirst),
        false => (Headline::FailUnderLoad, Advice::LogUnderLoad),
    };
    // A limiter's refusals are failures as well, and may be the limit even where a gentle load meets them.
    let refused = full.status_share(&[429]) > share / 2.0;
    let confidence = if refused { Confidence::Likely } else { Confidence::Certain };
    // Closes of idle connections have a remedy of their own, and the log of the service has nothing about them.
    let advice = match witnesses::remedy(&full.run) {
        Some(remedy @ Advice::RaiseKeepAliveTimeout) => remedy,
        _ => advice,
    };
    Some(
        Finding::new(Factor::Errors, confidence, headline)
            .because(Fact::FailedShare { share, alone_share })
            .because(onset.map(|onset| onset.fact(evidence)))
            .because(onset.and_then(|onset| good_stay_flat(evidence, &onset)))
            .because(onset.and_then(|onset| stay(evidence, &onset)))
            .because(full.signals.as_ref().and_then(witnesses::full_peer_queue))
            .because(witnesses::failures(&full.run))
            .advice(advice)
            .gain(Promise::unknown(Change::NoFailures, UnknownGain::FailuresTellLittle)),
    )
}

/// Returns as evidence that good responses do not become more above the load without errors: what more connections ask for fails.
fn good_stay_flat(evidence: &Evidence, onset: &Onset<'_>) -> Option<Fact> {
    let (clean, full) = (onset.clean, evidence.full());
    let (from, to) = (clean.run.plan.connections, Some(full.run.plan.connections));
    onset.stays_flat(evidence).then(|| Fact::ThroughputFlat { rps: clean.good_rps(), from, to })
}

/// Returns that a load which had no errors has them now, as evidence: what failed once fails since.
fn stay(evidence: &Evidence, onset: &Onset<'_>) -> Option<Fact> {
    let again = evidence.last(ExperimentId::FullWithoutErrors)?;
    let share = failed_share(evidence, again);
    let is_again = again.run.plan.connections == onset.clean.run.plan.connections;
    (is_again && share >= MANY_FAILED).then_some(Fact::ErrorsStay { connections: again.run.plan.connections, share })
}

/// Returns the closed connections of the server's machine that hold nearly all of its local ports, and the number of its ports.
fn taken_ports(evidence: &Evidence) -> Option<(u64, u64)> {
    let network = evidence.full().signals.as_ref()?.network?;
    let (time_wait, ports) = (network.time_wait?, network.local_ports?);
    (time_wait as f64 >= PORTS_TAKEN * ports as f64).then_some((time_wait, ports))
}

/// A server that opens a connection to the service behind it for each request, until no local port is left: a stock that is used
/// up, rather than a rate.
fn proxy_out_of_ports(evidence: &Evidence, onset: &Onset<'_>) -> Option<Finding> {
    let (time_wait, ports) = taken_ports(evidence)?;
    let clean = onset.clean;
    let per_request = clean.opened_by_others()? as f64 / clean.responses().max(1) as f64;
    let signals = clean.signals.as_ref()?;
    if per_request < UPSTREAM_OPENS || signals.peers.first().is_some_and(|peer| peer.role != Role::Other) {
        return None;
    }
    // A load that had no errors before the ports were used up has them since.
    let stays = stay(evidence, onset);
    let confidence = if stays.is_some() { Confidence::Certain } else { Confidence::Likely };
    let peer = signals.peers.first().map(|peer| peer.label());
    Some(
        Finding::new(Factor::Proxy, confidence, Headline::ProxyOutOfPorts)
            .because(Fact::PortsTaken { time_wait, ports })
            .because(Fact::UpstreamOpens { peer, per_request })
            .because(onset.fact(evidence))
            .because(stays)
            .because(witnesses::failures(&evidence.full().run))
            .advice(Advice::KeepUpstreamConnections)
            .gain(Promise::unknown(Change::NoFailures, UnknownGain::FailuresTellLittle)),
    )
}
