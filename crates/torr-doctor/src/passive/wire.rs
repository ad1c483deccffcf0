//! What the network points to in a single run: delayed acknowledgements, a long round-trip time, too few connections, a saturated link.

use super::seen::{a_thread_is_full, likely, ours, server_is_full};
use crate::thresholds::{
    ACKS_HELD_BACK, FULL_THREAD, JITTER_US, LATE_ACK_MS, LINK_QUEUE_BYTES, LITTLE_CPU, LONG_WAY_US, LOSSY,
    MACHINE_FULL, MOSTLY_NETWORK, PASSIVE_ACK_DELAY_US, PASSIVE_AT_WORK, RTT_GREW, SHORT_WAY_US, UNQUEUED,
};
use crate::witnesses::acks_held_back;
use crate::words::{bits, counted, percent, rate, time};
use torr_gauge::{Factor, RunResult, Verdict};

/// Nagle's algorithm against delayed acknowledgements.
pub fn delayed_ack(run: &RunResult) -> Option<Verdict> {
    let latency = run.latency_us?;
    let (median, most) = (latency.p50?, latency.p75?);
    let way = run.sockets.and_then(|sockets| sockets.min_rtt_us).unwrap_or(0);
    let each = acks_held_back(run.signals.as_ref(), run.requests);
    let alike = PASSIVE_ACK_DELAY_US.contains(&median.saturating_sub(way)) && most < median + median / 8;
    // Threads that take turns at one CPU are none of them full.
    let idle = run.host.as_ref().is_none_or(|host| host.server_cores < FULL_THREAD);
    (alike && way < SHORT_WAY_US && idle && !server_is_full(run) && each.is_none_or(|each| each > ACKS_HELD_BACK)).then(
        || {
            likely(Factor::DelayedAck, "Answers take the 40 ms for which an acknowledgement is held back.")
                .because(format!(
                    "half of them took {}, and three quarters no more than {}",
                    time(median as f64 / 1e6),
                    time(most as f64 / 1e6)
                ))
                .because_if(each.map(|each| format!("{each:.1} acknowledgements were delayed for each response")))
                .advice("write head and body with one call, or set TCP_NODELAY on the server's sockets")
        },
    )
}

/// Most of each request's time is the way.
pub fn delay(run: &RunResult) -> Option<Verdict> {
    let way = run.sockets?.min_rtt_us?;
    let latency = run.latency_us?;
    let median = latency.p50?;
    (way > LONG_WAY_US && way as f64 >= MOSTLY_NETWORK * median as f64).then(|| {
        likely(Factor::NetworkDelay, "The network takes most of each request's time.")
            .because(format!(
                "the round trip takes {} of the median of {}",
                time(way as f64 / 1e6),
                time(median as f64 / 1e6)
            ))
            .because(format!(
                "{} connections can have no more than {} over it",
                run.plan.connections,
                rate(run.plan.connections as f64 / (way as f64 / 1e6))
            ))
            .advice(format!("load it from nearer, or raise connections: -c {}", run.plan.connections * 4))
    })
}

/// Nothing is busy and no requests queue at the server: too few requests are in flight.
pub fn connections(run: &RunResult) -> Option<Verdict> {
    let latency = run.latency_us?;
    let (min, median) = (latency.min as f64, latency.p50? as f64);
    let idle = run.host.as_ref().is_none_or(|host| host.cpu_share < MACHINE_FULL || ours(run, host) < LITTLE_CPU);
    // A thread that is full may take all connections in turns, so that each waits alike for the others.
    let nothing_is_full = idle && !run.generator.saturated && !a_thread_is_full(run);
    // On a schedule, response times have the time in them for which a request waited for a free connection on this side.
    let scheduled = run.plan.is_scheduled();
    let unqueued = scheduled || median <= UNQUEUED * min + JITTER_US;
    let took_us = if scheduled { min } else { median } + run.plan.mean_think_s() * 1e6;
    // Where a few are answered again and again, the others are not even begun with.
    let in_flight = run.plan.connections as f64 * f64::from(run.plan.depth);
    let at_work = run.rps * took_us / 1e6 / in_flight >= PASSIVE_AT_WORK;
    let without_warmup = run.plan.warmup_s.is_none();
    if !(without_warmup && at_work && unqueued && nothing_is_full && run.errors.timeout == 0) {
        return None;
    }
    let verdict = likely(
        Factor::Connections,
        "More connections would bring more throughput: nothing was full, and nothing queued at the server.",
    );
    let verdict = match scheduled {
        true => verdict.because(format!(
            "at the shortest response time, {min:.0} us, {} bring no more than {}",
            counted(run.plan.connections, "connection"),
            rate(in_flight / min * 1e6)
        )),
        false => verdict.because(format!(
            "the median response time, {median:.0} us, is near the least, {min:.0} us: requests do not wait for each other"
        )),
    };
    let pauses =
        || format!("each connection paused for {} between its requests (--think)", time(run.plan.mean_think_s()));
    let verdict = verdict.because_if(run.plan.think_s.map(|_| pauses())).because(format!(
        "the generator's busiest thread was idle {} of the time",
        percent(1.0 - run.generator.busy_share)
    ));
    let verdict = match &run.host {
        Some(host) => verdict.because(format!("the machine's CPU was used to {} only", percent(host.cpu_share))),
        None => verdict,
    };
    Some(verdict.advice(format!("press with -c {} and compare", run.plan.connections * 4)))
}

/// The link is full: round trips wait in its queue.
pub fn link(run: &RunResult) -> Option<Verdict> {
    let sockets = run.sockets?;
    let (usual, least) = (sockets.rtt_us? / 1e6, sockets.min_rtt_us? as f64 / 1e6);
    let (received, sent) = (run.received_per_s(), run.bytes.sent as f64 / run.duration_s);
    // What waits on a link is what passes it in the time that it waits.
    let waiting = received.max(sent) * (usual - least);
    (is_queueing(run) && waiting >= LINK_QUEUE_BYTES && !server_is_full(run)).then(|| {
        likely(Factor::Bandwidth, "The link to the service is full.")
            .because(format!("round trips took {} instead of {}: packets wait", time(usual), time(least)))
            .because(format!("{} were received, and {} sent", bits(received), bits(sent)))
            .advice("send less (compress bodies), or get a faster link")
    })
}

/// Whether packets to the service waited for long on the way.
pub fn is_queueing(run: &RunResult) -> bool {
    let rtts = run.sockets.and_then(|sockets| Some((sockets.rtt_us? / 1e3, sockets.min_rtt_us? as f64 / 1e3)));
    // A server that does not respond at once delays its acknowledgement by up to 40 ms.
    rtts.is_some_and(|(usual, least)| usual > RTT_GREW * least + LATE_ACK_MS)
}

pub fn loses_packets(run: &RunResult) -> bool {
    run.sockets.and_then(|sockets| sockets.retransmitted_share).is_some_and(|share| share > LOSSY)
}
