//! Requests that fail for a reason of their own: no local port, a full backlog, a limiter that refuses.

use crate::evidence::Evidence;
use crate::experiment::{Ask, Request, Step};
use crate::gain;
use crate::observation::Observation;
use crate::thresholds::{
    ACCEPTS_NO_MORE, ALWAYS, FEWER_LATE, FULL_THREAD, GAIN_SPREAD, KEPT_FROM, LATE_CONNECTS, LEAST_HELD, NOT_FULL,
    OFFERED, ONE_PACKET_BYTES, OVERFLOWS, REFUSES, SYN_TIMEOUT_US,
};
use crate::witnesses::{self, Refusals};
use torr_gauge::verdict::{Advice, Change, ExperimentId, Fact, Finding, Headline, Promise, UnknownGain};
use torr_gauge::{Confidence, Factor};
use torr_signals::Signals;

/// The client has no local port left.
pub fn ports(evidence: &Evidence) -> Step {
    let Some(observation) = evidence.observations().iter().find(|observation| observation.run.errors.ports > 0) else {
        return Ok(None);
    };
    let run = &observation.run;
    let finding = out_of_ports()
        .because(Fact::NoPort { requests: run.errors.ports })
        .because(Fact::Opened { connections: run.connections.opened, responses: run.requests });
    let few = (evidence.figures.connections / 8).max(1);
    let fewer =
        evidence.setting.with_connections(few, ExperimentId::FewerPorts, 0.8).with(|load| load.keep_alive = true);
    let Some(fewer) = evidence.observe_if_reached(fewer)? else {
        return Ok(Some(finding.because(Fact::FewerPorts { connections: few, failed: None })));
    };
    let failed = fewer.run.errors.ports;
    let confidence = if failed == 0 { Confidence::Certain } else { Confidence::Likely };
    // What fewer connections do is measured; more of them do at most as much each.
    let now = fewer.good_rps() / evidence.figures.rps().max(1e-9);
    let most = now * evidence.figures.connections as f64 / few as f64;
    let most = evidence.bounds().null.map_or(most, |null| most.min(null.max(now)));
    let finding = finding.because(Fact::FewerPorts { connections: few, failed: Some(failed) }).gain(gain::promised(
        now,
        most,
        Change::PortForEach,
    ));
    Ok(Some(Finding { confidence, ..finding }))
}

/// The finding, without evidence.
pub fn out_of_ports() -> Finding {
    witnesses::out_of_ports().gain(Promise::unknown(Change::MorePorts, UnknownGain::HardlyConnected))
}

/// Examines connections that are dropped from a full accept queue.
pub fn backlog(evidence: &Evidence) -> Step {
    let full = evidence.full();
    let (share, count) = late(full);
    let network = full.signals.as_ref().and_then(|signals| signals.network);
    let overflows = full.signals.as_ref().and_then(Signals::listen_overflows);
    let queue = full.signals.as_ref().and_then(witnesses::full_accept_queue);
    // All listeners of the machine are counted together: something of this load must have been late as well, or its queue full.
    let is_ours =
        count > 0 || queue.is_some() || full.run.latency_us.is_some_and(|latency| latency.max >= SYN_TIMEOUT_US);
    if share < LATE_CONNECTS && !(is_ours && overflows.unwrap_or(0) >= OVERFLOWS) {
        return Ok(None);
    }
    if network.is_some_and(|network| network.listen_overflows == Some(0) && network.half_open_drops == Some(0)) {
        // The server's kernel would have counted them: they were lost on the way.
        return Ok(None);
    }
    // With as few connections as saturate the service, the accept queue is short: if throughput is no less then, the work is not the
    // limit.
    let (rps, most) = (evidence.figures.rps(), evidence.figures.ladder.most());
    let fewest = evidence.figures.ladder.saturated_from().unwrap_or(1);
    let held = evidence.figures.parallelism();
    let starved = rps < KEPT_FROM * most;
    let is_busy = evidence.figures.full_threads() > 0 || evidence.figures.wants_cpu();
    // Workers that are taken have a request each in their hands while others wait to be accepted.
    let has_none = evidence.figures.in_service().is_some_and(|hands| hands < LEAST_HELD);
    if is_busy || (held >= LEAST_HELD && !starved && !has_none) {
        return Ok(None);
    }
    if overflows.is_none() && are_lost_on_link(evidence, share)? {
        return Ok(None);
    }
    let few = evidence.observe(evidence.setting.with_connections(
        fewest.min(evidence.setting.connections),
        ExperimentId::FewConnections,
        0.8,
    ))?;
    let (few_share, _) = late(few);
    let few_overflows = few.signals.as_ref().and_then(Signals::listen_overflows);
    let none_lost = overflows.is_some_and(|count| count >= OVERFLOWS) && few_overflows == Some(0);
    let sure = none_lost || overflows.is_some() && few_share < share / FEWER_LATE;
    let confidence = if sure { Confidence::Certain } else { Confidence::Likely };
    let late = Fact::LateConnections { count, share, few: fewest, few_share };
    Ok(Some(
        Finding::new(Factor::AcceptBacklog, confidence, Headline::ConnectionsDropped)
            .because((count > 0).then_some(late))
            .because(witnesses::overflows(overflows, few_overflows.map(|few| (fewest, few))))
            .because(queue)
            .because(has_none.then_some(Fact::NothingInService))
            .advice(Advice::RaiseBacklog)
            .advice(Advice::AcceptFaster)
            .gain(Promise::unknown(Change::AllAccepted, UnknownGain::AcceptedNotSeen)),
    ))
}

