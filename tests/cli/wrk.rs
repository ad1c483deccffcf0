//! `torr wrk` beside the real wrk: the same command lines, the same layout, the same counts, and not its defects.

use crate::layout::{numbers, structure, value};
use std::os::unix::fs::symlink;
use std::process::Command;
use std::time::Duration;
use torr_test_support::program::{Ended, Running, run, torr, torr_command, torr_path};
use torr_test_support::script::{Client, OK, Script, answering};
use torr_test_support::servers::{Nginx, Serve, closed_port};
use torr_test_support::wait_until;

const SITE: &str = "keepalive_requests 1000000; location / { return 200 \"<p>Hello, world!</p>\"; } \
                    location /missing { return 404; } location /close { keepalive_timeout 0; return 200 hi; }";

fn torr_wrk(args: &[&str]) -> Ended {
    torr(&[&["wrk"], args].concat())
}

#[test]
fn every_line_is_that_of_wrk() {
    let nginx = Nginx::start(SITE);
    let url = nginx.url();
    let (missing, close) = (format!("{url}missing"), format!("{url}close"));
    let cases: &[&[&str]] = &[
        &["-c", "20", "-d", "2s", &url],
        &["-c10", "-d2", "-t3", "--latency", &missing],
        &[&close, "--connections=4", "--dur", "2s", "--thr", "1", "-H", "X: y", "--timeout", "5s", "-L"],
    ];
    for args in cases {
        let (theirs, ours) = (run("wrk", args), torr_wrk(args));
        assert_eq!((theirs.code, ours.code), (Some(0), Some(0)), "{args:?}: {theirs:?} {ours:?}");
        // Requests on a busy machine may time out with either program.
        assert_eq!(structure(&ours.stdout), structure(&theirs.stdout), "{args:?}\n{}{}", theirs.stdout, ours.stdout);
        let lines = |ended: &Ended| ended.stdout.lines().map(str::to_owned).collect::<Vec<_>>();
        let (their_lines, our_lines) = (lines(&theirs), lines(&ours));
        assert_eq!(our_lines[..3], their_lines[..3], "{args:?}");
        for (their_line, our_line) in their_lines.iter().zip(&our_lines) {
            if ["    Latency", "    Req/Sec"].iter().any(|start| their_line.starts_with(start)) {
                assert_eq!(our_line.len(), their_line.len(), "{their_line}\n{our_line}");
            }
        }
        adds_up(&ours.stdout, args.contains(&missing.as_str()));
        assert!(ours.stderr.starts_with("torr: ") && ours.stderr.lines().count() == 1, "{}", ours.stderr);
    }
}

/// The figures fit each other.
fn adds_up(text: &str, all_fail: bool) {
    let line = text.lines().find(|line| line.contains(" requests in ")).expect("it is there");
    let (requests, rest) = line.trim().split_once(" requests in ").expect("it is there");
    let requests: f64 = requests.parse().unwrap();
    let seconds: f64 = rest.split_once("s, ").expect("seconds").0.parse().unwrap();
    let rate: f64 = value(text, "Requests/sec:").parse().unwrap();
    assert!(requests > 0.0 && (requests / rate / seconds - 1.0).abs() < 0.02, "{text}");
    let failed = text.lines().find_map(|line| line.strip_prefix("  Non-2xx or 3xx responses: "));
    assert_eq!(failed.map(|n| n.parse::<f64>().unwrap()), all_fail.then_some(requests), "{text}");
}

#[test]
fn the_documents_command_runs_unchanged_through_a_link() {
    let server = Serve::start(&[]);
    let folder = tempfile::tempdir().unwrap();
    let link = folder.path().join("wrk");
    symlink(torr_path(), &link).unwrap();
    let mut command = Command::new(&link);
    command.args(["-c", "200", "-d", "2s", &server.url("")]);
    let ended = Running::start(command).wait();
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(ended.stdout.starts_with(&format!("Running 2s test @ {}\n", server.url(""))), "{ended:?}");
    assert!(ended.stdout.contains("\n  2 threads and 200 connections\n"), "{ended:?}");
    adds_up(&ended.stdout, false);
}

#[test]
fn wrk2_has_its_rate_and_a_link_of_its_name() {
    let server = Serve::start(&[]);
    let url = server.url("");
    let folder = tempfile::tempdir().unwrap();
    let link = folder.path().join("wrk2");
    symlink(torr_path(), &link).unwrap();
    let mut linked = Command::new(&link);
    linked.args(["-c4", "-t2", "-d3s", "-R", "200", "-U", "-B", &url]);
    for ended in [Running::start(linked).wait(), torr(&["wrk2", "-c4", "-t2", "-d3", "--rate", "200", "-L", &url])] {
        // 200 a second in three seconds: all of them, or fewer where the machine stood still at the end.
        assert_eq!(ended.code, Some(0), "{ended:?}");
        assert!(
            ended.stdout.starts_with(&format!("Running 3s test @ {url}\n  2 threads and 4 connections\n")),
            "{ended:?}"
        );
        assert!(ended.stdout.contains("Latency Distribution"), "{ended:?}");
        let line = ended.stdout.lines().find(|line| line.contains(" requests in ")).expect("it is there");
        let requests: u64 = line.split_whitespace().next().expect("it begins so").parse().expect("a number");
        assert!((300..=600).contains(&requests), "{ended:?}");
    }
    for args in [&["-c4", &*url][..], &["-R", "0", &url], &["-R", "x", &url], &[], &["-R", "5"]] {
        let ended = torr(&[&["wrk2"], args].concat());
        assert_eq!((ended.code, ended.stderr.lines().count()), (Some(1), 1), "{args:?}: {ended:?}");
        assert!(
            ended.stderr.starts_with("wrk2: ") && ended.stdout.starts_with("Usage: wrk2 -R"),
            "{args:?}: {ended:?}"
        );
    }
    assert!(torr(&["wrk2", "--help"]).stdout.contains("Usage: wrk2 -R <N>"));
}

