//! Figures that are sent while a run goes on.

use super::collector::{Receiver, response, without_proxy};
use super::{n, run};
use base64::Engine as _;
use opentelemetry_proto::tonic::collector::metrics::v1::ExportMetricsServiceRequest;
use opentelemetry_proto::tonic::metrics::v1::metric::Data;
use opentelemetry_proto::tonic::metrics::v1::number_data_point::Value as PointValue;
use prost::Message;
use serde_json::Value;
use std::sync::atomic::{AtomicUsize, Ordering};
use torr_test_support::program::{Running, torr_command};
use torr_test_support::script::{OK, Script, answering};
use torr_test_support::servers::free_port;
use torr_test_support::wait_until;

/// Returns the metric of a name.
fn metric(request: &[u8], name: &str) -> Data {
    let all = ExportMetricsServiceRequest::decode(request).expect("it is protobuf");
    let scopes = all.resource_metrics.into_iter().flat_map(|resource| resource.scope_metrics);
    let found = scopes.flat_map(|scope| scope.metrics).find(|metric| metric.name == name);
    found.and_then(|metric| metric.data).unwrap_or_else(|| panic!("{name} is not there"))
}

fn begun(request: &[u8]) -> i64 {
    let Data::Sum(sum) = metric(request, "torr.asked") else { panic!("it is a sum") };
    match sum.data_points[0].value {
        Some(PointValue::AsInt(n)) => n,
        other => panic!("{other:?}"),
    }
}

#[test]
fn receivers_get_figures_during_the_run_and_at_its_end() {
    let server = Script::start(answering(OK));
    let [otlp, prometheus, influx] = [(); 3].map(|()| Receiver::taking());
    let mut command = torr_command(&["-r", "100", "-c", "2", "-d", "4s", "--push-interval", "1s", "--json", "-"]);
    command.args(["--otlp", &otlp.url(), "--prometheus-remote-write", &prometheus.url()]);
    command.args(["--influxdb", &format!("{}/write?db=load", influx.url()), &server.url()]);
    let mut command = without_proxy(command);
    command.env("TORR_PUSH_HEADERS", "x-tenant=7");
    command.env("OTEL_EXPORTER_OTLP_METRICS_DEFAULT_HISTOGRAM_AGGREGATION", "base2_exponential_bucket_histogram");
    let ended = Running::start(command).wait();
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""), "{ended:?}");
    let result: Value = serde_json::from_str(&ended.stdout).expect("it is JSON");

    let requests = otlp.all();
    assert!(requests.len() >= 3, "{} times in 4 s", requests.len());
    let counts: Vec<_> = requests.iter().map(|(_, body)| begun(body)).collect();
    assert!(counts.is_sorted() && counts[0] < 400 && counts.last() == Some(&400), "{counts:?}");
    let Data::ExponentialHistogram(times) = metric(&requests[0].1, "torr.latency") else { panic!("it was wanted") };
    let point = &times.data_points[0];
    let in_buckets: u64 = point.positive.iter().flat_map(|buckets| &buckets.bucket_counts).sum();
    assert!(point.count > 0 && in_buckets == point.count, "{point:?}");

    let requests = prometheus.all();
    assert!(requests.len() >= 3, "{} times in 4 s", requests.len());
    for (head, _) in &requests {
        let head = head.to_lowercase();
        assert!(head.starts_with("post /api/v1/write http/1.1\r\n") && head.contains("x-tenant: 7\r\n"), "{head}");
        assert!(head.contains("content-encoding: snappy\r\n"), "{head}");
    }

    let requests = influx.all();
    assert!(requests.len() >= 3 && requests[0].0.starts_with("POST /write?db=load "), "{requests:?}");
    let (_, last) = requests.last().expect("there are three");
    let last = String::from_utf8_lossy(last);
    let line = last.lines().find(|line| line.starts_with("torr_requests_total,")).expect("it is there");
    assert!(line.contains(",status=200,") && line.contains(&format!(" value={}i ", n(&result["requests"]))), "{line}");
}

#[test]
fn a_receiver_that_fails_during_the_run_is_a_note_and_one_that_hangs_holds_up_nothing() {
    let server = Script::start(answering(OK));
    let turn = AtomicUsize::new(0);
    let failing_at_first = Script::start(move |client| {
        while client.request().is_some() {
            match turn.fetch_add(1, Ordering::SeqCst) {
                0 => client.send(&response("503 Later", b"not yet\n")),
                _ => client.send(&response("200 OK", b"")),
            }
        }
    });
    let url = format!("http://{}", failing_at_first.address);
    let args = ["-r", "50", "-c", "2", "-d", "3s", "--push-interval", "1s"];
    let ended = run(&[&args, &["--otlp", &url, &server.url()][..]].concat());
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let said = format!("torr: {url}/v1/metrics did not take the figures 1 of ");
    assert!(
        ended.stderr.starts_with(&said) && ended.stderr.contains("status 503 ") && ended.stderr.contains(": not yet"),
        "{ended:?}"
    );

    let hanging = Script::start(|client| while client.request().is_some() {});
    let url = format!("http://{}", hanging.address);
    let args = ["-r", "50", "-c", "2", "-d", "3s", "--push-interval", "1s", "--json", "-"];
    let ended = run(&[&args, &["--influxdb", &url, &server.url()][..]].concat());
    assert!(ended.code == Some(1) && ended.stderr.contains("cannot send the metrics to"), "{ended:?}");
    let result: Value = serde_json::from_str(&ended.stdout).expect("it is JSON");
    assert_eq!(n(&result["asked"]), 150, "the load went on: {result}");
}

