//! Counts add up, times are honest, and a run can be interrupted.

use serde_json::Value;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use torr_test_support::program::{Running, torr, torr_command, torr_json};
use torr_test_support::result::{adds_up, count};
use torr_test_support::script::{OK, Script, answering};
use torr_test_support::wait_until;

#[test]
fn exactly_n_requests_on_exactly_c_connections() {
    for (n, c, t) in [(1000, 10, 3), (7, 7, 2), (5, 10, 4), (1, 1, 1), (999, 64, 2)] {
        let server = Script::start(answering(OK));
        let args = ["-n", &n.to_string(), "-c", &c.to_string(), "-t", &t.to_string(), &server.url()];
        let result = torr_json(&args);
        adds_up(&result);
        assert_eq!(result["requests"], n, "{args:?}: {result}");
        assert_eq!(server.requests(), n, "{args:?}");
        // No more connections than there are requests for.
        assert_eq!(server.connections(), c.min(n), "{args:?}");
        assert_eq!(result["connections"]["opened"], c.min(n), "{args:?}: {result}");
    }
}

#[test]
fn without_keep_alive_each_request_has_its_connection() {
    let server = Script::start(answering(OK));
    let result = torr_json(&["-n", "200", "-c", "5", "-t", "2", "--no-keepalive", &server.url()]);
    adds_up(&result);
    assert_eq!((server.connections(), server.requests()), (200, 200));
    assert_eq!(result["connections"]["opened"], 200, "{result}");
    assert_eq!(result["connections"]["requests_per_connection"], 1.0, "{result}");
    let first = String::from_utf8(server.seen.first.lock().unwrap().clone()).unwrap();
    assert!(first.contains("\r\nConnection: close\r\n"), "{first}");
}

