//! Checks of responses in every output.

use std::time::Duration;
use torr_gauge::collector::{Measurement, RunFacts};
use torr_gauge::datagrams::Datagrams;
use torr_gauge::result::{Arrivals, Check, PlanSummary, Threshold};
use torr_gauge::{Collector, Failure, FailureKind, FailureSide, RunResult, Sample};
use torr_report::{csv, expectations, junit, otlp, prometheus, text};

/// Returns a run without requests.
fn nothing() -> Measurement {
    Collector::new(1, Duration::from_secs(1)).finish(RunFacts {
        target: "http://x/?a=\"<b>\"".into(),
        plan: PlanSummary { method: "GET".into(), ..PlanSummary::default() },
        started_at: "2020-01-02T03:04:05.678Z".into(),
        duration: Duration::from_secs(1),
        ..RunFacts::default()
    })
}

fn checked() -> Measurement {
    let mut run = nothing();
    let check = |name: &str, failed| Check { name: name.into(), passed: 1000, failed };
    run.result.checks = vec![check("status 200", 0), check("body \"<ok>\"", 234)];
    run.result.thresholds = vec![Threshold { rule: "p99>1ms".into(), measured: None, failed: true }];
    run
}

#[test]
fn the_report_shows_what_was_as_expected_and_what_was_not() {
    let plain = anstream::adapter::strip_str(&text::report(&checked().result)).to_string();
    let section: Vec<_> = plain.lines().filter(|line| line.contains("check") || line.contains("fails if")).collect();
    let expected = [
        "  check        status 200              1,000 passed          ok",
        "  check        body \"<ok>\"             1,000 passed  234 failed",
        "  fails if     p99>1ms      too few samples to tell      failed",
    ];
    assert_eq!(section, expected, "{plain}");
    let bare = text::report(&nothing().result);
    assert!(!bare.contains("check") && !bare.contains("fails if"), "{bare}");
}

#[test]
fn the_first_line_says_what_the_load_was() {
    let plan = PlanSummary { connections: 100, threads: Some(2), keep_alive: true, ..PlanSummary::default() };
    let open = PlanSummary { arrivals: Some(Arrivals::Constant), staged: true, ..plan.clone() };
    let think = |think_s| PlanSummary { think_s: Some(think_s), ..plan.clone() };
    for (plan, words) in [
        (plan.clone(), "  100 connections, 2 threads, keep-alive, 1.00 s"),
        (open, "  open loop, rates in stages, 100 connections, "),
        (PlanSummary { staged: true, ..plan.clone() }, "  connections in stages, 100 connections, "),
        (PlanSummary { requests_per_connection: Some(20), ..plan.clone() }, ", keep-alive for 20 requests, 1.00 s"),
        (PlanSummary { protocol: "h2".into(), ..plan.clone() }, "  100 connections, 2 threads, HTTP/2, keep-alive, "),
        (
            PlanSummary { protocol: "h3".into(), depth: 10, ..plan.clone() },
            "  100 connections of 10 streams, 2 threads, HTTP/3, keep-alive, 1.00 s",
        ),
        (think([0.05, 0.05]), ", keep-alive, 50.0 ms of think time, 1.00 s"),
        (think([0.05, 0.15]), ", keep-alive, 50.0 ms to 150 ms of think time, 1.00 s"),
    ] {
        let run = RunResult { plan, ..nothing().result };
        let text = anstream::adapter::strip_str(&text::report(&run)).to_string();
        let first = text.lines().next().unwrap_or_default();
        assert!(first.contains(words), "{words:?} is not in {first:?}");
    }
}

#[test]
fn a_run_over_quic_has_a_line_of_its_datagrams() {
    let quic = Datagrams {
        dropped: 0,
        receive_buffer: None,
        server_dropped: None,
        sent: 2000,
        received: 3000,
        per_send: Some(4.0),
        per_receive: Some(1.5),
        packets: 2010,
        lost_packets: 0,
    };
    let text = text::report(&RunResult { datagrams: Some(quic), ..nothing().result });
    let line = "  datagrams    2,000 sent (4.0 per system call), 3,000 received (1.5 per system call), no packet lost";
    assert!(text.lines().any(|found| found == line), "{text}");
    assert!(!text::report(&nothing().result).contains("datagrams"));
}

