//! `torr ab` beside the real ab: the same command lines, the same layout, the same counts, and not its defects.

use crate::layout::{structure, value};
use std::os::unix::fs::symlink;
use std::process::Command;
use std::time::Duration;
use torr_test_support::certificates::self_signed;
use torr_test_support::program::{Ended, Running, run, torr, torr_command, torr_path};
use torr_test_support::script::{Client, OK, Script, answering};
use torr_test_support::servers::{Nginx, Serve, closed_port};
use torr_test_support::wait_until;

const SITE: &str = "keepalive_requests 100000; location / { return 200 \"<p>Hello, world!</p>\"; } \
                    location /moved { return 302 /; } location /missing { return 404; }";

fn torr_ab(args: &[&str]) -> Ended {
    torr(&[&["ab"], args].concat())
}

/// What stands behind the three lines of the banner, which are each program's own. Without ab's warnings that mean and
/// median are more than a deviation apart: no numbers are, before they are rounded.
fn body(ended: &Ended) -> String {
    let mut lines = ended.stdout.splitn(5, '\n');
    assert!(ended.stdout.starts_with("This is ") && lines.nth(3) == Some(""), "{ended:?}");
    let is_warning = |line: &&str| {
        ["WARNING: ", "ERROR: ", "        apart", "        These", "       deviation apart"]
            .iter()
            .any(|start| line.starts_with(start))
    };
    let lines = lines.next().unwrap_or_default().lines().filter(|line| !is_warning(line));
    lines.map(|line| format!("{line}\n")).collect()
}

#[test]
fn every_line_is_that_of_ab_and_every_count_too() {
    let nginx = Nginx::start(SITE);
    let folder = tempfile::tempdir().unwrap();
    let post = folder.path().join("post");
    std::fs::write(&post, "a=1&b=2").unwrap();
    let (post, url) = (post.display().to_string(), nginx.url());
    let (moved, missing) = (format!("{url}moved?x=y"), format!("{url}missing"));
    let form = "application/x-www-form-urlencoded";
    let cases: &[&[&str]] = &[
        &["-n2000", "-c20", "-k", &url],
        &["-n2000", "-c20", &url],
        &["-kqn200", "-c", "5", &url],
        &["-n", "100", "-c", "10", &moved],
        &["-n", "200", "-k", "-c3", &missing],
        &["-n", "50", "-p", &post, "-T", form, "-k", &url],
        &["-n", "50", "-u", &post, &url],
        &["-n", "50", "-l", "-i", &url],
        &["-n", "50", "-d", "-S", &url],
        &["-n", "20", "-m", "PATCH", "-C", "a=b", "-H", "X: y", "-A", "u:p", "-P", "q:r", &url],
        &["-n20", "-r", "-s", "5", "-b", "8192", "-B", "127.0.0.1", "-v1", "-I", "-f", "TLS1.2", "-Z", "ALL", &url],
    ];
    for args in cases {
        let (theirs, ours) = (run("ab", args), torr_ab(args));
        assert_eq!((theirs.code, ours.code), (Some(0), Some(0)), "{args:?}: {theirs:?} {ours:?}");
        let (their_page, our_page) = (&*body(&theirs), &*body(&ours));
        assert_eq!(structure(our_page), structure(their_page), "{args:?}\n{their_page}\n{our_page}");
        for label in [
            "Server Software:",
            "Server Hostname:",
            "Server Port:",
            "Document Path:",
            "Document Length:",
            "Concurrency Level:",
            "Complete requests:",
            "Failed requests:",
            "Total transferred:",
            "HTML transferred:",
        ] {
            assert_eq!(value(our_page, label), value(their_page, label), "{args:?} {label}");
        }
        for label in ["Non-2xx responses:", "Keep-Alive requests:", "Total body sent:"] {
            let of = |page: &str| page.lines().find(|line| line.starts_with(label)).map(str::to_owned);
            assert_eq!(of(our_page), of(their_page), "{args:?}");
        }
        columns(their_page, our_page);
        adds_up(our_page);
        assert_eq!(progress(&ours), progress(&theirs), "{args:?}");
        assert!(ours.stderr.lines().last().is_some_and(|line| line.starts_with("torr: ")), "{}", ours.stderr);
    }
}

