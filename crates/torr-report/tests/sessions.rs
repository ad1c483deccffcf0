//! Sessions and their entries in every output, from counts that are known.

use opentelemetry_proto::tonic::common::v1::any_value::Value;
use opentelemetry_proto::tonic::metrics::v1::{metric, number_data_point};
use std::time::Duration;
use torr_gauge::collector::{Measurement, RunFacts};
use torr_gauge::result::PlanSummary;
use torr_gauge::sessions::{AssertExample, EntryName, SessionCounts, SessionFacts};
use torr_gauge::{Collector, Sample, ThresholdRule};
use torr_report::{csv, expectations, junit, otlp, prometheus, summary, text};

/// A run of two seconds with 20 sessions: 15 finished, 4 failed, 1 unfinished. Two entries have one name.
fn run() -> Measurement {
    let entry = |name: &str, line, asserts: &[&str]| EntryName {
        name: name.into(),
        file: "tests/shop.hurl".into(),
        line,
        asserts: asserts.iter().map(|&assert| assert.to_owned()).collect(),
    };
    let entries = vec![
        entry("log in", 2, &["status == 200", "jsonpath \"$.token\" exists", "status == 200"]),
        entry("GET /cart", 9, &[]),
        entry("GET /cart", 15, &["body contains \"<ok>\""]),
    ];
    let mut counts = SessionCounts::new(&entries);
    let mut sample = Sample::default();
    let mut respond = |status: u16, ms: u64| {
        sample.answered.record(ms * 1_000_000);
        sample.status.count(status);
        ms * 1_000_000
    };
    for n in 0..20 {
        counts.start();
        if n == 19 {
            counts.entries[0].record_unfinished(1_000_000);
            counts.leave_unfinished();
            break;
        }
        let passed = n >= 3;
        let status = if passed { 200 } else { 503 };
        counts.entries[0].record_response(respond(status, 10), status, passed);
        if !passed {
            for assert in [0, 2] {
                counts.entries[0].record_failed_assert(assert, || AssertExample {
                    expected: "status 200".into(),
                    actual: format!("status 503 <{n}>"),
                });
            }
            counts.fail(0, None);
            continue;
        }
        counts.entries[1].record_response(respond(200, 20), 200, true);
        if n == 18 {
            counts.entries[2].record_request_failure(Some(1_000_000_000));
            counts.fail(2, Some("timeout"));
            continue;
        }
        counts.entries[2].record_retry();
        counts.entries[2].record_response(respond(200, 20), 200, true);
        counts.finish(60_000_000);
    }
    sample.sessions = counts.take_ended();
    let mut collector = Collector::new(1, Duration::from_secs(2));
    collector.take(0, 0, &sample, true);
    collector.finish(RunFacts {
        target: "http://h:81/login?a".into(),
        plan: PlanSummary { method: "GET,POST".into(), threads: Some(2), rate: Some(10.0), ..PlanSummary::default() },
        started_at: "2020-01-02T03:04:05.678Z".into(),
        duration: Duration::from_secs(2),
        started: 52,
        sessions: Some(SessionFacts { users: 4, entries, counts, ..SessionFacts::default() }),
        ..RunFacts::default()
    })
}

fn plain(text: &str) -> String {
    anstream::adapter::strip_str(text).to_string()
}

#[test]
fn the_report_has_sessions_entries_and_where_sessions_ended() {
    let run = run();
    assert_eq!(run.result.sessions.as_ref().map(|s| (s.started, s.finished, s.failed)), Some((20, 15, 4)));
    let text = plain(&text::report_within(&run.result, 80));
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    for part in [
        "tests/shop.hurl at http://h:81  open loop, 10.0 sessions/s due, 4 users, 2\n",
        "  10.0 of 10.0 sessions/s begun, 7.50 finished, 25.0 requests/s, ",
        "sessions failed (20%)\n",
        "  sessions     10.0 of 10.0 sessions/s begun, 7.50 finished   15 finished, 4",
        "  session       60.0 ms",
        "  log in                                19       3  10.0 ms    -  10.0 ms\n",
        "\n    3 of 19 responses failed: status == 200\n      expected status 200, was status 503 <0>\n",
        "\n    status 200 x 16, 503 x 3\n    3 sessions ended here\n",
        "\n  GET /cart (tests/shop.hurl:9)         16       0  ",
        "\n  GET /cart (tests/shop.hurl:15)        16       1  ",
        "\n    1 request without a response\n    1 session ended here: timeout\n    15 retries\n",
    ] {
        assert!(text.contains(part), "{part:?} is not in:\n{text}");
    }
    let line = plain(&summary::line(&run.result));
    assert!(
        line.starts_with(
            "10.0 of 10.0 sessions/s begun, 7.50 finished, 25.0 requests/s, p90 20.0 ms, 3 errors (5.8%), 4 sessions failed (20%)"
        ),
        "{line}"
    );
}

#[test]
fn an_entry_with_failed_asserts_fails_the_run() {
    let expected =
        ["entry failed: log in: status == 200 failed in 3 of 19 responses; status == 200 failed in 3 of 19 responses"];
    assert_eq!(expectations::failures(&run().result), expected);
}

#[test]
fn junit_has_a_case_for_each_entry() {
    let mut run = run();
    let rule = ThresholdRule::parse("p50{log in}>1s").expect("a rule");
    run.result.thresholds = vec![rule.judge(&run)];
    let xml = junit::run(&run.result).expect("it can be written");
    for part in [
        "tests=\"5\"",
        "failures=\"1\"",
        "<testcase name=\"GET /cart (tests/shop.hurl:9)\" classname=\"torr\"",
        "<testcase name=\"log in\" classname=\"torr\"",
        "<testcase name=\"p50{log in}&gt;1s\" classname=\"torr\"",
        "type=\"assert\">3 of 19 responses failed: status == 200\n  expected status 200, was status 503 &lt;0&gt;\n",
    ] {
        assert!(xml.contains(part), "{part} is not in {xml}");
    }
}