/// Connections that are dropped before the service accepts them, where nothing else was found: throughput may have another limit, but
/// the time of those connections has this one.
pub fn slow_connections(evidence: &Evidence) -> Step {
    let full = evidence.full();
    let (share, count) = late(full);
    let overflows = full.signals.as_ref().and_then(Signals::listen_overflows).filter(|count| *count >= OVERFLOWS);
    if share < LATE_CONNECTS || overflows.is_none() {
        return Ok(None);
    }
    let alone_share = late(evidence.alone()).0;
    Ok(Some(
        Finding::new(Factor::AcceptBacklog, Confidence::Likely, Headline::ConnectionsDropped)
            .because(Fact::LateConnections { count, share, few: 1, few_share: alone_share })
            .because(witnesses::overflows(overflows, None))
            .because(full.signals.as_ref().and_then(witnesses::full_accept_queue))
            .advice(Advice::RaiseBacklog)
            .advice(Advice::AcceptFaster)
            .gain(Promise::unknown(Change::AllAccepted, UnknownGain::AcceptedNotSeen)),
    ))
}

/// The share of connections that took longer than the time after which a SYN is sent again, or failed; and how many they are.
fn late(observation: &Observation) -> (f64, u64) {
    let connects = observation.times.connect.map_or(0, |connect| connect.count);
    let (late, failed) = (observation.times.late_connects, observation.run.errors.connect);
    ((late + failed) as f64 / (connects + failed).max(1) as f64, late + failed)
}

/// Returns whether a saturated link loses connection attempts: then small responses end the losses, which an accept queue's do not
/// depend on.
fn are_lost_on_link(evidence: &Evidence, share: f64) -> Result<bool, Box<Ask>> {
    if !evidence.setting.is_read_only || evidence.full().bytes_per_request() < ONE_PACKET_BYTES {
        return Ok(false);
    }
    let heads = evidence.setting.user(ExperimentId::ConnectForHeads, 0.8).with(|load| load.request = Request::Head);
    let heads = evidence.observe_if_reached(heads)?;
    Ok(heads.is_some_and(|observation| late(observation).0 < share / FEWER_LATE))
}

/// Examines a limiter, which responds 429 or 503.
pub fn refusals(evidence: &Evidence) -> Step {
    let full = evidence.full();
    let Some(Refusals { share: refused, status }) = witnesses::refusals(&full.run) else { return Ok(None) };
    let gently = witnesses::refusals(&evidence.alone().run).map_or(0.0, |refusals| refusals.share);
    if gently > ALWAYS || witnesses::refuses_late(full, evidence.alone()) {
        return Ok(None);
    }
    let accepted = full.good_rps();
    let offered = (accepted * OFFERED).max(5.0);
    let (mut good, mut refuses) = (vec![], false);
    for (id, factor) in [(ExperimentId::Offered, 1.0), (ExperimentId::OfferedTwice, 2.0)] {
        let Some(experiment) = evidence.setting.open(offered * factor, id, 1.2) else { break };
        let observation = evidence.observe(experiment)?;
        let server = observation.signals.iter().flat_map(|signals| &signals.processes);
        if status == 503 && server.flat_map(|process| &process.threads).any(|thread| thread.cores >= FULL_THREAD) {
            // It refuses since it is full, which is no limiter's doing.
            return Ok(None);
        }
        refuses |= witnesses::refusals(&observation.run).is_some_and(|refusals| refusals.share > REFUSES);
        good.push(observation.good_rps());
    }
    let flat =
        refuses && matches!(good[..], [once, twice] if twice < ACCEPTS_NO_MORE * once && twice < OFFERED * offered);
    // What is full refuses as well: 503 is a limiter's for sure only where the server is seen to idle.
    let idle = evidence
        .figures
        .server_cores()
        .zip(evidence.figures.cores())
        .is_some_and(|(used, cores)| used < NOT_FULL * cores as f64);
    let sure = flat && (status == 429 || idle);
    let confidence = if sure { Confidence::Certain } else { Confidence::Likely };
    let offers = match good[..] {
        [accepted_rps, twice_rps] => Some(Fact::Offered { offered_rps: offered, accepted_rps, twice_rps }),
        _ => None,
    };
    let apart = super::addresses::second(evidence, accepted)?;
    let finding = Finding::new(Factor::RateLimit, confidence, Headline::LimiterRefuses)
        .because(Fact::Refused { share: refused, status, alone_share: Some(gently) })
        .because(offers)
        .because(apart)
        .advice(Advice::RaiseLimit)
        .gain(without_limiter(evidence))
        .verify(evidence.setting.commands.press(&[
            ("-c", &evidence.setting.connections),
            ("-r", &(accepted * 0.9).max(1.0).round()),
            ("--fail-if", &"errors>0"),
        ]));
    Ok(Some(finding))
}

/// Returns the gain without a limiter: at least what one connection does whose requests are answered as they are alone, at most what
/// a service that does nothing does, or all connections with the user's acknowledgements.
pub fn without_limiter(evidence: &Evidence) -> Promise {
    let rps = evidence.figures.rps();
    if rps <= 0.0 {
        return Promise::unknown(Change::NoLimiter, UnknownGain::NothingServed);
    }
    let one_at_a_time = 1.0 / (evidence.figures.alone_mean_s * rps).max(1e-9);
    let bounds = evidence.bounds();
    // Late acknowledgements bound what the connections of the load can do together.
    let low = one_at_a_time.min(bounds.connections / GAIN_SPREAD);
    gain::promised(low, bounds.null_at_most().min(bounds.connections * GAIN_SPREAD), Change::NoLimiter)
}
