//! Every output of a run, read back by somebody else's reader; thresholds and their exit codes.

use base64::Engine;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::Deserializer;
use hdrhistogram::serialization::interval_log::{IntervalLogIterator, LogEntry};
use opentelemetry_proto::tonic::collector::metrics::v1::{
    ExportMetricsPartialSuccess, ExportMetricsServiceRequest, ExportMetricsServiceResponse,
};
use opentelemetry_proto::tonic::common::v1::{KeyValue, any_value};
use opentelemetry_proto::tonic::metrics::v1::{Metric, NumberDataPoint, metric, number_data_point};
use prost::Message;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use torr_test_support::program::{Ended, Running, torr, torr_command};
use torr_test_support::script::{OK, Script, answering};
use torr_test_support::servers::free_port;
use torr_test_support::wait_until;

/// Answers every tenth request with a 500.
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

/// A collector that keeps what it gets, and always gives the same answer.
struct Receiver {
    server: Script,
    got: Arc<Mutex<Vec<Vec<u8>>>>,
}

impl Receiver {
    fn answering(answer: Vec<u8>) -> Self {
        let got = Arc::new(Mutex::new(Vec::new()));
        let all = Arc::clone(&got);
        let server = Script::start(move |client| {
            while let Some(request) = client.request() {
                all.lock().expect("nobody panics with it").push(request);
                client.send(&answer);
            }
        });
        Self { server, got }
    }

    fn taking() -> Self {
        Self::answering(answer("200 OK", &[]))
    }

    fn url(&self) -> String {
        format!("http://{}", self.server.address)
    }

    /// The one request, as its head and its body.
    fn only(&self) -> (String, Vec<u8>) {
        let got = self.got.lock().expect("nobody panics with it");
        assert_eq!(got.len(), 1, "sent once");
        let end = got[0].windows(4).position(|four| four == b"\r\n\r\n").expect("a head ends") + 4;
        (String::from_utf8_lossy(&got[0][..end]).into_owned(), got[0][end..].to_vec())
    }
}

fn answer(status: &str, body: &[u8]) -> Vec<u8> {
    let head =
        format!("HTTP/1.1 {status}\r\nContent-Type: application/x-protobuf\r\nContent-Length: {}\r\n\r\n", body.len());
    [head.as_bytes(), body].concat()
}

