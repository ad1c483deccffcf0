//! Connections that are opened over and over in a single run, and TLS handshakes.

use super::seen::likely;
use crate::thresholds::{MANY_CONNECTIONS_PER_S, MOSTLY_TLS, NOT_KEPT, OFTEN_CLOSED};
use crate::words::percent;
use torr_gauge::{Factor, RunResult, Verdict};

/// Handshakes are most of what is done.
pub fn handshakes(run: &RunResult) -> Option<Verdict> {
    let (tls, phase, latency) = (run.tls.as_ref()?, run.phases_us.tls?, run.latency_us?);
    let each = run.connections.opened as f64 / run.requests.max(1) as f64;
    let share = phase.mean * each / latency.mean.max(1.0);
    (each > NOT_KEPT && share > MOSTLY_TLS).then(|| {
        let mut verdict = likely(
            Factor::TlsHandshake,
            "TLS handshakes are most of the work: hardly any connection carries a second request.",
        )
        .because(format!("{each:.2} connections were opened for each response"))
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

pub fn keep_alive(run: &RunResult) -> Option<Verdict> {
    let per_connection = run.connections.requests_per_connection;
    let closed = run.connections.closed_by_server as f64 / run.requests.max(1) as f64;
    // What is slow for other reasons hardly gains by it.
    let is_fast = run.rps >= MANY_CONNECTIONS_PER_S;
    (run.plan.keep_alive && run.requests > 0 && closed > OFTEN_CLOSED && is_fast).then(|| {
        likely(
            Factor::KeepAlive,
            "The server closes connections that could be used again, so new ones are opened again and again.",
        )
        .because(format!(
            "{} of {} connections were ended by the server",
            run.connections.closed_by_server, run.connections.opened
        ))
        .because(format!("{per_connection:.1} requests per connection, although keep-alive was offered"))
        .advice("turn keep-alive on in the server, or find what turns it off (HTTP/1.0, a limit of requests, a proxy)")
    })
}
