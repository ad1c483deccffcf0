use super::*;
use crate::collector::RunFacts;
use crate::result::{GRPC, PlanSummary};
use crate::sessions::{AssertExample, SessionCounts, SessionFacts};
use crate::{Collector, Failure, FailureKind, FailureSide, Sample};
use std::time::Duration;

/// 1,000 requests in 2 seconds: 990 answered after 1 to 990 ms, 7 of them with status 500; 7 timed out, 3 unfinished.
fn run() -> Measurement {
    let mut sample = Sample::default();
    for ms in 1..=990 {
        sample.answered.record(ms * 1_000_000);
        sample.status.count(if ms <= 7 { 500 } else { 200 });
    }
    for _ in 0..7 {
        sample.failures.count(Failure::new(FailureKind::Timeout, FailureSide::Server, "no answer"));
        sample.unanswered.record(2_000_000_000);
    }
    sample.unfinished = 3;
    (0..3).for_each(|_| sample.unanswered.record(500_000_000));
    let mut collector = Collector::new(1, Duration::from_secs(1));
    collector.take(0, 0, &sample, true);
    collector.finish(facts(1000))
}

fn facts(started: u64) -> RunFacts {
    RunFacts { duration: Duration::from_secs(2), started, ..RunFacts::default() }
}

#[test]
fn a_run_is_judged_in_the_unit_of_the_rule() {
    let run = run();
    // A percentile is the upper edge of its bucket in the histogram.
    let cases = [
        ("rps<495", Some("495"), false),
        ("rps<=495", Some("495"), true),
        ("rps < 0.5k", Some("495"), true),
        ("min>1ms", Some("1ms"), false),
        ("min>=1ms", Some("1ms"), true),
        ("min >= 1000 us", Some("1000us"), true),
        ("min<0.001s", Some("0.001s"), false),
        ("p50>501ms", Some("500ms"), false),
        // In full, since 500 would not be above the limit.
        ("p50>500ms", Some("500.223ms"), true),
        ("p99_2>1m", Some("0.0165m"), false),
        ("max>=2s", Some("2s"), true),
        ("errors>14", Some("14"), false),
        ("errors>=14", Some("14"), true),
        ("errors>=1.4%", Some("1.4%"), true),
        ("errors>1.4%", Some("1.4%"), false),
        ("timeout>0.7%", Some("0.7%"), false),
        ("timeouts>0", Some("7"), true),
        ("status>0.5%", Some("0.7%"), true),
        ("ports>0", Some("0"), false),
        ("unfinished<3", Some("3"), false),
        ("unfinished<0.31%", Some("0.3%"), true),
        // 1,000 samples have one beyond the 99.9th percentile.
        ("p99.9<1m", None, true),
        ("p99.9>1m", None, true),
    ];
    for (text, measured, failed) in cases {
        let rule = ThresholdRule::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        let judged = rule.judge(&run);
        assert_eq!(
            (judged.rule.as_str(), judged.measured.as_deref(), judged.failed),
            (text, measured, failed),
            "{text}"
        );
    }
    for (text, (low, high)) in [("mean>1s", (495.0, 520.0)), ("stddev>1s", (280.0, 330.0))] {
        let judged = ThresholdRule::parse(&text.replace("1s", "1ms")).unwrap().judge(&run);
        let figure: f64 = judged.measured.as_deref().and_then(|m| m.strip_suffix("ms")).unwrap().parse().unwrap();
        assert!(figure > low && figure < high && judged.failed, "{judged:?}");
    }
}

#[test]
fn an_unknown_figure_counts_as_failed() {
    let nothing = Collector::new(1, Duration::from_secs(1)).finish(facts(0));
    for (text, measured, failed) in [
        ("p50>1s", None, true),
        ("max>1s", None, true),
        ("errors>50%", None, true),
        ("errors>0", Some("0"), false),
        ("rps<1", Some("0"), true),
    ] {
        let judged = ThresholdRule::parse(text).unwrap().judge(&nothing);
        assert_eq!((judged.measured.as_deref(), judged.failed), (measured, failed), "{text}");
    }
}

