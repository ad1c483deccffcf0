//! How hard and how: pipelining, ramps of connections, warm-up, thinking, and how many requests a connection carries.

use serde_json::Value;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Barrier, Mutex};
use std::time::{Duration, Instant};
use torr_test_support::program::{torr, torr_json};
use torr_test_support::result::{adds_up, count};
use torr_test_support::script::{OK, Script, answering};
use torr_test_support::servers::{Nginx, Serve};

#[test]
fn pipelined_requests_are_answered_in_order_and_none_is_lost() {
    let server = Serve::start(&["--workers", "1"]);
    for (n, c, depth) in [(1000, 3, 7), (1000, 1, 16), (10, 4, 100), (5000, 2, 1)] {
        let (n, c, depth) = (n.to_string(), c.to_string(), depth.to_string());
        let result = torr_json(&["-n", &n, "-c", &c, "-t", "2", "--pipeline", &depth, &server.url("/")]);
        adds_up(&result);
        assert_eq!((count(&result, "/requests").to_string(), count(&result, "/errors/protocol")), (n, 0), "{result}");
    }
}

#[test]
fn a_pipeline_has_the_given_depth() {
    let deepest = std::sync::Arc::new(AtomicUsize::new(0));
    let seen = std::sync::Arc::clone(&deepest);
    // Responds only once so many requests have come as may be in flight, and all at once.
    let server = Script::start(move |client| {
        let mut waiting = 0;
        while client.request().is_some() {
            waiting += 1;
            seen.fetch_max(waiting, Ordering::SeqCst);
            if waiting == 8 {
                client.send(&OK.repeat(std::mem::take(&mut waiting)));
            }
        }
    });
    let result = torr_json(&["-n", "80", "-c", "1", "-t", "1", "--pipeline", "8", "--timeout", "20s", &server.url()]);
    adds_up(&result);
    assert_eq!((count(&result, "/requests"), deepest.load(Ordering::SeqCst)), (80, 8), "{result}");
}

#[test]
fn pipelined_requests_that_a_closing_server_never_saw_go_on_another_connection() {
    // nginx announces the end with the last of 10 responses; the other requests it has not read.
    let server = Nginx::start("keepalive_requests 10; location / { return 200 'hello'; }");
    let result = torr_json(&["-n", "1000", "-c", "2", "-t", "1", "--pipeline", "16", &server.url()]);
    adds_up(&result);
    assert_eq!((count(&result, "/requests"), count(&result, "/errors/read")), (1000, 0), "{result}");
    assert!((100..=110).contains(&count(&result, "/connections/opened")), "{result}");
}

#[test]
fn pipelined_requests_behind_one_that_hangs_time_out_with_it() {
    let server = Script::start(|client| while client.request().is_some() {});
    let result = torr_json(&["-n", "4", "-c", "1", "-t", "1", "--pipeline", "4", "--timeout", "300ms", &server.url()]);
    adds_up(&result);
    assert_eq!(count(&result, "/errors/timeout"), 4, "{result}");
}

#[test]
fn a_connection_carries_as_many_requests_as_it_may() {
    for (each, depth) in [(1, "1"), (10, "1"), (10, "4"), (3, "7")] {
        let server = Script::start(answering(OK));
        let arg = each.to_string();
        let result = torr_json(&[
            "-n",
            "300",
            "-c",
            "3",
            "-t",
            "2",
            "--requests-per-connection",
            &arg,
            "--pipeline",
            depth,
            &server.url(),
        ]);
        adds_up(&result);
        assert_eq!((count(&result, "/requests"), server.requests()), (300, 300), "{each} {depth}: {result}");
        let opened = count(&result, "/connections/opened") as usize;
        // The last ones may be left with fewer.
        assert!((300 / each..=300 / each + 3).contains(&opened), "{each} {depth}: {opened} opened: {result}");
        assert_eq!(server.connections(), opened, "{each} {depth}");
        assert_eq!(count(&result, "/connections/closed_by_server"), 0, "{result}");
    }
}

