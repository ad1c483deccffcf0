//! Requests that fail: no local port, a full backlog, a limiter that refuses, or errors of the service's own.

use crate::evidence::Evidence;
use crate::experiment::{Ask, Request, Step};
use crate::gain;
use crate::observation::Observation;
use crate::thresholds::{
    ACCEPTS_NO_MORE, ALWAYS, FAILS_ALONE, FEWER_LATE, FULL_THREAD, KEPT_FROM, LATE_CONNECTS, LEAST_HELD, MANY_FAILED,
    NOT_FULL, OFFERED, ONE_PACKET_BYTES, OVERFLOWS, REFUSES, SYN_TIMEOUT_US,
};
use crate::witnesses::{self, Refusals};
use crate::words::{counted, percent, rate, time};
use torr_gauge::{Confidence, Factor, Gain, Verdict};
use torr_signals::Signals;

/// The client has no local port left.
pub fn ports(evidence: &Evidence) -> Step {
    let Some(observation) = evidence.observations().iter().find(|observation| observation.run.errors.ports > 0) else {
        return Ok(None);
    };
    let (failed, opened, answered) =
        (observation.run.errors.ports, observation.run.connections.opened, observation.run.requests);
    let verdict = out_of_ports().because(format!(
        "{failed} requests found no free local port with {}, after {opened} connections for {answered} responses",
        observation.experiment
    ));
    let few = (evidence.figures.connections / 8).max(1);
    let (name, why) = (format!("{few} connections, kept alive"), "whether fewer connections find their ports");
    let fewer = evidence.setting.with_connections(few, name, why, 0.8).with(|load| load.keep_alive = true);
    let Some(fewer) = evidence.observe_if_reached(fewer)? else {
        return Ok(Some(verdict.because("after that not one connection found a port")));
    };
    let gone = fewer.run.errors.ports == 0;
    let because = format!("with {few} connections kept alive {} requests found none", fewer.run.errors.ports);
    let confidence = if gone { Confidence::Certain } else { Confidence::Likely };
    // What fewer connections do is measured; more of them do at most as much each.
    let now = fewer.good_rps() / evidence.figures.rps().max(1e-9);
    let most = now * evidence.figures.connections as f64 / few as f64;
    let most = evidence.bounds().null.map_or(most, |null| most.min(null.max(now)));
    let gain = gain::promised(now, most, "with connections that are kept, and a port for each");
    Ok(Some(Verdict { confidence, ..verdict.because(because).gain(gain) }))
}

/// The verdict, without evidence.
pub fn out_of_ports() -> Verdict {
    let summary = "This machine runs out of local ports, so the service never sees the whole load.";
    Verdict::new(Factor::ClientPorts, Confidence::Likely, summary)
        .advice("keep connections alive, or give more source addresses with --bind")
        .advice(
            "widen net.ipv4.ip_local_port_range: each source address has one port for each \
             connection, and one that was closed is taken for a minute more",
        )
        .gain(Gain::unknown("more throughput with more ports", "hardly a connection came about"))
}

/// Examines connections that are dropped from a full accept queue.
pub fn backlog(evidence: &Evidence) -> Step {
    let full = evidence.full();
    let (share, count) = late(full);
    let network = full.signals.as_ref().and_then(|signals| signals.network);
    let overflows = full.signals.as_ref().and_then(Signals::listen_overflows);
    let queue = full.signals.as_ref().and_then(Signals::full_accept_queue);
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
        "as few connections as it does its most with",
        "whether connections are dropped then, too",
        0.8,
    ))?;
    let (few_share, _) = late(few);
    let few_overflows = few.signals.as_ref().and_then(Signals::listen_overflows);
    let none_lost = overflows.is_some_and(|count| count >= OVERFLOWS) && few_overflows == Some(0);
    let sure = none_lost || overflows.is_some() && few_share < share / FEWER_LATE;
    let confidence = if sure { Confidence::Certain } else { Confidence::Likely };
    let summary = "Connections are dropped before the service accepts them, and come again a second or more later.";
    let verdict = Verdict::new(Factor::AcceptBacklog, confidence, summary)
        .because_counted(count, |count| {
            format!(
                "{count} connections ({}) took longer than the second after which a SYN is sent again, or failed; with {} at a \
                 time it was {}",
                percent(share),
                counted(fewest, "connection"),
                percent(few_share)
            )
        })
        .because_counted(overflows.unwrap_or(0), |count| {
            let few = few_overflows.map(|few| format!(", and {few} with {}", counted(fewest, "connection")));
            format!("the kernel counted {count} overflows of the accept queue{}", few.unwrap_or_default())
        })
        .because_if(queue)
        .because_if(
            has_none
                .then(|| "of those that were accepted hardly any waited: the service had nothing in its hands".into()),
        )
        .advice("raise the backlog that the service gives to listen(), and net.core.somaxconn, which caps it")
        .advice("accept in a loop of its own, or more than one connection at a time")
        .gain(Gain::unknown(
            format!("response times without the seconds of waiting for a connection; {} were answered", rate(rps)),
            "what the service does when it accepts all connections was not seen",
        ));
    Ok(Some(verdict))
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
    let why = "whether connections are dropped where answers are small, too";
    let heads = evidence.setting.user("heads alone", why, 0.8).with(|load| load.request = Request::Head);
    let heads = evidence.observe_if_reached(heads)?;
    Ok(heads.is_some_and(|observation| late(observation).0 < share / FEWER_LATE))
}