#[test]
fn a_status_of_grpc_is_counted_by_its_name() {
    let judged = |rule: &str, protocol: &str| {
        let mut sample = Sample::default();
        [200, 200, 614].into_iter().for_each(|status| sample.status.count(status));
        let mut collector = Collector::new(1, Duration::from_secs(1));
        collector.take(0, 0, &sample, true);
        let plan = PlanSummary { protocol: protocol.to_owned(), ..PlanSummary::default() };
        let judged = ThresholdRule::parse(rule).unwrap().judge(&collector.finish(RunFacts { plan, ..facts(3) }));
        (judged.measured, judged.failed)
    };
    assert_eq!(judged("grpc.UNAVAILABLE>0", GRPC), (Some("1".to_owned()), true));
    assert_eq!(judged("grpc.UNAVAILABLE>50%", GRPC), (Some("33.3%".to_owned()), false));
    assert_eq!(judged("grpc.OK<2", GRPC), (Some("2".to_owned()), false));
    assert_eq!(judged("grpc.ABORTED>0", GRPC), (Some("0".to_owned()), false));
    assert_eq!(judged("grpc.OK<2", "h2"), (None, true), "a run of HTTP has no calls");
}

#[test]
fn an_invalid_rule_is_refused_with_the_reason() {
    for (text, why) in [
        ("", "expected a comparison"),
        ("p99", "expected a comparison"),
        ("p99=50ms", "expected a comparison"),
        (">50ms", "unknown metric ''"),
        ("p99=>50ms", "unknown metric 'p99='"),
        ("latency>5ms", "unknown metric 'latency'"),
        ("p0>5ms", "unknown metric 'p0'"),
        ("p100>5ms", "unknown metric 'p100'"),
        ("p>5ms", "unknown metric 'p'"),
        ("p99.>5ms", "unknown metric 'p99.'"),
        ("p9x>5ms", "unknown metric 'p9x'"),
        ("p+9>5ms", "unknown metric 'p+9'"),
        ("grpc.AWAY>0", "unknown metric 'grpc.AWAY'"),
        ("grpc.OK>1ms", "'grpc.OK' needs a count"),
        ("grpc.OK{login}>1", "'grpc.OK' is a metric of the whole run"),
        ("p99>", "found ''"),
        ("p99>fast", "found 'fast'"),
        ("p99>-5ms", "found '-5ms'"),
        ("p99>>5ms", "found '>5ms'"),
        ("p99>1.2.3ms", "expected a number with its unit, found '1.2.3ms'"),
        ("p99>50", "'p99' needs a time with its unit"),
        ("p99>5%", "'p99' needs a time with its unit"),
        (
            "errors>5ms",
            "'errors' needs a count (k, M and G multiply) or a share, as in 'errors>10' or 'errors>0.1%', found '5ms'",
        ),
        ("rps<5%", "requests per second (k, M and G multiply), as in 'rps<1000', found '5%'"),
        ("rps<5 ms", "requests per second"),
        ("p99{login>5ms", "expected '}' to close '{'"),
        ("p99{}>5ms", "missing entry in 'p99{}'"),
        ("p99{login}", "expected a comparison"),
        ("p99{login}50ms", "expected a comparison"),
        ("p99{login}x>5ms", "unknown metric 'p99{login}x'"),
        ("speed{login}>5ms", "unknown metric 'speed'"),
        ("timeout{login}>5", "'timeout' is a metric of the whole run"),
        ("session_p99{login}>5s", "'session_p99' is a metric of the whole run"),
        ("session_rps>5", "unknown metric 'session_rps'"),
        ("session_p99>5", "'session_p99' needs a time with its unit"),
        ("failed_asserts>5ms", "'failed_asserts' needs a count (k, M and G multiply) or a share"),
    ] {
        let error = ThresholdRule::parse(text).expect_err(text).to_string();
        assert!(error.contains(why), "{text}: {error}");
    }
}

/// Of three sessions two finished, one after 30 s, and one failed at the second entry.
fn sessions() -> Measurement {
    let entry = |name: &str, line| EntryName { name: name.into(), file: "a/shop.hurl".into(), line, asserts: vec![] };
    let entries = vec![entry("login", 1), entry("GET /u/{{id}}?a,b>c", 5), entry("GET /u/{{id}}?a,b>c", 9)];
    let mut counts = SessionCounts::new(&entries);
    for n in 1..=3 {
        counts.start();
        counts.entries[0].record_response(n * 10_000_000, 200, true);
        counts.entries[1].record_response(100_000_000, 500, n > 1);
        counts.entries[2].record_response(300_000_000, 200, true);
    }
    counts.entries[1].record_retry();
    for assert in [0, 1] {
        counts.entries[1].record_failed_assert(assert, || AssertExample { expected: "a".into(), actual: "b".into() });
    }
    counts.fail(1, None);
    counts.finish(1_000_000_000);
    counts.finish(30_000_000_000);
    let facts =
        RunFacts { sessions: Some(SessionFacts { users: 1, entries, counts, ..SessionFacts::default() }), ..facts(9) };
    Collector::new(1, Duration::from_secs(1)).finish(facts)
}

