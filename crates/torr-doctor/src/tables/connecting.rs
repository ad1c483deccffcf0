//! Connections that are opened over and over, TLS handshakes, and acknowledgements that are held back.

use super::case::{ALL, ALONE, Which, service, spread, thread, uses, waiting};
use super::{Row, check};
use serde_json::{Value, json};
use torr_gauge::verdict::{ExperimentId as Id, KeepAliveCondition};
use torr_gauge::{Confidence, Factor};

const GZIP: KeepAliveCondition = KeepAliveCondition::AcceptsGzip;

/// Observations of connections whose handshakes take so many seconds each.
fn handshakes(count: f64, seconds: f64) -> Value {
    json!({"times": {"tls": spread(count, seconds)},
        "run": {"tls": {"version": "TLSv1.3", "cipher": "", "full": count as u64, "resumed": 0}}})
}

pub fn rows() -> Vec<Row> {
    use Confidence::{Certain, Likely};
    let gzip: Which = |id| [Id::KeptIf(GZIP), Id::WithCondition(GZIP)].contains(&id);
    // 40 us more for a connection than for a request: at 10,000/s that is 0.4 of what this machine can do.
    let quick = || service(3e-4, 10_000.0);
    let slow = || service(5e-3, 800.0).others_wait(4e-3).everywhere(uses(0.1, waiting(4, "hrtimer_nanosleep")));
    let fresh = || quick().load(|setting| setting.keep_alive = false);
    let secured = || quick().load(|setting| (setting.tls, setting.has_null) = (true, false));
    let full = || uses(0.4, vec![thread(1, 0.97, 0.02), thread(2, 0.01, 0.0)]);
    let delayed = |count: u64| json!({"times": {"ack_delayed": count}});
    let single: Which = |id| id == Id::AckedAsUsual;
    let acks = || service(3e-4, 1e6).acks(0.0405).at(ALONE, delayed(24)).at(single, delayed(8));
    vec![
        ("each connection is closed, whatever is offered", quick().closes(ALL, 1.0), Factor::KeepAlive, Certain),
        (
            "each connection is closed unless the client accepts gzip",
            quick().closes(ALL, 1.0).closes(gzip, 0.0).times(gzip, 1.6),
            Factor::KeepAlive,
            Certain,
        ),
        (
            "unless the client accepts gzip, which brings nothing",
            quick().closes(ALL, 1.0).closes(gzip, 0.0),
            Factor::KeepAlive,
            Likely,
        ),
        (
            "a connection for each request, as the user asks",
            fresh().times(|id| id == Id::KeptAlive, 1.6),
            Factor::KeepAlive,
            Certain,
        ),
        ("the same, but keeping them brings nothing", fresh(), Factor::Pool, Likely),
        ("every tenth connection is closed", quick().closes(ALL, 0.1), Factor::Pool, Likely),
        ("each connection is closed, but four workers take long", slow().closes(ALL, 1.0), Factor::Workers, Certain),
        (
            "handshakes fill a thread",
            secured().closes(ALL, 1.0).everywhere(full()).at(ALONE, handshakes(130.0, 2.4e-4)),
            Factor::TlsHandshake,
            Certain,
        ),
        (
            "handshakes take long, and no thread is full",
            secured().closes(ALL, 1.0).at(ALONE, handshakes(130.0, 2.4e-4)),
            Factor::TlsHandshake,
            Likely,
        ),
        (
            "a handshake for each request, as the user asks",
            secured()
                .load(|setting| setting.keep_alive = false)
                .at(ALONE, handshakes(130.0, 2.4e-4))
                .times(|id| id == Id::KeptAlive, 4.0),
            Factor::TlsHandshake,
            Certain,
        ),
        ("handshakes of connections that are kept", secured().at(ALONE, handshakes(1.0, 2.4e-4)), Factor::Pool, Likely),
        ("responses wait for acknowledgements, and so does the load", acks(), Factor::DelayedAck, Certain),
        (
            "single responses wait, but four workers limit the load",
            slow().acks(0.0405).at(ALONE, delayed(24)).at(single, delayed(8)),
            Factor::Workers,
            Certain,
        ),
        (
            "a service that takes 40 ms itself",
            service(0.0405, 1e6)
                .at(ALONE, delayed(24))
                .at(|id| matches!(id, Id::AckedAsUsual | Id::AckedAtOnce), delayed(8)),
            Factor::Connections,
            Certain,
        ),
    ]
}

#[test]
fn the_cost_of_connections_differs_from_that_of_requests() {
    check(rows());
}
