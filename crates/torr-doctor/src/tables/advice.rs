//! Advice that fits its case: an event loop, a lock, a cache, responses that were not complete.

use super::case::{FULL, HEADS, LIGHT, peer, service, spread, thread, uses, waiting};
use serde_json::{Value, json};
use torr_gauge::verdict::{Advice, Fact};
use torr_gauge::{Confidence, Factor};

/// A worker that sleeps with a request, and in a part of the time waits in another function of the kernel.
fn worker(other: &str) -> Value {
    json!({"tid": 1, "name": "app", "cores": 0.02, "queued": 0.0, "waits_per_s": 200.0, "waiting": {"hrtimer_nanosleep": 0.85, other: 0.05}})
}

#[test]
fn an_event_loop_that_blocks_needs_no_more_workers() {
    let one = |other| service(5e-3, 200.0).others_wait(4e-3).everywhere(uses(0.1, vec![worker(other)]));
    let unread = json!({"signals": {"clients": {"established": 64.0, "unread": 63.0}}});
    let found = one("ep_poll").everywhere(unread.clone()).diagnose().finding;
    assert_eq!((found.factor, found.advice), (Factor::Workers, vec![Advice::UnblockLoop]));
    // It has read all requests, though it works on one.
    let found = one("inet_csk_accept").diagnose().finding;
    assert_eq!((found.factor, found.advice), (Factor::Workers, vec![Advice::UnblockLoop]));
    let found = one("inet_csk_accept").everywhere(unread).diagnose().finding;
    assert_eq!(found.advice, [Advice::MoreBlockingWorkers { cores: Some(4) }]);
}

#[test]
fn a_lock_that_is_held_for_a_part_of_each_request_is_not_to_be_doubled() {
    let turns = || uses(0.1, waiting(8, "futex_wait_queue"));
    let partly = service(9e-3, 250.0).everywhere(turns()).diagnose().finding;
    assert_eq!((&partly.advice[0], partly.confidence), (&Advice::ShortenLock, Confidence::Likely));
    assert!(partly.gain.is_some_and(|gain| gain.low.is_none() && gain.high.is_none()));
    // Of eight threads that contend, two are past a pool of two.
    let mut threads = waiting(8, "futex_wait_queue");
    threads.iter_mut().for_each(|thread| thread["waiting"]["futex_wait_queue"] = json!(0.75));
    let two = service(5e-3, 400.0).everywhere(uses(0.1, threads)).diagnose().finding;
    assert!(matches!(two.advice[..], [Advice::FindPool { .. }]), "two at a time are a pool: {two:?}");
}

#[test]
fn a_cache_has_no_query_plans() {
    let busy = |role: &str| {
        let threads = vec![thread(1, 0.95, 0.0), thread(2, 0.95, 0.0)];
        let behind = peer(role, 1.9, threads, json!({"sends_per_s": 800.0}));
        service(5e-3, 800.0).everywhere(uses(0.7, vec![thread(1, 0.2, 0.0)])).everywhere(behind).diagnose().finding
    };
    assert_eq!(busy("database").advice, [Advice::SlowQueries, Advice::CacheReads]);
    let cache = busy("cache");
    assert_eq!((cache.factor, cache.advice), (Factor::Database, vec![Advice::SlowCommands, Advice::FewerCommands]));
}

#[test]
fn parts_of_responses_are_no_bytes_of_a_response() {
    // A run of 750 responses that ended with a third of a million bytes more for each.
    let partly = json!({"run": {"bytes": {"received": 750 * 1_299_682_u64}}});
    let found = service(4e-3, 300.0)
        .body(1_000_000.0)
        .at(LIGHT, json!({"times": {"connect": spread(50.0, 0.05)}}))
        .times(HEADS, 8.0)
        .at(FULL, partly)
        .diagnose()
        .finding;
    assert_eq!(found.factor, Factor::Bandwidth);
    let bytes = found.because.iter().find_map(|fact| match fact {
        Fact::SmallerResponses { usual_bytes, .. } => Some(*usual_bytes),
        _ => None,
    });
    assert!(bytes.is_some_and(|bytes| (1_000_000.0..1_009_000.0).contains(&bytes)), "{bytes:?}");
}
