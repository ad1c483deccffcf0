use super::*;
use crate::Collector;
use crate::Sample;
use crate::collector::RunFacts;
use std::time::Duration;

fn names() -> Vec<EntryName> {
    let entry = |name: &str, line, asserts: &[&str]| EntryName {
        name: name.into(),
        file: "shop.hurl".into(),
        line,
        asserts: asserts.iter().map(|&text| text.to_owned()).collect(),
    };
    vec![entry("login", 1, &["status == 200", "jsonpath \"$.id\" exists"]), entry("GET /cart", 9, &[])]
}

fn example(actual: impl ToString) -> AssertExample {
    AssertExample { expected: "status 200".into(), actual: actual.to_string() }
}

/// A thread with three sessions: one finished, one failed at the first entry, one unfinished at the second.
fn thread() -> SessionCounts {
    let mut counts = SessionCounts::new(&names());
    (0..3).for_each(|_| counts.start());
    counts.entries[0].record_response(1_000_000, 200, true);
    counts.entries[1].record_response(2_000_000, 404, true);
    counts.finish(3_000_000);
    counts.entries[0].record_response(1_000_000, 503, false);
    counts.entries[0].record_failed_assert(0, || example("status 503"));
    counts.fail(0, None);
    counts.entries[0].record_retry();
    counts.entries[0].record_response(1_000_000, 200, true);
    counts.entries[1].record_unfinished(500_000_000);
    counts.leave_unfinished();
    counts
}

#[test]
fn threads_are_merged_into_the_result() {
    let mut counts = thread();
    counts.merge(&thread());
    counts.entries[1].record_request_failure(Some(2_000_000_000));
    counts.fail(1, Some("timeout"));
    counts.start();
    let facts = SessionFacts { users: 4, entries: names(), counts, ..SessionFacts::default() };
    let facts = RunFacts { duration: Duration::from_secs(2), sessions: Some(facts), ..RunFacts::default() };
    let run = Collector::new(1, Duration::from_secs(1)).finish(facts);

    let sessions = run.result.sessions.clone().expect("the run had sessions");
    assert_eq!((sessions.users, sessions.started, sessions.finished, sessions.failed), (4, 7, 2, 3));
    assert_eq!((sessions.unfinished, sessions.per_second), (2, 1.0));
    assert_eq!(sessions.duration_us.map(|duration| duration.max), Some(3001));

    let [login, cart] = &run.result.entries[..] else { panic!("two entries: {:?}", run.result.entries) };
    assert_eq!((login.name.as_str(), login.file.as_str(), login.line), ("login", "shop.hurl", 1));
    assert_eq!((login.requests, login.rps, login.failed, login.retries, login.sessions_failed), (6, 3.0, 2, 2, 2));
    assert_eq!(login.status.iter().collect::<Vec<_>>(), [(&200, &4), (&503, &2)]);
    assert_eq!((login.asserts_failed, login.asserts[0].failed, login.asserts[1].failed), (2, 2, 0));
    assert_eq!(login.asserts[0].examples, [example("status 503")], "equal examples are kept once");
    // A status of 404 that the entry expects is no failure.
    assert_eq!((cart.requests, cart.failed, cart.request_failures, cart.unfinished), (2, 1, 1, 2));
    assert_eq!(cart.causes, [EntryCause { what: "timeout".into(), count: 1 }]);
    let slowest = cart.latency_us.map(|latency| latency.max).expect("there are response times");
    assert!((2_000_000..2_002_000).contains(&slowest), "the timeout counts with its age: {slowest}");

    let json = serde_json::to_value(&run.result).unwrap();
    assert_eq!(json["entries"][0]["asserts"][0]["examples"][0]["actual"], "status 503");
    assert_eq!(serde_json::from_value::<crate::RunResult>(json).unwrap(), run.result);
}

#[test]
fn a_run_without_sessions_has_no_fields_of_sessions() {
    let run = Collector::new(1, Duration::from_secs(1)).finish(RunFacts::default());
    let json = serde_json::to_value(&run.result).unwrap();
    assert_eq!((json.get("sessions"), json.get("entries")), (None, None));
    assert!(run.sessions.is_none());
}

#[test]
fn an_interval_has_the_sessions_that_ended_in_it() {
    let mut counts = thread();
    let mut collector = Collector::new(1, Duration::from_secs(1));
    let sample = Sample { sessions: counts.take_ended(), ..Sample::default() };
    assert_eq!(sample.sessions, SessionsEnded { finished: 1, failed: 1 });
    let progress = collector.take(0, 0, &sample, false).expect("the interval is complete");
    counts.finish(1000);
    assert_eq!(counts.take_ended(), SessionsEnded { finished: 1, failed: 0 });
    assert_eq!(progress.sessions, SessionsEnded { finished: 1, failed: 1 });
}

#[test]
fn examples_and_causes_are_bounded() {
    let mut entry = EntryCounts::default();
    let mut calls = 0;
    for n in 0..100_000 {
        entry.record_failed_assert(0, || {
            calls += 1;
            example(format!("{}{}", "é".repeat(1000), if n % 2 == 0 { "a" } else { "b" }))
        });
    }
    assert_eq!((entry.asserts[0].failed, calls), (100_000, 1000));
    assert_eq!(entry.asserts[0].examples.len(), 1, "both are alike up to the limit");
    assert!(entry.asserts[0].examples[0].actual.len() <= 200);
    let mut entry = EntryCounts::default();
    (0..1000).for_each(|n| entry.record_failed_assert(3, || example(n)));
    let first: Vec<_> = entry.asserts[3].examples.iter().map(|example| example.actual.as_str()).collect();
    assert_eq!(first, ["0", "1", "2", "3", "4"]);
    let mut sum = SessionCounts::new(&names());
    for n in 0..1000 {
        sum.fail(1, Some(&format!("cause {n}")));
    }
    let causes = sum.entries[1].causes();
    assert_eq!((causes.len(), causes[0]), (9, ("other causes", 992)));
    assert_eq!(sum.entries[1].sessions_failed, 1000);
}