#[test]
fn a_server_that_fails_now_and_then_loses_no_request() {
    let turn = AtomicUsize::new(0);
    let server = Script::start(move |client| {
        while client.request().is_some() {
            match turn.fetch_add(1, Ordering::SeqCst) % 7 {
                3 => return,
                5 => return client.send(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf"),
                6 => client.send(b"HTTP/1.1 500 Oops\r\nContent-Length: 0\r\n\r\n"),
                _ => client.send(OK),
            }
        }
    });
    let result = torr_json(&["-n", "700", "-c", "8", "-t", "2", &server.url()]);
    adds_up(&result);
    assert_eq!((&result["asked"], server.requests()), (&700.into(), 700), "{result}");
    assert_eq!((&result["errors"]["read"], &result["errors"]["status"]), (&200.into(), &100.into()), "{result}");
}

#[test]
fn a_hung_server_shows_time_outs_while_it_hangs() {
    let server = Script::start(|client| while client.request().is_some() {});
    let result = torr_json(&["-n", "12", "-c", "4", "-t", "2", "--timeout", "400ms", &server.url()]);
    adds_up(&result);
    assert_eq!((&result["requests"], &result["errors"]["timeout"]), (&0.into(), &12.into()), "{result}");
    let least = result["latency_us"]["min"].as_u64().unwrap();
    let most = result["latency_us"]["max"].as_u64().unwrap();
    assert!(most >= 400_000, "a time-out is in the histogram at its age: {result}");
    assert!(least <= most, "{result}");
    assert_eq!(result["verdict"]["factor"], "errors", "{result}");
}

#[test]
fn what_is_unfinished_at_the_end_is_in_the_histogram_at_its_age() {
    let server = Script::start(|client| while client.request().is_some() {});
    let result = torr_json(&["-d", "2s", "-c", "3", &server.url()]);
    adds_up(&result);
    assert_eq!((&result["requests"], &result["unfinished"]), (&0.into(), &3.into()), "{result}");
    let age = result["latency_us"]["min"].as_u64().unwrap();
    // How near to the length of the run stands in tests/measured/times.rs.
    assert!((500_000..=5_000_000).contains(&age), "the requests were sent at the start: {result}");
}

#[test]
fn a_run_of_a_given_time_takes_that_time() {
    let server = Script::start(answering(OK));
    let result = torr_json(&["-d", "2s", "-c", "2", "-t", "1", &server.url()]);
    adds_up(&result);
    let took = result["duration_s"].as_f64().unwrap();
    // How much longer it may take stands in tests/measured/times.rs.
    assert!(took >= 2.0, "{result}");
    let points = result["series"].as_array().unwrap();
    assert_eq!(points.len(), (took - 0.1).ceil() as usize, "a point a second: {result}");
    let end = points.last().unwrap()["t"].as_f64().unwrap();
    assert!((end - took).abs() < 0.01, "the last point ends with the run: {result}");
    let (rps, requests) = (result["rps"].as_f64().unwrap(), result["requests"].as_f64().unwrap());
    assert!((rps - requests / took).abs() < 1.0, "{result}");
}

#[test]
fn an_open_loop_goes_on_after_its_last_request_until_its_time_is_up() {
    let server = Script::start(answering(OK));
    // A busy machine has more than a second for the last request.
    for (rate, requests) in [("0.1", 1), ("0.6", 2)] {
        let result = torr_json(&["-d", "3s", "-r", rate, &server.url()]);
        adds_up(&result);
        let took = result["duration_s"].as_f64().unwrap();
        assert!(took >= 3.0 && result["requests"] == requests, "{result}");
        let rps = result["rps"].as_f64().unwrap();
        assert!((rps - f64::from(requests) / took).abs() < 0.01, "{result}");
    }
}

#[test]
fn no_request_begins_once_the_time_is_up() {
    let server = Script::start(answering(OK));
    let result = torr_json(&["-d", "2s", "-c", "50", "-t", "1", &server.url()]);
    adds_up(&result);
    let counts = result["latency_histogram"].as_str().expect("there were responses").split(' ');
    let counts =
        counts.filter_map(|word| word.split_once(':')).map(|(us, n)| (us.parse().unwrap(), n.parse().unwrap()));
    let at_no_age: u64 = counts.filter(|(us, _): &(u64, u64)| *us <= 2).map(|(_, n)| n).sum();
    // Fifty requests are in flight at the end, each at some moment of the milliseconds that its response takes.
    assert!(at_no_age <= 3, "{result}");
}

#[test]
fn time_and_number_together_end_with_whichever_comes_first() {
    let server = Script::start(answering(OK));
    let few = torr_json(&["-d", "60s", "-n", "50", "-c", "2", &server.url()]);
    assert_eq!(few["requests"], 50, "{few}");
    let slow = Script::start(|client| while client.request().is_some() {});
    let short = torr_json(&["-d", "2s", "-n", "50", "-c", "2", &slow.url()]);
    assert_eq!(short["unfinished"], 2, "{short}");
}

#[test]
fn errors_have_their_times_and_the_first_failed_response_is_shown() {
    const HEAD: &[u8] =
        b"HTTP/1.1 503 Not now\r\nRetry-After: 3\r\nSet-Cookie: id=secret\r\nContent-Length: 13\r\n\r\n";
    let server = |together: bool| {
        let (turn, begun) = (AtomicUsize::new(0), Mutex::new(None));
        let first_failure = Arc::new(Mutex::new(None));
        let seen = Arc::clone(&first_failure);
        let script = Script::start(move |client| {
            while client.request().is_some() {
                let begun = *begun.lock().expect("nobody panics with it").get_or_insert_with(Instant::now);
                let is_failure = (400..440).contains(&turn.fetch_add(1, Ordering::SeqCst));
                if is_failure {
                    seen.lock().expect("nobody panics with it").get_or_insert(begun.elapsed().as_secs_f64());
                }
                match is_failure {
                    true if together => client.send(&[HEAD, b"full\x1b[2Jhouse"].concat()),
                    true => {
                        client.send(HEAD);
                        std::thread::sleep(Duration::from_millis(1));
                        client.send(b"full\x1b[2J");
                        client.send(b"house");
                    }
                    false => client.send(OK),
                }
                std::thread::sleep(Duration::from_millis(5));
            }
        });
        (script, first_failure)
    };
    // The warm-up has 160 requests at most.
    for (together, warmup) in [(true, &[][..]), (false, &[]), (true, &["--warmup", "200ms"])] {
        let (server, first_failure) = server(together);
        let url = server.url();
        let result = torr_json(&[warmup, &["-c", "4", "-t", "2", "-n", "600", &url]].concat());
        adds_up(&result);
        let times = result["error_times"].as_array().expect("it is a list");
        let (first, last) = (times[0]["first_s"].as_f64().unwrap(), times[0]["last_s"].as_f64().unwrap());
        assert_eq!((times.len(), &times[0]["kind"], count(&times[0], "/status")), (1, &"status".into(), 503));
        assert_eq!(count(&times[0], "/count"), 40, "{times:?}");
        // How near the times are stands in tests/measured/times.rs. The run's clock begins before the server's.
        let at_server = first_failure.lock().expect("nobody panics with it").expect("there were failures");
        let begins = if warmup.is_empty() { at_server } else { at_server - 0.2 };
        let took = result["duration_s"].as_f64().unwrap();
        assert!(begins - 0.01 <= first && first <= last && last <= took + 0.01, "{begins}: {times:?}");
        let sample = &result["failed_response"];
        assert_eq!(
            (&sample["status_line"], &sample["content"]),
            (&"HTTP/1.1 503 Not now".into(), &"full\u{1b}[2Jhouse".into())
        );
        assert_eq!(sample["fields"].as_array().map(Vec::len), Some(2), "no cookies: {sample}");
        let at = sample["at_s"].as_f64().unwrap();
        assert!((begins - 0.01..=took + 0.01).contains(&at), "{sample} {times:?}");
    }
    let (server, _) = server(false);
    let report = torr(&["-c", "4", "-n", "600", &server.url()]).stdout;
    let shown: Vec<_> = report
        .lines()
        .skip_while(|line| !line.trim_start().starts_with("errors "))
        .skip(1)
        .take(4)
        .map(str::trim)
        .collect();
    assert!(shown[0].starts_with("503 from ") && shown[0].contains(" to "), "{report}");
    assert_eq!(shown[1..], ["such as HTTP/1.1 503 Not now", "Retry-After: 3", "full\\u{1b}[2Jhouse"], "{report}");
}

#[test]
fn a_failed_response_is_shown_after_any_redirect_and_with_any_end() {
    let server = Script::start(|client| {
        while let Some(request) = client.request() {
            if !request.starts_with(b"GET /lost ") {
                client.send(b"HTTP/1.1 302 Found\r\nLocation: /lost\r\nContent-Length: 0\r\n\r\n");
                continue;
            }
            // Its content ends with the connection.
            client.send(b"HTTP/1.0 404 Gone\r\n\r\nno ");
            return client.send(b"such page");
        }
    });
    let result = torr_json(&["-n", "4", "-c", "1", "--follow", &server.url()]);
    adds_up(&result);
    let sample = &result["failed_response"];
    assert_eq!((&sample["status_line"], &sample["content"]), (&"HTTP/1.0 404 Gone".into(), &"no such page".into()));
}

#[test]
fn an_interrupted_run_reports_what_it_measured() {
    for signal in ["INT", "TERM"] {
        let server = Script::start(answering(OK));
        let run = Running::start(torr_command(&["-d", "100s", "-c", "2", "--json", "-", &server.url()]));
        wait_until("requests to arrive", || (server.requests() > 100).then_some(()));
        run.signal(signal);
        let ended = run.wait();
        assert_eq!(ended.code, Some(130), "{signal}: {ended:?}");
        let result: Value = serde_json::from_str(&ended.stdout).unwrap_or_else(|error| panic!("{error}: {ended:?}"));
        adds_up(&result);
        assert_eq!(result["interrupted"], true, "{result}");
        assert!(result["requests"].as_u64() > Some(50), "{result}");
    }
}

#[test]
fn the_result_has_every_field_of_its_schema() {
    let server = Script::start(answering(OK));
    let result = torr_json(&["-n", "2000", "-c", "4", &server.url()]);
    assert_eq!(result["schema"], "torr.run/1");
    for field in [
        "/target",
        "/plan/connections",
        "/plan/threads",
        "/plan/requests",
        "/plan/keep_alive",
        "/plan/protocol",
        "/started_at",
        "/requests",
        "/rps",
        "/duration_s",
        "/status/200",
        "/bytes/sent",
        "/bytes/received",
        "/bytes/body",
        "/errors/connect",
        "/errors/tls",
        "/errors/timeout",
        "/errors/read",
        "/errors/write",
        "/errors/protocol",
        "/errors/status",
        "/errors/ports",
        "/unfinished",
        "/latency_us/min",
        "/latency_us/mean",
        "/latency_us/stddev",
        "/latency_us/p50",
        "/latency_us/p75",
        "/latency_us/p90",
        "/latency_us/p95",
        "/latency_us/p99",
        "/latency_us/max",
        "/phases_us/connect/min",
        "/phases_us/first_byte/p50",
        "/connections/opened",
        "/connections/peak",
        "/connections/closed_by_server",
        "/connections/requests_per_connection",
        "/series/0/t",
        "/series/0/requests",
        "/series/0/errors",
        "/series/0/p50",
        "/series/0/p99",
        "/generator/cpu_us_per_request",
        "/generator/cpu_share",
        "/generator/saturated",
        "/verdict/factor",
        "/verdict/confidence",
        "/verdict/because",
        "/verdict/advice",
    ] {
        assert!(result.pointer(field).is_some_and(|value| !value.is_null()), "no {field} in {result}");
    }
}