#[test]
fn each_that_failed_has_its_line() {
    let expected = [
        "check failed: body \"<ok>\": failed in 234 of 1,234 responses",
        "threshold failed: p99>1ms: too few samples to tell",
    ];
    assert_eq!(expectations::failures(&checked().result), expected);
    assert!(expectations::failures(&nothing().result).is_empty());
}

#[test]
fn a_run_without_a_response_has_failed() {
    let refused =
        || Failure::new(FailureKind::Read, FailureSide::Server, "the server closed the connection before responding");
    // Failed requests, unfinished ones, and what is said of them.
    for (failed, unfinished, line, errors) in [
        (
            12,
            0,
            "no request got a response: 12 x read: the server closed the connection before responding",
            "read 12   100% of 12 requests",
        ),
        (0, 100, "no request got a response: 100 unfinished when the run ended", "all 100 requests without a response"),
        (0, 1, "no request got a response: 1 unfinished when the run ended", "  1 request without a response"),
        (
            1,
            2,
            "no request got a response: 1 x read: the server closed the connection before responding, 2 unfinished when \
             the run ended",
            "(2 unfinished when the run ended)",
        ),
    ] {
        let mut sample = Sample::default();
        (0..failed).for_each(|_| sample.failures.count(refused()));
        sample.unfinished = unfinished;
        let mut collector = Collector::new(1, Duration::from_secs(1));
        collector.take(0, 0, &sample, true);
        let facts = RunFacts { duration: Duration::from_secs(1), started: failed + unfinished, ..RunFacts::default() };
        let mut run = collector.finish(facts).result;
        assert_eq!(expectations::failures(&run), [line]);
        let text = anstream::adapter::strip_str(&text::report(&run)).to_string();
        let shown = text.lines().find(|line| line.starts_with("  errors")).unwrap_or_default();
        assert!(shown.contains(errors), "{shown}");
        let xml = junit::run(&run).expect("it can be written");
        assert!(xml.contains("type=\"unanswered\"") && xml.contains(line), "{xml}");
        // Who interrupts a run did not wait for responses.
        run.interrupted = true;
        assert!(expectations::failures(&run).is_empty());
    }
}

#[test]
fn junit_has_a_case_for_each() {
    let xml = junit::run(&checked().result).expect("it can be written");
    for part in [
        "tests=\"4\"",
        "failures=\"2\"",
        "timestamp=\"2020-01-02T03:04:05.678+00:00\"",
        "name=\"status 200\"",
        "name=\"body &quot;&lt;ok&gt;&quot;\"",
        "message=\"failed in 234 of 1,234 responses\" type=\"check\"",
        "message=\"too few samples to tell\" type=\"threshold\"",
    ] {
        assert!(xml.contains(part), "{part} is not in {xml}");
    }
}

#[test]
fn prometheus_counts_those_that_failed() {
    let text = prometheus::text(&checked()).expect("it can be written");
    let run = r#"target="http://x/?a=\"<b>\"",method="GET""#;
    for line in [
        format!("torr_check_failures_total{{{run},check=\"status 200\"}} 0"),
        format!("torr_check_failures_total{{{run},check=\"body \\\"<ok>\\\"\"}} 234"),
        format!("torr_threshold_failed{{{run},rule=\"p99>1ms\"}} 1"),
    ] {
        assert!(text.lines().any(|other| other == line), "{line} is not in {text}");
    }
}

#[test]
fn a_run_without_events_can_be_written() {
    let run = nothing();
    assert_eq!(csv::series(&run.result).expect("it can be written").lines().count(), 1);
    let text = prometheus::text(&run).expect("it can be written");
    assert!(text.contains("torr_latency_seconds_count") && !text.contains("torr_requests_total"), "{text}");
    assert_eq!(otlp::metrics(&run, false).resource_metrics.len(), 1);
    assert!(junit::run(&run.result).expect("it can be written").contains("tests=\"1\""));
}
