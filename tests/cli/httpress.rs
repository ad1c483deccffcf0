//! `torr httpress` and `torr press`: their formats, the documents' commands, and not their defects.

use crate::layout::numbers;
use std::os::unix::fs::symlink;
use std::process::Command;
use torr_test_support::program::{Ended, Running, torr, torr_path};
use torr_test_support::script::{Client, OK, Script, answering};
use torr_test_support::servers::{Nginx, Serve, closed_port};

/// Runs a program of this name, which is a link to `torr`.
fn through_link(name: &str, args: &[&str]) -> Ended {
    let folder = tempfile::tempdir().unwrap();
    let link = folder.path().join(name);
    symlink(torr_path(), &link).unwrap();
    let mut command = Command::new(&link);
    command.args(args);
    Running::start(command).wait()
}

const THREAD: &str = "thread %d: %d connect, %d requests, %d success, %d fail, %d bytes, %d overhead";

/// The last three lines of httpress: totals, traffic, timing.
fn totals(ended: &Ended) -> [Vec<f64>; 3] {
    let lines: Vec<_> = ended.stdout.lines().collect();
    let [.., "", totals, traffic, timing] = lines[..] else { panic!("{ended:?}") };
    [
        numbers(totals, "TOTALS:  %d connect, %d requests, %d success, %d fail, %d (%d) real concurrency"),
        numbers(traffic, "TRAFFIC: %d avg bytes, %d avg overhead, %d bytes, %d overhead"),
        numbers(timing, "TIMING:  %d.%03d seconds, %d rps, %d kbps, %.1f ms avg req time"),
    ]
}

#[test]
fn the_documents_commands_run_unchanged_through_a_link() {
    let server = Serve::start(&[]);
    let url = server.url("/");
    // With a hundredth of their requests, and a tenth of the connections of the largest.
    for args in [
        "-c 100 -n 10000 -t 16 -k -q",
        "-c 100 -n 10000 -t 12 -q",
        "-c 1000 -n 10000 -t 16 -k -q",
        "-c 1000 -n 10000 -t 16 -q",
        "-c 1000 -n 40000 -t 16 -k -q",
        "-c 1000 -n 10000 -t 16 -q",
    ] {
        let args: Vec<_> = args.split(' ').chain([url.as_str()]).collect();
        let ended = through_link("httpress", &args);
        assert_eq!(ended.code, Some(0), "{args:?}: {ended:?}");
        let [counts, traffic, timing] = totals(&ended);
        let value = |flag| args[args.iter().position(|arg| *arg == flag).unwrap() + 1].parse::<f64>().unwrap();
        let (connections, requests) = (value("-c"), value("-n"));
        let opened = if args.contains(&"-k") { connections } else { requests };
        assert_eq!(counts[..4], [opened, requests, requests, 0.0], "{args:?}: {ended:?}");
        assert!((1.0..=connections).contains(&counts[4]) && counts[5] <= connections, "{args:?}: {ended:?}");
        assert_eq!((traffic[0], traffic[2]), (20.0, 20.0 * requests), "{args:?}: {ended:?}");
        let seconds = timing[0] + timing[1] / 1e3;
        assert!((timing[2] * seconds / requests - 1.0).abs() < 0.05, "{args:?}: {ended:?}");
        assert_eq!(ended.stdout.lines().count(), 4, "-q: {ended:?}");
        assert!(ended.stderr.starts_with("torr: ") && ended.stderr.lines().count() == 1, "{ended:?}");
    }
}

