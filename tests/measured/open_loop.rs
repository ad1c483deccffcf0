//! Requests on schedule, whatever the server does.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;
use torr_test_support::measured::measured;
use torr_test_support::program::{torr, torr_json};
use torr_test_support::quiet;
use torr_test_support::result::count;
use torr_test_support::script::{OK, Script, answering};
use torr_test_support::servers::Serve;
use torr_test_support::{alone, beside};

#[test]
fn the_offered_rate_is_the_rate_that_is_sent() {
    let _alone = alone();
    measured("the offered rate is the rate that is sent", || {
        let server = Serve::start(&["--workers", "1"]);
        for (rate, threads) in [("500", "1"), ("2000", "2"), ("333.3", "3")] {
            let result = torr_json(&["-r", rate, "-d", "1s", "-c", "50", "-t", threads, &server.url("/")]);
            let expected = (rate.parse::<f64>().expect("it is a number")).ceil() as u64;
            assert_eq!(count(&result, "/asked"), expected, "{rate}/s on {threads} threads: {result}");
            // The last one may be on its way when the time is up.
            quiet!(count(&result, "/requests") >= expected - 5, "{result}");
            assert_eq!(result["plan"]["rate"], rate.parse::<f64>().unwrap(), "{result}");
            assert!(result["generator"]["send_lag_p99_us"].is_u64(), "{result}");
        }
    });
}

#[test]
fn so_many_requests_on_schedule_and_no_more() {
    let _alone = alone();
    measured("so many requests on schedule and no more", || {
        let server = Script::start(answering(OK));
        let result = torr_json(&["-r", "1000", "-n", "250", "-c", "10", "-t", "2", &server.url()]);
        assert_eq!((count(&result, "/requests"), server.requests()), (250, 250), "{result}");
        let took = result["duration_s"].as_f64().unwrap();
        assert!(took >= 0.24, "250 requests at 1,000/s took {took} s");
        quiet!(took < 1.0, "250 requests at 1,000/s took {took} s");
    });
}

#[test]
fn ramps_send_what_their_lines_enclose() {
    let _alone = alone();
    measured("ramps send what their lines enclose", || {
        let server = Script::start(answering(OK));
        for arrivals in ["constant", "poisson"] {
            let result = torr_json(&[
                "--stages",
                "500ms:400,500ms:400,500ms:0",
                "--arrivals",
                arrivals,
                "-c",
                "20",
                &server.url(),
            ]);
            let sent = count(&result, "/asked") as f64;
            let slack = if arrivals == "constant" { 1.0 } else { 5.0 * 400_f64.sqrt() };
            assert!((sent - 400.0).abs() <= slack, "{arrivals}: {result}");
            let took = result["duration_s"].as_f64().unwrap();
            quiet!((1.2..1.9).contains(&took), "{arrivals}: {result}");
        }
    });
}

#[test]
#[ignore = "measured for long: ./test full"]
fn few_connections_do_where_few_are_needed() {
    let _alone = alone();
    measured("few connections do where few are needed", || {
        let server = Serve::start(&["--workers", "1"]);
        let result = torr_json(&["-r", "20", "-d", "2s", "-c", "100", "-t", "1", &server.url("/")]);
        let opened = count(&result, "/connections/opened");
        quiet!(opened <= 10, "one at a time would do: {result}");
    });
}

#[test]
#[ignore = "measured for long: ./test full"]
fn a_connection_that_ends_after_its_use_is_not_preferred_to_one_that_idles() {
    let _alone = alone();
    measured("a connection that ends after its use is not preferred to", || {
        let carried = std::sync::Arc::new(AtomicUsize::new(0));
        let (number, counted) = (AtomicUsize::new(0), std::sync::Arc::clone(&carried));
        let server = Script::start(move |client| {
            // The first connection takes 60 ms for a response. All others take 30 ms, and end with it: while the first idles.
            let is_first = number.fetch_add(1, Ordering::SeqCst) == 0;
            while client.request().is_some() {
                std::thread::sleep(Duration::from_millis(if is_first { 60 } else { 30 }));
                client.send(OK);
                if !is_first {
                    return;
                }
                counted.fetch_add(1, Ordering::SeqCst);
            }
        });
        // A request every 40 ms: each other one finds the first connection free.
        let result = torr_json(&["-r", "25", "-d", "2s", "-c", "8", "-t", "1", &server.url()]);
        let carried = carried.load(Ordering::SeqCst);
        quiet!(carried > 10, "the connection that was kept carried {carried} requests: {result}");
    });
}

#[test]
#[ignore = "measured for long: ./test full"]
fn the_slots_of_a_connection_that_failed_wait_with_it() {
    let _alone = alone();
    measured("the slots of a connection that failed wait with it", || {
        let server = Script::start(|client| drop(client.request()));
        let args = ["-r", "100", "-d", "2s", "-c", "1", "-t", "1", "--pipeline", "16"];
        let result = torr_json(&[&args[..], &[&server.url()]].concat());
        let opened = count(&result, "/connections/opened");
        // After each failure in a row the connection is opened again after a longer while: 0, 10, 20, 40 ... 500 ms.
        assert!(opened <= 20, "{opened} connections in two seconds: {result}");
        quiet!(opened >= 2, "{opened} connections in two seconds: {result}");
    });
}