/// Figures end in the same columns.
fn columns(theirs: &str, ours: &str) {
    for (their_line, our_line) in theirs.lines().zip(ours.lines()) {
        let label = their_line.split(['#', ':']).next().unwrap_or_default();
        if ["Connect", "Processing", "Waiting", "Total"].contains(&label) || their_line.trim_start().contains("% ") {
            assert_eq!(our_line.len(), their_line.len(), "{their_line}\n{our_line}");
        } else if their_line.contains(':') && their_line.len() > 24 && !their_line.starts_with(' ') {
            assert_eq!(our_line[..24], their_line[..24]);
        }
    }
}

/// The figures of one page fit each other.
fn adds_up(page: &str) {
    let number = |label: &str| -> f64 {
        let text = value(page, label).split_whitespace().next().unwrap_or_default();
        text.parse().unwrap_or_else(|_| panic!("{label} {text:?} in {page}"))
    };
    let (requests, seconds) = (number("Complete requests:"), number("Time taken for tests:"));
    let near = |one: f64, other: f64, slack: f64| assert!((one - other).abs() <= slack, "{one} is not {other}: {page}");
    // The time is shown to a millisecond.
    let rate = number("Requests per second:");
    near(requests / rate, seconds, 0.0006);
    near(number("Time per request:"), 1e3 * number("Concurrency Level:") / rate, 0.01);
    // Two decimals of kilobytes are much of a response where few arrive in a second.
    near(number("Transfer rate:") * 1024.0 / rate, number("Total transferred:") / requests, 0.01 + 6.0 / rate);
    let percentiles: Vec<f64> = page
        .lines()
        .filter(|line| line.starts_with("  ") && line.contains("% ") || line.starts_with(" 100% "))
        .map(|line| line.split_whitespace().nth(1).unwrap().parse().unwrap())
        .collect();
    assert!(percentiles.is_sorted(), "{page}");
    assert!(percentiles.last().is_none_or(|&longest| longest > 0.0 && longest <= 1e3 * (seconds + 0.01)), "{page}");
}

/// The lines of progress.
fn progress(ended: &Ended) -> Vec<&str> {
    ended.stderr.lines().filter(|line| !line.starts_with("torr: ")).collect()
}

#[test]
fn html_has_the_rows_of_ab() {
    let nginx = Nginx::start(SITE);
    let url = nginx.url();
    for args in
        [&["-n", "10", "-w", "-k", &url][..], &["-n10", "-x", "border=1", "-y", "class=a", "-z", "class=b", &url]]
    {
        let (theirs, ours) = (run("ab", args), torr_ab(args));
        let rows = |ended: &Ended| -> Vec<String> {
            let text = &ended.stdout;
            let label = |line: &str| Some(line.split_once("<th")?.1.split_once('>')?.1.split_once('<')?.0.to_owned());
            text.lines().filter_map(label).collect()
        };
        let mut with_waiting = rows(&theirs);
        let processing = with_waiting.iter().position(|row| row == "Processing:").expect("it is there");
        with_waiting.insert(processing + 1, "Waiting:".into());
        assert_eq!(rows(&ours), with_waiting, "{ours:?}");
        assert_eq!(ours.stdout.contains("<table border=1>"), args.contains(&"-x"), "{ours:?}");
    }
}

#[test]
fn the_documents_commands_run_unchanged_through_a_link() {
    let server = Serve::start(&[]);
    let folder = tempfile::tempdir().unwrap();
    let link = folder.path().join("ab");
    symlink(torr_path(), &link).unwrap();
    let url = server.url("/");
    for args in [&["-n10000", "-c200", "-k", &url][..], &["-n2000", "-c200", &url]] {
        let mut command = Command::new(&link);
        command.args(args);
        let ended = Running::start(command).wait();
        assert_eq!(ended.code, Some(0), "{ended:?}");
        assert_eq!(value(&ended.stdout, "Complete requests:"), &args[0][2..], "{ended:?}");
        assert_eq!(value(&ended.stdout, "Failed requests:"), "0", "{ended:?}");
        assert_eq!(ended.stdout.contains("Keep-Alive requests:    10000\n"), args.contains(&"-k"), "{ended:?}");
    }
}

