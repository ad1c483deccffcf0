//! Something gives out time: a quota of CPU, a link, a limiter that delays. Requests then wait though hardly any is worked
//! on: with what one takes on its own, the service could do more than it does with a single one at a time.

use super::hidden_quota;
use crate::evidence::Evidence;
use crate::experiment::{Ask, Experiment, Request, Step, Warmup};
use crate::figures::Figures;
use crate::gain::{self, Bounds};
use crate::ladder::Rung;
use crate::thresholds::{
    BURST, EVEN, GAIN_SPREAD, GENTLE, IDLE_SERVER, LEAST_HELD, LINK_DELAY, LINK_DELAY_S, MOSTLY_NETWORK, ON_A_LINK,
    RELIEVED, RTT_GREW, RTT_LONG_S, SAME_THROUGHPUT, SMALLER_BETTER, WIDE_LADDER,
};
use crate::witnesses::{throttled, throttled_fact};
use std::time::Duration;
use torr_gauge::verdict::{Advice, Change, ExperimentId, Fact, Finding, Headline};
use torr_gauge::{Confidence, Factor};
use torr_signals::{QuotaUse, Signals};

pub fn rule(evidence: &Evidence) -> Step {
    if let Some(verdict) = quota(evidence)? {
        return Ok(Some(verdict));
    }
    if let Some(verdict) = link(evidence)? {
        return Ok(Some(verdict));
    }
    if let Some(verdict) = hidden_quota::rule(evidence)? {
        return Ok(Some(verdict));
    }
    limiter(evidence)
}

fn quota(evidence: &Evidence) -> Step {
    let Some(quota) = throttled(evidence.figures.signals.as_ref()) else { return Ok(None) };
    // Gently enough that the quota should not matter.
    let gentle = evidence.figures.rps() * GENTLE;
    let Some(experiment) = evidence.setting.open(gentle.max(1.0), ExperimentId::Gentle, 1.5) else { return Ok(None) };
    let observation = evidence.observe(experiment)?;
    let relieved = observation.signals.as_ref().and_then(Signals::quota).map(QuotaUse::throttled_share);
    let is_relieved = relieved.is_some_and(|share| share < quota.throttled_share() / RELIEVED);
    let confidence = if is_relieved { Confidence::Certain } else { Confidence::Likely };
    // A thread that the quota stops waits as one does that finds no free CPU: what it used tells what more it can.
    let thread = evidence.figures.busiest_thread().map(|thread| thread.cores).filter(|cores| *cores > 0.0);
    let bounds = Bounds { thread: thread.map(f64::recip), ..evidence.bounds() };
    let machine =
        evidence.figures.signals.as_ref().and_then(|signals| signals.machine).map_or(1, |machine| machine.cores);
    Ok(Some(
        Finding::new(Factor::CpuQuota, confidence, Headline::CpuQuota)
            .because(throttled_fact(quota, Some(machine)))
            .because(evidence.figures.server_cpu())
            .because(evidence.figures.machine_cpu())
            .because(relieved.map(|share| Fact::ThrottledAt { rps: gentle, share }))
            .advice(Advice::RaiseQuota)
            .gain(bounds.gain(gain::in_proportion(machine as f64 / quota.cores), Change::WholeMachine)),
    ))
}

