//! What gives out time: a quota, a link, a limiter that delays.

use super::case::{FULL, HEADS, LIGHT, Which, service, spread, thread, uses, waiting};
use super::{Row, check};
use serde_json::{Value, json};
use torr_gauge::verdict::ExperimentId;
use torr_gauge::{Confidence, Factor};

/// A server under a quota of half a CPU that throttles it in so many of 100 periods.
fn quota(throttled: u64) -> Value {
    json!({"signals": {"processes": [{"pid": 1, "name": "app", "cores": 0.5, "allowed_cores": 4,
        "quota": {"cgroup": "/app", "cores": 0.5, "periods": 100, "throttled_periods": throttled}}]}})
}

pub fn rows() -> Vec<Row> {
    use Confidence::{Certain, Likely};
    let under_quota = || service(1e-3, 500.0);
    let gently: Which = |id| id == ExperimentId::Gentle;
    let slow_connects = || json!({"times": {"connect": spread(50.0, 0.05)}});
    let link = || service(4e-3, 300.0).body(50_000.0).at(LIGHT, slow_connects());
    // 200/s however many connections there are, though a request takes 1 ms.
    let limited = || service(1e-3, 200.0);
    let stopping: Which = |id| id == ExperimentId::Stops;
    let light_stopping: Which = |id| matches!(id, ExperimentId::LightStops(_));
    let stops = |stopped_s: f64| json!({"times": {"stops": {"period_s": 0.1, "stopped_s": stopped_s}}});
    let turns = || uses(0.1, waiting(8, "futex_wait_queue"));
    vec![
        (
            "throttled, but not at less than half the load",
            under_quota().everywhere(quota(90)).at(gently, quota(0)),
            Factor::CpuQuota,
            Certain,
        ),
        ("throttled at less than half the load as well", under_quota().everywhere(quota(90)), Factor::CpuQuota, Likely),
        ("hardly throttled by the quota", under_quota().everywhere(quota(5)), Factor::RateLimit, Certain),
        ("small responses pass more often", link().times(HEADS, 8.0), Factor::Bandwidth, Certain),
        (
            "round trips wait, to a server that is not visible",
            service(4e-3, 300.0)
                .unseen()
                .body(50_000.0)
                .times(HEADS, 8.0)
                .everywhere(json!({"run": {"sockets": {"looked_at": 9, "min_rtt_us": 100, "rtt_us": 90_000.0}}})),
            Factor::Bandwidth,
            Certain,
        ),
        ("small responses pass no more often", link(), Factor::Lock, Likely),
        (
            "connecting is late since a thread is full",
            link().times(HEADS, 8.0).everywhere(uses(0.4, vec![thread(1, 0.97, 0.02)])),
            Factor::SingleCore,
            Certain,
        ),
        ("the same with any number of connections", limited(), Factor::RateLimit, Certain),
        (
            "the same, while an accept queue overflows now and then: a listener may accept at a pace",
            limited().at(FULL, json!({"signals": {"network": {"listen_overflows": 8}}})),
            Factor::RateLimit,
            Likely,
        ),
        ("the same, of a server that is not visible", limited().unseen(), Factor::RateLimit, Likely),
        (
            "the same, and it stops in each period, for cheap requests too",
            limited().unseen().at(stopping, stops(0.06)).at(light_stopping, stops(0.05)),
            Factor::CpuQuota,
            Likely,
        ),
        (
            "it stops in each period, though not for cheap requests",
            limited().unseen().at(stopping, stops(0.06)),
            Factor::RateLimit,
            Likely,
        ),
        (
            "it stops in each period, and lets as many cheap requests pass",
            limited()
                .unseen()
                .at(stopping, stops(0.06))
                .at(light_stopping, stops(0.06))
                .at(light_stopping, json!({"run": {"rps": 210.0}})),
            Factor::RateLimit,
            Likely,
        ),
        (
            "the same behind acknowledgements that are delayed by as long as it holds back",
            service(4e-3, 20.0).acks(0.04).at(|id| id == ExperimentId::Alone, json!({"times": {"ack_delayed": 20}})),
            Factor::RateLimit,
            Certain,
        ),
        (
            "the same over a long way, on which few connections do not reach it",
            service(41e-3, 100.0).rtt(40e-3),
            Factor::RateLimit,
            Likely,
        ),
        (
            "four workers over a long way",
            service(60e-3, 200.0).rtt(40e-3).others_wait(20e-3).everywhere(uses(0.1, waiting(4, "hrtimer_nanosleep"))),
            Factor::Workers,
            Certain,
        ),
        (
            "the same with three connections at most",
            limited().load(|setting| (setting.connections, setting.max_connections) = (1, 3)),
            Factor::RateLimit,
            Likely,
        ),
        (
            "more after a pause, though it falls under load",
            limited().times(FULL, 0.5).at(|id| id == ExperimentId::AfterPause, json!({"times": {"first_tenth": 90}})),
            Factor::RateLimit,
            Likely,
        ),
        (
            "a server that computes, half a CPU each",
            limited().everywhere(uses(0.6, vec![thread(1, 0.7, 0.0), thread(2, 0.7, 0.0)])),
            Factor::Unknown,
            Confidence::Unknown,
        ),
        ("one at a time, by threads that take turns", service(5e-3, 200.0).everywhere(turns()), Factor::Lock, Certain),
    ]
}

#[test]
fn a_quota_a_link_and_a_limiter_differ_from_each_other_and_from_a_lock() {
    check(rows());
}
