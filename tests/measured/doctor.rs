//! `torr doctor` names planted faults with evidence, and examines public services only with the flag. The clinic has many
//! more patients, and judges its verdicts; these are few and quick.

use serde_json::Value;
use socket2::{Domain, Socket, Type};
use std::net::SocketAddr;
use std::sync::Mutex;
use std::time::{Duration, Instant};
use torr_test_support::measured::measured;
use torr_test_support::program::{Running, torr, torr_command};
use torr_test_support::quiet;
use torr_test_support::script::{OK, Script, answering};
use torr_test_support::servers::Serve;
use torr_test_support::wait_until;
use torr_test_support::{alone, beside};

/// Diagnoses until the factor is named and `check` holds. A diagnosis is whole in any weather, and keeps to its budget on a quiet machine.
fn diagnose(factor: &str, args: &[&str], check: impl Fn(&Value)) {
    measured(factor, || {
        let ended = torr(&[&["doctor", "--budget", "12s", "--json", "-"], args].concat());
        assert_eq!((ended.code, ended.stderr.lines().all(|line| line.contains(" s  "))), (Some(0), true), "{ended:?}");
        let diagnosis: Value = serde_json::from_str(&ended.stdout).expect("standard output has the diagnosis alone");
        assert_eq!(diagnosis["schema"], "torr.doctor/1");
        let verdict = &diagnosis["verdict"];
        let because = verdict["because"].as_array().expect("it is a list");
        assert!(because.len() >= 2 && !verdict["advice"][0].is_null(), "{verdict:#}");
        assert_eq!(verdict["confidence"] == "unknown", verdict["factor"] == "unknown", "{verdict:#}");
        for trial in diagnosis["trail"].as_array().expect("it is a list") {
            assert!(
                trial["experiment"].is_string() && trial["why"].is_string() && trial["run"]["requests"].is_u64(),
                "{trial:#}"
            );
        }
        let seconds = diagnosis["seconds"].as_f64().expect("it is a number");
        quiet!(seconds < 14.0, "{seconds} s, with a budget of 12");
        quiet!(verdict["factor"] == factor, "{verdict}");
        check(&diagnosis);
    });
}

/// Whether one of the remarks has these words.
fn remarks(diagnosis: &Value, words: &str) -> bool {
    let text = |remark: &Value| remark.as_str().is_some_and(|remark| remark.contains(words));
    diagnosis["remarks"].as_array().expect("it is a list").iter().any(text)
}

#[test]
#[ignore = "measured for long: ./test full"]
fn too_few_connections_are_named_and_how_many_more_to_take() {
    let _alone = alone();
    let serve = Serve::start(&[]);
    let url = format!("http://{}/sleep/20", serve.address);
    diagnose("connections", &[&url, "-c", "4"], |diagnosis| {
        let verdict = &diagnosis["verdict"];
        assert!(verdict["verify"].as_str().is_some_and(|verify| verify.contains("-c 16")), "{verdict:#}");
        let gain = |end: &str| verdict["gain"][end].as_f64();
        let (low, high) = gain("low").zip(gain("high")).expect("what 8 connections bring was measured");
        quiet!(low > 1.2 && low < high && high < 2.6, "{verdict:#}");
        let trail = diagnosis["trail"].as_array().expect("it is a list");
        let most = trail.iter().map(|trial| trial["run"]["plan"]["connections"].as_u64()).max();
        assert_eq!(most, Some(Some(8)), "twice as many are the most that nobody has to allow");
    });
}