#[test]
fn the_same_request_is_sent() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    std::fs::write(&file, "a=1&b=2").unwrap();
    let file = file.display().to_string();
    let cases: &[&[&str]] = &[
        &[],
        &["-k", "-C", "a=1", "-H", "X: 1", "-H", "X-2: 2", "-A", "u:p", "-P", "q:r"],
        &["-p", &file],
        &["-u", &file, "-T", "t/y", "-H", "Host: other", "-H", "Accept: text/x", "-H", "User-Agent: me"],
        &["-i"],
        &["-p", &file, "-m", "PATCH"],
        &["-m", "DELETE"],
    ];
    for args in cases {
        let sent = |program: &str| {
            let server = Script::start(|client: &mut Client| {
                // One response, and the end: ab waits for it.
                if client.request().is_some() {
                    client.send(b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n");
                }
            });
            let url = format!("{}a?b=c", server.url());
            let ended = match program {
                "ab" => run("ab", &[args, &["-q", url.as_str()][..]].concat()),
                _ => torr_ab(&[args, &["-q", url.as_str()][..]].concat()),
            };
            assert_eq!(ended.code, Some(0), "{program} {args:?}: {ended:?}");
            let first = server.seen.first.lock().unwrap().clone();
            let text = String::from_utf8(first).unwrap().replace(&server.address.port().to_string(), "PORT");
            text.replace("Content-length", "Content-Length").replace("Content-type", "Content-Type")
        };
        assert_eq!(sent("torr ab"), sent("ab"), "{args:?}");
    }
}

#[test]
fn percentiles_and_requests_are_written_to_files() {
    let server = Serve::start(&[]);
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name).display().to_string();
    let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap();
    let url = server.url("/");
    let args = |csv: &str, tsv: &str| ["-q", "-n300", "-c3", "-e", csv, "-g", tsv, &url].map(str::to_owned);
    let theirs = run("ab", &args(&file("their.csv"), &file("their.tsv")).each_ref().map(String::as_str));
    let ours = torr_ab(&args(&file("our.csv"), &file("our.tsv")).each_ref().map(String::as_str));
    assert_eq!((theirs.code, ours.code), (Some(0), Some(0)), "{ours:?}");
    let first = |text: String| text.split([',', '\n']).step_by(2).map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(first(read("our.csv")), first(read("their.csv")));
    let (our_lines, their_lines) = (read("our.tsv"), read("their.tsv"));
    let (our_lines, their_lines): (Vec<_>, Vec<_>) = (our_lines.lines().collect(), their_lines.lines().collect());
    assert_eq!((our_lines[0], our_lines.len()), (their_lines[0], their_lines.len()));
    let fields = |line: &str| line.split('\t').map(|field| field.split_whitespace().count()).collect::<Vec<_>>();
    assert_eq!(fields(our_lines[1]), fields(their_lines[1]));
    let times: Vec<f64> = our_lines[1..].iter().map(|line| line.split('\t').nth(4).unwrap().parse().unwrap()).collect();
    assert!(times.is_sorted() && times[0] > 0.0, "{times:?}");
    assert!(ours.stderr.contains("only ttime"), "{}", ours.stderr);
    let nowhere = torr_ab(&["-e", "/no/such/folder/x", &url]);
    assert!(nowhere.code == Some(1) && nowhere.stdout.is_empty(), "{nowhere:?}");
}

#[test]
fn bad_usage_has_the_exit_code_and_the_stream_of_ab() {
    let cases: &[&[&str]] = &[
        &[],
        &["-n", "0", "http://127.0.0.1:1/"],
        &["-n", "x", "http://127.0.0.1:1/"],
        &["-c", "5", "-n", "2", "http://127.0.0.1:1/"],
        &["http://127.0.0.1:1"],
        &["http://127.0.0.1:1/", "http://127.0.0.1:2/"],
        &["http://127.0.0.1:1/", "-n", "5"],
        &["-n"],
        &["-i", "-p", "x", "http://127.0.0.1:1/"],
        &["-u", "/etc/hostname", "-p", "/etc/hostname", "http://127.0.0.1:1/"],
        &["-p", "/no/such/file", "http://127.0.0.1:1/"],
    ];
    for args in cases {
        let (theirs, ours) = (run("ab", args), torr_ab(args));
        assert_eq!((ours.code, ours.stdout.as_str()), (theirs.code, ""), "{args:?}: {theirs:?} {ours:?}");
        let shows_usage = |ended: &Ended| ended.stderr.contains("Usage: ab [options]");
        assert_eq!(shows_usage(&ours), shows_usage(&theirs), "{args:?}: {ours:?}");
        assert!(shows_usage(&ours) || ours.stderr.lines().count() == 1, "{args:?}: {ours:?}");
    }
    for (args, what) in [
        (&["-E", "/no/such/file", "https://127.0.0.1:1/"][..], "/no/such/file"),
        (&["-H", "no colon", "http://127.0.0.1:1/"], "header"),
        (&["-B", "203.0.113.1", "http://127.0.0.1:1/"], "not an address of this machine"),
    ] {
        let ours = torr_ab(args);
        assert_eq!((ours.code, ours.stderr.lines().count()), (Some(2), 1), "{args:?}: {ours:?}");
        assert!(ours.stderr.contains(what), "{args:?}: {ours:?}");
    }
    let refused = torr_ab(&[&format!("http://127.0.0.1:{}/", closed_port())]);
    assert_eq!((refused.code, refused.stdout.as_str()), (Some(3), ""), "{refused:?}");
    for args in [&["-h"][..], &["-V"]] {
        let help = torr_ab(args);
        assert_eq!((help.code, help.stderr.as_str()), (Some(0), ""), "{help:?}");
        assert!(help.stdout.contains("torr"), "{help:?}");
    }
}