#[test]
fn prometheus_has_samples_of_each_entry() {
    let text = prometheus::text(&run()).expect("it can be written");
    let run = r#"target="http://h:81/login?a",method="GET,POST""#;
    let entry = format!("{run},entry=\"log in\"");
    for line in [
        format!("torr_sessions_total{{{run},outcome=\"finished\"}} 15"),
        format!("torr_sessions_total{{{run},outcome=\"failed\"}} 4"),
        format!("torr_sessions_total{{{run},outcome=\"unfinished\"}} 1"),
        format!("torr_sessions_per_second{{{run}}} 7.5"),
        format!("torr_session_duration_seconds_count{{{run}}} 15"),
        format!("torr_entry_requests_total{{{entry},status=\"503\"}} 3"),
        format!("torr_entry_failed_total{{{entry}}} 3"),
        format!("torr_entry_sessions_failed_total{{{entry}}} 3"),
        // The assert stands twice in the entry.
        format!("torr_entry_assert_failures_total{{{entry},assert=\"status == 200\"}} 6"),
        format!("torr_entry_latency_seconds_bucket{{{entry},le=\"0.025\"}} 20"),
        format!("torr_entry_latency_seconds_count{{{entry}}} 20"),
        format!("torr_entry_retries_total{{{run},entry=\"GET /cart (tests/shop.hurl:15)\"}} 15"),
    ] {
        assert!(text.lines().any(|other| other == line), "{line} is not in {text}");
    }
    let mut samples: Vec<_> = text.lines().filter_map(|line| Some(line.rsplit_once(' ')?.0)).collect();
    samples.retain(|sample| !sample.starts_with('#'));
    let all = samples.len();
    samples.sort_unstable();
    samples.dedup();
    assert_eq!(samples.len(), all, "no sample stands twice: {text}");
}

#[test]
fn otlp_has_points_of_each_entry() {
    let request = otlp::metrics(&run(), false);
    let metrics = &request.resource_metrics[0].scope_metrics[0].metrics;
    let metric = |name: &str| metrics.iter().find(|m| m.name == name).unwrap_or_else(|| panic!("no {name}"));
    let counts = |name: &str, key: &str| -> Vec<(String, i64)> {
        let Some(metric::Data::Sum(sum)) = &metric(name).data else { panic!("{name} is no sum") };
        let label = |attributes: &[opentelemetry_proto::tonic::common::v1::KeyValue]| {
            let value = attributes.iter().find(|pair| pair.key == key).and_then(|pair| pair.value.clone()?.value);
            let Some(Value::StringValue(text)) = value else { panic!("{name} has no {key}") };
            text
        };
        let number = |value| match value {
            Some(number_data_point::Value::AsInt(n)) => n,
            other => panic!("{name} is {other:?}"),
        };
        sum.data_points.iter().map(|point| (label(&point.attributes), number(point.value))).collect()
    };
    let sessions = [("finished", 15), ("failed", 4), ("unfinished", 1)].map(|(name, n)| (name.to_owned(), n));
    assert_eq!(counts("torr.sessions", "torr.session.outcome"), sessions);
    let titles = ["log in", "GET /cart (tests/shop.hurl:9)", "GET /cart (tests/shop.hurl:15)"];
    let failed: Vec<_> = titles.iter().zip([3, 0, 1]).map(|(title, n)| ((*title).to_owned(), n)).collect();
    assert_eq!(counts("torr.entry.failed", "torr.entry"), failed);
    let Some(metric::Data::Histogram(latency)) = &metric("torr.entry.latency").data else { panic!("no histogram") };
    assert_eq!(latency.data_points.iter().map(|point| point.count).collect::<Vec<_>>(), [20, 16, 16]);
}

#[test]
fn csv_has_columns_of_sessions_and_lines_of_entries() {
    let run = run();
    let series = csv::series(&run.result).expect("it can be written");
    assert_eq!(
        series,
        "t,requests,errors,rps,p50_us,p99_us,sessions_finished,sessions_failed\n2.0,50,3,25.0,20000,,15,4\n"
    );
    let entries = csv::entries(&run.result).expect("it can be written");
    let lines: Vec<_> = entries.lines().collect();
    assert_eq!(lines.len(), 4, "{entries}");
    assert!(lines[0].starts_with("name,file,line,requests,rps,failed,") && lines[0].ends_with("p99_us,max_us"));
    assert!(lines[1].starts_with("log in,tests/shop.hurl,2,19,9.5,3,0,1,0,3,6,"), "{entries}");
}

#[test]
fn json_is_read_back() {
    let mut run = run();
    let json = torr_report::json(&run.result).expect("it can be written");
    assert_eq!(serde_json::from_str::<torr_gauge::RunResult>(&json).expect("it is a result"), run.result);
    // A result of a run without sessions stays what it was.
    (run.result.sessions, run.result.entries) = (None, Vec::new());
    run.result.series.iter_mut().for_each(|point| (point.sessions_finished, point.sessions_failed) = (0, 0));
    let json = torr_report::json(&run.result).expect("it can be written");
    assert!(!json.contains("sessions\":") && !json.contains("sessions_") && !json.contains("entries\":"), "{json}");
}
