//! What the network points to in a single run: delayed acknowledgements, a long round-trip time, too few connections, a saturated link.

use super::seen::{a_thread_is_full, busy_generator, likely, machine_cpu, ours, server_is_full};
use crate::thresholds::{
    ACKS_HELD_BACK, FULL_THREAD, JITTER_US, LATE_ACK_MS, LINK_QUEUE_BYTES, LITTLE_CPU, LONG_WAY_US, LOSSY,
    MACHINE_FULL, MOSTLY_NETWORK, PASSIVE_ACK_DELAY_US, PASSIVE_AT_WORK, RTT_GREW, SHORT_WAY_US, UNQUEUED,
};
use crate::witnesses::acks_held_back;
use torr_gauge::verdict::{Advice, Fact, Finding, Headline};
use torr_gauge::{Factor, RunResult};

/// Nagle's algorithm against delayed acknowledgements.
pub fn delayed_ack(run: &RunResult) -> Option<Finding> {
    let latency = run.latency_us?;
    let (median, most) = (latency.p50?, latency.p75?);
    let way = run.sockets.and_then(|sockets| sockets.min_rtt_us).unwrap_or(0);
    let each = acks_held_back(run.signals.as_ref(), run.requests);
    let alike = PASSIVE_ACK_DELAY_US.contains(&median.saturating_sub(way)) && most < median + median / 8;
    // Threads that take turns at one CPU are none of them full.
    let idle = run.host.as_ref().is_none_or(|host| host.server_cores < FULL_THREAD);
    let is_delayed = alike && way < SHORT_WAY_US && idle && !server_is_full(run);
    (is_delayed && each.is_none_or(|each| each > ACKS_HELD_BACK)).then(|| {
        likely(Factor::DelayedAck, Headline::DelayedAck)
            .because(Fact::Quartiles { p50_s: median as f64 / 1e6, p75_s: most as f64 / 1e6 })
            .because(each.map(|per_response| Fact::DelayedAcks { per_response }))
            .advice(Advice::WriteOnce)
    })
}

/// Most of each request's time is the way.
pub fn delay(run: &RunResult) -> Option<Finding> {
    let way = run.sockets?.min_rtt_us?;
    let latency = run.latency_us?;
    let median = latency.p50?;
    let connections = run.plan.connections;
    let (rtt_s, response_s) = (way as f64 / 1e6, median as f64 / 1e6);
    (way > LONG_WAY_US && way as f64 >= MOSTLY_NETWORK * median as f64).then(|| {
        likely(Factor::NetworkDelay, Headline::NetworkTime)
            .because(Fact::RoundTrip { rtt_s, response_s })
            .because(Fact::RoundTripBound { connections, rps: connections as f64 / rtt_s })
            .advice(Advice::LoadFromNearer)
    })
}

/// Nothing is busy and no requests queue at the server: too few requests are in flight.
pub fn connections(run: &RunResult) -> Option<Finding> {
    let latency = run.latency_us?;
    let (min, median) = (latency.min as f64, latency.p50? as f64);
    let idle = run
        .host
        .as_ref()
        .is_none_or(|host| host.cpu_share < MACHINE_FULL || ours(run, host).is_some_and(|ours| ours < LITTLE_CPU));
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
    let times = match scheduled {
        true => {
            Fact::ConnectionsBound { min_s: min / 1e6, connections: run.plan.connections, rps: in_flight / min * 1e6 }
        }
        false => Fact::NoQueueing { median_s: median / 1e6, min_s: min / 1e6 },
    };
    Some(
        likely(Factor::Connections, Headline::MoreConnections)
            .because(times)
            .because(run.plan.think_s.map(|_| Fact::Pauses { mean_s: run.plan.mean_think_s() }))
            .because(busy_generator(run))
            .because(run.host.as_ref().map(machine_cpu))
            .advice(Advice::TestConnections { connections: run.plan.connections * 4 }),
    )
}

/// The link is full: round trips wait in its queue.
pub fn link(run: &RunResult) -> Option<Finding> {
    let sockets = run.sockets?;
    let (usual, least) = (sockets.rtt_us? / 1e6, sockets.min_rtt_us? as f64 / 1e6);
    let (received, sent) = (run.received_per_s(), run.bytes.sent as f64 / run.duration_s);
    // What waits on a link is what passes it in the time that it waits.
    let waiting = received.max(sent) * (usual - least);
    (is_queueing(run) && waiting >= LINK_QUEUE_BYTES && !server_is_full(run)).then(|| {
        likely(Factor::Bandwidth, Headline::LinkFull)
            .because(Fact::RoundTripGrew { from_s: least, to_s: usual })
            .because(Fact::Traffic { received_bytes_per_s: received, sent_bytes_per_s: sent })
            .advice(Advice::SendLess)
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