#[test]
fn threads_and_progress_are_shown_unless_quiet() {
    let server = Serve::start(&[]);
    let ended = torr(&["httpress", "-n1000", "-c", "6", "-t4", "-k", &server.url("/")]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let lines: Vec<_> = ended.stdout.lines().collect();
    for (line, launched) in lines.iter().zip([250.0, 500.0, 750.0, 1000.0]) {
        assert_eq!(numbers(line, "%d requests launched"), [launched], "{ended:?}");
    }
    let threads: Vec<_> = lines[4..8].iter().map(|line| numbers(line, THREAD)).collect();
    let sum = |column: usize| threads.iter().map(|thread| thread[column]).sum::<f64>();
    let [counts, traffic, _] = totals(&ended);
    assert_eq!(threads.iter().map(|thread| thread[0]).collect::<Vec<_>>(), [1.0, 2.0, 3.0, 4.0]);
    assert_eq!([sum(1), sum(2), sum(3), sum(4)], [6.0, 1000.0, 1000.0, 0.0], "{ended:?}");
    assert_eq!((&counts[..4], [sum(5), sum(6)]), (&[6.0, 1000.0, 1000.0, 0.0][..], [traffic[2], traffic[3]]));
    let one = torr(&["httpress", "-n20", "-c", "2", &server.url("/")]);
    assert!(!one.stdout.contains("thread") && !one.stdout.contains("launched"), "too few for either: {one:?}");
}

#[test]
fn statuses_and_bodies_of_every_kind_are_counted_separately() {
    let nginx = Nginx::start("location /empty { return 204; } location /missing { return 404; }");
    let [counts, ..] = totals(&torr(&["httpress", "-n100", "-c5", "-k", &format!("{}missing", nginx.url())]));
    assert_eq!(counts[1..4], [100.0, 0.0, 100.0], "a 404 is no success");
    let [counts, ..] = totals(&torr(&["httpress", "-n100", "-c5", "-k", &format!("{}empty", nginx.url())]));
    assert_eq!(counts[1..4], [100.0, 100.0, 0.0], "a 204 is one");
    let until_close = Script::start(|client: &mut Client| {
        if client.request().is_some() {
            client.send(b"HTTP/1.1 200 OK\r\n\r\nto the end");
        }
    });
    let [counts, traffic, _] = totals(&torr(&["httpress", "-n10", "-c2", "-k", &until_close.url()]));
    assert_eq!((&counts[..4], traffic[2]), (&[10.0, 10.0, 10.0, 0.0][..], 100.0));
}

#[test]
fn addresses_of_either_family_are_pressed() {
    let six = Serve::start_on("[::1]:0", &[]);
    let [counts, ..] = totals(&torr(&["httpress", "-n100", "-c5", &six.url("/")]));
    assert_eq!(counts[1..4], [100.0, 100.0, 0.0]);
}

#[test]
fn httpress_sends_what_it_sends() {
    for (flags, connection) in [("-k", "keep-alive"), ("-q", "close")] {
        let server = Script::start(answering(OK));
        let ended = torr(&["httpress", flags, &format!("{}a?b", server.url())]);
        assert_eq!(ended.code, Some(0), "{ended:?}");
        let expected = format!("GET /a?b HTTP/1.1\r\nHost: {}\r\nConnection: {connection}\r\n\r\n", server.address);
        assert_eq!(String::from_utf8_lossy(&server.seen.first.lock().unwrap()), expected);
    }
}

#[test]
fn bad_usage_of_httpress() {
    let url = "http://127.0.0.1:1/";
    for (args, what, with_usage) in [
        (&[][..], "missing URL", true),
        (&[url, url], "too many arguments", true),
        (&["-x", url], "'-x'", true),
        (&["-n", "0", url], "number of requests", false),
        (&["-c2", url], "number of connections", false),
        (&["-n9", "-c2", "-t3", url], "number of threads", false),
        (&["127.0.0.1:1/"], "invalid URL", false),
    ] {
        let ended = torr(&[&["httpress"], args].concat());
        assert_eq!((ended.code, ended.stderr.lines().count()), (Some(1), 1), "{args:?}: {ended:?}");
        assert!(ended.stderr.contains(what), "{args:?}: {ended:?}");
        assert_eq!(ended.stdout.starts_with("httpress <options> <url>"), with_usage, "{args:?}: {ended:?}");
    }
    let refused = torr(&["httpress", &format!("http://127.0.0.1:{}/", closed_port())]);
    assert_eq!((refused.code, refused.stdout.as_str()), (Some(3), ""), "{refused:?}");
    let tls = torr(&["httpress", "-z", "NORMAL", "https://127.0.0.1:1/"]);
    assert!(tls.code == Some(3) && tls.stderr.lines().count() == 1, "{tls:?}");
    let help = torr(&["httpress", "-h"]);
    assert!(help.code == Some(0) && help.stdout.contains("-n num"), "{help:?}");
}

/// The four lines of press between their blank ones.
fn press_totals(ended: &Ended) -> [Vec<f64>; 4] {
    let lines: Vec<_> = ended.stdout.lines().collect();
    let [.., "", totals, traffic, timing, speed, ""] = lines[..] else { panic!("{ended:?}") };
    [
        numbers(totals, "TOTALS:   %d connect, %d requests, %d success, %d fail"),
        numbers(traffic, "TRAFFIC:  %d avg bytes, %d avg overhead, %d bytes, %d overhead"),
        numbers(timing, "TIMING:   %.3f seconds, %d rps, %.3f ms avg req time"),
        numbers(speed, "SPEED:    download %.3f kBps, upload %.3f kBps"),
    ]
}

#[test]
fn press_through_each_of_its_names() {
    let server = Serve::start(&[]);
    let url = server.url("/");
    let args = ["-n3000", "-c", "20", "-t2", "-k", "-q", &url];
    let as_command = [&["press"], &args[..]].concat();
    for ended in [torr(&as_command), through_link("press", &args), through_link("drogon_ctl", &as_command)] {
        assert_eq!(ended.code, Some(0), "{ended:?}");
        let [counts, traffic, timing, speed] = press_totals(&ended);
        assert_eq!(counts, [20.0, 3000.0, 3000.0, 0.0], "{ended:?}");
        assert_eq!((traffic[0], traffic[2]), (20.0, 60_000.0), "{ended:?}");
        assert!((timing[0] * timing[1] / 3000.0 - 1.0).abs() < 0.05 && timing[2] > 0.0, "{ended:?}");
        // The time is shown to a millisecond.
        let received = speed[0] * 1e3 * timing[0];
        assert!((received / (traffic[2] + traffic[3]) - 1.0).abs() < 0.05 && speed[1] > 0.0, "{ended:?}");
        assert!(ended.stderr.starts_with("torr: ") && ended.stderr.lines().count() == 1, "{ended:?}");
    }
    let other = through_link("drogon_ctl", &["create", "project", "x"]);
    assert!(other.code == Some(2) && other.stderr.contains("drogon_ctl press"), "{other:?}");
}

#[test]
fn press_tells_progress_and_failures_to_the_end() {
    let nginx =
        Nginx::start("keepalive_requests 1000000; location / { return 200 hi; } location /missing { return 404; }");
    let ended = torr(&["press", "-n", "100000", "-c", "50", "-t2", &nginx.url()]);
    assert!(ended.stdout.starts_with("100000 responses are received\n\n"), "{ended:?}");
    let ended = torr(&["press", "-n100", "-c5", "-q", &format!("{}missing", nginx.url())]);
    assert_eq!((ended.code, &press_totals(&ended)[0][1..]), (Some(0), &[100.0, 0.0, 100.0][..]), "{ended:?}");
    let broken = Script::start(|client: &mut Client| _ = client.request());
    let ended = torr(&["press", "-n100", "-c5", &broken.url()]);
    assert_eq!(press_totals(&ended)[0][1..], [100.0, 0.0, 100.0], "{ended:?}");
}

#[test]
fn press_takes_a_request_from_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("request.json").display().to_string();
    std::fs::write(&file, r#"{"method": "post", "header": {"X": "1", "Y": "2"}, "body": "a=1"}"#).unwrap();
    let server = Script::start(answering(OK));
    let ended = torr(&["press", "-f", &file, &server.url()]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let first = server.seen.first.lock().unwrap().clone();
    let text = String::from_utf8(first).unwrap();
    let fields = "User-Agent: DrogonClient\r\nX: 1\r\nY: 2\r\nContent-Length: 3\r\n\r\na=1";
    assert_eq!(text, format!("POST / HTTP/1.1\r\nHost: {}\r\n{fields}", server.address));
    std::fs::write(&file, "{").unwrap();
    let ended = torr(&["press", "-f", &file, &server.url()]);
    assert!(ended.code == Some(2) && ended.stderr.lines().count() == 1, "{ended:?}");
}

#[test]
fn bad_usage_of_press_is_reported_on_standard_output() {
    let url = "http://127.0.0.1:1/";
    for (args, what) in [
        (&[][..], "Invalid URL"),
        (&["127.0.0.1"], "Invalid URL"),
        (&["-nx", url], "Invalid number of requests!"),
        (&["-t", "x", url], "Invalid number of threads!"),
        (&["-c", "0", url], "Invalid number of connections!"),
    ] {
        let ended = torr(&[&["press"], args].concat());
        assert_eq!((ended.code, ended.stderr.as_str()), (Some(1), ""), "{args:?}: {ended:?}");
        assert!(ended.stdout.starts_with(what) && ended.stdout.lines().count() == 1, "{args:?}: {ended:?}");
    }
    let help = torr(&["press", "--help"]);
    assert!(help.code == Some(0) && help.stdout.contains("-n num"), "{help:?}");
}