#[test]
fn what_a_receiver_sends_back_is_cut_and_shows_no_secret() {
    let server = Script::start(answering(OK));
    // Repeats the request in one line, and then far more.
    let repeating = Script::start(|client| {
        while let Some(request) = client.request() {
            let end = request.windows(4).position(|four| four == b"\r\n\r\n").unwrap_or(request.len());
            let head = String::from_utf8_lossy(&request[..end]).replace("\r\n", " ");
            client.send(&response("401 Unauthorized", format!("{head} {}", "x".repeat(20_000)).as_bytes()));
        }
    });
    let url = format!("http://ann:s3cretpass@{}/w?token=s3cretparameter", repeating.address);
    let mut command = without_proxy(torr_command(&["-n", "2", "-c", "1", "--influxdb", &url, &server.url()]));
    command.env("TORR_PUSH_HEADERS", "authorization=Bearer%20s3cretkey,x-api-key=s3cretother");
    let ended = Running::start(command).wait();
    assert_eq!(ended.code, Some(1), "{ended:?}");
    assert!(ended.stderr.contains("status 401 Unauthorized: POST /w?token="), "{ended:?}");
    let encoded = base64::prelude::BASE64_STANDARD.encode("ann:s3cretpass");
    assert!(!ended.stderr.contains("s3cret") && !ended.stderr.contains(&encoded), "{ended:?}");
    assert!(ended.stderr.len() < 500, "{} bytes", ended.stderr.len());
}

#[test]
#[ignore = "Prometheus is installed by ./test full"]
fn prometheus_takes_the_figures_and_their_native_histograms() {
    let folder = tempfile::tempdir().expect("there is room");
    let config = folder.path().join("prometheus.yml");
    std::fs::write(&config, "global: {}\n").expect("there is room");
    let address = format!("127.0.0.1:{}", free_port());
    let mut command = std::process::Command::new("prometheus");
    command.arg(format!("--config.file={}", config.display()));
    command.arg(format!("--storage.tsdb.path={}", folder.path().join("data").display()));
    command.args(["--web.enable-remote-write-receiver", "--enable-feature=native-histograms"]);
    command.arg(format!("--web.listen-address={address}")).stdout(std::process::Stdio::null());
    let _prometheus = torr_test_support::KilledAtEnd(
        command.stderr(std::process::Stdio::null()).spawn().expect("prometheus is installed"),
    );
    let get = |path: &str| run(&["once", &format!("http://{address}{path}")]);
    wait_until("Prometheus is ready", || get("/-/ready").stdout.contains("is Ready").then_some(()));

    let server = Script::start(answering(OK));
    let (args, write) = (["-r", "200", "-c", "2", "-d", "4s", "--push-interval", "1s"], format!("http://{address}"));
    let ended = run(&[&args, &["--prometheus-remote-write", &write, "--json", "-", &server.url()][..]].concat());
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""), "{ended:?}");
    let result: Value = serde_json::from_str(&ended.stdout).expect("it is JSON");
    let value = |query: &str| {
        let shown = get(&format!("/api/v1/query?query={query}")).stdout;
        let json = shown.lines().find_map(|line| line.find('{').map(|at| &line[at..]));
        let json = json.unwrap_or_else(|| panic!("{shown}"));
        let json: Value = serde_json::from_str(json).unwrap_or_else(|error| panic!("{error}: {shown}"));
        let value = json.pointer("/data/result/0/value/1").and_then(Value::as_str).map(str::parse::<f64>);
        value.unwrap_or_else(|| panic!("{query}: {shown}")).expect("it is a number")
    };
    assert_eq!(value("torr_asked_total"), n(&result["asked"]) as f64);
    assert_eq!(value("histogram_count(torr_latency_seconds)"), n(&result["asked"]) as f64);
    assert!(value("count_over_time(torr_asked_total%5B1m%5D)") >= 3.0);
    let p50 = value("histogram_quantile(0.5,torr_latency_seconds)") * 1e6;
    let expected = n(&result["latency_us"]["p50"]) as f64;
    // The buckets are some per cent wide, and Prometheus interpolates within them.
    assert!((p50 / expected - 1.0).abs() < 0.1, "{p50} of {expected}");

    let dashboard = std::fs::read_to_string("../../deploy/grafana/torr.json").expect("it is there");
    let dashboard: Value = serde_json::from_str(&dashboard).expect("it is JSON");
    let panels = dashboard["panels"].as_array().expect("it has panels").iter();
    let queries: Vec<_> = panels.flat_map(|panel| panel["targets"].as_array()).flatten().collect();
    assert!(queries.len() > 8, "{dashboard}");
    for query in queries.iter().filter_map(|target| target["expr"].as_str()) {
        let query = query.replace("$__rate_interval", "1m").replace("$instance", ".*").replace("$target", ".*");
        let encoded: String = query.bytes().map(|byte| format!("%{byte:02X}")).collect();
        let shown = get(&format!("/api/v1/query?query={encoded}")).stdout;
        // A run without errors has none by kind.
        let is_empty = shown.contains(r#""result":[]"#) && !query.ends_with("> 0");
        assert!(shown.contains(r#""status":"success""#) && !is_empty, "{query}: {shown}");
    }
}
