//! Every output of a run, read back by a reader that is not ours; thresholds and their exit codes.

mod collector;
mod formats;
mod overwriting;
mod pushes;
mod secrets;

use collector::{Receiver, response, without_proxy};
use formats::{Interval, csv_tells, intervals, junit_tells, otlp_tells, prometheus_tells, samples};
use opentelemetry_proto::tonic::collector::metrics::v1::{
    ExportMetricsPartialSuccess, ExportMetricsServiceRequest, ExportMetricsServiceResponse,
};
use prost::Message;
use serde_json::Value;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, SystemTime};
use torr_test_support::program::{Ended, Running, torr, torr_command};
use torr_test_support::script::{OK, Script, answering};
use torr_test_support::servers::closed_port;
use torr_test_support::wait_until;

/// Responds to every tenth request with a 500.
fn sometimes_failing() -> Script {
    let turn = AtomicUsize::new(0);
    Script::start(move |client| {
        while client.request().is_some() {
            match turn.fetch_add(1, Ordering::SeqCst) % 10 {
                9 => client.send(b"HTTP/1.1 500 Oops\r\nContent-Length: 4\r\n\r\noops"),
                _ => client.send(OK),
            }
        }
    })
}

fn run(args: &[&str]) -> Ended {
    Running::start(without_proxy(torr_command(args))).wait()
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn json(path: &Path) -> Value {
    serde_json::from_str(&read(path)).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn n(value: &Value) -> u64 {
    value.as_u64().unwrap_or_else(|| panic!("{value} is no number"))
}

#[test]
fn a_rule_that_has_held_for_its_time_ends_the_run() {
    let server = sometimes_failing();
    let rules = ["--abort-if", "errors>5% for 2s,rps<0 for 1s", "--abort-if", "errors>50%"];
    let ended = run(&[&["-c", "2", "-d", "100s", "-r", "200", "--json", "-", &server.url()], &rules[..]].concat());
    assert_eq!(ended.code, Some(1), "{ended:?}");
    let result: Value = serde_json::from_str(&ended.stdout).unwrap_or_else(|_| panic!("it is JSON: {ended:?}"));
    assert_eq!(result["interrupted"], false, "{result}");
    let seconds = result["duration_s"].as_f64().expect("a run has a duration");
    assert!((2.0..90.0).contains(&seconds), "{result}");
    let outcomes = result["thresholds"].as_array().expect("they are judged");
    let known: Vec<_> = outcomes.iter().map(|one| (one["rule"].as_str(), one["failed"].as_bool())).collect();
    let expected = [("errors>5% for 2s", true), ("rps<0 for 1s", false), ("errors>50%", false)];
    assert_eq!(known, expected.map(|(rule, failed)| (Some(rule), Some(failed))), "{result}");
    let line = ended.stderr.lines().find(|line| line.contains("threshold failed: errors>5% for 2s: measured "));
    assert!(line.is_some_and(|line| line.contains("so the run ended after ")), "{ended:?}");
}

#[test]
fn every_output_of_a_run_tells_the_same() {
    let (server, receiver) = (sometimes_failing(), Receiver::taking());
    let folder = tempfile::tempdir().expect("a folder");
    let file = |name: &str| folder.path().join(name);
    let path = |name: &str| file(name).to_str().expect("it is text").to_owned();
    let before = SystemTime::now();
    let mut command = without_proxy(torr_command(&["-n", "2000", "-c", "4", "-t", "2", &server.url(), "-X", "PUT"]));
    command.args(["--json", &path("j"), "--csv", &path("c"), "--hlog", &path("h")]);
    command.args(["--prometheus", &path("p"), "--junit", &path("x"), "--otlp", &receiver.url()]);
    command.args(["--fail-if", "errors>=10%,max>1m", "--fail-if", "status<5"]);
    command.env("OTEL_EXPORTER_OTLP_HEADERS", "api-key=a%20secret,tenant=7");
    let ended = Running::start(command).wait();
    assert_eq!(ended.code, Some(1), "{ended:?}");
    assert_eq!(ended.stderr, "torr: threshold failed: errors>=10%: measured 10%\n");
    let words = ended.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    for line in ["fails if errors>=10% 10% failed", "fails if status<5 200 ok"] {
        assert!(words.contains(line), "{line} is not in {}", ended.stdout);
    }

    let result = json(&file("j"));
    assert_eq!((n(&result["requests"]), n(&result["errors"]["status"])), (2000, 200), "{result}");
    let thresholds = result["thresholds"].as_array().expect("a list");
    let rules: Vec<_> = thresholds.iter().map(|t| (t["rule"].as_str(), t["failed"].as_bool())).collect();
    let expected = [("errors>=10%", true), ("max>1m", false), ("status<5", false)];
    assert_eq!(rules, expected.map(|(rule, failed)| (Some(rule), Some(failed))), "{result}");
    assert_eq!(thresholds[0]["measured"], "10%", "{result}");

    csv_tells(&read(&file("c")), &result);
    let log = read(&file("h"));
    let (start, intervals) = intervals(&log);
    assert!(start >= before - Duration::from_millis(1) && start <= SystemTime::now(), "{log}");
    assert_eq!(intervals.iter().map(|interval| interval.histogram.len()).sum::<u64>(), 2000, "{log}");
    prometheus_tells(&read(&file("p")), &result);
    junit_tells(&read(&file("x")), &result);
    let (head, body) = receiver.only();
    for line in [
        "POST /v1/metrics HTTP/1.1\r\n",
        "\r\ncontent-type: application/x-protobuf\r\n",
        "\r\napi-key: a secret\r\n",
        "\r\ntenant: 7\r\n",
    ] {
        assert!(head.to_lowercase().contains(&line.to_lowercase()), "{line:?} is not in {head}");
    }
    let metrics = ExportMetricsServiceRequest::decode(&body[..]).expect("it is protobuf");
    otlp_tells(&metrics, &result, before);
}

#[test]
fn the_interval_log_grows_while_the_run_goes_on() {
    let server = Script::start(answering(OK));
    let folder = tempfile::tempdir().expect("a folder");
    let log = folder.path().join("run.hlog");
    let args = ["-d", "100s", "-c", "3", "-t", "2", "--json", "-", "--fail-if", "max<1m", &server.url(), "--hlog"];
    let mut command = torr_command(&args);
    command.arg(&log);
    let run = Running::start(command);
    let grown = wait_until("two intervals", || {
        let text = std::fs::read_to_string(&log).ok().filter(|text| text.ends_with('\n'))?;
        (text.lines().filter(|line| line.starts_with(|c: char| c.is_ascii_digit())).count() >= 2).then_some(text)
    });
    run.signal("INT");
    let ended = run.wait();
    // The exit code is that of an interruption, but failures are reported.
    assert_eq!(ended.code, Some(130), "{ended:?}");
    assert!(ended.stderr.starts_with("torr: threshold failed: max<1m: measured "), "{ended:?}");
    let result: Value = serde_json::from_str(&ended.stdout).unwrap_or_else(|error| panic!("{error}: {ended:?}"));
    let text = read(&log);
    assert!(text.starts_with(&grown), "what was written stays");
    let (_, intervals) = intervals(&text);
    assert!(intervals.len() >= 2, "{text}");
    let each = |interval: &Interval| (interval.start.as_millis(), interval.end.as_millis());
    assert_eq!(intervals[..2].iter().map(each).collect::<Vec<_>>(), [(0, 1000), (1000, 2000)]);
    for two in intervals.windows(2) {
        assert_eq!(two[0].end, two[1].start, "there is a gap");
    }
    assert!(intervals.iter().all(|interval| interval.max == interval.histogram.max() as f64));
    let end = intervals.last().expect("there are two").end.as_secs_f64();
    assert!((end - result["duration_s"].as_f64().unwrap()).abs() < 0.002, "{end}: {result}");
    let logged: u64 = intervals.iter().map(|interval| interval.histogram.len()).sum();
    let unanswered = n(&result["errors"]["timeout"]) + n(&result["unfinished"]);
    assert_eq!(logged, n(&result["requests"]) + unanswered, "{result}");
    let max = intervals.iter().map(|interval| interval.histogram.max()).max();
    assert_eq!(max, result["latency_us"]["max"].as_u64(), "{result}");
}

#[test]
fn a_threshold_decides_the_exit_code() {
    let server = sometimes_failing();
    for (rules, failed) in [
        (&["errors>10.1%"][..], &[][..]),
        (&["errors>10%", "errors<10%", "status>100", "unfinished>0", "timeouts>0", "min>1m"], &[]),
        (&["errors>9.9%"], &["errors>9.9%: measured 10%"]),
        (&["status >= 100"], &["status >= 100: measured 100"]),
        (&["p50<1m,max<1m", "rps<0.5"], &["p50<1m: measured ", "max<1m: measured "]),
        (&["rps<1G"], &["rps<1G: measured "]),
        // A tenth of a sample lies beyond.
        (&["p99.99>1m"], &["p99.99>1m: too few samples to tell"]),
    ] {
        let url = server.url();
        let rules: Vec<_> = rules.iter().flat_map(|rule| ["--fail-if", rule]).collect();
        let ended = torr(&[&["-n", "1000", "-c", "4", "-t", "1", &url], &rules[..]].concat());
        assert_eq!(ended.code, Some(i32::from(!failed.is_empty())), "{rules:?}: {ended:?}");
        assert_eq!(ended.stderr.lines().count(), failed.len(), "{rules:?}: {ended:?}");
        for (line, rule) in ended.stderr.lines().zip(failed) {
            assert!(line.starts_with(&format!("torr: threshold failed: {rule}")), "{rules:?}: {line}");
        }
        let judged = ended.stdout.lines().filter(|line| line.trim_start().starts_with("fails if")).count();
        let rules_count = rules.iter().filter(|word| **word != "--fail-if").flat_map(|rule| rule.split(',')).count();
        assert_eq!(judged, rules_count, "{rules:?}: {}", ended.stdout);
    }
}

#[test]
fn standard_output_belongs_to_one_output_alone() {
    let server = Script::start(answering(OK));
    let document = |flag: &str| {
        let ended = torr(&["-n", "100", "-c", "2", "--fail-if", "max>1m", flag, "-", &server.url()]);
        assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""), "{flag}: {ended:?}");
        ended.stdout
    };
    let csv = document("--csv");
    assert_eq!(csv::Reader::from_reader(csv.as_bytes()).records().map(|line| line.expect(&csv).len()).max(), Some(6));
    let (_, intervals) = intervals(&document("--hlog"));
    assert_eq!(intervals.iter().map(|interval| interval.histogram.len()).sum::<u64>(), 100);
    assert!(samples(&document("--prometheus")).iter().any(|(name, _, n)| name == "torr_asked_total" && *n == 100.0));
    let junit = document("--junit");
    assert_eq!(roxmltree::Document::parse(&junit).expect(&junit).root_element().attribute("tests"), Some("2"));
}