/// A proxy of whoever runs the tests has no part in them.
fn without_proxy(mut command: Command) -> Command {
    for name in ["http_proxy", "https_proxy", "all_proxy"] {
        command.env_remove(name).env_remove(name.to_uppercase());
    }
    command.env_remove("OTEL_EXPORTER_OTLP_HEADERS");
    command
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

fn csv_tells(text: &str, result: &Value) {
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    assert_eq!(reader.headers().expect("names"), &["t", "requests", "errors", "rps", "p50_us", "p99_us"][..]);
    let lines: Vec<csv::StringRecord> = reader.records().collect::<Result<_, _>>().expect("all lines are alike");
    let series = result["series"].as_array().expect("a list");
    assert_eq!(lines.len(), series.len(), "{text}");
    let mut begin = 0.0;
    for (line, point) in lines.iter().zip(series) {
        let cell = |at: usize| line[at].parse::<f64>().unwrap_or_else(|error| panic!("{line:?}: {error}"));
        for (at, name) in [(0, "t"), (1, "requests"), (2, "errors"), (4, "p50"), (5, "p99")] {
            assert_eq!(Some(cell(at)), point[name].as_f64(), "{name} of {line:?}");
        }
        assert!((cell(3) * (cell(0) - begin) - cell(1)).abs() < 0.01, "{line:?}");
        begin = cell(0);
    }
}

struct Interval {
    start: Duration,
    end: Duration,
    max: f64,
    histogram: Histogram<u64>,
}

/// When the run of an interval log began, and its intervals.
fn intervals(log: &str) -> (SystemTime, Vec<Interval>) {
    assert!(log.starts_with("#[Histogram log format version 1.3]\n"), "{log}");
    let mut start = None;
    let mut intervals = Vec::new();
    for entry in IntervalLogIterator::new(log.as_bytes()) {
        match entry.unwrap_or_else(|error| panic!("{error:?} in {log}")) {
            LogEntry::StartTime(since) => start = Some(UNIX_EPOCH + since),
            LogEntry::BaseTime(_) => panic!("a second time base: {log}"),
            LogEntry::Interval(interval) => {
                let encoded = base64::engine::general_purpose::STANDARD.decode(interval.encoded_histogram());
                let bytes = encoded.expect("it is base64");
                intervals.push(Interval {
                    start: interval.start_timestamp(),
                    end: interval.start_timestamp() + interval.duration(),
                    max: interval.max(),
                    histogram: Deserializer::new().deserialize(&mut &bytes[..]).expect("it is a histogram"),
                });
            }
        }
    }
    (start.unwrap_or_else(|| panic!("no start time: {log}")), intervals)
}

type Labels = BTreeMap<String, String>;

/// Prometheus' text format, as strictly as is needed: every sample has a type that was told before it.
fn samples(text: &str) -> Vec<(String, Labels, f64)> {
    let (mut types, mut samples) = (BTreeMap::new(), Vec::new());
    for line in text.lines() {
        if let Some(comment) = line.strip_prefix("# ") {
            let words: Vec<_> = comment.splitn(3, ' ').collect();
            match words[..] {
                ["TYPE", name, kind] => assert!(types.insert(name, kind).is_none(), "two types: {line}"),
                ["HELP", _, _] => {}
                _ => panic!("neither type nor help: {line}"),
            }
            continue;
        }
        let (series, value) = line.rsplit_once(' ').unwrap_or_else(|| panic!("no value: {line}"));
        let (name, labels) = series.strip_suffix('}').and_then(|s| s.split_once('{')).unwrap_or((series, ""));
        let family = ["_bucket", "_sum", "_count"].iter().find_map(|end| name.strip_suffix(end)).unwrap_or(name);
        assert!(types.contains_key(family), "no type: {line}");
        let label = |label: &str| {
            let (name, value) = label.split_once("=\"").unwrap_or_else(|| panic!("no label: {line}"));
            (name.to_owned(), value.strip_suffix('"').unwrap_or_else(|| panic!("no end: {line}")).to_owned())
        };
        let labels = labels.split(',').filter(|pair| !pair.is_empty()).map(label).collect();
        samples.push((name.to_owned(), labels, value.parse().unwrap_or_else(|error| panic!("{line}: {error}"))));
    }
    samples
}

fn prometheus_tells(text: &str, result: &Value) {
    let samples = samples(text);
    for (_, labels, _) in &samples {
        assert_eq!((labels["target"].as_str(), labels["method"].as_str()), (result["target"].as_str().unwrap(), "PUT"));
    }
    let value = |name: &str, label: Option<(&str, &str)>| {
        let fits = |labels: &Labels| label.is_none_or(|(name, value)| labels.get(name).is_some_and(|v| v == value));
        let found: Vec<_> = samples.iter().filter(|(n, labels, _)| n == name && fits(labels)).collect();
        assert_eq!(found.len(), 1, "{name} {label:?} in {text}");
        found[0].2
    };
    for (name, label, expected) in [
        ("torr_requests_total", Some(("status", "200")), &result["status"]["200"]),
        ("torr_requests_total", Some(("status", "500")), &result["status"]["500"]),
        ("torr_errors_total", Some(("kind", "status")), &result["errors"]["status"]),
        ("torr_errors_total", Some(("kind", "timeout")), &result["errors"]["timeout"]),
        ("torr_asked_total", None, &result["asked"]),
        ("torr_unfinished_total", None, &result["unfinished"]),
        ("torr_bytes_total", Some(("direction", "sent")), &result["bytes"]["sent"]),
        ("torr_bytes_total", Some(("direction", "received")), &result["bytes"]["received"]),
        ("torr_body_bytes_total", None, &result["bytes"]["body"]),
        ("torr_connections_total", None, &result["connections"]["opened"]),
        ("torr_requests_per_second", None, &result["rps"]),
        ("torr_duration_seconds", None, &result["duration_s"]),
        ("torr_latency_seconds_count", None, &result["requests"]),
        ("torr_threshold_failed", Some(("rule", "errors>=10%")), &Value::from(1)),
        ("torr_threshold_failed", Some(("rule", "max>1m")), &Value::from(0)),
    ] {
        assert_eq!(Some(value(name, label)), expected.as_f64(), "{name} {label:?}");
    }
    let buckets = samples.iter().filter(|(name, _, _)| name == "torr_latency_seconds_bucket");
    let buckets: Vec<(f64, f64)> = buckets.map(|(_, l, n)| (l["le"].parse().expect("a bound"), *n)).collect();
    assert!(buckets.windows(2).all(|two| two[0].0 < two[1].0 && two[0].1 <= two[1].1), "{buckets:?}");
    assert_eq!(buckets.last(), Some(&(f64::INFINITY, 2000.0)), "{buckets:?}");
    let p50 = result["latency_us"]["p50"].as_f64().expect("2,000 samples tell it") / 1e6;
    let (_, below) = buckets.iter().find(|(bound, _)| *bound >= p50).expect("the last is infinite");
    assert!(*below >= 1000.0, "half of the samples are not above the median of {p50}: {buckets:?}");
    let mean = value("torr_latency_seconds_sum", None) * 1e6 / 2000.0;
    let expected = result["latency_us"]["mean"].as_f64().expect("it is told");
    assert!((mean - expected).abs() <= 0.051, "{mean} is not {expected}");
}

fn junit_tells(text: &str, result: &Value) {
    let xml = roxmltree::Document::parse(text).unwrap_or_else(|error| panic!("{error}: {text}"));
    let suite = xml.descendants().find(|node| node.has_tag_name("testsuite")).expect("a suite");
    assert_eq!(suite.attribute("name"), result["target"].as_str());
    assert_eq!((suite.attribute("tests"), suite.attribute("failures")), (Some("4"), Some("1")), "{text}");
    let time: f64 = suite.attribute("time").and_then(|time| time.parse().ok()).expect("it took a time");
    assert!((time - result["duration_s"].as_f64().unwrap()).abs() < 0.002, "{text}");
    let cases = xml.descendants().filter(|node| node.has_tag_name("testcase"));
    let cases: Vec<_> = cases
        .map(|case| {
            let failure = case.children().find(|child| child.has_tag_name("failure"));
            (case.attribute("name").expect("a name"), failure.and_then(|failure| failure.attribute("message")))
        })
        .collect();
    let expected = [("reached", None), ("errors>=10%", Some("measured 10%")), ("max>1m", None), ("status<5", None)];
    assert_eq!(cases, expected, "{text}");
}

fn otlp_tells(request: &ExportMetricsServiceRequest, result: &Value, before: SystemTime) {
    let all = &request.resource_metrics[0];
    let resource = all.resource.as_ref().expect("who sends it");
    assert_eq!(attribute(&resource.attributes, "service.name").as_deref(), Some("torr"));
    let metrics: BTreeMap<&str, &Metric> =
        all.scope_metrics[0].metrics.iter().map(|metric| (metric.name.as_str(), metric)).collect();
    let points = |name: &str| match &metrics.get(name).unwrap_or_else(|| panic!("no {name}")).data {
        Some(metric::Data::Sum(sum)) => {
            assert!(sum.is_monotonic && sum.aggregation_temporality == 2, "{name} is no cumulative count");
            &sum.data_points
        }
        Some(metric::Data::Gauge(gauge)) => &gauge.data_points,
        other => panic!("{name} is {other:?}"),
    };
    let value = |name: &str, label: Option<(&str, &str)>| {
        let fits = |p: &&NumberDataPoint| label.is_none_or(|(k, v)| attribute(&p.attributes, k).as_deref() == Some(v));
        let found: Vec<_> = points(name).iter().filter(fits).collect();
        assert_eq!(found.len(), 1, "{name} {label:?}");
        match found[0].value {
            Some(number_data_point::Value::AsInt(n)) => n as f64,
            Some(number_data_point::Value::AsDouble(value)) => value,
            None => panic!("{name} has no value"),
        }
    };
    for (name, label, expected) in [
        ("torr.requests", Some(("http.response.status_code", "200")), &result["status"]["200"]),
        ("torr.requests", Some(("http.response.status_code", "500")), &result["status"]["500"]),
        ("torr.errors", Some(("error.type", "status")), &result["errors"]["status"]),
        ("torr.errors", Some(("error.type", "read")), &result["errors"]["read"]),
        ("torr.asked", None, &result["asked"]),
        ("torr.unfinished", None, &result["unfinished"]),
        ("torr.bytes", Some(("network.io.direction", "transmit")), &result["bytes"]["sent"]),
        ("torr.bytes", Some(("network.io.direction", "receive")), &result["bytes"]["received"]),
        ("torr.connections", None, &result["connections"]["opened"]),
        ("torr.rps", None, &result["rps"]),
        ("torr.duration", None, &result["duration_s"]),
    ] {
        assert_eq!(Some(value(name, label)), expected.as_f64(), "{name} {label:?}");
    }
    let Some(metric::Data::Histogram(histogram)) = &metrics["torr.latency"].data else { panic!("no histogram") };
    let latency = &histogram.data_points[0];
    assert_eq!(attribute(&latency.attributes, "url.full").as_deref(), result["target"].as_str());
    assert_eq!(attribute(&latency.attributes, "http.request.method").as_deref(), Some("PUT"));
    assert_eq!(latency.bucket_counts.len(), latency.explicit_bounds.len() + 1);
    assert_eq!((latency.count, latency.bucket_counts.iter().sum::<u64>()), (2000, 2000));
    assert_eq!(latency.max.map(|s| (s * 1e6).round()), result["latency_us"]["max"].as_f64());
    let took = Duration::from_nanos(latency.time_unix_nano - latency.start_time_unix_nano).as_secs_f64();
    assert!((took - result["duration_s"].as_f64().unwrap()).abs() < 0.001, "{took}");
    let start = UNIX_EPOCH + Duration::from_nanos(latency.start_time_unix_nano);
    assert!(start >= before - Duration::from_millis(1) && start <= SystemTime::now(), "{start:?}");
}

fn attribute(attributes: &[KeyValue], key: &str) -> Option<String> {
    match attributes.iter().find(|pair| pair.key == key)?.value.as_ref()?.value.as_ref()? {
        any_value::Value::StringValue(text) => Some(text.clone()),
        any_value::Value::IntValue(n) => Some(n.to_string()),
        other => panic!("{key} is {other:?}"),
    }
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
    // Interrupted, whatever else: but what failed is told.
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
        let asked = rules.iter().filter(|word| **word != "--fail-if").flat_map(|rule| rule.split(',')).count();
        assert_eq!(judged, asked, "{rules:?}: {}", ended.stdout);
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
fn what_cannot_be_written_is_told_and_the_rest_is_written() {
    let server = Script::start(answering(OK));
    let folder = tempfile::tempdir().expect("a folder");
    let prometheus = folder.path().join("p");
    let mut command = torr_command(&["-n", "100", "-c", "2", "--csv", "/dev/full", &server.url(), "--prometheus"]);
    command.arg(&prometheus);
    let ended = Running::start(command).wait();
    assert_eq!(ended.code, Some(1), "{ended:?}");
    assert!(ended.stderr.starts_with("torr: /dev/full could not be written: "), "{ended:?}");
    assert_eq!(ended.stderr.lines().count(), 1, "{ended:?}");
    assert!(ended.stdout.contains("throughput"), "{ended:?}");
    assert!(!samples(&read(&prometheus)).is_empty());
}

#[test]
fn a_collector_that_does_not_take_the_metrics_is_told() {
    let server = Script::start(answering(OK));
    let part = ExportMetricsPartialSuccess { rejected_data_points: 3, error_message: "too old,\nall of them".into() };
    let refusal = ExportMetricsServiceResponse { partial_success: Some(part) }.encode_to_vec();
    let receivers = [
        (Receiver::answering(answer("503 Service Unavailable", b"later")), "answered 503"),
        (Receiver::answering(answer("307 Elsewhere\r\nLocation: /elsewhere", b"")), "answered 307"),
        (Receiver::answering(answer("200 OK", &refusal)), "refused 3 of the points: too old, all of them"),
        (Receiver::answering(b"nonsense\r\n\r\n".to_vec()), ""),
    ];
    let mut cases: Vec<_> = receivers.iter().map(|(receiver, why)| (receiver.url(), *why)).collect();
    cases.push((format!("http://127.0.0.1:{}/of/mine", free_port()), "refused"));
    for (url, why) in cases {
        let ended = run(&["-n", "100", "-c", "2", "--otlp", &url, &server.url()]);
        assert_eq!(ended.code, Some(1), "{url}: {ended:?}");
        let line = format!("torr: the metrics could not be sent to {url}");
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
        "torr: OTEL_EXPORTER_OTLP_HEADERS: header 1 is not of the form name=value,name=value (it is not shown: it may hold a \
         secret)\n",
        "{ended:?}"
    );
}

#[test]
fn a_target_that_cannot_be_reached_is_a_failed_case() {
    let folder = tempfile::tempdir().expect("a folder");
    let junit = folder.path().join("x");
    let url = format!("http://127.0.0.1:{}/", free_port());
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
    let mut command = torr_command(&["-n", "1", "-c", "1", &format!("http://127.0.0.1:{}/", free_port()), "--json"]);
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

/// What must be nowhere in what is printed or written, in no encoding that is as good as itself.
const SECRET: &str = "hunter2";

/// Every command that is given a secret, and the one variable that it may be in.
fn commands_with_secrets(server: &str, nowhere: &str, list: &str, config: &str) -> Vec<(Vec<String>, Option<String>)> {
    let words = |line: &str| -> Vec<String> {
        // A line end stands in some values; words are told apart by '|'.
        let fill = |word: &str| {
            let word = word.replace("SECRET", SECRET).replace("SERVER", server).replace("NOWHERE", nowhere);
            word.replace("LIST", list).replace("CONFIG", config).replace("\\n", "\n")
        };
        line.split('|').map(fill).collect()
    };
    let plain = [
        // Runs that come about: what they print, and their files.
        "http://u:SECRET@SERVER/|-n|2|-c|1|--json|result.json|--csv|series.csv|--hlog|log.hlog|--prometheus|m.prom|--junit|j.xml",
        "http://SECRET@SERVER/|-n|2|-c|1|--json|-",
        "u:SECRET@SERVER/|-n|2|-c|1",
        "http://SERVER/|-n|2|-c|1|--user|u:SECRET|--json|-",
        "http://SERVER/|-n|2|-c|1|--oauth2-bearer|SECRET|--json|-",
        "http://SERVER/|-n|2|-c|1|-H|Authorization: Bearer SECRET|-b|a=SECRET|--json|-",
        "http://SERVER/|-n|2|-c|1|--otlp|http://u:SECRET@NOWHERE/",
        "--urls|LIST|-n|2|-c|1|--json|-",
        "ab|-n|2|-c|1|-A|u:SECRET|-P|u:SECRET|-C|a=SECRET|-H|X-Token: SECRET|http://u:SECRET@SERVER/",
        "ab|-v|4|-n|1|-c|1|-A|u:SECRET|-P|u:SECRET|-C|a=SECRET|-H|X-Token: SECRET|http://SERVER/",
        "wrk|-d|1|-c|1|-t|1|-H|Authorization: Bearer SECRET|http://u:SECRET@SERVER/",
        "httpress|-n|2|http://u:SECRET@SERVER/",
        "press|-n|2|http://u:SECRET@SERVER/",
        "doctor|http://u:SECRET@SERVER/|--budget|5s|-c|2|-q",
        // Targets that cannot be reached, and URLs that are none.
        "http://u:SECRET@NOWHERE/|-n|1|--junit|j.xml",
        "http://u:SECRET@NOWHERE:x/",
        "http://u:SECRET word@NOWHERE/",
        "http://u:SECRET/@NOWHERE/",
        "ftp://u:SECRET@NOWHERE/",
        "u:SECRET@NOWHERE:99999",
        "http://NOWHERE/|http://u:SECRET@NOWHERE/",
        "limit|http://u:SECRET@NOWHERE:x/",
        "doctor|http://u:SECRET@NOWHERE:x/",
        "ab|http://u:SECRET@NOWHERE",
        "ab|http://u:SECRET@:x/",
        "wrk|-d|1|u:SECRET@NOWHERE",
        "httpress|u:SECRET@NOWHERE",
        "press|u:SECRET@NOWHERE",
        // Credentials and fields that cannot be sent.
        "http://NOWHERE/|--user|SECRET",
        "http://NOWHERE/|--user|u:{{SECRET",
        "http://NOWHERE/|--oauth2-bearer|SECRET\\n",
        "http://NOWHERE/|--oauth2-bearer|{{SECRET}}",
        "http://NOWHERE/|-H|Authorization: Bearer SECRET\\n.",
        "http://NOWHERE/|-H|Authorization Bearer SECRET",
        "http://NOWHERE/|-H|Api Key: SECRET",
        "http://NOWHERE/|-H|SECRET",
        "http://NOWHERE/|-H|Content-Length: SECRET",
        "http://NOWHERE/|-b|SECRET",
        "http://NOWHERE/|-b|a=SECRET\\n.",
        "http://NOWHERE/|-F|SECRET",
        "ab|-H|SECRET|http://NOWHERE/",
        "ab|-H|Authorization: SECRET\\n.|http://NOWHERE/",
        "wrk|-d|1|-H|Authorization: SECRET\\n.|http://NOWHERE/",
        // Proxies, collectors, watchers.
        "http://NOWHERE/|-n|1|-x|http://u:SECRET@NOWHERE|--proxy-user|u:SECRET",
        "http://NOWHERE/|-x|http://u:SECRET@proxy",
        "http://NOWHERE/|-x|u:SECRET@proxy:x",
        "ab|-X|u:SECRET@proxy:x|http://NOWHERE/",
        "http://NOWHERE/|--otlp|https://u:SECRET@NOWHERE/",
        "http://NOWHERE/|--otlp|http://u:SECRET@",
        "doctor|http://NOWHERE/|--watch|http://u:SECRET@NOWHERE",
        "doctor|http://NOWHERE/|--watch|u:SECRET@NOWHERE|--watch-token|SECRET",
        "doctor|--sweep|workers|--command|/no/such/program {n} {port} --database postgres://u:SECRET@h/d",
        "watch|--listen|nowhere|--token|SECRET",
        // Databases and caches.
        "serve|--print-config|--database|postgres://u:SECRET@h/d|--cache|redis://:SECRET@h/1",
        "serve|--print-config|--database|mysql://SECRET@h/d",
        "serve|--print-config|--database|postgres://h/d?user=u&password=SECRET",
        "serve|--print-config|--database|postgres://u:SECRET/@h/d",
        "serve|--print-config|--config|CONFIG",
        "serve|--listen|127.0.0.1:0|--database|postgres://u:SECRET@NOWHERE/d",
        "serve|--listen|127.0.0.1:0|--database|postgres://u:x?SECRET@h/d",
        "serve|--listen|127.0.0.1:0|--database|postgres://u:SECRET/x@h/d",
        "serve|--listen|127.0.0.1:0|--database|mysql://u:SECRET@NOWHERE/d",
        "serve|--listen|127.0.0.1:0|--database|mysql://u:SECRET/x@h/d",
        "serve|--listen|127.0.0.1:0|--database|oracle://u:SECRET@h/d",
        "serve|--listen|127.0.0.1:0|--cache|redis://:SECRET@h/x",
        "serve|--listen|127.0.0.1:0|--cache|rediss://:SECRET@h",
    ];
    let by_variable = [
        ("http://SERVER/|-n|1|--otlp|http://NOWHERE/", "OTEL_EXPORTER_OTLP_HEADERS=authorization=Bearer SECRET"),
        ("http://NOWHERE/|--otlp|http://NOWHERE/", "OTEL_EXPORTER_OTLP_HEADERS=authorization=SECRET%0a"),
        ("http://NOWHERE/|--otlp|http://NOWHERE/", "OTEL_EXPORTER_OTLP_HEADERS=SECRET"),
        ("serve|--print-config", "TORR_SERVE_DATABASE=postgres://u:SECRET@h/d"),
        ("serve|--print-config", "TORR_SERVE_CACHE=redis://:SECRET@h"),
        ("serve|--print-config", "TORR_SERVE_DATABASE=postgres://u:SECRET@h/d\\nx"),
        ("watch|--listen|nowhere", "TORR_WATCH_TOKEN=SECRET"),
    ];
    let plain = plain.iter().map(|line| (words(line), None));
    plain.chain(by_variable.iter().map(|(line, variable)| (words(line), words(variable).pop()))).collect()
}

#[test]
fn no_secret_is_ever_shown() {
    let server = Script::start(answering(OK));
    let (address, nowhere) = (server.address.to_string(), format!("127.0.0.1:{}", free_port()));
    let given = tempfile::tempdir().unwrap();
    let (list, config) = (given.path().join("urls.txt"), given.path().join("torr.toml"));
    std::fs::write(&list, format!("http://u:{SECRET}@{address}/a\nhttp://u:{SECRET}@{address}/b\n")).unwrap();
    std::fs::write(&config, format!("database = \"mysql://u:{SECRET}@h/d\"\ncache = \"redis://:{SECRET}@h\"\n"))
        .unwrap();
    let encoded = |text: &str| base64::prelude::BASE64_STANDARD.encode(text);
    let forms = [SECRET.to_owned(), encoded(&format!("u:{SECRET}")), encoded(&format!("{SECRET}:"))];
    let commands =
        commands_with_secrets(&address, &nowhere, &list.display().to_string(), &config.display().to_string());
    for (args, variable) in &commands {
        let folder = tempfile::tempdir().unwrap();
        let mut command = without_proxy(torr_command(&args.iter().map(String::as_str).collect::<Vec<_>>()));
        command.current_dir(folder.path());
        if let Some((name, value)) = variable.as_deref().and_then(|variable| variable.split_once('=')) {
            command.env(name, value);
        }
        let ended = Running::start(command).wait();
        assert!(!ended.stdout.is_empty() || !ended.stderr.is_empty(), "{args:?} says nothing: {ended:?}");
        let files = std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().path());
        let files = files.map(|path| String::from_utf8_lossy(&std::fs::read(path).unwrap()).into_owned());
        for said in [ended.stdout, ended.stderr].into_iter().chain(files) {
            for form in &forms {
                assert!(!said.contains(form), "{args:?} {variable:?} shows its secret: {said}");
            }
        }
    }
}