#[test]
fn bodies_of_other_sizes_are_no_failures() {
    let script = |client: &mut Client| {
        for body in ["a", "bbb"].iter().cycle() {
            if client.request().is_none() {
                return;
            }
            let head = format!("HTTP/1.1 200 OK\r\nConnection: keep-alive\r\nContent-Length: {}\r\n\r\n", body.len());
            client.send(format!("{head}{body}").as_bytes());
        }
    };
    let server = Script::start(script);
    let args = ["-k", "-n", "100", &server.url()];
    let (theirs, ours) = (run("ab", &args), torr_ab(&args));
    assert_eq!(value(&theirs.stdout, "Failed requests:"), "50", "ab has mended this: {theirs:?}");
    assert_eq!(value(&ours.stdout, "Failed requests:"), "0", "{ours:?}");
    assert_eq!(value(&ours.stdout, "HTML transferred:"), "200 bytes", "{ours:?}");
    assert!(!ours.stdout.contains("(Connect:"), "{ours:?}");
    let varied = Script::start(|client: &mut Client| {
        let mut first = true;
        while client.request().is_some() {
            let body = if std::mem::take(&mut first) { "aaaa" } else { "b" };
            client.send(format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}", body.len()).as_bytes());
        }
    });
    let ours = torr_ab(&["-k", "-n", "100", &varied.url()]);
    assert!(ours.stderr.contains("differ in length"), "{ours:?}");
}

#[test]
fn connections_are_kept_without_the_word_keep_alive() {
    let server = Script::start(answering(torr_test_support::script::OK));
    let ours = torr_ab(&["-k", "-n", "200", "-c", "4", &server.url()]);
    assert_eq!(value(&ours.stdout, "Keep-Alive requests:"), "200", "{ours:?}");
    assert_eq!((server.connections(), server.requests()), (4, 200));
}