#[test]
fn two_outputs_cannot_share_a_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let (one, other) = (folder.path().join("a"), folder.path().join(".").join("a"));
    let mut command = torr_command(&["http://127.0.0.1:1", "--csv"]);
    command.arg(one).arg("--junit").arg(other);
    let ended = Running::start(command).wait();
    assert_eq!(ended.code, Some(2), "{ended:?}");
    assert!(ended.stderr.contains("--csv and --junit cannot both go to"), "{ended:?}");
    assert_eq!(ended.stderr.lines().count(), 1, "{ended:?}");
}

#[test]
fn outputs_that_cannot_be_written_are_reported_and_others_written() {
    let server = Script::start(answering(OK));
    let folder = tempfile::tempdir().expect("a folder");
    let prometheus = folder.path().join("p");
    let mut command = torr_command(&["-n", "100", "-c", "2", "--csv", "/dev/full", &server.url(), "--prometheus"]);
    command.arg(&prometheus);
    let ended = Running::start(command).wait();
    assert_eq!(ended.code, Some(1), "{ended:?}");
    assert!(ended.stderr.starts_with("torr: cannot write /dev/full: "), "{ended:?}");
    assert_eq!(ended.stderr.lines().count(), 1, "{ended:?}");
    assert!(ended.stdout.contains("throughput"), "{ended:?}");
    assert!(!samples(&read(&prometheus)).is_empty());
}