#[test]
fn entries_and_sessions_are_judged() {
    let run = sessions();
    for (text, measured, failed) in [
        ("max{login}>29ms", Some("30ms"), true),
        ("max { login } > 31ms", Some("30ms"), false),
        ("p99{login}<1m", None, true),
        ("max{GET /u/{{id}}?a,b>c}<1s", Some("0.3s"), true),
        ("max{shop.hurl:5}<=100ms", Some("100.031ms"), false),
        ("rps{login}<2", Some("1.5"), true),
        ("errors{login}>0", Some("0"), false),
        ("errors{GET /u/{{id}}?a,b>c}>=20%", Some("16.7%"), false),
        ("errors{a/shop.hurl:5}>30%", Some("33.3%"), true),
        ("failed_asserts>1", Some("2"), true),
        ("failed_asserts>25%", Some("22.2%"), false),
        ("failed_asserts{login}>0", Some("0"), false),
        ("retries>1", Some("1"), false),
        ("sessions_failed>1%", Some("33.3%"), true),
        ("sessions_failed{login}>0", Some("0"), false),
        ("sessions_failed{shop.hurl:5}>0", Some("1"), true),
        ("session_max>29s", Some("30s"), true),
        ("session_mean<1s", Some("15.5s"), false),
    ] {
        let rule = ThresholdRule::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        let names = run.result.entries.iter();
        let names: Vec<_> = names
            .map(|entry| EntryName {
                name: entry.name.clone(),
                file: entry.file.clone(),
                line: entry.line,
                asserts: vec![],
            })
            .collect();
        assert_eq!(rule.check(&names, false), Ok(()), "{text}");
        let judged = rule.judge(&run);
        assert_eq!((judged.measured.as_deref(), judged.failed), (measured, failed), "{text}");
    }
    let opposite = Objective::parse("max{GET /u/{{id}}?a,b>c}<1s").expect("an objective").breach();
    assert_eq!(opposite.to_string(), "max{GET /u/{{id}}?a,b>c}>=1s");
    let kept = |text: &str| Objective::parse(text).expect("an objective").judge(&run).kept;
    assert!(kept("p99{login}<31ms") && !kept("p99{login}<29ms"), "of few samples all are to be within the limit");
}

#[test]
fn a_rule_that_does_not_fit_the_run_is_found_before_it() {
    let entries = [EntryName { name: "login".into(), ..EntryName::default() }];
    let check = |text: &str, entries: &[EntryName]| {
        let rule = ThresholdRule::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        rule.check(entries, false).map_err(|error| error.to_string())
    };
    let unknown = "'p99{logn}>5ms': unknown entry 'logn': use 'login'";
    assert_eq!(check("p99{logn}>5ms", &entries), Err(unknown.to_owned()));
    for text in ["p99{login}>5ms", "sessions_failed>0", "failed_asserts>0", "session_p99>1s"] {
        assert_eq!(check(text, &entries), Ok(()), "{text}");
        let error = check(text, &[]).expect_err("a URL has no sessions");
        assert!(error.starts_with(&format!("'{text}' needs a hurl file")), "{error}");
    }
    for text in ["first_event_p99>1s", "gap_max>50ms"] {
        let rule = ThresholdRule::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(rule.check(&[], true), Ok(()), "{text}");
        let error = rule.check(&[], false).expect_err("responses are no streams").to_string();
        assert!(error.starts_with(&format!("'{text}' needs --sse")), "{error}");
    }
    assert_eq!(check("p99>5ms", &[]), Ok(()));
}

#[test]
fn streams_have_rules_about_first_events_and_gaps() {
    let mut sample = Sample::default();
    let streams = sample.streams.get_or_insert_default();
    (1..=1000).for_each(|ms| streams.first_event.record(ms * 1_000_000));
    (1..=1000).for_each(|us| streams.gaps.record(us * 1_000));
    let mut collector = Collector::new(1, Duration::from_secs(1));
    collector.take(0, 0, &sample, true);
    let run = collector.finish(facts(1000));
    for (text, measured, failed) in [
        ("first_event_p50>400ms", Some("500ms"), true),
        ("first_event_max>2s", Some("1s"), false),
        ("gap_p99<1ms", Some("0.99ms"), true),
        ("gap_p99.99>1ms", None, true),
    ] {
        let judged = ThresholdRule::parse(text).unwrap_or_else(|error| panic!("{text}: {error}")).judge(&run);
        assert_eq!((judged.measured.as_deref(), judged.failed), (measured, failed), "{text}");
    }
}
