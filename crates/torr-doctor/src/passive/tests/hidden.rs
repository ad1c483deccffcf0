//! What a verdict on throughput hides: connections that were dropped, and the tail of a rate that was kept.

use super::{merge, open_loop, verdict};
use serde_json::{Value, json};
use torr_gauge::Factor;
use torr_gauge::verdict::{Advice, Fact, Headline, KeptRate};

/// What a kernel tells that dropped 12,000 connections before they were accepted, and how late those came.
fn dropped() -> Value {
    let late = json!({"min": 30, "mean": 60_000.0, "stddev": 1.0, "p50": 60, "p99": 1_010_000, "max": 3_020_000});
    json!({"phases_us": {"connect": late}, "signals": {"network": {"listen_overflows": 12_000}}})
}

#[test]
fn connections_that_were_dropped_are_reported_whatever_the_verdict() {
    let tail = Fact::ConnectTail { p50_s: Some(60e-6), p99_s: 1.01 };
    let facts = [Fact::ListenOverflows { count: 12_000, few: None }, tail.clone()];
    let full = json!({"host": {"server_cores": 1.0, "server_threads": [0.99, 0.01]}});
    let mut busy = dropped();
    merge(&mut busy, full.clone());
    let beside = verdict(busy.clone());
    assert_eq!(beside.factor, Factor::SingleCore, "{beside:?}");
    assert!(beside.because.ends_with(&facts), "{:?}", beside.because);
    // Another program's overflows are not this run's.
    merge(&mut busy, json!({"phases_us": {"connect": {"p99": 90, "max": 100}}}));
    assert!(!verdict(busy).because.contains(&facts[0]));
    // Where nothing else is found, they are what makes the tail.
    let mut slow = dropped();
    merge(&mut slow, json!({"latency_us": {"p99": 1_015_000, "max": 3_030_000}, "rps": 10_000.0}));
    assert_eq!(verdict(slow).factor, Factor::AcceptBacklog);
    // Where no kernel counts, the late connections remain.
    let mut unseen = dropped();
    merge(&mut unseen, full);
    merge(&mut unseen, json!({"signals": null}));
    assert!(verdict(unseen).because.ends_with(&[tail]));
}

#[test]
fn a_rate_that_was_kept_has_its_tail_reported_with_the_cause() {
    let slow = |p99: u64| json!({"latency_us": {"p50": 100, "p90": 120, "p99": p99, "mean": 15_000.0, "max": 310_000}});
    let kept = |changes: &[Value]| {
        let mut run = open_loop(json!({}));
        changes.iter().for_each(|change| merge(&mut run, change.clone()));
        verdict(run)
    };
    let found = kept(&[slow(300_000)]);
    assert_eq!(found.headline, Headline::RateKeptWithTail(KeptRate::Planned(1000.0)));
    assert!(found.because.contains(&Fact::Tail { p50_s: 100e-6, p99_s: 0.3 }), "{:?}", found.because);
    let found = kept(&[slow(1_500)]);
    assert_eq!(found.headline, Headline::RateKept(KeptRate::Planned(1000.0)), "fifteen times as long is usual");

    let process = |more: Value| {
        let mut process = json!({"name": "app", "cores": 0.2});
        merge(&mut process, more);
        json!({"signals": {"processes": [process]}})
    };
    let quota = |throttled: u64| {
        process(json!({"quota": {"cgroup": "/app", "cores": 0.2, "periods": 100, "throttled_periods": throttled}}))
    };
    let found = kept(&[slow(60_000), quota(40)]);
    assert_eq!((found.factor, &found.advice[0]), (Factor::None, &Advice::RaiseQuota));
    let throttled = |fact: &Fact| matches!(fact, Fact::Throttled { share, .. } if *share == 0.4);
    assert!(found.because.iter().any(throttled), "{:?}", found.because);
    // Where it throttles that often, all responses are late, and no tail stands out.
    let found = kept(&[slow(300), quota(40)]);
    assert_eq!(found.headline, Headline::RateKeptThrottled(KeptRate::Planned(1000.0)));
    assert_eq!((found.factor, &found.advice[0]), (Factor::None, &Advice::RaiseQuota));
    let found = kept(&[slow(300), quota(2)]);
    assert_eq!(found.headline, Headline::RateKept(KeptRate::Planned(1000.0)), "two periods of a hundred are few");
    assert_ne!(found.advice[0], Advice::RaiseQuota);
    let stopped = json!({"threads": [{"tid": 1, "cores": 0.2, "waiting": {"do_signal_stop": 0.1, "ep_poll": 0.7}}]});
    let found = kept(&[slow(280_000), process(stopped)]);
    assert_eq!((found.factor, &found.advice[0]), (Factor::None, &Advice::FindStops));
    assert!(found.because.contains(&Fact::ThreadsStopped { share: 0.1 }), "{:?}", found.because);

    let stalls = json!({"stalls": {"count": 3, "total_s": 0.9, "longest_s": 0.301}});
    let reported = Fact::Stalls { stalls: 3, longest_s: 0.301, share: 0.09 };
    assert!(kept(&[slow(280_000), stalls.clone()]).because.contains(&reported));
    let own = json!({"generator": {"send_lag_p99_us": 290_000}});
    assert!(!kept(&[slow(280_000), stalls, own]).because.contains(&reported), "it was the generator that paused");

    let found = kept(&[json!({"latency_us": {"p99": 1_020_000, "max": 3_100_000}}), dropped()]);
    assert_eq!((found.factor, found.headline), (Factor::AcceptBacklog, Headline::ConnectionsDropped));
}