#[test]
fn a_collector_that_refuses_the_metrics_is_reported() {
    let server = Script::start(answering(OK));
    let part = ExportMetricsPartialSuccess { rejected_data_points: 3, error_message: "too old,\nall of them".into() };
    let refusal = ExportMetricsServiceResponse { partial_success: Some(part) }.encode_to_vec();
    let receivers = [
        (Receiver::answering(response("503 Service Unavailable", b"later")), "status 503"),
        (Receiver::answering(response("307 Elsewhere\r\nLocation: /elsewhere", b"")), "status 307"),
        (Receiver::answering(response("200 OK", &refusal)), "rejected 3 of the points: too old, all of them"),
        (Receiver::answering(b"nonsense\r\n\r\n".to_vec()), ""),
    ];
    let mut cases: Vec<_> = receivers.iter().map(|(receiver, why)| (receiver.url(), *why)).collect();
    cases.push((format!("http://127.0.0.1:{}/of/mine", closed_port()), "refused"));
    for (url, why) in cases {
        let ended = run(&["-n", "100", "-c", "2", "--otlp", &url, &server.url()]);
        assert_eq!(ended.code, Some(1), "{url}: {ended:?}");
        let line = format!("torr: cannot send the metrics to {url}");
        assert!(ended.stderr.starts_with(&line) && ended.stderr.contains(why), "{ended:?}");
        assert_eq!(ended.stderr.lines().count(), 1, "{ended:?}");
        assert!(ended.stdout.contains("throughput"), "{ended:?}");
    }
    for (receiver, why) in &receivers {
        let (head, _) = receiver.only();
        assert!(head.starts_with("POST /v1/metrics "), "{why}: {head}");
    }
}

