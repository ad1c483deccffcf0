//! Whether the whole program tells a run whose figures mean something from one whose figures do not.

use serde_json::Value;
use std::time::{Duration, Instant};
use torr_test_support::alone;
use torr_test_support::measured::measured;
use torr_test_support::program::{torr, torr_json};
use torr_test_support::quiet;
use torr_test_support::script::{OK, Script};
use torr_test_support::servers::Serve;

/// A server whose responses take a number of milliseconds that depends on the seconds since the first request.
fn taking(ms: impl Fn(f64) -> f64 + Send + Sync + 'static) -> Script {
    let begin = std::sync::OnceLock::new();
    Script::start(move |client| {
        while client.request().is_some() {
            let begin: &Instant = begin.get_or_init(Instant::now);
            // Not synchronisation: this is how slow the server is.
            std::thread::sleep(Duration::from_secs_f64(ms(begin.elapsed().as_secs_f64()) / 1e3));
            client.send(OK);
        }
    })
}

fn finding(result: &Value, what: &str) -> Value {
    let findings = result["validity"]["findings"].as_array().unwrap_or_else(|| panic!("nothing examined: {result}"));
    let all_ok = findings.iter().all(|finding| finding["ok"] == true);
    assert_eq!(result["validity"]["ok"], all_ok, "{result}");
    findings.iter().find(|finding| finding["what"] == what).unwrap_or_else(|| panic!("no {what}: {result}")).clone()
}

#[test]
#[ignore = "measured for long: ./test full"]
fn a_server_that_slows_down_is_not_stationary() {
    let _alone = alone();
    measured("a server that slows down is not stationary", || {
        let server = taking(|seconds| 5.0 + 3.0 * seconds);
        let result = torr_json(&["-d", "9s", "-c", "4", "-t", "1", &server.url()]);
        let (throughput, latency) = (finding(&result, "throughput"), finding(&result, "latency"));
        quiet!(throughput["ok"] == false && latency["ok"] == false, "{result}");
        // From 5 to 14 ms in the first third, from 23 to 32 ms in the last.
        let drift = |finding: &Value| finding["value"].as_f64().unwrap_or_else(|| panic!("{finding}"));
        quiet!((-0.8..-0.5).contains(&drift(&throughput)), "{throughput}");
        quiet!((1.0..3.0).contains(&drift(&latency)), "{latency}");
        assert!(
            throughput["note"].as_str().is_some_and(|note| note.starts_with("throughput fell by ")),
            "{throughput}"
        );
        assert!(latency["advice"].is_string(), "{latency}");
    });
}

#[test]
#[ignore = "measured for long: ./test full"]
fn a_server_that_is_always_the_same_is_stationary() {
    let _alone = alone();
    measured("a server that is always the same is stationary", || {
        let server = taking(|_| 10.0);
        let result = torr_json(&["-d", "9s", "-c", "4", "-t", "1", &server.url()]);
        for what in ["throughput", "latency"] {
            let finding = finding(&result, what);
            quiet!(finding["ok"] == true, "{result}");
            assert!(finding["p"].is_number() && finding["advice"].is_null(), "{finding}");
        }
    });
}

#[test]
fn a_generator_that_cannot_keep_its_schedule_says_so_and_does_not_blame_the_server() {
    let _alone = alone();
    measured("a generator that cannot keep its schedule says so and does", || {
        let server = Serve::start(&["--workers", "1"]);
        // Far more than one thread can send, on more connections than it can keep busy.
        let args = ["-r", "1M", "-d", "2s", "-c", "1000", "-t", "1", "-q"];
        let ended = torr(&[&args[..], &[&server.url("/")]].concat());
        assert_eq!(ended.code, Some(0), "{ended:?}");
        let cautions: Vec<_> = ended.stdout.lines().filter(|line| line.trim_start().starts_with("caution ")).collect();
        assert!(cautions.iter().any(|line| line.contains("include Torr's own delays")), "{}", ended.stdout);
    });
}

#[test]
fn an_open_loop_tells_its_lag_and_its_rate() {
    let _alone = alone();
    measured("an open loop tells its lag and its rate", || {
        let server = taking(|_| 5.0);
        let result = torr_json(&["-r", "400", "-d", "2s", "-c", "50", "-t", "1", &server.url()]);
        let (lag, rate) = (finding(&result, "send-lag"), finding(&result, "rate"));
        assert_eq!(lag["value"].as_f64(), result["generator"]["send_lag_p99_us"].as_f64(), "{result}");
        let missed = rate["value"].as_f64().unwrap_or_else(|| panic!("{rate}"));
        quiet!(missed.abs() <= 0.001 && rate["ok"] == true, "{result}");
        // If the service is overloaded, clocks run, and the rate is not the generator's fault.
        let short = torr_json(&["-r", "1000", "-d", "1s", "-c", "2", "-t", "1", &server.url()]);
        let rate = finding(&short, "rate");
        let missed = rate["value"].as_f64().unwrap_or_else(|| panic!("{rate}"));
        quiet!((-0.9..-0.5).contains(&missed), "two connections of 5 ms each send at most 400 a second: {short}");
        // Unless the generator was late itself, which the finding about its lag says then.
        let is_late = finding(&short, "send-lag")["ok"] == false;
        assert!(is_late || rate["note"].as_str().is_some_and(|note| note.contains("waiting for responses")), "{short}");
    });
}

#[test]
fn what_was_not_measured_is_named() {
    let _alone = alone();
    measured("what was not measured is named", || {
        let server = taking(|_| 0.0);
        let ended = torr(&["-n", "100", "-c", "4", "-q", &server.url()]);
        let line = ended
            .stdout
            .lines()
            .find(|line| line.contains("100 response times"))
            .unwrap_or_else(|| panic!("{ended:?}"));
        assert!(line.contains("too few for p99, p99.9, p99.99") && line.contains("run longer"), "{line}");
        let result = torr_json(&["-n", "1000", "-c", "4", &server.url()]);
        assert_eq!(finding(&result, "samples")["ok"], true, "{result}");
        assert!(result["latency_us"]["p99_9"].is_null(), "{result}");
    });
}
