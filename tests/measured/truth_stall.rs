//! A real server that stops, for a while or for good, as every server does one day: the figures say so, and say when.

use serde_json::Value;
use std::time::Duration;
use torr_test_support::alone;
use torr_test_support::measured::measured;
use torr_test_support::program::{Running, signal, torr_command};
use torr_test_support::quiet;
use torr_test_support::servers::Serve;

fn count(result: &Value, pointer: &str) -> u64 {
    result.pointer(pointer).and_then(Value::as_u64).unwrap_or_else(|| panic!("no {pointer} in {result}"))
}

/// Runs `torr`, and meanwhile stops the server after `before`, and lets it go on after `frozen`, if ever.
fn press(server: &Serve, args: &[&str], before: Duration, frozen: Option<Duration>) -> Value {
    let url = server.url("/");
    let run = Running::start(torr_command(&[args, &["--json", "-", &url]].concat()));
    // Not synchronisation, here and below: these are the times of what is to be measured.
    std::thread::sleep(before);
    signal(server.pid(), "STOP");
    if let Some(frozen) = frozen {
        std::thread::sleep(frozen);
        signal(server.pid(), "CONT");
    }
    let ended = run.wait();
    assert_eq!(ended.code, Some(0), "{ended:?}");
    serde_json::from_str(&ended.stdout).unwrap_or_else(|error| panic!("{error}: {ended:?}"))
}

fn points(result: &Value) -> Vec<Value> {
    result["series"].as_array().cloned().unwrap_or_else(|| panic!("no series in {result}"))
}

#[test]
#[ignore = "measured for long: ./test full"]
fn a_second_of_silence_shows_in_the_percentiles_the_longest_and_the_series() {
    let _alone = alone();
    measured("a second of silence shows in the percentiles the longest", || {
        let server = Serve::start(&["--workers", "1"]);
        let (before, frozen) = (Duration::from_millis(4200), Duration::from_secs(1));
        // Half of all requests of that second find a connection open, all others open one or wait.
        let args = ["-r", "500", "-d", "10s", "-c", "250", "-t", "1"];
        let result = press(&server, &args, before, Some(frozen));
        assert_eq!((count(&result, "/asked"), count(&result, "/errors/timeout")), (5000, 0), "{result}");
        // A tenth of all requests were due in that second, a tenth of those in its first tenth.
        let (p99, max) = (count(&result, "/latency_us/p99"), count(&result, "/latency_us/max"));
        quiet!((800_000..1_500_000).contains(&p99), "p99 {p99} us: {result}");
        assert!(max >= 950_000, "max {max} us: {result}");
        quiet!(max < 2_500_000, "max {max} us: {result}");
        quiet!(count(&result, "/latency_us/p50") < 100_000, "half of the requests saw nothing of it: {result}");
        let points = points(&result);
        let slow: Vec<f64> =
            points.iter().filter(|p| p["p99"].as_u64() > Some(500_000)).filter_map(|p| p["t"].as_f64()).collect();
        // Requests from 4.2 s to 5.2 s had responses from 5.2 s on: in the interval that ends at 6 s.
        quiet!(!slow.is_empty() && slow.iter().all(|t| (5.0..=7.0).contains(t)), "slow at {slow:?}: {result}");
        let fewest = points.iter().take(10).min_by_key(|point| point["requests"].as_u64()).expect("there are ten");
        quiet!(fewest["t"] == 5.0, "no answers came from 4.2 s on: {result}");
    });
}

#[test]
#[ignore = "measured for long: ./test full"]
fn a_server_that_hangs_for_good_is_timed_out_all_the_while() {
    let _alone = alone();
    measured("a server that hangs for good is timed out all the while", || {
        let server = Serve::start(&["--workers", "1"]);
        let args = ["-d", "6s", "-c", "8", "-t", "2", "--timeout", "500ms"];
        let result = press(&server, &args, Duration::from_millis(1500), None);
        quiet!(count(&result, "/requests") > 100, "it answered at first: {result}");
        let timeouts = count(&result, "/errors/timeout");
        let points = points(&result);
        let errors: Vec<u64> = points.iter().map(|point| count(point, "/errors")).collect();
        let end = points[5]["t"].as_f64().expect("it is a number");
        quiet!(errors[0] == 0 && (6.0..6.1).contains(&end) && points.len() == 6, "nothing failed before: {result}");
        // From 2 s to 6 s, each second two rounds of eight, less the waits before a connection is tried again.
        quiet!(errors[2..6].iter().all(|n| (4..=24).contains(n)), "time-outs in each second: {errors:?}: {result}");
        assert_eq!(errors.iter().sum::<u64>(), timeouts, "the series has them all: {result}");
        assert!(count(&result, "/latency_us/max") >= 500_000, "{result}");
    });
}
