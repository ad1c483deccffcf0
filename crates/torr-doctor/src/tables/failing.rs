//! Requests that fail: no local port, a limiter that refuses, errors.

use super::case::{FULL, service, thread, uses};
use super::{Row, check};
use serde_json::json;
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
        ("connections that are refused", plain().at(FULL, refused()), Factor::Errors, Certain),
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
        ("failures under load", plain().at(FULL, failing(500)), Factor::Errors, Certain),
        ("a few failures", plain().at(FULL, failing(3)), Factor::Lock, Likely),
        ("not one response", plain().everywhere(silent()), Factor::Errors, Certain),
        ("time-outs", plain().at(FULL, timeouts()), Factor::Errors, Certain),
        (
            "time-outs, but the budget allows for less than the user does",
            plain().load(|setting| setting.timeout_s = 60.0).at(FULL, timeouts()),
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
        service(5e-3, 800.0).at(FULL, run).diagnose().finding
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