#[test]
fn headers_for_the_collector_that_are_none_are_a_mistake() {
    let mut command = without_proxy(torr_command(&["--otlp", "http://127.0.0.1:1", "http://127.0.0.1:1"]));
    command.env("OTEL_EXPORTER_OTLP_HEADERS", "api-key");
    let ended = Running::start(command).wait();
    assert_eq!(ended.code, Some(2), "{ended:?}");
    assert_eq!(
        ended.stderr,
        "torr: OTEL_EXPORTER_OTLP_HEADERS: header 1 must be name=value (not shown, as it may hold a secret)\n",
        "{ended:?}"
    );
}

#[test]
fn a_target_that_cannot_be_reached_is_a_failed_case() {
    let folder = tempfile::tempdir().expect("a folder");
    let junit = folder.path().join("x");
    let url = format!("http://127.0.0.1:{}/", closed_port());
    let mut command = torr_command(&["-n", "1", "-c", "1", "--fail-if", "max>1m", &url, "--junit"]);
    command.arg(&junit);
    let ended = Running::start(command).wait();
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(3), ""), "{ended:?}");
    let text = read(&junit);
    let xml = roxmltree::Document::parse(&text).expect(&text);
    let case = |name: &str| xml.descendants().find(|node| node.attribute("name") == Some(name)).expect(name);
    let failure = case("reached").children().find(|child| child.has_tag_name("failure")).expect(&text);
    assert!(failure.attribute("message").is_some_and(|why| why.contains("connection refused")), "{text}");
    assert!(case("max>1m").children().any(|child| child.has_tag_name("skipped")), "{text}");
}

#[test]
fn a_run_that_cannot_be_made_leaves_what_was_there_and_no_file_more() {
    let folder = tempfile::tempdir().expect("a folder");
    let (there, new) = (folder.path().join("there"), folder.path().join("new"));
    std::fs::write(&there, "the result of yesterday").expect("it can be written");
    let mut command = torr_command(&["-n", "1", "-c", "1", &format!("http://127.0.0.1:{}/", closed_port()), "--json"]);
    command.arg(&there).arg("--csv").arg(&new);
    let ended = Running::start(command).wait();
    assert_eq!(ended.code, Some(3), "{ended:?}");
    assert_eq!(read(&there), "the result of yesterday");
    assert!(!new.exists());

    let server = Script::start(answering(OK));
    let mut command = torr_command(&["-n", "1", "-c", "1", &server.url(), "--json"]);
    command.arg(&there);
    assert_eq!(Running::start(command).wait().code, Some(0));
    assert_eq!(json(&there)["requests"], 1, "nothing of the old result is left behind the new one");
}
