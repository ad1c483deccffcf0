//! Runs that have too few requests, a backlog that grew, or a time without responses: none of them kept its rate.

use super::{merge, verdict};
use serde_json::{Value, json};
use torr_gauge::verdict::Fact;
use torr_gauge::{Confidence, Factor};

#[test]
fn a_few_requests_show_no_limit() {
    let busy = |requests: u64| {
        verdict(json!({
            "asked": requests, "requests": requests, "plan": {"requests": requests},
            "generator": {"cpu_share": 0.97, "busy_share": 1.0, "saturated": true}
        }))
    };
    assert_eq!([1, 2, 9].map(|requests| busy(requests).confidence), [Confidence::Unknown; 3]);
    assert_eq!(busy(1000).factor, Factor::Generator);
    let failed =
        json!({"asked": 1, "requests": 1, "plan": {"requests": 1}, "errors": {"status": 1}, "status": {"500": 1}});
    assert_eq!(verdict(failed).factor, Factor::Errors, "a failure is known for what it is");
}

/// A run of 10 s at a rate of 1,000/s, whose backlog has grown from nothing to so many requests.
fn growing(unfinished: u64) -> Value {
    let last_us = unfinished * 1000;
    json!({
        "plan": {"rate": 1000.0, "arrivals": "constant"}, "asked": 10_000, "requests": 10_000 - unfinished,
        "rps": (10_000 - unfinished) as f64 / 10.0, "unfinished": unfinished,
        "latency_us": {"mean": last_us as f64 / 2.0, "p50": last_us / 2, "p90": last_us * 9 / 10, "max": last_us}
    })
}

#[test]
fn a_backlog_that_grows_throughout_the_run_is_a_rate_that_was_not_kept() {
    for unfinished in [500, 1000, 3000] {
        let verdict = verdict(growing(unfinished));
        assert_ne!(verdict.factor, Factor::None, "{unfinished}: {verdict:?}");
        assert!(verdict.because.iter().any(Fact::is_missed_rate), "{unfinished}: {verdict:?}");
    }
    // The mean of so large a backlog is large as well: response times by interval tell.
    let series: Vec<_> = (1..=6)
        .map(|t| json!({"t": t, "requests": 48, "errors": 0, "p50": 600_000 * t - 300_000, "p99": 600_000 * t}))
        .collect();
    let overloaded = |series: Value| {
        verdict(json!({
            "plan": {"rate": 110.0, "arrivals": "constant"}, "asked": 660, "requests": 287, "rps": 47.7, "unfinished": 373,
            "duration_s": 6.0, "series": series,
            "latency_us": {"mean": 2_000_000.0, "p50": 1_990_000, "p90": 3_900_000, "max": 4_630_000}
        }))
    };
    assert_ne!(overloaded(json!(series)).factor, Factor::None);
    // As many are in flight all the time where each response takes as long.
    let steady = json!({"latency_us": {"mean": 500_000.0, "p50": 500_000, "p90": 510_000, "max": 520_000}});
    let mut run = growing(500);
    merge(&mut run, steady);
    assert_eq!(verdict(run).factor, Factor::None);
}

#[test]
fn a_silence_in_a_rate_that_was_kept_is_the_verdict() {
    let finding = |what: &str, value: f64, ok: bool| {
        let note = "no response from 4.00 s to 6.00 s of the run";
        json!({"what": what, "ok": ok, "value": value, "limit": 0.9, "note": note})
    };
    let kept = |findings: Value| {
        let validity = json!({"ok": false, "findings": findings});
        let series = json!([{"t": 4.0, "requests": 100, "errors": 0}, {"t": 6.0, "requests": 0, "errors": 0}]);
        verdict(json!({"plan": {"rate": 10_000.0, "arrivals": "constant"}, "validity": validity, "series": series}))
    };
    let silence = || finding("silence", 2.0, false);
    for lag_us in [100.0, 70_000.0] {
        let frozen = kept(json!([silence(), finding("send-lag", lag_us, lag_us < 1000.0)]));
        assert_eq!(frozen.factor, Factor::Unknown, "{frozen:?}");
        assert_eq!(frozen.because[0], Fact::Silence { from_s: 4.0, to_s: 6.0 });
    }
    assert_eq!(kept(json!([finding("silence", 0.0, true)])).factor, Factor::None);
    let late = kept(json!([silence(), finding("send-lag", 2e6, false)]));
    assert_eq!(late.factor, Factor::None, "the generator was silent itself: {late:?}");
}