#[test]
fn what_fails_is_reported_and_fails_the_command_unless_forgiven() {
    // Each connection responds once and breaks then, in the middle of the next response.
    let script = |client: &mut Client| {
        if client.request().is_some() {
            client.send(torr_test_support::script::OK);
        }
        if client.request().is_some() {
            client.send(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf");
        }
    };
    for (flag, code) in [("-k", 1), ("-kr", 0)] {
        let server = Script::start(script);
        let ours = torr_ab(&[flag, "-n", "20", "-c", "2", &server.url()]);
        assert_eq!(ours.code, Some(code), "{ours:?}");
        // The last request of one of the two connections may be an answered one.
        let number = |label: &str| value(&ours.stdout, label).parse::<u64>().unwrap();
        let (complete, failed) = (number("Complete requests:"), number("Failed requests:"));
        assert!((10..=11).contains(&complete) && complete + failed == 20, "{ours:?}");
        let kinds = format!("\n   (Connect: 0, Receive: {failed}, Length: 0, Exceptions: 0)\n");
        assert!(ours.stdout.contains(&kinds), "{ours:?}");
    }
}

#[test]
fn a_server_that_hangs_does_not_cost_the_report() {
    let script = |client: &mut Client| {
        if client.request().is_some() {
            client.send(torr_test_support::script::OK);
        }
        // Waits for the client to give up.
        while client.request().is_some() {}
    };
    let server = Script::start(script);
    let theirs = run("ab", &["-k", "-s", "1", "-n", "5", &server.url()]);
    assert!(theirs.code != Some(0) && !theirs.stdout.contains("Complete"), "ab has mended this: {theirs:?}");
    let ours = torr_ab(&["-k", "-s", "1", "-n", "3", "-c", "3", &server.url()]);
    assert_eq!((ours.code, value(&ours.stdout, "Complete requests:")), (Some(0), "3"), "{ours:?}");
    let ours = torr_ab(&["-k", "-s", "1", "-n", "4", "-c", "2", &server.url()]);
    assert_eq!((ours.code, value(&ours.stdout, "Complete requests:")), (Some(1), "2"), "{ours:?}");
    assert!(ours.stdout.contains("   (Connect: 0, Receive: 0, Length: 0, Exceptions: 2)"), "{ours:?}");
    let longest: f64 = value(&ours.stdout, " 100%").split(' ').next().unwrap().parse().unwrap();
    assert!(longest >= 1000.0, "the time-outs are in the times: {ours:?}");
}

#[test]
fn an_interruption_gives_the_report() {
    let server = Script::start(|client: &mut Client| {
        while client.request().is_some() {
            std::thread::sleep(Duration::from_millis(1));
            client.send(torr_test_support::script::OK);
        }
    });
    let running = Running::start(torr_command(&["ab", "-t", "600", "-k", &server.url()]));
    wait_until("requests", || (server.requests() > 10).then_some(()));
    running.signal("INT");
    let ended = running.wait();
    assert_eq!(ended.code, Some(130), "{ended:?}");
    let complete: usize = value(&ended.stdout, "Complete requests:").parse().unwrap();
    assert!((10..=server.requests()).contains(&complete), "{ended:?}");
}

#[test]
fn tls_is_shown_as_ab_shows_it() {
    let folder = tempfile::tempdir().unwrap();
    let (certificate, key) = self_signed(folder.path());
    let nginx = Nginx::start_tls(&certificate, &key, SITE);
    let url = nginx.https().replace("127.0.0.1", "localhost");
    for args in [&["-n200", "-c5", "-k", &url][..], &["-n20", "-f", "TLS1.2", &url], &["-n20", "-k", "-I", &url]] {
        let (theirs, ours) = (run("ab", args), torr_ab(args));
        assert_eq!((theirs.code, ours.code), (Some(0), Some(0)), "{args:?}: {theirs:?} {ours:?}");
        let (their_page, our_page) = (body(&theirs), body(&ours));
        // The certificate's bits are not known.
        let plain =
            |page: &str| structure(page).into_iter().map(|line| line.replace(",256,256", ",-,256")).collect::<Vec<_>>();
        assert_eq!(plain(&our_page), plain(&their_page), "{args:?}\n{their_page}\n{our_page}");
    }
}

#[test]
fn a_proxy_is_sent_the_whole_url() {
    let proxy = Script::start(answering(OK));
    let through = proxy.address.to_string();
    let ours = torr_ab(&["-n3", "-k", "-X", &through, "-P", "me:secret", "http://name.test/x"]);
    assert_eq!(ours.code, Some(0), "{ours:?}");
    let first = String::from_utf8(proxy.seen.first.lock().unwrap().clone()).unwrap();
    assert!(first.starts_with("GET http://name.test/x HTTP/1.0\r\n"), "{first}");
    assert!(first.contains("Proxy-Authorization: Basic bWU6c2VjcmV0\r\n"), "{first}");
}

#[test]
fn a_user_in_the_url_is_sent() {
    let server = Script::start(answering(OK));
    for program in
        [&["ab", "-n", "1"][..], &["httpress", "-n", "1"], &["press", "-n", "1"], &["wrk", "-d2", "-c1", "-t1"]]
    {
        let url = server.url().replace("http://", "http://me:secret@");
        let ended = torr(&[program, &[&url]].concat());
        assert_eq!(ended.code, Some(0), "{program:?}: {ended:?}");
        let request = server.texts().pop().expect("there was one");
        assert!(request.contains("Authorization: Basic bWU6c2VjcmV0\r\n"), "{program:?}: {request}");
        assert!(!(ended.stdout + &ended.stderr).contains("secret"), "{program:?}");
    }
}