#[test]
fn the_same_request_is_sent() {
    for headers in [&[][..], &["-H", "X: 1"], &["-H", "Host: other", "-H", "User-Agent: me"]] {
        let sent = |program: &str| {
            let server = Script::start(answering(OK));
            let url = format!("{}a?b=c", server.url());
            let args = [&["-c1", "-t1", "-d2"], headers, &[url.as_str()]].concat();
            let ended = if program == "wrk" { run("wrk", &args) } else { torr_wrk(&args) };
            assert_eq!(ended.code, Some(0), "{program}: {ended:?}");
            let first = server.seen.first.lock().unwrap().clone();
            let text = String::from_utf8(first).unwrap().replace(&server.address.port().to_string(), "PORT");
            // In what order a Lua table gives its fields is chance.
            let mut lines: Vec<_> = text.lines().map(str::to_owned).collect();
            lines[1..].sort_unstable();
            lines
        };
        assert_eq!(sent("torr wrk"), sent("wrk"), "{headers:?}");
    }
}

#[test]
fn bad_usage_has_the_exit_code_and_the_stream_of_wrk() {
    let cases: &[&[&str]] = &[
        &[],
        &["-t", "0", "http://127.0.0.1:1/"],
        &["-c", "1", "-t", "2", "http://127.0.0.1:1/"],
        &["-d", "0", "http://127.0.0.1:1/"],
        &["-d", "100ms", "http://127.0.0.1:1/"],
        &["-c", "1.5k", "http://127.0.0.1:1/"],
        &["-z", "http://127.0.0.1:1/"],
        &["--colour", "http://127.0.0.1:1/"],
        &["127.0.0.1:1"],
        &["-c"],
        &["http://127.0.0.1:1/"],
        &["http://no-such-host.invalid/"],
    ];
    for args in cases {
        let (theirs, ours) = (run("wrk", args), torr_wrk(args));
        assert_eq!((theirs.code, ours.code), (Some(1), Some(1)), "{args:?}: {ours:?}");
        let shows_usage = |ended: &Ended| ended.stdout.starts_with("Usage: wrk <options> <url>");
        assert_eq!(shows_usage(&ours), shows_usage(&theirs), "{args:?}: {ours:?}");
        assert_eq!(ours.stderr.lines().count(), 1, "{args:?}: {ours:?}");
    }
    let refused = torr_wrk(&[&format!("http://127.0.0.1:{}/", closed_port())]);
    assert!(refused.code == Some(1) && refused.stderr.contains("connection refused"), "{refused:?}");
    for (args, what) in [
        (&["-s", "post.lua", "http://127.0.0.1:1/", "--", "x"][..], "no such file"),
        (&["-H", "no colon", "http://127.0.0.1:1/"], "header"),
    ] {
        let ours = torr_wrk(args);
        assert_eq!((ours.code, ours.stdout.as_str(), ours.stderr.lines().count()), (Some(2), "", 1), "{ours:?}");
        assert!(ours.stderr.contains(what), "{args:?}: {ours:?}");
    }
    let help = torr_wrk(&["--help"]);
    assert!(help.code == Some(0) && help.stdout.contains("--latency"), "{help:?}");
    let version = torr_wrk(&["-v", "-d2", &Serve::start(&[]).url("/")]);
    assert!(version.code == Some(0) && version.stdout.starts_with("torr "), "{version:?}");
}

#[test]
fn a_server_that_hangs_shows_its_time_outs() {
    let hang = |client: &mut Client| while client.request().is_some() {};
    let args = |url: &str| ["-c", "3", "-t1", "-d", "3s", "--timeout", "1s", url].map(str::to_owned);
    let server = Script::start(hang);
    let theirs = run("wrk", &args(&server.url()).each_ref().map(String::as_str));
    assert!(theirs.code == Some(0) && !theirs.stdout.contains("Socket errors"), "wrk has mended this: {theirs:?}");
    let server = Script::start(hang);
    let ours = torr_wrk(&args(&server.url()).each_ref().map(String::as_str));
    assert_eq!(ours.code, Some(1), "{ours:?}");
    let line =
        ours.stdout.lines().find(|line| line.starts_with("  Socket errors")).unwrap_or_else(|| panic!("{ours:?}"));
    let errors = numbers(line, "  Socket errors: connect %d, read %d, write %d, timeout %d");
    assert!(errors[..3] == [0.0; 3] && (3.0..=9.0).contains(&errors[3]), "{ours:?}");
    let latency = value(&ours.stdout, "    Latency").split_whitespace().nth(2).expect("it is there");
    let seconds: f64 =
        latency.strip_suffix('s').and_then(|text| text.parse().ok()).unwrap_or_else(|| panic!("{ours:?}"));
    assert!((1.0..=3.5).contains(&seconds), "the time-outs are in the latency: {ours:?}");
}