#[test]
#[ignore = "measured for long: ./test full"]
fn more_connections_than_an_accept_queue_takes_at_once_count_when_all_have_come_about() {
    let _alone = alone();
    // Of twenty connections some seven are dropped and come again after a second; ten get in at once.
    let socket = Socket::new(Domain::IPV4, Type::STREAM, None).expect("a socket");
    socket.bind(&SocketAddr::from(([127, 0, 0, 1], 0)).into()).expect("a port is free");
    socket.listen(11).expect("it listens");
    let service = Script::accepting(socket.into(), Duration::from_millis(5), |client| {
        while client.request().is_some() {
            std::thread::sleep(Duration::from_millis(20));
            client.send(OK);
        }
    });
    diagnose("connections", &[&service.url(), "-c", "10", "-t", "1", "-q"], |diagnosis| {
        let trail = diagnosis["trail"].as_array().expect("it is a list");
        let twenty: Vec<_> = trail.iter().filter(|trial| trial["run"]["plan"]["connections"] == 20).collect();
        let peak = twenty.last().map(|trial| trial["run"]["connections"]["peak"].clone());
        quiet!(peak == Some(20.into()), "{twenty:#?}");
        quiet!(twenty.len() == 2 && twenty[1]["id"] == "double-connected", "{twenty:#?}");
    });
}

#[test]
#[ignore = "measured for long: ./test full"]
fn a_limiter_that_refuses_is_named() {
    let _alone = alone();
    let bucket = Mutex::new((Instant::now(), 10.0));
    let service = Script::start(move |client| {
        while client.request().is_some() {
            let mut bucket = bucket.lock().expect("nobody panics with it");
            let now = Instant::now();
            bucket.1 = (bucket.1 + (now - bucket.0).as_secs_f64() * 200.0).min(10.0);
            bucket.0 = now;
            let accepted = bucket.1 >= 1.0;
            bucket.1 -= f64::from(u8::from(accepted));
            drop(bucket);
            client.send(if accepted { OK } else { b"HTTP/1.1 429 Too Many Requests\r\nContent-Length: 0\r\n\r\n" });
        }
    });
    diagnose("rate-limit", &[&service.url(), "-c", "10", "-t", "1", "-q"], |_| ());
}

#[test]
#[ignore = "measured for long: ./test full"]
fn acknowledgements_that_are_waited_for_are_not_named_where_a_lock_is_what_limits() {
    let _alone = alone();
    let lock = Mutex::new(());
    let service = Script::start(move |client| {
        client.stream.set_nodelay(false).expect("a socket takes options");
        while client.request().is_some() {
            let held = lock.lock().expect("nobody panics with it");
            std::thread::sleep(Duration::from_millis(8));
            drop(held);
            client.send(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n");
            client.send(b"ok");
        }
    });
    let args = ["doctor", &service.url(), "-c", "40", "-t", "1", "--budget", "20s", "-q", "--json", "-"];
    measured("a lock beside acknowledgements", || {
        let ended = torr(&args);
        let diagnosis: Value = serde_json::from_str(&ended.stdout).expect("standard output has the diagnosis alone");
        quiet!(diagnosis["verdict"]["factor"] != "delayed-ack", "{}", diagnosis["verdict"]);
        quiet!(remarks(&diagnosis, "with immediate acknowledgements"), "no such remark: {}", diagnosis["verdict"]);
    });
}

#[test]
#[ignore = "measured for long: ./test full"]
fn a_condition_for_keep_alive_is_found_and_named() {
    let _alone = alone();
    let service = Script::start(|client| {
        while let Some(request) = client.request() {
            let gzip = String::from_utf8_lossy(&request).to_ascii_lowercase().contains("gzip");
            if !gzip {
                client.send(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok");
                return;
            }
            client.send(OK);
        }
    });
    measured("a condition for keep-alive", || {
        let ended = torr(&["doctor", &service.url(), "-c", "4", "-t", "1", "--budget", "12s", "-q", "--json", "-"]);
        let diagnosis: Value = serde_json::from_str(&ended.stdout).expect("standard output has the diagnosis alone");
        let keep_alive = &diagnosis["keep_alive"];
        // The experiments may have had no time left.
        quiet!(keep_alive["kept"] == false, "{keep_alive:#}");
        quiet!(
            keep_alive["depends_on"][0] == "the server keeps connections alive only if the client accepts gzip",
            "{keep_alive:#}"
        );
    });
}

#[test]
#[ignore = "measured for long: ./test full"]
fn an_idle_limit_of_keep_alive_is_found_and_named() {
    let _alone = alone();
    // Keeps a connection for 700 ms after each response.
    let service = Script::start(|client| {
        client.stream.set_read_timeout(Some(Duration::from_millis(700))).expect("it is no zero");
        while client.request().is_some() {
            client.send(OK);
        }
    });
    measured("an idle limit", || {
        let ended = torr(&["doctor", &service.url(), "-c", "4", "-t", "1", "--budget", "20s", "-q", "--json", "-"]);
        let diagnosis: Value = serde_json::from_str(&ended.stdout).expect("standard output has the diagnosis alone");
        let limit = diagnosis["keep_alive"]["idle_limit_s"].as_f64();
        quiet!(limit.is_some_and(|limit| (0.69..1.2).contains(&limit)), "{}", diagnosis["keep_alive"]);
        assert!(remarks(&diagnosis, "without a request"), "{:#}", diagnosis["remarks"]);
    });
}

#[test]
fn the_report_has_the_verdict_its_evidence_and_what_to_do() {
    let _alone = alone();
    let service = Script::start(answering(b"HTTP/1.1 500 Internal Server Error\r\nContent-Length: 0\r\n\r\n"));
    measured("errors, as a text", || {
        let ended = torr(&["doctor", &service.url(), "-c", "2", "-t", "1", "--budget", "5s", "-q"]);
        assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""), "{ended:?}");
        for word in ["verdict", "because", "->", "experiments in"] {
            assert!(ended.stdout.contains(word), "no {word:?} in:\n{}", ended.stdout);
        }
        for word in ["errors (certain", "status 500"] {
            quiet!(ended.stdout.contains(word), "no {word:?} in:\n{}", ended.stdout);
        }
    });
}

