//! Runs take the time that they were given, and no longer.

use serde_json::Value;
use std::sync::Mutex;
use std::time::{Duration, Instant};
use torr_test_support::alone;
use torr_test_support::measured::measured;
use torr_test_support::program::torr_json;
use torr_test_support::quiet;
use torr_test_support::result::{adds_up, count};
use torr_test_support::script::{OK, Script, answering};

#[test]
fn runs_take_no_longer_than_they_were_given() {
    let _alone = alone();
    let server = Script::start(answering(OK));
    let silent = Script::start(|client| while client.request().is_some() {});
    let (url, silent) = (server.url(), silent.url());
    for (args, least, most) in [
        (&["-d", "2s", "-c", "2", "-t", "1"][..], 2.0, 2.5),
        (&["-d", "1400ms", "-r", "0.1"], 1.4, 1.9),
        (&["-d", "1400ms", "-r", "2"], 1.4, 1.9),
        (&["-c", "4", "--warmup", "1s", "-d", "1s", "-t", "2"], 0.9, 1.5),
        (&["-r", "500", "-c", "20", "--warmup", "1s", "-d", "1s", "-t", "2"], 0.9, 1.5),
        // Two requests each have one pause between them, and none behind.
        (&["-n", "20", "-c", "10", "-t", "2", "--think", "1s"], 1.0, 1.8),
    ] {
        measured(&args.join(" "), || {
            let result = torr_json(&[args, &[&url]].concat());
            let took = result["duration_s"].as_f64().expect("it is a number");
            assert!(took >= least, "{args:?}: {took} s: {result}");
            quiet!(took < most, "{args:?}: {took} s");
        });
    }
    measured("the age of unfinished requests", || {
        let result = torr_json(&["-d", "1s", "-c", "3", &silent]);
        let age = result["latency_us"]["min"].as_u64().expect("it is a number");
        quiet!((900_000..=1_300_000).contains(&age), "{age} us: {result}");
    });
}

#[test]
fn connections_become_more_and_fewer() {
    let _alone = alone();
    let server = Script::start(answering(OK));
    measured("a ramp of connections", || {
        let result = torr_json(&["--stages", "1s:20c,1s:20c,1s:0c", "--think", "5ms", "-t", "2", &server.url()]);
        adds_up(&result);
        assert_eq!(count(&result, "/connections/peak"), 20, "{result}");
        let in_second = |n: usize| result["series"][n]["requests"].as_u64().unwrap_or_else(|| panic!("{result}"));
        // Half as many in the ramps as between them, on average.
        for ramp in [0, 2] {
            let share = in_second(ramp) as f64 / in_second(1) as f64;
            quiet!((0.3..0.75).contains(&share), "second {ramp}: {share} of the second between: {result}");
        }
    });
}

#[test]
fn a_warm_up_whose_requests_are_no_whole_number_is_followed_by_all_that_are_due() {
    let _alone = alone();
    let server = Script::start(answering(OK));
    for threads in ["1", "2", "3"] {
        measured("requests due after a warm-up", || {
            let result = torr_json(&["-r", "100", "--warmup", "1.1s", "-d", "500ms", "-t", threads, &server.url()]);
            adds_up(&result);
            assert!(count(&result, "/asked") <= 50, "{threads} threads: {result}");
            quiet!(count(&result, "/asked") == 50, "{threads} threads: {result}");
        });
    }
}

#[test]
fn errors_have_the_times_of_the_server() {
    let _alone = alone();
    for (warmup, begins) in [(&[][..], 0.5), (&["--warmup", "200ms"], 0.3)] {
        measured("the times of errors", || {
            let first = Mutex::new(None);
            let server = Script::start(move |client| {
                while client.request().is_some() {
                    let begun = *first.lock().expect("nobody panics with it").get_or_insert_with(Instant::now);
                    match begun.elapsed().as_millis() {
                        500..800 => client.send(b"HTTP/1.1 503 Not now\r\nContent-Length: 0\r\n\r\n"),
                        _ => client.send(OK),
                    }
                    std::thread::sleep(Duration::from_millis(5));
                }
            });
            let result = torr_json(&[warmup, &["-c", "4", "-t", "2", "-d", "1s", &server.url()]].concat());
            adds_up(&result);
            let time = |of: &str| result.pointer(of).and_then(Value::as_f64);
            let times = [time("/error_times/0/first_s"), time("/error_times/0/last_s"), time("/failed_response/at_s")];
            let is_near = matches!(times, [Some(first), Some(last), Some(at)]
                if (begins..begins + 0.2).contains(&first)
                    && (begins + 0.1..begins + 0.5).contains(&last)
                    && (at - first).abs() < 0.02);
            quiet!(is_near, "{warmup:?}: {times:?}: {result}");
        });
    }
}
