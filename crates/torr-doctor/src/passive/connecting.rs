//! Connections that are opened over and over in a single run, and TLS handshakes.

use super::seen::likely;
use crate::thresholds::{MANY_CONNECTIONS_PER_S, MOSTLY_TLS, NOT_KEPT, OFTEN_CLOSED};
use crate::witnesses::{advise_handshakes, resumed};
use torr_gauge::verdict::{Advice, Fact, Finding, Headline};
use torr_gauge::{Factor, RunResult};

/// Handshakes are most of what is done.
pub fn handshakes(run: &RunResult) -> Option<Finding> {
    let (tls, phase, latency) = (run.tls.as_ref()?, run.phases_us.tls?, run.latency_us?);
    let each = run.connections.opened as f64 / run.requests.max(1) as f64;
    let share = phase.mean * each / latency.mean.max(1.0);
    (each > NOT_KEPT && share > MOSTLY_TLS).then(|| {
        let finding = likely(Factor::TlsHandshake, Headline::Handshakes)
            .because(Fact::ConnectionsOpened { per_response: each, offered: None })
            .because(Fact::HandshakeShare { share, of_single: false })
            .because(resumed(tls));
        advise_handshakes(finding, tls)
    })
}

pub fn keep_alive(run: &RunResult) -> Option<Finding> {
    let closed = run.connections.closed_by_server as f64 / run.requests.max(1) as f64;
    // What is slow for other reasons hardly gains by it.
    let is_fast = run.rps >= MANY_CONNECTIONS_PER_S;
    (run.plan.keep_alive && run.requests > 0 && closed > OFTEN_CLOSED && is_fast).then(|| {
        likely(Factor::KeepAlive, Headline::ServerCloses)
            .because(Fact::ClosedByServer {
                closed: run.connections.closed_by_server,
                opened: run.connections.opened,
                responses_each: run.connections.requests_per_connection,
            })
            .advice(Advice::TurnKeepAliveOn)
    })
}
