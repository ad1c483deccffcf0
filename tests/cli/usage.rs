//! Bad input: one clear line, the right exit code, nothing left behind.

use crate::help::assert_fits;
use torr_test_support::program::{Running, torr, torr_command, torr_json, torr_path};
use torr_test_support::script::{OK, Script, answering};
use torr_test_support::servers::closed_port;
use torr_test_support::terminal::Terminal;
use torr_test_support::wait_until;

#[test]
fn mistakes_get_one_line_with_a_hint() {
    let cases: &[(&[&str], &str)] = &[
        (&["--connections", "0", "http://127.0.0.1:1"], "--connections"),
        (&["-c", "many", "http://127.0.0.1:1"], "-c"),
        (&["-d", "soon", "http://127.0.0.1:1"], "duration"),
        (&["-n", "0", "http://127.0.0.1:1"], "--requests"),
        (&["--colour", "http://127.0.0.1:1"], "unknown flag '--colour' (see 'torr --help-all')"),
        (&["--timout", "1s", "http://127.0.0.1:1"], "unknown flag '--timout' (did you mean '--timeout'"),
        (&["http://127.0.0.1:1", "--rate"], "missing value of '--rate <RATE>' (see"),
        (&["-c", "5"], "<TARGET>"),
        (&["http://127.0.0.1:1", "http://127.0.0.1:2"], "127.0.0.1:2"),
        (&["ftp://127.0.0.1/"], "must begin with http://"),
        (&["http://"], "invalid URL"),
        (&[""], "invalid URL"),
        (&["http://127.0.0.1:99999/"], "port"),
        (&["-H", "no colon", "http://127.0.0.1:1"], "header 1 must be 'Name: value'"),
        (&["-H", "Content-Length: 5", "http://127.0.0.1:1"], "drop it"),
        (&["-X", "GE T", "http://127.0.0.1:1"], "method"),
        (&["--data", "@/no/such/file", "http://127.0.0.1:1"], "/no/such/file"),
        (&["-X", "CONNECT", "http://127.0.0.1:1"], "method"),
        (&["--data", "@-", "--data", "@-", "http://127.0.0.1:1"], "already read"),
        (&["--data", "a", "--json-body", "{}", "http://127.0.0.1:1"], "--json-body"),
        (&["--data", "a", "-F", "a=b", "http://127.0.0.1:1"], "--form"),
        (&["--json-body", "{}", "-F", "a=b", "http://127.0.0.1:1"], "--form"),
        (&["-F", "name", "http://127.0.0.1:1"], "name=value"),
        (&["-F", "a=@/no/such/file", "http://127.0.0.1:1"], "form part 'a'"),
        (&["-F", "a=b", "-H", "Content-Type: text/x", "http://127.0.0.1:1"], "drop it"),
        (&["-G", "http://127.0.0.1:1"], "--data"),
        (&["-I", "--data", "a", "http://127.0.0.1:1"], "--get"),
        (&["-I", "-X", "GET", "http://127.0.0.1:1"], "--request"),
        (&["-u", "name", "http://127.0.0.1:1"], "NAME:PASSWORD"),
        (&["-u", "a:b", "--oauth2-bearer", "c", "http://127.0.0.1:1"], "--oauth2-bearer"),
        (&["--digest", "http://127.0.0.1:1"], "--digest needs --user"),
        (&["--digest", "-u", "a:b", "--http2", "https://127.0.0.1:1"], "--digest needs HTTP/1.1"),
        (&["--digest", "-u", "a:b", "ws://127.0.0.1:1"], "--digest is not supported for WebSockets"),
        (&["--digest", "-u", "a", "http://127.0.0.1:1"], "NAME:PASSWORD"),
        (&["--oauth2-client", "a:b", "http://127.0.0.1:1"], "--oauth2-client needs --oauth2-token-url"),
        (&["--oauth2-client", "a", "--oauth2-token-url", "http://h/", "http://127.0.0.1:1"], "ID:SECRET"),
        (&["--oauth2-client", "a:b", "--oauth2-token-url", "h", "http://127.0.0.1:1"], "http:// or https://"),
        (&["--aws-sigv4", "aws:amz:a:b", "http://127.0.0.1:1"], "--user KEY:SECRET"),
        (&["--aws-sigv4", "aws:amz", "-u", "a:b", "http://127.0.0.1:1"], "write them, as in aws:amz:eu-west-1:s3"),
        (&["-b", "file.txt", "http://127.0.0.1:1"], "name=value"),
        (&["http://127.0.0.1:1/a b"], "invalid URL"),
        (&["http://127.0.0.1:1/{{sequence}}"], "seq, uuid, now, rand LOW HIGH"),
        (&["http://127.0.0.1:1/{{rand 9 1}}"], "{{rand 1 100}}"),
        (&["--data", "{{seq", "http://127.0.0.1:1"], "--no-template"),
        (&["-H", "X: {{env TORR_HAS_NO_SUCH_VARIABLE}}", "http://127.0.0.1:1"], "not set"),
        (&["http://{{host}}/"], "placeholders"),
        (&["--urls", "/no/such/file"], "/no/such/file"),
        (&["--urls", "/dev/null"], "/dev/null: the list of URLs is empty"),
        (
            &["--streams", "10", "http://127.0.0.1:1"],
            "--streams needs --http2 or --http2-prior-knowledge or --http3 or --alt-svc (see 'torr --help-all')",
        ),
        (&["http://127.0.0.1:1", "--key", "f"], "--key needs --cert (see"),
        (&["once", "http://127.0.0.1:1", "--key=f"], "--key needs --cert (see"),
        (&["http://127.0.0.1:1", "--dashboard", "21081"], "use --dashboard=21081"),
        (&["--dashboard", "21081", "http://127.0.0.1:1"], "use --dashboard=21081"),
        (&["http://127.0.0.1:1", "-d", "a=1"], "pass a body with --data"),
        (&["-d", "10", "min", "http://127.0.0.1:1"], "write the unit directly after the number: -d 10min"),
        (&["http://127.0.0.1:1", "--timeout", "1.5", "s"], "write the unit directly after the number: --timeout 1.5s"),
        (&["-d", "10", "m"], "write the unit directly after the number: -d 10m"),
        (&["-d10", "sec", "http://127.0.0.1:1"], "write the unit directly after the number: -d10sec"),
        (
            &["limit", "http://127.0.0.1:1", "--budget=2", "min"],
            "write the unit directly after the number: --budget=2min",
        ),
        (
            &["--stages", "2s:100", "-d", "5s", "http://127.0.0.1:1"],
            "-d 5s is longer than --stages, which end after 2s",
        ),
        (&["--stages", "1s:5c,1s:0c", "-d", "3", "http://127.0.0.1:1"], "which end after 2s"),
        (&["--stages", "2s:10c", "-c", "50", "http://127.0.0.1:1"], "-c cannot be used with --stages of connections"),
        (&["--stages", "2s:10c", "--arrivals", "poisson", "http://127.0.0.1:1"], "--arrivals cannot be used with"),
        (&["/proc/self/"], "expected a file, found the directory '/proc/self/'"),
        (&["--order", "sequence", "http://127.0.0.1:1"], "--urls"),
        (&["--feeder", "/no/such/file.csv", "http://127.0.0.1:1"], "/no/such/file.csv"),
        (&["--feeder", "/dev/null", "http://127.0.0.1:1"], ".jsonl"),
        (&["--feeder-order", "random", "http://127.0.0.1:1"], "--feeder"),
        (&["--json", "/no/such/folder/x.json", "http://127.0.0.1:1"], "/no/such/folder"),
        (&["--csv", "/no/such/folder/x.csv", "http://127.0.0.1:1"], "/no/such/folder"),
        (&["--hlog", "/no/such/folder/x.hlog", "http://127.0.0.1:1"], "/no/such/folder"),
        (&["--prometheus", "/no/such/folder/x.prom", "http://127.0.0.1:1"], "/no/such/folder"),
        (&["--junit", "/no/such/folder/x.xml", "http://127.0.0.1:1"], "/no/such/folder"),
        (&["--json", "-", "--csv", "-", "http://127.0.0.1:1"], "--json and --csv cannot both"),
        (&["--hlog", "-", "--junit", "-", "http://127.0.0.1:1"], "--hlog and --junit cannot both"),
        (&["--prometheus-remote-write", "ftp://127.0.0.1/", "http://127.0.0.1:1"], "must be a URL such as"),
        (&["--push-interval", "5s", "http://127.0.0.1:1"], "--otlp"),
        (&["--otlp", "h", "--push-interval", "0.5", "http://127.0.0.1:1"], "at least 1s"),
        (&["--otlp", "http://", "http://127.0.0.1:1"], "must be a URL such as"),
        (&["--fail-if", "p99", "http://127.0.0.1:1"], "p99>50ms"),
        (&["--fail-if", "p99>50", "http://127.0.0.1:1"], "needs a time with its unit"),
        (&["--fail-if", "rps<1,p99{login,x}>5ms", "http://127.0.0.1:1"], "'p99{login,x}>5ms' needs a hurl file"),
        (&["--fail-if", "p99{login>5ms,rps<1", "http://127.0.0.1:1"], "expected '}' to close '{'"),
        (&["--fail-if", "timeout{login}>5", "http://127.0.0.1:1"], "'timeout' is a metric of the whole run"),
        (&["--csv-entries", "x.csv", "http://127.0.0.1:1"], "a URL has no entries"),
        (&["--fail-if", "errors>0.1%,speed<5", "http://127.0.0.1:1"], "unknown metric 'speed': use min, mean"),
        (&["--bind", "192.0.2.1", "http://127.0.0.1:1"], "not an address of this machine"),
        (&["--bind", "::1", "http://127.0.0.1:1"], "IPv6"),
        (&["--bind", "eth0", "http://127.0.0.1:1"], "--bind"),
        (&["serve", "--workers", "0"], "--workers"),
        (&["serve", "--listen", "nowhere"], "nowhere"),
        (&["serve", "--max-headers", "1000"], "--max-headers"),
        (&["watch", "--listen", "nowhere"], "nowhere"),
        (&["watch", "--listen", "0.0.0.0:0", "--token", ""], "TORR_WATCH_TOKEN"),
        (&["watch", "--port", "0"], "--port"),
        (&["demo", "--json", "/no/such/folder/x.json"], "/no/such/folder"),
        (&["limt", "http://127.0.0.1:1"], "did you mean 'limit'"),
        (&["docter"], "did you mean 'doctor'"),
        (&["limt", "--slo", "p99<5ms", "http://127.0.0.1:1"], "did you mean 'limit'"),
        (&["-c", "5", "docter"], "did you mean 'doctor'"),
        (&["-c", "5", "limit"], "must come before all flags"),
        (&["-c", "5", "limit", "http://127.0.0.1:1"], "the command 'limit' must come before"),
        (&["http://127.0.0.1:1", "limit"], "the command 'limit' must come before"),
        (&["http://127.0.0.1:1", "http://127.0.0.1:2"], "expected one URL"),
        (&["bench", "http://127.0.0.1:1"], "unknown command 'bench'"),
        (&["help", "limt"], "did you mean 'limit'"),
        (&["help", "bench"], "see 'torr help'"),
    ];
    for (args, word) in cases {
        let ended = torr(args);
        assert_eq!(ended.code, Some(2), "{args:?}: {ended:?}");
        assert_eq!(ended.stdout, "", "{args:?}");
        assert_eq!(ended.stderr.lines().count(), 1, "{args:?}: {}", ended.stderr);
        assert!(ended.stderr.starts_with("torr: ") && ended.stderr.contains(word), "{args:?}: {}", ended.stderr);
    }
}

