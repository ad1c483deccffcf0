//! What a single run's answers and connections point to: limiters, delays, handshakes, a full backlog, a full link.

use super::{likely, percent, server_is_full, undecided};
use crate::thresholds::{
    FULL_THREAD, LEAST_HELD, LINK_QUEUE_BYTES, LOSSY, MANY_FAILED, MOSTLY_TLS, OVERFLOWS, PASSIVE_ACK_DELAY_US,
    SYN_TIMEOUT_US,
};
use crate::words::{bits, rate, time};
use torr_gauge::{Factor, RunResult, Signals, Verdict};

/// A limiter that answers "not now".
pub fn refusals(run: &RunResult) -> Option<Verdict> {
    let count = |status: u16| run.status.get(&status).copied().unwrap_or(0);
    let (too_many, unavailable) = (count(429), count(503));
    let share = (too_many + unavailable) as f64 / run.requests.max(1) as f64;
    if share <= MANY_FAILED || share >= 1.0 {
        return None;
    }
    let refused = format!("{} of the answers had status 429 or 503", percent(share));
    let accepted = format!("{} were accepted", rate(run.good_rps()));
    if too_many > unavailable || !server_is_full(run) {
        let verdict = likely(Factor::RateLimit, "A limiter refuses what comes above its rate.");
        let advice = "press below the limit with -r, or exempt the load generator from it";
        return Some(verdict.because(refused).because(accepted).advice(advice));
    }
    // What fails otherwise is not what a limiter does, nor a service that sheds load.
    (2 * unavailable > run.errors.total()).then(|| {
        // A server that fails fast is as busy as one that has too much to do: the status alone does not tell them apart.
        let summary = "Requests were answered 503: the service limits them, has too much to do, or lacks something that it \
                       needs, such as its database.";
        undecided(summary)
            .because(refused)
            .because(accepted)
            .advice("see what the service logs with its 503s")
            .advice("let 'torr doctor' tell: it asks for little more than what is accepted, and looks again")
    })
}

/// Connections that were dropped before they were accepted.
pub fn backlog(run: &RunResult) -> Option<Verdict> {
    let connect = run.phases_us.connect?;
    let overflows = run.signals.as_ref().and_then(Signals::listen_overflows);
    let longest = connect.max.max(run.latency_us.map_or(0, |latency| latency.max));
    let is_dropped = match overflows {
        // All listeners of the machine are counted together: a connection of this run's must have been late as well.
        Some(overflows) => overflows > OVERFLOWS && longest >= SYN_TIMEOUT_US,
        // On a full link, or one that loses packets, connections are late as well.
        None => connect.p99.unwrap_or(connect.max) >= SYN_TIMEOUT_US && !is_queueing(run) && !loses_packets(run),
    };
    (is_dropped && !server_is_full(run) && super::at_a_time(run)? < LEAST_HELD).then(|| {
        let late = (connect.max >= SYN_TIMEOUT_US).then(|| {
            format!("connecting took up to {}: a SYN is sent again after a second", time(connect.max as f64 / 1e6))
        });
        likely(Factor::AcceptBacklog, "Connections are dropped before the service accepts them.")
            .because_if(late)
            .because_counted(overflows.unwrap_or(0), |count| {
                format!("the kernel counted {count} overflows of the accept queue")
            })
            .because_if(run.signals.as_ref().and_then(Signals::full_accept_queue))
            .advice("raise the backlog that the service gives to listen(), and net.core.somaxconn")
    })
}

/// Whether packets to the service waited for long on the way.
fn is_queueing(run: &RunResult) -> bool {
    let rtts = run.sockets.and_then(|sockets| Some((sockets.rtt_us? / 1e3, sockets.min_rtt_us? as f64 / 1e3)));
    // A server that does not answer at once puts its acknowledgement off by up to 40 ms.
    rtts.is_some_and(|(usual, least)| usual > 4.0 * least + 50.0)
}

fn loses_packets(run: &RunResult) -> bool {
    run.sockets.and_then(|sockets| sockets.retransmitted_share).is_some_and(|share| share > LOSSY)
}

/// Nagle's algorithm against delayed acknowledgements.
pub fn delayed_ack(run: &RunResult) -> Option<Verdict> {
    let latency = run.latency_us?;
    let (median, most) = (latency.p50?, latency.p75?);
    let way = run.sockets.and_then(|sockets| sockets.min_rtt_us).unwrap_or(0);
    let delayed = run.signals.as_ref().and_then(|signals| signals.network?.delayed_acks);
    let each = delayed.map(|count| count as f64 / run.requests.max(1) as f64);
    let alike = PASSIVE_ACK_DELAY_US.contains(&median.saturating_sub(way)) && most < median + median / 8;
    // Threads that take turns at one CPU are none of them full.
    let idle = run.host.as_ref().is_none_or(|host| host.server_cores < FULL_THREAD);
    (alike && way < 10_000 && idle && !server_is_full(run) && each.is_none_or(|each| each > 0.5)).then(|| {
        likely(Factor::DelayedAck, "Answers take the 40 ms for which an acknowledgement is held back.")
            .because(format!(
                "half of them took {}, and three quarters no more than {}",
                time(median as f64 / 1e6),
                time(most as f64 / 1e6)
            ))
            .because_if(each.map(|each| format!("{each:.1} acknowledgements were held back for each answer")))
            .advice("write head and body with one call, or set TCP_NODELAY on the server's sockets")
    })
}

/// Handshakes are most of what is done.
pub fn handshakes(run: &RunResult) -> Option<Verdict> {
    let (tls, phase, latency) = (run.tls.as_ref()?, run.phases_us.tls?, run.latency_us?);
    let each = run.connections.opened as f64 / run.requests.max(1) as f64;
    let share = phase.mean * each / latency.mean.max(1.0);
    (each > 0.15 && share > MOSTLY_TLS).then(|| {
        let mut verdict = likely(
            Factor::TlsHandshake,
            "TLS handshakes are most of the work: hardly any connection carries a second request.",
        )
        .because(format!("{each:.2} connections were opened for each answer"))
        .because(format!("their handshakes took {} of the response times", percent(share)))
        .because_counted(tls.full + tls.resumed, |all| match tls.resumed {
            0 => format!("none of {all} resumed an earlier session"),
            resumed => format!("{resumed} of {all} resumed an earlier session"),
        })
        .advice("keep connections alive");
        // Only what is not done yet.
        if tls.resumed == 0 {
            verdict = verdict.advice("let clients resume sessions");
        }
        if tls.key.as_deref() == Some("RSA") {
            verdict = verdict.advice(crate::rules::ECDSA);
        }
        verdict
    })
}

/// Most of each request's time is the way.
pub fn delay(run: &RunResult) -> Option<Verdict> {
    let way = run.sockets?.min_rtt_us?;
    let latency = run.latency_us?;
    let median = latency.p50?;
    (way > 500 && way as f64 >= 0.5 * median as f64).then(|| {
        likely(Factor::NetworkDelay, "The way to the service takes most of each request's time.")
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