#[test]
fn services_that_cannot_be_examined_are_reported_in_one_line() {
    let _beside = beside();
    let unvouched = "http://127.0.0.1:1/";
    let cases: [(&[&str], i32, &str); 6] = [
        (&["http://192.0.2.1/"], 2, "--i-own-this"),
        (&[unvouched, "--budget", "1s"], 2, "at least 5s"),
        (&[unvouched, "-c", "9", "--max-connections", "4"], 2, "--max-connections"),
        (&[unvouched, "--watch-token", "secret"], 2, "--watch"),
        (&[unvouched, "--watch", "127.0.0.1:1"], 3, "127.0.0.1:1"),
        (&[unvouched, "-q"], 3, "cannot connect"),
    ];
    for (args, code, word) in cases {
        let ended = torr(&[&["doctor"], args].concat());
        assert_eq!((ended.code, ended.stdout.as_str()), (Some(code), ""), "{args:?}: {ended:?}");
        let last = ended.stderr.lines().last().unwrap_or_default();
        assert!(last.starts_with("torr: ") && last.contains(word), "{args:?}: {}", ended.stderr);
    }
}

#[test]
fn an_interrupted_examination_ends_at_once() {
    let _beside = beside();
    let service = Script::start(answering(OK));
    let folder = tempfile::tempdir().expect("there is room for temporary files");
    let json = folder.path().join("doctor.json").display().to_string();
    let running = Running::start(torr_command(&["doctor", &service.url(), "-c", "4", "--json", &json]));
    // A single request at a time comes first, then the ladder of connections.
    wait_until("an experiment to be made", || (service.connections() >= 4).then_some(()));
    let interrupted = Instant::now();
    running.signal("INT");
    let ended = running.wait();
    assert_eq!(ended.code, Some(130), "{ended:?}");
    assert!(ended.stdout.contains("The diagnosis was interrupted"), "{ended:?}");
    let text = std::fs::read_to_string(&json).expect("the diagnosis was written");
    let diagnosis: Value = serde_json::from_str(&text).expect("it is JSON");
    assert_eq!((&diagnosis["interrupted"], &diagnosis["verdict"]["factor"]), (&true.into(), &"unknown".into()));
    let made = diagnosis["trail"][0]["experiment"].as_str().expect("an experiment was made");
    let because = diagnosis["verdict"]["because"].to_string();
    assert!(because.contains(made), "{made} is not named: {because}");
    assert!(interrupted.elapsed() < Duration::from_secs(5), "{:?}", interrupted.elapsed());
}