#[test]
fn mistakes_in_files_get_one_line_with_their_position() {
    let folder = tempfile::tempdir().expect("there is room for temporary files");
    let cases: &[(&str, &str, &[&str], &str)] = &[
        ("a.txt", "http://127.0.0.1:1/a\nhttp://127.0.0.1:2/\n", &["--urls"], "the same scheme, host and port"),
        ("b.txt", "/a\n", &["--urls"], "b.txt: list of URLs, line 1"),
        ("c.txt", "http://127.0.0.1:1/a\n\n0 /b\n", &["--urls"], "line 3"),
        ("d.txt", "http://127.0.0.1:1/{{name}}\n", &["--urls"], "unknown"),
        ("e.csv", "id\n", &["http://127.0.0.1:1", "--feeder"], "no records"),
        (
            "f.csv",
            "id,name\n1\n",
            &["http://127.0.0.1:1", "--feeder"],
            "line 2 has 1 field, expected 2 as in the first line",
        ),
        ("g.csv", "id\n1\n", &["http://127.0.0.1:1/{{name}}", "--feeder"], "the fields id"),
        ("h.csv", "id\n\"1\n2\"\n", &["http://127.0.0.1:1", "-H", "X: {{id}}", "--feeder"], "record 1"),
        ("i.jsonl", "{\"id\": 1}\n{\"name\": 1}\n", &["http://127.0.0.1:1/{{id}}", "--feeder"], "record 2"),
        ("j.jsonl", "{\"id\": 1}\nid\n", &["http://127.0.0.1:1/{{id}}", "--feeder"], "line 2"),
    ];
    for (name, content, args, word) in cases {
        let path = folder.path().join(name);
        std::fs::write(&path, content).expect("a file can be written");
        let ended = torr(&[args, &[path.to_str().expect("it is text")][..]].concat());
        assert_eq!((ended.code, &*ended.stdout), (Some(2), ""), "{name}: {ended:?}");
        assert_eq!(ended.stderr.lines().count(), 1, "{name}: {}", ended.stderr);
        assert!(ended.stderr.starts_with("torr: ") && ended.stderr.contains(word), "{name}: {}", ended.stderr);
    }
}

