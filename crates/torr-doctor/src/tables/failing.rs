//! Requests that fail: no local port, a limiter that refuses, errors.

use super::case::{FULL, RUNGS, Which, peer, service, thread, uses, waiting};
use super::{Row, check};
use serde_json::{Value, json};
use torr_gauge::verdict::{Advice, ExperimentId, Fact};
use torr_gauge::{Confidence, Factor};

pub fn rows() -> Vec<Row> {
    use Confidence::{Certain, Likely, Unknown};
    // Four requests at a time that nothing holds but the service.
    let plain = || service(5e-3, 800.0);
    let no_port = || json!({"run": {"errors": {"ports": 500}}});
    let refused = || json!({"run": {"errors": {"connect": 500}}});
    let failing = |count: u64| json!({"run": {"errors": {"status": count}, "status": {"500": count}}});
    let full = || uses(0.4, vec![thread(1, 0.97, 0.02), thread(2, 0.01, 0.0)]);
    let under_load = |change: &Value| plain().at(RUNGS, change.clone()).at(FULL, change.clone());
    let four_workers = || plain().others_wait(4e-3).everywhere(uses(0.1, waiting(4, "hrtimer_nanosleep")));
    // A server whose machine has a thousand ports, nearly all of them of connections that are closed.
    let out_of_ports = |opened: f64| {
        let peer = peer("other", 0.1, vec![], json!({"kept": 0.1, "address": "10.0.0.7:80"}));
        let ports = |time_wait: u64| json!({"signals": {"network": {"time_wait": time_wait, "local_ports": 1000}}});
        let opens = json!({"signals": {"network": {"active_opens": (opened * 560.0) as u64 + 64}}});
        let case = plain().load(|setting| setting.is_read_only = false).everywhere(peer).everywhere(ports(300));
        case.at(|id| id == ExperimentId::Rung(16), opens).at(FULL, ports(998)).at(FULL, failing(500))
    };
    let above_eight: Which = |id| matches!(id, ExperimentId::Rung(8..) | ExperimentId::Full);
    let between: Which = |id| id == ExperimentId::FullWithoutErrors;
    let late = |count: u64| {
        json!({"run": {"errors": {"status": count}, "status": {"200": 150, "503": count}},
            "times": {"answered": {"min_us": 60_000}}})
    };
    let timeouts = || json!({"run": {"errors": {"timeout": 500}}});
    let silent = || {
        json!({"run": {"requests": 0, "rps": 0.0, "status": {}, "unfinished": 64, "bytes": {"received": 0, "body": 0}},
            "times": {"answered": null}})
    };
    vec![
        ("no local port, but for fewer connections", plain().at(FULL, no_port()), Factor::ClientPorts, Certain),
        (
            "no local port for fewer connections either",
            plain().at(FULL, no_port()).at(|id| id == ExperimentId::FewerPorts, no_port()),
            Factor::ClientPorts,
            Likely,
        ),
        ("connections that are refused", under_load(&refused()), Factor::Errors, Certain),
        ("429 above a rate", plain().refuses(429, 300.0), Factor::RateLimit, Certain),
        (
            "429 above a rate, and under the full load nothing else",
            plain().refuses(429, 300.0).at(
                FULL,
                json!({"run": {"status": {"200": 0, "429": 500}, "errors": {"status": 500}, "requests": 500}}),
            ),
            Factor::RateLimit,
            Likely,
        ),
        ("503 above a rate, of a server that idles", plain().refuses(503, 300.0), Factor::RateLimit, Certain),
        (
            "503 above a rate, of a server that is not seen",
            plain().unseen().refuses(503, 300.0),
            Factor::RateLimit,
            Likely,
        ),
        (
            "503 that come late: requests give up that queue before four permits",
            plain().at(FULL, late(350)),
            Factor::Pool,
            Likely,
        ),
        (
            "503 of a server with a full thread",
            plain().refuses(503, 300.0).everywhere(full()),
            Factor::SingleCore,
            Certain,
        ),
        (
            "429 however gently it is asked",
            plain().everywhere(json!({"run": {"status": {"200": 0, "429": 500}, "errors": {"status": 500}}})),
            Factor::Errors,
            Likely,
        ),
        ("failures under any load of several connections", under_load(&failing(500)), Factor::Errors, Certain),
        (
            "failures with more connections than four workers and their queue take",
            four_workers().at(FULL, failing(500)),
            Factor::Workers,
            Certain,
        ),
        (
            "failures as soon as requests queue",
            service(5e-3, 800.0).at(above_eight, failing(500)).at(between, failing(500)),
            Factor::Errors,
            Certain,
        ),
        (
            "failures as soon as eight requests queue, but none with six connections for four workers",
            four_workers().at(above_eight, failing(500)),
            Factor::Workers,
            Certain,
        ),
        (
            "time-outs of requests that queue before four workers",
            four_workers().load(|setting| setting.timeout_s = 60.0).at(FULL, timeouts()),
            Factor::Workers,
            Certain,
        ),
        (
            "failures that stay: with fewer connections as well since",
            plain().at(FULL, failing(500)).at(|id| id == ExperimentId::FullWithoutErrors, failing(500)),
            Factor::Errors,
            Certain,
        ),
        (
            "a proxy that has used up its local ports",
            out_of_ports(1.0).at(|id| id == ExperimentId::FullWithoutErrors, failing(500)),
            Factor::Proxy,
            Certain,
        ),
        ("the same, of which the failures do not stay", out_of_ports(1.0), Factor::Pool, Likely),
        (
            "many closed connections, but none that the server opened",
            out_of_ports(0.0).at(|id| id == ExperimentId::FullWithoutErrors, failing(500)),
            Factor::Errors,
            Certain,
        ),
        ("a few failures", plain().at(FULL, failing(3)), Factor::Pool, Likely),
        ("not one response", plain().everywhere(silent()), Factor::Errors, Certain),
        ("time-outs", under_load(&timeouts()), Factor::Errors, Certain),
        (
            "time-outs, but the budget allows for less than the user does",
            under_load(&timeouts()).load(|setting| setting.timeout_s = 60.0),
            Factor::Unknown,
            Unknown,
        ),
    ]
}

/// The service is well: what helps is a longer time-out, and its log has nothing about it.
#[test]
fn requests_that_meet_the_close_of_idle_connections_have_a_remedy_of_their_own() {
    let idle = |requests: u64| {
        let closes = json!({"requests": requests, "shortest_ms": 200, "longest_ms": 204});
        let run = json!({"run": {"errors": {"read": 400}, "connections": {"idle_closes": closes}}});
        service(5e-3, 800.0).at(RUNGS, run.clone()).at(FULL, run).diagnose().finding
    };
    let found = idle(399);
    assert_eq!((found.factor, found.advice), (Factor::Errors, vec![Advice::RaiseKeepAliveTimeout]));
    assert!(found.because.contains(&Fact::IdleCloses { requests: 399, idle_s: Some(0.2) }), "{:?}", found.because);
    assert_eq!(idle(20).advice, [Advice::LogUnderLoad], "most requests failed for another reason");
}

#[test]
fn failing_services_differ_from_slow_ones() {
    check(rows());
}
