//! Every format of a result, read by a reader of its own.

use base64::Engine;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::Deserializer;
use hdrhistogram::serialization::interval_log::{IntervalLogIterator, LogEntry};
use opentelemetry_proto::tonic::collector::metrics::v1::ExportMetricsServiceRequest;
use opentelemetry_proto::tonic::common::v1::{KeyValue, any_value};
use opentelemetry_proto::tonic::metrics::v1::{Metric, NumberDataPoint, metric, number_data_point};
use serde_json::Value;
use std::collections::BTreeMap;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

pub fn csv_tells(text: &str, result: &Value) {
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

pub struct Interval {
    pub start: Duration,
    pub end: Duration,
    pub max: f64,
    pub histogram: Histogram<u64>,
}

/// When the run of an interval log began, and its intervals.
pub fn intervals(log: &str) -> (SystemTime, Vec<Interval>) {
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

pub type Labels = BTreeMap<String, String>;

/// Prometheus' text format, as strictly as is needed: every sample's type precedes it.
pub fn samples(text: &str) -> Vec<(String, Labels, f64)> {
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

pub fn prometheus_tells(text: &str, result: &Value) {
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

pub fn junit_tells(text: &str, result: &Value) {
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

pub fn otlp_tells(request: &ExportMetricsServiceRequest, result: &Value, before: SystemTime) {
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

pub fn attribute(attributes: &[KeyValue], key: &str) -> Option<String> {
    match attributes.iter().find(|pair| pair.key == key)?.value.as_ref()?.value.as_ref()? {
        any_value::Value::StringValue(text) => Some(text.clone()),
        any_value::Value::IntValue(n) => Some(n.to_string()),
        other => panic!("{key} is {other:?}"),
    }
}
