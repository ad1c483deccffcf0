//! Connections that are dropped before they are accepted.

use super::case::{Case, FULL, HEADS, LIGHT, Which, service, spread, thread, uses, waiting};
use super::{Row, check};
use serde_json::{Value, json};
use torr_gauge::verdict::ExperimentId;
use torr_gauge::{Confidence, Factor};

/// The load at which connections are dropped, and twice as many.
const LOADS: [Which; 2] = [FULL, |id| id == ExperimentId::Double];

/// Observations of a load of which 60 of 500 connections came about after a second.
fn late(overflows: Option<u64>) -> Value {
    json!({
        "times": {"connect": spread(500.0, 0.12), "late_connects": 60},
        "signals": {"network": {"listen_overflows": overflows}}
    })
}

/// A service that does its most with eight connections, one for each request, and does a quarter of it with 64.
fn starved(change: &Value) -> Case {
    let case = service(2e-3, 4000.0).load(|setting| setting.keep_alive = false);
    LOADS.iter().fold(case, |case, load| case.times(*load, 0.25).at(*load, change.clone()))
}

pub fn rows() -> Vec<Row> {
    use Confidence::{Certain, Likely};
    let few: Which = |id| id == ExperimentId::FewConnections;
    let on_time = |overflows: u64| json!({"signals": {"network": {"listen_overflows": overflows}}});
    let other_listener = on_time(500);
    let full = uses(0.4, vec![thread(1, 0.97, 0.02), thread(2, 0.01, 0.0)]);
    let lost = json!({"signals": {"network": {"listen_overflows": 0, "half_open_drops": 0}},
        "times": {"connect": spread(500.0, 0.12), "late_connects": 60}});
    let link = || {
        service(4e-3, 300.0)
            .body(50_000.0)
            .at(HEADS, json!({"times": {"late_connects": 0}}))
            .times(HEADS, 8.0)
            .at(LIGHT, json!({"times": {"connect": spread(50.0, 0.05)}}))
    };
    vec![
        ("overflows, and none with few connections", starved(&late(Some(500))), Factor::AcceptBacklog, Certain),
        (
            "overflows with few connections as well",
            starved(&late(Some(500))).at(few, late(Some(500))),
            Factor::AcceptBacklog,
            Likely,
        ),
        (
            "connections that come late to a server that is not visible",
            starved(&late(None)).unseen(),
            Factor::AcceptBacklog,
            Likely,
        ),
        (
            "a queue that was seen to be full",
            starved(&on_time(500)).at(
                FULL,
                json!({"signals": {"listeners": [{"address": "h:80", "sockets": 1, "backlog": 4, "queued_max": 5}]}}),
            ),
            Factor::AcceptBacklog,
            Certain,
        ),
        ("overflows of another program's listener", starved(&other_listener), Factor::Pool, Likely),
        (
            "overflows of a server with a full thread",
            starved(&late(Some(500))).everywhere(full),
            Factor::SingleCore,
            Certain,
        ),
        ("late connections that no kernel dropped, on a full link", link().at(FULL, lost), Factor::Bandwidth, Certain),
        (
            "the same to a server that is not visible",
            link().unseen().at(FULL, json!({"times": {"connect": spread(500.0, 0.12), "late_connects": 60}})),
            Factor::Bandwidth,
            Certain,
        ),
        (
            "overflows beside a limit that nothing shows: two threads use more than one CPU, and others do not wait",
            service(1e-3, 1000.0)
                .load(|setting| setting.keep_alive = false)
                .everywhere(uses(0.3, vec![thread(1, 0.7, 0.05), thread(2, 0.6, 0.05)]))
                .at(FULL, late(Some(500))),
            Factor::AcceptBacklog,
            Likely,
        ),
        (
            "overflows while all of four workers have a request each",
            service(5e-3, 800.0)
                .others_wait(4e-3)
                .everywhere(uses(0.1, waiting(4, "hrtimer_nanosleep")))
                .everywhere(json!({"signals": {"clients": {"established": 64.0, "unread": 60.0}}}))
                .at(FULL, late(Some(500))),
            Factor::Workers,
            Certain,
        ),
    ]
}

#[test]
fn an_accept_queue_that_overflows_differs_from_a_lossy_link_and_from_busy_workers() {
    check(rows());
}