/// Examines a saturated link: the time to connect grows, which depends on the kernel alone, and smaller responses pass more often.
fn link(evidence: &Evidence) -> Step {
    if !evidence.setting.is_read_only || evidence.figures.wants_cpu() || evidence.figures.full_threads() > 0 {
        // Without CPU, connecting is late as well; and HEAD replaces safe methods only.
        return Ok(None);
    }
    let delay = evidence.figures.connect_delay_s().unwrap_or(0.0);
    let alone = evidence.figures.cheap.as_ref().map_or(0.0, |cheap| cheap.connect_s);
    let full = evidence.full();
    let queueing = full.run.sockets.as_ref().and_then(|sockets| {
        let (rtt, least) = (sockets.rtt_us? / 1e6, sockets.min_rtt_us? as f64 / 1e6);
        // An acknowledgement that is sent with the response comes up to 40 ms late.
        (rtt > RTT_GREW * least && rtt > RTT_LONG_S).then_some((rtt, least))
    });
    // A request that also waits elsewhere has others on the link meanwhile.
    let is_alone = evidence.figures.parallelism() <= ON_A_LINK || evidence.figures.connecting_waits();
    if !is_alone || delay < LINK_DELAY_S.max(LINK_DELAY * alone) && queueing.is_none() {
        return Ok(None);
    }
    let received = full.run.received_per_s();
    let sent = full.run.bytes.sent as f64 / full.run.duration_s;
    let size = full.bytes_per_request();
    let way = |id, request| evidence.setting.user(id, 0.7).with(|load| load.request = request);
    let ways = [way(ExperimentId::WholeResponses, Request::Target), way(ExperimentId::HeadsOnly, Request::Head)];
    let contrast = evidence.in_turns(ways)?;
    let smaller = evidence.last(ExperimentId::HeadsOnly).map_or(size, |seen| seen.bytes_per_request());
    if !contrast.is_above(SMALLER_BETTER) {
        return Ok(None);
    }
    Ok(Some(
        Finding::new(Factor::Bandwidth, Confidence::Certain, Headline::LinkFull)
            .because(Fact::Traffic { received_bytes_per_s: received, sent_bytes_per_s: sent })
            .because((delay >= LINK_DELAY_S).then_some(Fact::ConnectDelay { seconds: delay }))
            .because(queueing.map(|(rtt, least)| Fact::RoundTripGrew { from_s: least, to_s: rtt }))
            .because(Fact::SmallerResponses { bytes: smaller, usual_bytes: size, speedup: contrast.speedup() })
            .advice(Advice::SendLess)
            // The throughput of responses without content bounds all other limits.
            .gain(gain::promised(
                contrast.of.low.min(2.0) / GAIN_SPREAD,
                contrast.of.high.min(2.0) * GAIN_SPREAD,
                Change::HalfTheBytes,
            )),
    ))
}

/// The throughput of an idle service that does less than it could with one request at a time.
#[derive(Debug, Clone, Copy)]
pub struct LessThanOne {
    /// The mean number of requests in service.
    at_a_time: f64,
    /// Whether throughput is about the same with any number of connections.
    pub is_even: bool,
}

/// Returns the throughput of a service that does less than it could with one request at a time, though nothing of it is busy.
pub fn less_than_one(figures: &Figures) -> Option<LessThanOne> {
    let rtt_s = figures.round_trip_s.unwrap_or(0.0);
    // Where the network takes most of the time, the rest of it is small and uncertain.
    let is_far = rtt_s >= MOSTLY_NETWORK * figures.alone_median_s;
    let held = match is_far {
        true => figures.ladder.most() * (figures.alone_median_s - rtt_s).max(1e-6),
        false => figures.parallelism(),
    };
    if held >= LEAST_HELD || figures.full_threads() > 0 || figures.wants_cpu() {
        return None;
    }
    // A few connections over a long way cannot bring more than one response each round trip.
    let reachable = |rung: &Rung| figures.ladder.most().min(rung.connections as f64 / figures.alone_mean_s.max(1e-6));
    let bound = |rung: &Rung| if is_far { reachable(rung) } else { figures.ladder.most() };
    let is_even = figures.ladder.0.iter().all(|rung| rung.rps > EVEN * bound(rung));
    let idle = |cores| cores < IDLE_SERVER * figures.cores().unwrap_or(1) as f64;
    figures.server_cores().is_none_or(idle).then_some(LessThanOne { at_a_time: held, is_even })
}

