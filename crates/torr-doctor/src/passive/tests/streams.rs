//! Runs of streams: their length is by design, and what limits them shows in first events and gaps.

use super::{merge, verdict};
use serde_json::{Value, json};
use torr_gauge::verdict::{Advice, Fact, Headline};
use torr_gauge::{Confidence, Factor};

/// A run of 10 s with 100 streams of 30 s each, whose events come each 20 ms, changed as the test wants.
fn streams(changes: Value) -> Value {
    let mut run = json!({
        "asked": 100, "requests": 0, "rps": 0.0, "unfinished": 100, "status": {},
        "latency_us": {"min": 9_900_000, "mean": 9_950_000.0, "stddev": 1.0, "p50": 9_950_000, "max": 10_000_000},
        "streams": {
            "events": 50_000, "events_per_s": 5000.0, "begun": 100, "open": 100, "longest_silence_us": 30_000,
            "first_event_us": {"min": 900, "mean": 1000.0, "stddev": 1.0, "p50": 1000, "p90": 1100, "max": 1500},
            "gap_us": {"min": 19_000, "mean": 20_000.0, "stddev": 1.0, "p50": 20_000, "p99": 22_000, "max": 30_000},
            "length_us": null
        }
    });
    merge(&mut run, changes);
    run
}

/// Streams of an open loop of 10 a second.
fn scheduled(changes: Value) -> Value {
    let mut run = streams(json!({"plan": {"rate": 10.0, "arrivals": "constant", "connections": 1000}}));
    merge(&mut run, changes);
    run
}

#[test]
fn a_stream_is_not_slow_for_its_length() {
    let open = verdict(streams(json!({})));
    assert_eq!((open.factor, open.headline), (Factor::None, Headline::EventsSteady));
    let gaps = Fact::Gaps { p50_s: 0.02, p99_s: Some(0.022), silence_s: 0.03 };
    assert!(open.because.contains(&gaps), "{:?}", open.because);
    // Streams that end after 40 ms look like delayed acknowledgements, and like too few connections.
    let length = json!({"min": 40_000, "mean": 40_500.0, "stddev": 1.0, "p50": 40_500, "p75": 40_900, "max": 45_000});
    let ended = json!({"requests": 25_000, "asked": 25_000, "unfinished": 0, "rps": 2500.0, "latency_us": length, "streams": {"open": 0}});
    assert_eq!(verdict(streams(ended)).headline, Headline::EventsSteady);
}

#[test]
fn what_is_busy_limits_streams_as_well() {
    let saturated = json!({"generator": {"cpu_share": 0.97, "busy_share": 0.99, "saturated": true}});
    assert_eq!(verdict(streams(saturated)).factor, Factor::Generator);
    let one_thread = json!({"host": {"server_cores": 1.0, "server_threads": [0.99]}});
    assert_eq!(verdict(streams(one_thread)).factor, Factor::SingleCore);
    let failed = json!({"errors": {"timeout": 50}, "unfinished": 50, "streams": {"open": 50}});
    assert_eq!(verdict(streams(failed)).factor, Factor::Errors);
}

#[test]
fn waits_for_first_events_and_uneven_gaps_are_evidence_of_a_limit_that_is_unknown() {
    let first = json!({"streams": {"first_event_us": {"min": 50_000, "p50": 900_000, "max": 2_000_000}}});
    let finding = verdict(streams(first));
    assert_eq!((finding.confidence, finding.headline), (Confidence::Unknown, Headline::FirstEventsWait));
    assert!(finding.because.contains(&Fact::FirstEventWaits { p50_s: 0.9, min_s: 0.05 }), "{:?}", finding.because);
    let gap = json!({"streams": {"gap_us": {"p50": 20_000, "p99": 200_000}}});
    let finding = verdict(streams(gap));
    assert_eq!((finding.confidence, finding.headline), (Confidence::Unknown, Headline::EventsUneven));
    assert_eq!(finding.advice, [Advice::CompareConnections { fewer: 50, more: 200 }]);
    let few = json!({"streams": {"events": 5}});
    assert_eq!(verdict(streams(few)).headline, Headline::FewEvents);
}

#[test]
fn a_rate_is_kept_if_streams_begin_on_time() {
    let kept = verdict(scheduled(json!({})));
    assert_eq!((kept.factor, &kept.advice[..]), (Factor::None, &[Advice::RaiseRate][..]), "{kept:?}");
    let done = Fact::Done { unit: torr_gauge::verdict::Unit::Request, done: 100, due: 100, unfinished: 0 };
    assert!(kept.because.contains(&done), "open streams have responded: {:?}", kept.because);
    // Of -n 100 streams the last was due after 10 s and ended 20 s later.
    let counted = json!({"plan": {"requests": 100}, "requests": 100, "unfinished": 0, "duration_s": 40.0, "streams": {"open": 0}});
    assert_eq!(verdict(scheduled(counted)).factor, Factor::None);
    // 20 connections are held by 20 streams, and 80 requests wait for one.
    let held = json!({"plan": {"connections": 20}, "streams": {"open": 20, "begun": 20}});
    let finding = verdict(scheduled(held));
    assert_eq!((finding.factor, finding.headline), (Factor::Connections, Headline::StreamsHoldConnections));
    assert!(finding.because.contains(&Fact::OpenStreams { open: 20, waiting: 80 }), "{:?}", finding.because);
    assert!(finding.because.iter().any(Fact::is_missed_rate), "{:?}", finding.because);
    assert_eq!(finding.advice, [Advice::TestConnections { connections: 80 }]);
}