#[test]
fn errors_of_sockets_and_of_status_have_their_lines() {
    let broken = |client: &mut Client| {
        if client.request().is_some() {
            client.send(b"HTTP/1.1 500 Oh\r\nContent-Length: 2\r\n\r\nok");
        }
        if client.request().is_some() {
            client.send(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf");
        }
    };
    let server = Script::start(broken);
    let ours = torr_wrk(&["-c", "2", "-t1", "-d2", &server.url()]);
    assert_eq!(ours.code, Some(0), "something was answered: {ours:?}");
    let find =
        |start: &str| ours.stdout.lines().find(|line| line.starts_with(start)).unwrap_or_else(|| panic!("{ours:?}"));
    let errors = numbers(find("  Socket errors"), "  Socket errors: connect %d, read %d, write %d, timeout %d");
    assert!(errors[1] > 0.0 && errors[0] + errors[2] + errors[3] == 0.0, "{ours:?}");
    assert!(numbers(find("  Non-2xx"), "  Non-2xx or 3xx responses: %d")[0] > 0.0, "{ours:?}");
}

#[test]
fn a_connection_that_the_server_means_to_close_is_not_used_again() {
    let server = Script::start(|client: &mut Client| {
        if client.request().is_some() {
            client.send(b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok");
        }
        // It is open still; but nothing comes before the client ends it.
        while client.request().is_some() {}
    });
    let ours = torr_wrk(&["-c2", "-t1", "-d2", &server.url()]);
    assert_eq!(ours.code, Some(0), "{ours:?}");
    // The last ones may have been opened only.
    assert!(server.requests() <= server.connections(), "each has one request: {ours:?}");
    assert!(server.connections() > 2, "{ours:?}");
}

#[test]
fn no_connection_is_lost_where_threads_do_not_divide_them() {
    let count = |program: &str| {
        let server = Script::start(answering(OK));
        let args = ["-t3", "-c10", "-d2", &server.url()];
        let ended = if program == "wrk" { run("wrk", &args) } else { torr_wrk(&args) };
        assert_eq!(ended.code, Some(0), "{ended:?}");
        server.connections()
    };
    // wrk tries the address with a connection of its own first.
    assert_eq!(count("wrk"), 1 + 9, "wrk has mended this");
    assert_eq!(count("torr wrk"), 10);
}

#[test]
fn a_rate_makes_it_wrk2() {
    let server = Serve::start(&[]);
    let ours = torr_wrk(&["-R", "0.5k", "-d1", &server.url("/")]);
    assert_eq!(ours.code, Some(1), "no such rate: {ours:?}");
    let ours = torr_wrk(&["-t2", "-c20", "-d4s", "-R500", "--latency", &server.url("/")]);
    assert_eq!(ours.code, Some(0), "{ours:?}");
    let line = ours.stdout.lines().find(|line| line.contains(" requests in ")).expect("it is there");
    let requests: f64 = line.trim().split(' ').next().unwrap().parse().unwrap();
    // All that are due in four seconds, but for those that are in flight at the end: on a busy machine they are many.
    assert!((1500.0..=2000.0).contains(&requests), "{ours:?}");
    assert!(ours.stdout.contains("  Latency Distribution (HdrHistogram - Recorded Latency)\n 50.000%"), "{ours:?}");
    let last = ours.stdout.lines().rfind(|line| line.ends_with("inf")).expect("the spectrum ends");
    let counted: f64 = last.split_whitespace().nth(2).unwrap().parse().unwrap();
    assert!((1999.0..=2001.0).contains(&counted), "what was due is in the latency: {ours:?}");
    let uncorrected = torr_wrk(&["-R", "100", "-d2", "-U", "-B", &server.url("/")]);
    assert!(
        uncorrected.code == Some(0) && uncorrected.stderr.contains("since sending is not measured"),
        "{uncorrected:?}"
    );
}

#[test]
fn an_interruption_gives_the_report() {
    let server = Script::start(|client: &mut Client| {
        while client.request().is_some() {
            std::thread::sleep(Duration::from_millis(1));
            client.send(OK);
        }
    });
    let running = Running::start(torr_command(&["wrk", "-c2", "-d10m", &server.url()]));
    wait_until("requests", || (server.requests() > 10).then_some(()));
    running.signal("INT");
    let ended = running.wait();
    assert_eq!(ended.code, Some(0), "as wrk: {ended:?}");
    assert!(ended.stdout.starts_with("Running 10m test") && ended.stdout.contains("Requests/sec:"), "{ended:?}");
}