#[test]
fn what_comes_of_the_warm_up_is_kept_apart() {
    // In the first half second responses have status 503, as a service that is not up yet.
    let start = Instant::now();
    let server = Script::start(move |client| {
        while client.request().is_some() {
            match start.elapsed() < Duration::from_millis(500) {
                true => client.send(b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n"),
                false => client.send(OK),
            }
        }
    });
    for load in [&["-c", "4"][..], &["-r", "500", "-c", "20"], &["-r", "500", "--arrivals", "poisson"]] {
        let is_even = load.contains(&"500") && !load.contains(&"poisson");
        let end = if is_even { ["-n", "500"] } else { ["-d", "1s"] };
        let result = torr_json(&[load, &end, &["--warmup", "2s", "-t", "2", &server.url()]].concat());
        adds_up(&result);
        assert_eq!(count(&result, "/errors/status"), 0, "{load:?}: {result}");
        assert!(count(&result, "/warmup/requests") > 100, "{load:?}: {result}");
        let took = result["duration_s"].as_f64().unwrap();
        assert!(took >= 0.9, "{load:?}: {result}");
        if is_even {
            assert_eq!(count(&result, "/asked"), 500, "{result}");
        }
    }
    let result = torr_json(&["-n", "100", "-c", "4", "-t", "2", "--warmup", "1500ms", &server.url()]);
    adds_up(&result);
    assert_eq!(count(&result, "/requests"), 100, "{result}");
    assert!(count(&result, "/connections/carried") >= 1, "{result}");
}

#[test]
fn throughput_is_what_completes_within_the_time_whenever_it_began() {
    // Each connection's first response takes longer than the warm-up, by more than what a busy machine costs; there is no fourth.
    let server = Script::start(|client| {
        for response in 0..4 {
            if client.request().is_none() {
                return;
            }
            match response {
                // Not synchronisation: this is how long a response takes.
                0 => std::thread::sleep(Duration::from_secs(3)),
                3 => break,
                _ => {}
            }
            client.send(OK);
        }
        client.request();
    });
    let result = torr_json(&["-c", "10", "-t", "1", "--warmup", "1500ms", "-d", "4s", &server.url()]);
    adds_up(&result);
    // Three times ten complete in the time that counts, of which ten began before.
    assert_eq!((count(&result, "/requests"), count(&result, "/unfinished")), (20, 10), "{result}");
    assert_eq!(count(&result, "/warmup/carried"), 10, "{result}");
    let (rps, took) = (result["rps"].as_f64().unwrap(), result["duration_s"].as_f64().unwrap());
    assert!((rps * took - 30.0).abs() < 0.1, "{rps} a second in {took} s are 30 responses: {result}");
    assert_eq!(count(&result, "/bytes/received"), 20 * OK.len() as u64, "{result}");
}

#[test]
fn a_run_that_is_short_beside_a_response_says_how_wrong_its_throughput_may_be() {
    // Each connection has three responses at once, and no fourth before the run ends.
    let cut_off = Script::start(|client| {
        for _ in 0..3 {
            if client.request().is_none() {
                return;
            }
            client.send(OK);
        }
        client.request();
        client.request();
    });
    let slow = Script::start(|client| {
        while client.request().is_some() {
            std::thread::sleep(Duration::from_millis(400));
            client.send(OK);
        }
    });
    let finding = |server: &Script, args: &[&str]| {
        let result = torr_json(&[&["-c", "10", "-t", "1"], args, &[&server.url()]].concat());
        adds_up(&result);
        let findings = result["validity"]["findings"].as_array().expect("it was examined").clone();
        (findings.into_iter().find(|finding| finding["what"] == "unfinished"), result)
    };
    // Ten of forty are cut off: a quarter of the throughput.
    let (unfinished, result) = finding(&cut_off, &["-d", "2s"]);
    let unfinished = unfinished.unwrap_or_else(|| panic!("it is told: {result}"));
    assert_eq!((&unfinished["ok"], &unfinished["value"]), (&false.into(), &0.25.into()), "{unfinished}");
    let (rps, took) = (result["rps"].as_f64().unwrap(), result["duration_s"].as_f64().unwrap());
    assert!((rps * took - 30.0).abs() < 0.1, "30 in {took} s: {result}");
    // With a warm-up as many are in flight at the start as at the end.
    for sound in [&["-d", "2s", "--warmup", "1500ms"][..], &["-n", "20"]] {
        assert_eq!(finding(&slow, sound).0, None, "{sound:?}");
    }
}

#[test]
fn so_many_requests_after_a_warm_up_bring_their_own_bytes_only() {
    let server = Script::start(|client| {
        while client.request().is_some() {
            std::thread::sleep(Duration::from_millis(20));
            client.send(OK);
        }
    });
    for pipeline in ["1", "3"] {
        let args = ["-n", "40", "-c", "4", "-t", "2", "--warmup", "200ms", "--pipeline", pipeline];
        let result = torr_json(&[&args[..], &[&server.url()]].concat());
        adds_up(&result);
        assert_eq!((count(&result, "/requests"), count(&result, "/bytes/body")), (40, 80), "{pipeline}: {result}");
        assert_eq!(count(&result, "/bytes/received"), 40 * OK.len() as u64, "{pipeline}: {result}");
    }
}

#[test]
fn the_series_ends_without_a_sliver() {
    let server = Script::start(answering(OK));
    let lines = |args: &[&str]| -> Vec<Vec<String>> {
        let ended = torr_test_support::program::torr(&[args, &["-q", "--csv", "-", &server.url()]].concat());
        assert_eq!(ended.code, Some(0), "{ended:?}");
        ended.stdout.lines().skip(1).map(|line| line.split(',').map(str::to_owned).collect()).collect()
    };
    let rps = |line: &Vec<String>| line[3].parse::<f64>().ok().filter(|rps| rps.is_finite()).expect("it is a rate");
    let two = lines(&["-c", "4", "-d", "2s"]);
    let ends: Vec<f64> = two.iter().map(|line| line[0].parse().expect("it is a time")).collect();
    // On a busy machine the end may come so late that it is an interval of its own.
    assert!(ends.len() >= 2 && ends.windows(2).all(|pair| pair[1] - pair[0] >= 0.1), "{two:?}");
    assert!(two.iter().all(|line| rps(line) > 0.0), "{two:?}");
    // However short it is.
    let one = lines(&["-c", "1", "-n", "1"]);
    assert_eq!((one.len(), one[0][1].as_str()), (1, "1"), "{one:?}");
    assert!(rps(&one[0]) < 1e6, "{one:?}");
}

#[test]
fn a_ramp_that_falls_keeps_no_connection_that_has_nothing_to_do() {
    let start = Instant::now();
    let longest_idle = std::sync::Arc::new(Mutex::new(Duration::ZERO));
    let seen = std::sync::Arc::clone(&longest_idle);
    let number = AtomicUsize::new(0);
    let server = Script::start(move |client| {
        let number = number.fetch_add(1, Ordering::SeqCst);
        while client.request().is_some() {
            // All at once, every 50 ms; three of four connections end with their response, and do not say so.
            let rest = 50 - start.elapsed().as_millis() as u64 % 50;
            std::thread::sleep(Duration::from_millis(rest));
            client.send(OK);
            if !number.is_multiple_of(4) {
                return;
            }
            let answered = Instant::now();
            let _ = client.stream.peek(&mut [0]);
            let mut longest = seen.lock().expect("nobody panics with it");
            *longest = answered.elapsed().max(*longest);
        }
    });
    let result = torr_json(&["--stages", "0:24c,1s:24c,0:1c,4s:1c", "-t", "1", &server.url()]);
    assert_eq!(count(&result, "/connections/peak"), 24, "{result}");
    let longest = *longest_idle.lock().expect("nobody panics with it");
    assert!(longest < Duration::from_secs(3), "a connection was kept idle for {longest:?}");
    adds_up(&result);
}

#[test]
fn a_run_that_ends_while_warming_up_has_measured_nothing() {
    let server = Script::start(answering(OK));
    let mut command = torr_test_support::program::torr_command(&["--warmup", "60s", "--json", "-", &server.url()]);
    let running = torr_test_support::program::Running::start({
        command.env("NO_COLOR", "1");
        command
    });
    torr_test_support::wait_until("the warm-up to be under way", || (server.requests() > 10).then_some(()));
    running.signal("INT");
    let ended = running.wait();
    assert_eq!(ended.code, Some(130), "{ended:?}");
    let result: Value = serde_json::from_str(&ended.stdout).expect("it is JSON");
    adds_up(&result);
    assert_eq!((count(&result, "/requests"), count(&result, "/asked")), (0, 0), "{result}");
    assert!(count(&result, "/warmup/requests") > 10, "{result}");
}

#[test]
fn think_time_is_between_a_response_and_the_next_request() {
    let gaps = std::sync::Arc::new(Mutex::new(Vec::new()));
    let seen = std::sync::Arc::clone(&gaps);
    let server = Script::start(move |client| {
        let mut answered: Option<Instant> = None;
        while client.request().is_some() {
            if let Some(answered) = answered {
                seen.lock().expect("nobody panics with it").push(answered.elapsed());
            }
            client.send(OK);
            answered = Some(Instant::now());
        }
    });
    let result = torr_json(&["-n", "40", "-c", "4", "-t", "2", "--think", "50ms..80ms", &server.url()]);
    adds_up(&result);
    let gaps = gaps.lock().expect("nobody panics with it");
    assert_eq!(gaps.len(), 36, "{gaps:?}");
    assert!(gaps.iter().all(|gap| *gap >= Duration::from_millis(49)), "{gaps:?}");
    // Thinking is no response time.
    assert!(count(&result, "/latency_us/p50") < 40_000, "{result}");
}

#[test]
fn there_is_think_time_between_requests() {
    let server = Script::start(answering(OK));
    let result = torr_json(&["-n", "20", "-c", "10", "-t", "2", "--think", "1s", &server.url()]);
    adds_up(&result);
    let took = result["duration_s"].as_f64().unwrap();
    assert!(took >= 1.0, "two requests each have one pause between them: {result}");
}

#[test]
fn a_warm_up_whose_requests_are_no_whole_number_is_followed_by_the_run() {
    let server = Serve::start(&["--workers", "1"]);
    for threads in ["1", "2", "3"] {
        // How many are due in a time stands in tests/measured/times.rs.
        let result = torr_json(&["-r", "100", "--warmup", "1.1s", "-n", "50", "-t", threads, &server.url("/")]);
        adds_up(&result);
        assert_eq!(count(&result, "/asked"), 50, "{threads} threads: {result}");
    }
}

#[test]
fn a_request_that_found_no_connection_in_time_is_not_sent_and_counts_as_an_error() {
    let [begun, free] = [(); 2].map(|()| Barrier::new(2)).map(Arc::new);
    let until = (Arc::clone(&begun), Arc::clone(&free));
    // The first request of the only connection waits until the others have waited for too long.
    let server = Script::start(move |client| {
        for number in 0.. {
            if client.request().is_none() {
                return;
            }
            if number == 0 {
                until.0.wait();
                until.1.wait();
            }
            client.send(OK);
        }
    });
    let url = server.url();
    let args = ["-r", "100", "-c", "1", "-t", "1", "-d", "3s", "--patience", "200ms", &url];
    let result = std::thread::scope(|scope| {
        let run = scope.spawn(|| torr_json(&args));
        begun.wait();
        std::thread::sleep(Duration::from_secs(1));
        free.wait();
        run.join().expect("the run has a result")
    });
    adds_up(&result);
    let abandoned = count(&result, "/errors/abandoned");
    assert_eq!(result["plan"]["patience_s"], 0.2, "{result}");
    // Of the second at 100/s, the requests of the last 200 ms are sent all the same.
    assert!(abandoned >= 70, "{result}");
    assert_eq!(count(&result, "/asked"), 300, "what is not sent was due all the same: {result}");
    let sent = 300 - abandoned;
    assert!((sent - count(&result, "/unfinished")..=sent).contains(&(server.requests() as u64)), "{result}");
    assert_eq!(result["causes"][0]["what"], "no connection was available within 200 ms", "{result}");
    assert_eq!(result["error_times"][0]["kind"], "abandoned", "{result}");
    let said = result["verdict"].to_string();
    assert!(said.contains("were not sent") && !said.contains("too many"), "{said}");
}

#[test]
fn sessions_whose_users_are_busy_for_too_long_never_begin() {
    let server = Serve::start(&["--workers", "1"]);
    let folder = tempfile::tempdir().expect("there is room");
    let file = folder.path().join("one.hurl");
    std::fs::write(&file, format!("GET {}/\n[Options]\ndelay: 400ms\nHTTP 200\n", server.url(""))).unwrap();
    let file = file.to_str().expect("the path is text");
    let result = torr_json(&["-r", "100", "-c", "2", "-t", "1", "-d", "2s", "--patience", "100ms", file]);
    adds_up(&result);
    let (abandoned, failed) = (count(&result, "/errors/abandoned"), count(&result, "/sessions/failed"));
    assert!(abandoned == failed && abandoned >= 100, "{result}");
    assert_eq!(count(&result, "/sessions/started"), 200, "{result}");
    assert!(result["verdict"].to_string().contains("the rate was not kept"), "{result}");
}

#[test]
fn mistakes_in_a_load_are_one_line() {
    for (args, word) in [
        (&["--pipeline", "0"][..], "--pipeline"),
        (&["--pipeline", "4", "--no-keepalive"], "--no-keepalive"),
        (&["--requests-per-connection", "0"], "--requests-per-connection"),
        (&["--think", "1s", "-r", "10"], "--think"),
        (&["--think", "1s", "--stages", "1s:10"], "--think"),
        (&["--think", "2s..1s"], "must not end before it starts"),
        (&["--stages", "1s:10c", "--pipeline", "4"], "--pipeline"),
        (&["--stages", "1s:10c,1s:10"], "either all"),
        (&["--stages", "1s:-1c"], "connections"),
        (&["--max-connections", "10"], "--rate"),
        (&["--max-connections", "10", "-c", "5", "-r", "1"], "-c"),
        (&["--max-rate", "0"], "--max-rate"),
        (&["--patience", "1s"], "--rate"),
        (&["--patience", "1s", "--stages", "1s:10c"], "--patience"),
        (&["--max-rate", "10", "-r", "10"], "--max-rate"),
        (&["--max-rate", "10", "--stages", "1s:10"], "--max-rate"),
        (&["--warmup", "soon"], "duration"),
    ] {
        let ended = torr(&[args, &["http://127.0.0.1:1"]].concat());
        assert_eq!(ended.code, Some(2), "{args:?}: {ended:?}");
        assert!(ended.stderr.lines().count() == 1 && ended.stderr.contains(word), "{args:?}: {}", ended.stderr);
    }
}