#[test]
fn a_report_that_cannot_be_written_is_exit_code_1() {
    let server = Script::start(answering(OK));
    let script = "exec \"$0\" \"$1\" -n 10 -c 1 -q > /dev/full";
    let mut shell = std::process::Command::new("sh");
    shell.args(["-c", script, torr_path(), &server.url()]);
    let ended = Running::start(shell).wait();
    assert_eq!(ended.code, Some(1), "{ended:?}");
    let line = "torr: cannot write to standard output: No space left on device";
    assert!(ended.stderr.starts_with(line) && ended.stderr.lines().count() == 1, "{}", ended.stderr);
}

#[test]
fn an_interval_log_is_found_unwritable_before_the_run_and_replaced_only_by_one() {
    let server = Script::start(answering(OK));
    let ended = torr(&[&server.url(), "-n", "10", "-q", "--hlog", "/dev/full"]);
    assert_eq!((ended.code, server.requests()), (Some(1), 0), "{ended:?}");
    assert!(ended.stderr.starts_with("torr: cannot write the interval log /dev/full: "), "{}", ended.stderr);
    let folder = tempfile::tempdir().expect("there is room for temporary files");
    let log = folder.path().join("run.hlog");
    std::fs::write(&log, "former").expect("a file can be written");
    let path = log.to_str().expect("it is text");
    let ended = torr(&[&format!("http://127.0.0.1:{}/", closed_port()), "-n", "10", "--hlog", path]);
    assert_eq!(ended.code, Some(3), "{ended:?}");
    assert_eq!(std::fs::read_to_string(&log).expect("it is there"), "former");
    let ended = torr(&[&server.url(), "-n", "10", "-c", "1", "-q", "--hlog", path]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let text = std::fs::read_to_string(&log).expect("it is there");
    assert!(text.starts_with("#[Histogram log format") && !text.contains("former"), "{text}");
}

#[test]
fn a_target_that_cannot_be_reached_is_exit_code_3() {
    let refused = format!("http://127.0.0.1:{}/", closed_port());
    for (url, why) in [(refused.as_str(), "connection refused"), ("http://no-such-host.invalid/", "cannot resolve")] {
        for rest in [&["-d", "30s"][..], &["-n", "1000000"], &["-n", "1", "-c", "50"]] {
            let ended = torr(&[rest, &[url]].concat());
            assert_eq!(ended.code, Some(3), "{url} {rest:?}: {ended:?}");
            assert!(ended.stderr.contains(why) && ended.stderr.lines().count() == 1, "{url}: {}", ended.stderr);
            assert_eq!(ended.stdout, "", "{url}");
        }
    }
}

#[test]
fn more_connections_than_files_is_one_line() {
    let mut shell = std::process::Command::new("sh");
    shell.args(["-c", "ulimit -n 100; exec \"$0\" http://127.0.0.1:1 -c 5000", torr_path()]);
    let ended = torr_test_support::program::Running::start(shell).wait();
    assert_eq!(ended.code, Some(2), "{ended:?}");
    assert!(ended.stderr.contains("ulimit -n") && ended.stderr.lines().count() == 1, "{}", ended.stderr);
}

#[test]
fn a_target_is_what_it_is_spelled_like_and_doubt_is_said() {
    let folder = tempfile::tempdir().expect("there is room for temporary files");
    for name in ["checkout", "visit.har", "a.hurl", "plan.toml", "bad.lua"] {
        std::fs::write(folder.path().join(name), "GET http://127.0.0.1:1/\n").expect("a file can be written");
    }
    let mistake = |args: &[&str]| {
        let mut command = torr_command(args);
        command.current_dir(folder.path());
        let ended = Running::start(command).wait();
        assert_eq!((ended.code, &*ended.stdout), (Some(2), ""), "{args:?}: {ended:?}");
        assert_eq!(ended.stderr.lines().count(), 1, "{args:?}: {}", ended.stderr);
        ended.stderr
    };
    for (args, words) in [
        (&["checkout"][..], "unknown file extension of 'checkout'"),
        (&["checkout"], "'http://checkout/'"),
        (&["visit.har"], "'torr import'"),
        (&["none.hurl"], "no such file: 'none.hurl' (for a host of that name use 'http://none.hurl/')"),
        (&["none.toml", "-c", "5"], "no such file"),
        (&["./none"], "no such file: './none'"),
        (&["a.hurl=none"], "the weight of 'a.hurl'"),
        (&["a.hurl", "http://127.0.0.1:1/"], "a hurl file has its own URLs"),
        (&["a.hurl", "bad.lua"], "must be the only target"),
        (&["a.hurl", "--data", "x=1"], "--data is not supported for sessions"),
        (&["a.hurl", "--expect-status", "200"], "--expect-status is not supported for sessions (use 'HTTP 200'"),
        (&["a.hurl", "--pipeline", "4"], "--pipeline is not supported for sessions"),
        (&["limit", "plan.toml"], "plan.toml:1:5: key with no value"),
        (&["doctor", "bad.lua"], "bad.lua:1: "),
        (&["doctor", "none.hurl"], "no such file"),
        (&["limit", "a.hurl", "-H", "A: b"], "--header is not supported for sessions"),
        (&["limit", "http://127.0.0.1:1/", "--variable", "a=b"], "--variable is not supported for a URL"),
        (&["a.hurl", "--urls", "checkout"], "--urls is not supported for sessions"),
        (&["http://127.0.0.1:1/", "--variable", "a=b"], "--variable is not supported for a URL"),
        (&["http://127.0.0.1:1/", "--setup", "a.hurl"], "--setup is not supported for a URL"),
    ] {
        let line = mistake(args);
        assert!(line.starts_with("torr: ") && line.contains(words), "{args:?}: {line}");
    }
}

#[test]
fn mistyped_flags_and_commands_are_recognised_everywhere() {
    for (args, meant) in [
        (&["--conections", "5", "http://127.0.0.1:1"][..], "'--connections'"),
        (&["http://127.0.0.1:1", "--fail-iff", "p99>1s"], "'--fail-if'"),
        (&["http://127.0.0.1:1", "--order", "randon", "--urls", "x"], "'random'"),
        (&["--help-al"], "'--help-all'"),
        (&["limit", "http://127.0.0.1:1", "--budgt", "5s"], "'--budget'"),
        (&["doctor", "http://127.0.0.1:1", "--max-rat", "5"], "'--max-rate'"),
        (&["serve", "--worker", "2"], "'--workers'"),
        (&["import", "curll"], "'curl'"),
        (&["check", "a.hurl", "--varible", "a=b"], "'--variable'"),
        (&["completions", "bahs"], "'bash'"),
        (&["plan-shema"], "'plan-schema'"),
    ] {
        let ended = torr(args);
        assert_eq!((ended.code, ended.stderr.lines().count()), (Some(2), 1), "{args:?}: {ended:?}");
        assert!(ended.stderr.contains(&format!("did you mean {meant}?")), "{args:?}: {}", ended.stderr);
    }
    for (args, owner) in [
        (&["http://127.0.0.1:1", "--slo", "p99<5ms"][..], "torr limit"),
        (&["--workers", "2"], "torr serve"),
        (&["limit", "http://127.0.0.1:1", "--stages", "1s:5"], "torr TARGET"),
    ] {
        let ended = torr(args);
        let line = format!("': it is a flag of '{owner}'\n");
        assert!(ended.code == Some(2) && ended.stderr.contains(&line), "{args:?}: {ended:?}");
    }
    let ended = torr(&["wrk2", "-R", "5", "--latnecy", "http://127.0.0.1:1"]);
    assert!(ended.code == Some(1) && ended.stderr.contains("did you mean '--latency'?"), "{ended:?}");
}

#[test]
fn a_word_that_is_no_command_is_a_host() {
    let ended = torr(&["no-such-host-either"]);
    assert_eq!((ended.code, ended.stderr.lines().count()), (Some(3), 1), "{ended:?}");
    assert!(
        ended
            .stderr
            .contains("cannot resolve 'no-such-host-either': check the host name; there is no such command either"),
        "{ended:?}"
    );
    // A host whose name is nearly a command's is pressed if 'http://' precedes it.
    let server = Script::start(answering(OK));
    let port = server.address.port();
    let resolve = format!("limt:{port}:127.0.0.1");
    for url in [format!("limt:{port}"), format!("http://limt:{port}/"), format!("localhost:{port}")] {
        let ended = torr(&["-n", "5", "-q", "--resolve", &resolve, &url]);
        assert!(ended.code == Some(0) && ended.stdout.contains("200 x 5"), "{url}: {ended:?}");
    }
}

#[test]
fn ctrl_c_leaves_no_progress_line_behind() {
    let server = Script::start(answering(OK));
    let mut terminal = Terminal::run(80, &format!("{} {} -r 20 -d 60s", torr_path(), server.url()));
    // At 20 a second the line has been drawn a dozen times by then.
    wait_until("a second's requests", || (server.requests() > 25).then_some(()));
    terminal.interrupt();
    let (screen, code) = terminal.end();
    assert_eq!(code, Some(130), "{screen:?}");
    assert!(screen.output.contains("/60s") && screen.output.contains("^C"), "{screen:?}");
    let lines = screen.lines();
    assert!(lines[0].starts_with("GET http://"), "{lines:#?}");
    assert!(!lines.iter().any(|line| line.contains("/60s") || line.contains("^C")), "{lines:#?}");
}

#[test]
fn a_second_ctrl_c_ends_a_run_at_once_and_clears_its_line_too() {
    let server = Script::start(answering(OK));
    let mut terminal = Terminal::run(80, &format!("{} {} -r 20 -d 60s", torr_path(), server.url()));
    wait_until("a second's requests", || (server.requests() > 25).then_some(()));
    terminal.interrupt();
    terminal.interrupt();
    let (screen, code) = terminal.end();
    assert_eq!(code, Some(130), "{screen:?}");
    assert!(!screen.lines().iter().any(|line| line.contains("/60s")), "{:#?}", screen.lines());
}

#[test]
fn a_run_that_is_to_outlive_its_terminal_does() {
    let server = Script::start(answering(OK));
    let torr = |shell: &str| {
        let mut command = std::process::Command::new("sh");
        command.args(["-c", &format!("{shell} {} {} -r 20 -n 40 -q", torr_path(), server.url())]);
        let before = server.requests();
        let run = Running::start(command);
        wait_until("some requests", || (server.requests() > before + 5).then_some(()));
        run.signal("HUP");
        run.wait()
    };
    let ended = torr("trap '' HUP; exec");
    assert!(ended.code == Some(0) && ended.stdout.contains("200 x 40"), "{ended:?}");
    // The tests themselves may be run so that they outlive their terminal.
    let ended = torr("exec env --default-signal=HUP");
    assert!(ended.code == Some(130) && ended.stdout.contains("interrupted"), "{ended:?}");
}

#[test]
fn links_are_made_beside_what_is_there_and_removed_again() {
    let folder = tempfile::tempdir().expect("there is room for temporary files");
    let bin = folder.path().join("bin");
    let install = |more: &[&str]| {
        let mut command = torr_command(&["install-links", bin.to_str().expect("the path is text")]);
        command.args(more).env("PATH", &bin);
        Running::start(command).wait()
    };
    let made = install(&["--only", "ab,wrk"]);
    assert_eq!((made.code, made.stderr.as_str()), (Some(0), ""), "{made:?}");
    assert_eq!(made.stdout, format!("{0}/ab\n{0}/wrk\n", bin.display()));
    let mut ab = std::process::Command::new(bin.join("ab"));
    ab.arg("-V");
    let version = Running::start(ab).wait();
    assert!(version.code == Some(0) && version.stdout.contains("ApacheBench"), "{version:?}");

    std::fs::write(bin.join("wrk2"), "another program").expect("a file can be written");
    std::os::unix::fs::symlink("/nowhere", bin.join("httpress")).expect("a link can be made");
    let rest = install(&[]);
    assert_eq!(rest.code, Some(1), "{rest:?}");
    assert!(rest.stdout.contains("drogon_ctl") && rest.stdout.contains("/ab\n"), "{rest:?}");
    let left = format!("left unchanged: not a link to this program: {0}/wrk2, {0}/httpress", bin.display());
    assert!(rest.stderr.replace('\n', " ").contains(&left), "{rest:?}");

    let removed = install(&["--remove"]);
    assert_eq!(removed.code, Some(1), "{removed:?}");
    assert!(removed.stderr.replace('\n', " ").contains(&left), "{removed:?}");
    let mut names: Vec<_> =
        std::fs::read_dir(&bin).expect("it is there").flatten().map(|entry| entry.file_name()).collect();
    names.sort();
    assert_eq!(names, ["httpress", "wrk2"], "{removed:?}");

    let refused = torr(&["install-links", "/dev/null/x"]);
    assert!(refused.code == Some(2) && refused.stderr.contains("/dev/null/x"), "{refused:?}");
    let unknown = torr(&["install-links", "--only", "siege"]);
    assert!(unknown.code == Some(2) && unknown.stderr.contains("siege"), "{unknown:?}");
}

#[test]
fn reports_fit_the_screen() {
    let server = Script::start(answering(OK));
    let url = server.url();
    let long = "'~a rather long text that nobody has ever sent to anybody, and that takes more than a line'";
    for (command, words) in [
        (format!("{url} -n 2000 -c 4 --expect-body {long}"), &["p99.9", "stddev", "first byte", "no errors"][..]),
        (format!("limit {url} --budget 5s --max-connections 4 -q"), &["the limit of", "in a closed loop"]),
        (format!("doctor {url} -c 4 --budget 5s"), &["verdict", "experiments in"]),
    ] {
        let (screen, _) = Terminal::run(80, &format!("{} {command}", torr_path())).end();
        let text = screen.lines().join("\n");
        assert_eq!(screen.wrapped, 0, "a line was broken by the terminal: {text}");
        assert!(words.iter().all(|word| text.contains(word)), "{words:?} in\n{text}");
    }
    for columns in [60, 80, 200] {
        let mut command = torr_command(&[&url, "-n", "2000", "-c", "4", "--expect-body", long]);
        command.env("COLUMNS", columns.to_string());
        let ended = Running::start(command).wait();
        assert_fits(&ended.stdout, columns);
        assert!(ended.stdout.contains("stddev") && ended.stdout.contains("sent to anybody"), "{}", ended.stdout);
    }
    // Lines of help that are laid out by hand as well: a terminal would break them anywhere.
    for command in ["", "serve", "doctor", "limit", "demo", "watch", "ab", "wrk", "httpress", "press", "k6"] {
        let mut help = torr_command(&["help", command][..if command.is_empty() { 1 } else { 2 }]);
        help.env("COLUMNS", "80");
        let ended = Running::start(help).wait();
        assert_fits(&ended.stdout, 80);
        let starts = ["  torr ", "  curl ", "  TORR_", "Exit codes", "Examples", "Every setting"];
        let mut below =
            ended.stdout.split("\nExamples:\n").skip(1).flat_map(str::lines).take_while(|line| !line.is_empty());
        let broken = below.find(|line| !starts.iter().any(|start| line.starts_with(start)));
        assert_eq!(broken, None, "torr help {command}: {}", ended.stdout);
    }
    // A file has no end to its right.
    let ended = torr(&[&url, "-n", "2000", "-c", "4", "--expect-body", long]);
    assert!(ended.stdout.lines().any(|line| line.contains("more than a line'")), "{}", ended.stdout);
    assert!(ended.stdout.lines().any(|line| line.contains("min") && line.contains("stddev")), "{}", ended.stdout);
}

#[test]
fn counts_are_taken_as_people_write_them() {
    let server = Script::start(answering(OK));
    for (count, requests) in [("0.2k", 200), ("2e2", 200), ("2_00", 200), ("200", 200)] {
        let result = torr_json(&["-n", count, "-c", "1e0", "-t", "1", "-r", "1_000", &server.url()]);
        assert_eq!((&result["requests"], &result["plan"]["rate"]), (&requests.into(), &1000.0.into()), "{count}");
    }
    let ended = torr(&["-n", "100", "-q", "--fail-if", "rps<1_0e-1,errors>1e2", &server.url()]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    for (flag, wrong) in [("-n", "1.5"), ("-n", "1,000"), ("-c", "0.5"), ("-r", "1__0"), ("--fail-if", "rps<5x")] {
        let ended = torr(&[flag, wrong, &server.url()]);
        assert_eq!((ended.code, ended.stderr.lines().count()), (Some(2), 1), "{flag} {wrong}: {ended:?}");
    }
}