/// A limiter that delays rather than refuses: throughput is the same with any number of connections, and far below what one
/// could have.
fn limiter(evidence: &Evidence) -> Step {
    let Some(less) = less_than_one(&evidence.figures) else { return Ok(None) };
    let burst = burst(evidence)?;
    if !less.is_even && burst.is_none() {
        return Ok(None);
    }
    let steady = evidence.figures.rps();
    let apart = super::addresses::second(evidence, steady)?;
    let figures = &evidence.figures;
    let fewest = figures.ladder.0.first().map_or(1, |rung| rung.connections);
    let connections = figures.ladder.0.last().map_or(1, |rung| rung.connections);
    // A server whose throughput falls with load is overloaded, not throttled.
    let least = figures.ladder.0.iter().map(|rung| rung.rps).fold(f64::INFINITY, f64::min);
    // Over few rungs a throughput that still rises looks much like one that does not.
    let same = least > SAME_THROUGHPUT * figures.ladder.most() && connections >= WIDE_LADDER * fewest;
    // A listener that accepts at a pace holds back as well, and a few overflows are all that tells.
    let overflows = evidence.full().signals.as_ref().and_then(Signals::listen_overflows);
    let is_accepted = overflows.is_none_or(|count| count == 0);
    let is_visible = figures.server_cores().is_some();
    let confidence = if is_visible && same && is_accepted { Confidence::Certain } else { Confidence::Likely };
    Ok(Some(
        Finding::new(Factor::RateLimit, confidence, Headline::LimiterDelays)
            .because(Fact::ThroughputSame {
                few_rps: figures.ladder.at(fewest).unwrap_or(0.0),
                few: fewest,
                rps: figures.rps(),
                connections: figures.connections,
            })
            .because(Fact::LessThanOne { alone_s: figures.service_s(), at_a_time: less.at_a_time })
            .because(figures.server_cpu())
            .because(burst)
            .because(apart)
            .advice(Advice::RaiseLimit)
            .gain(super::failing::without_limiter(evidence))
            .verify(
                evidence
                    .setting
                    .commands
                    .press(&[("-c", &figures.connections), ("-r", &(figures.rps() * 0.9).max(1.0).round())]),
            ),
    ))
}

/// A limiter that delays, of which a request takes so long that several seem to be in service at a time, as with a lock or a pool. A token
/// bucket shows itself after a pause.
pub fn with_bucket(evidence: &Evidence) -> Step {
    let Some(burst) = burst(evidence)? else { return Ok(None) };
    Ok(Some(
        Finding::new(Factor::RateLimit, Confidence::Likely, Headline::LimiterDelays)
            .because(burst)
            .because(evidence.figures.server_cpu())
            .advice(Advice::RaiseLimit)
            .gain(super::failing::without_limiter(evidence)),
    ))
}

/// Examines a token bucket, which fills during a pause, so that the first requests pass faster than the rate.
fn burst(evidence: &Evidence) -> Result<Option<Fact>, Box<Ask>> {
    if evidence.setting.agents.is_some() {
        // What agents report has seconds, not tenths.
        return Ok(None);
    }
    let steady = evidence.figures.rps();
    let rest = Duration::from_secs_f64((evidence.setting.budget_s / 40.0).min(2.0));
    let after = evidence.setting.user(ExperimentId::AfterPause, 1.0);
    let after = after.with(|load| load.interval = Some(Duration::from_millis(50)));
    let after = Experiment { rest: Some(rest), warmup: Warmup::None, ..after };
    let Some(seen) = evidence.observe_if_reached(after)? else { return Ok(None) };
    let first = seen.times.first_tenth as f64;
    // Other programs may have slowed the load before the pause, and left it alone after that.
    let later = (seen.run.requests as f64 - first) / (seen.run.duration_s - 0.1).max(0.1);
    let expected = steady.max(later) * 0.1;
    let is_burst = first > BURST.0 * expected + BURST.1;
    Ok(is_burst.then_some(Fact::Burst { pause_s: rest.as_secs_f64(), responses: first, expected }))
}