#[test]
fn a_stall_is_in_the_latency_of_all_requests_that_were_due_meanwhile() {
    let _alone = alone();
    measured("a stall is in the latency of all requests that were due", || {
        const STALL: Duration = Duration::from_secs(1);
        let stalled = AtomicBool::new(false);
        let server = Script::start(move |client| {
            let mut n = 0;
            while client.request().is_some() {
                n += 1;
                if n == 100 && !stalled.swap(true, Ordering::SeqCst) {
                    // Not synchronisation: this is the stall that is to be measured.
                    std::thread::sleep(STALL);
                }
                client.send(OK);
            }
        });
        // On one connection: what is due during the stall has to wait for it.
        let result = torr_json(&["-r", "200", "-d", "4s", "-c", "1", "-t", "1", &server.url()]);
        assert_eq!(count(&result, "/asked"), 800, "{result}");
        assert!(count(&result, "/latency_us/max") >= 1_000_000, "{result}");
        // 200 of 800 requests were due while it stalled, and waited half a second on average.
        let p90 = count(&result, "/latency_us/p90");
        quiet!((300_000..1_100_000).contains(&p90), "p90 of {p90} us: {result}");
        quiet!(count(&result, "/latency_us/p50") < 100_000, "{result}");
        let lag = count(&result, "/generator/send_lag_p99_us");
        quiet!(lag < 500_000, "the wait for the server is not the generator's lag: {result}");
    });
}

#[test]
fn what_was_due_but_never_had_a_connection_is_unfinished_at_its_age() {
    let _alone = alone();
    measured("what was due but never had a connection is unfinished at", || {
        let server = Script::start(|client| while client.request().is_some() {});
        let result = torr_json(&["-r", "100", "-d", "2s", "-c", "2", "-t", "1", &server.url()]);
        assert_eq!((count(&result, "/asked"), count(&result, "/unfinished")), (200, 200), "{result}");
        let p50 = count(&result, "/latency_us/p50");
        quiet!((900_000..1_200_000).contains(&p50), "ages spread evenly over two seconds: {result}");
    });
}

#[test]
#[ignore = "measured for long: ./test full"]
fn a_rate_that_was_kept_has_no_limit_with_any_flag() {
    let _alone = alone();
    measured("a rate that was kept has no limit with any flag", || {
        let server = Serve::start(&["--workers", "1"]);
        let sent: [(&[&str], &str); 7] = [
            (&["-r", "100", "-d", "1s"], "/"),
            (&["-r", "1000", "-d", "1s", "--fail-if", "p99>10s"], "/"),
            (&["-r", "1000", "-n", "500"], "/"),
            (&["-r", "100", "-d", "1s"], "/sleep/5"),
            (&["-r", "200", "-d", "1s", "--arrivals", "poisson"], "/"),
            (&["--stages", "500ms:500,500ms:500"], "/"),
            (&["--max-rate", "500", "-d", "1s"], "/"),
        ];
        for (args, path) in sent {
            let result = torr_json(&[args, &["-c", "50", "-t", "1", &server.url(path)]].concat());
            quiet!(result["verdict"]["factor"] == "none", "{args:?} {path}: {result}");
            let summary = result["verdict"]["summary"].as_str().expect("a verdict has a summary");
            quiet!(summary.contains("kept"), "{args:?}: {summary}");
            quiet!(
                result["verdict"]["advice"][0].as_str().is_some_and(|advice| advice.contains("torr limit")),
                "{result}"
            );
        }
        let wrk = torr(&["wrk", "-t1", "-c10", "-d1s", "-R500", &server.url("/")]);
        quiet!(wrk.stderr.contains("kept your rate") && !wrk.stderr.contains("limited by"), "{wrk:?}");
    });
}

#[test]
fn a_rate_that_was_not_kept_has_a_limit_or_an_unknown_one() {
    let _alone = alone();
    measured("a rate that was not kept has a limit or an unknown one", || {
        // A request at a time, 5 ms each: 200 of the 1,000 that are due each second.
        let lock = Mutex::new(());
        let server = Script::start(move |client| {
            while client.request().is_some() {
                let held = lock.lock().expect("nobody panics with it");
                std::thread::sleep(Duration::from_millis(5));
                drop(held);
                client.send(OK);
            }
        });
        for args in [["-r", "1000", "-d", "1s"], ["-r", "1000", "-n", "500"]] {
            let result = torr_json(&[&args[..], &["-c", "20", "-t", "1", &server.url()]].concat());
            assert_ne!(result["verdict"]["factor"], "none", "{args:?}: {result}");
        }
    });
}

#[test]
fn mistakes_in_a_schedule_are_one_line() {
    let _beside = beside();
    for (args, word) in [
        (&["-r", "0"][..], "rate"),
        (&["-r", "fast"], "20k"),
        (&["-r", "10", "--stages", "1s:1"], "--stages"),
        (&["--stages", "10s"], "10s:100"),
        (&["--stages", "1s:0"], "at least one stage"),
        (&["--stages", "x:1"], "duration"),
        (&["--arrivals", "poisson"], "--rate"),
        (&["-r", "1", "--arrivals", "bursts"], "poisson"),
    ] {
        let ended = torr(&[args, &["http://127.0.0.1:1"]].concat());
        assert_eq!(ended.code, Some(2), "{args:?}: {ended:?}");
        assert!(ended.stderr.lines().count() == 1 && ended.stderr.contains(word), "{args:?}: {}", ended.stderr);
    }
}