/// Examines a limiter, which responds 429 or 503.
pub fn refusals(evidence: &Evidence) -> Step {
    let full = evidence.full();
    let Some(Refusals { share: refused, status }) = witnesses::refusals(&full.run) else { return Ok(None) };
    let gently = witnesses::refusals(&evidence.alone().run).map_or(0.0, |refusals| refusals.share);
    if gently > ALWAYS {
        return Ok(None);
    }
    let accepted = full.good_rps();
    let sent = full.run.rps;
    let offered = (accepted * OFFERED).max(5.0);
    let (mut good, mut refuses) = (vec![], false);
    for factor in [1.0, 2.0] {
        let name = format!("an offered rate of {}", rate(offered * factor));
        let why = "whether more is accepted if more is asked for";
        let Some(experiment) = evidence.setting.open(offered * factor, name, why, 1.2) else { break };
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
    let because = match good[..] {
        [once, twice] => Some(format!(
            "of {} offered {} were accepted, and of twice as many {}",
            rate(offered),
            rate(once),
            rate(twice)
        )),
        _ => None,
    };
    let apart = super::addresses::second(evidence, accepted)?;
    let verdict = Verdict::new(Factor::RateLimit, confidence, "A limiter refuses what comes above its rate.")
        .because(format!(
            "{} of {} were answered with status {status}, and {} of those sent one at a time, with pauses",
            percent(refused),
            rate(sent),
            percent(gently)
        ))
        .because_if(because)
        .because_if(apart)
        .advice(
            "raise the limit, or exempt the load generator from it, if it is the service itself that \
             you want to measure",
        )
        .gain(without_limiter(evidence))
        .verify(evidence.setting.commands.press(&[
            ("-c", &evidence.setting.connections),
            ("-r", &(accepted * 0.9).max(1.0).round()),
            ("--fail-if", &"errors>0"),
        ]));
    Ok(Some(verdict))
}

/// Returns the gain without a limiter: at least what one connection does whose requests are answered as they are alone, at most what
/// a service that does nothing does.
pub fn without_limiter(evidence: &Evidence) -> Gain {
    let rps = evidence.figures.rps();
    if rps <= 0.0 {
        return Gain::unknown("more throughput without the limiter", "of the full load not one request was served");
    }
    let one_at_a_time = 1.0 / (evidence.figures.alone_mean_s * rps).max(1e-9);
    gain::promised(one_at_a_time, evidence.bounds().null_at_most(), "without the limiter")
}

/// Requests fail for other reasons.
pub fn errors(evidence: &Evidence) -> Step {
    let (full, alone) = (evidence.full(), evidence.alone());
    // A service that is full may refuse what is too much for it: then it is full, not failing.
    let shed = if alone.status_share(&[503]) < ALWAYS { full.status_share(&[503]) } else { 0.0 };
    let (share, alone_share) = (full.failed_share() - shed, alone.failed_share());
    let nothing = full.run.requests == 0 && alone.run.requests == 0;
    if share < MANY_FAILED && !nothing {
        return Ok(None);
    }
    if nothing && share < MANY_FAILED {
        let waited = time(full.run.duration_s);
        return Ok(Some(
            Verdict::new(Factor::Errors, Confidence::Certain, "Not one request was answered.")
                .because(format!("{} requests waited for a response for up to {waited}", full.run.unfinished))
                .because("one request at a time got none either")
                .advice(format!(
                    "see whether the service responds at all: {}",
                    evidence.setting.commands.press(&[("-c", &1), ("-n", &1)])
                )),
        ));
    }
    let shortened = evidence.setting.experiment_timeout_s() < evidence.setting.timeout_s;
    if shortened && full.run.errors.timeout * 2 > full.run.errors.total() {
        let summary = "Requests take longer than the budget leaves them, so their limit is unknown.";
        return Ok(Some(
            Verdict::new(Factor::Unknown, Confidence::Unknown, summary)
                .because(format!(
                    "{} requests had no response within {}",
                    full.run.errors.timeout,
                    time(full.run.plan.timeout_s)
                ))
                .because(format!("one at a time took {}", time(evidence.figures.alone_mean_s)))
                .advice("give it a longer --budget, six times as long as --timeout at least"),
        ));
    }
    let independent = alone_share > share / FAILS_ALONE;
    let summary = match independent {
        true => "Requests fail however gently they are sent, so throughput means little.",
        false => "Requests fail under load, so throughput means little.",
    };
    // A limiter's refusals are failures as well, and may be the limit even where a gentle load meets them.
    let refused = full.status_share(&[429]) > share / 2.0;
    let confidence = if refused { Confidence::Likely } else { Confidence::Certain };
    let verdict = Verdict::new(Factor::Errors, confidence, summary)
        .because(format!("{} of the requests under your load failed", percent(share)))
        .because(format!("of those sent one at a time, with pauses, {} failed", percent(alone_share)));
    let verdict = witnesses::failures(&full.run).fold(verdict, Verdict::because);
    let advice = match independent {
        true => "mend what fails first: look at one such response, and at the service's log",
        false => "find what gives way under load: look at the service's log of this moment",
    };
    Ok(Some(
        verdict
            .advice(advice)
            .gain(Gain::unknown("throughput without failures", "requests that fail say little of the others")),
    ))
}
