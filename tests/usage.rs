//! Bad input: one clear line, the right exit code, nothing left behind.

mod support;

use support::program::torr;
use support::servers::free_port;

#[test]
fn mistakes_get_one_line_with_a_hint() {
    let cases: &[(&[&str], &str)] = &[
        (&["--connections", "0", "http://127.0.0.1:1"], "--connections"),
        (&["-c", "many", "http://127.0.0.1:1"], "-c"),
        (&["-d", "soon", "http://127.0.0.1:1"], "duration"),
        (&["-n", "0", "http://127.0.0.1:1"], "--requests"),
        (&["--colour", "http://127.0.0.1:1"], "--colour"),
        (&["--timout", "1s", "http://127.0.0.1:1"], "did you mean '--timeout'"),
        (&["-c", "5"], "<URL>"),
        (&["http://127.0.0.1:1", "http://127.0.0.1:2"], "127.0.0.1:2"),
        (&["ftp://127.0.0.1/"], "only http://"),
        (&["http://"], "not a URL"),
        (&[""], "not a URL"),
        (&["http://127.0.0.1:99999/"], "port"),
        (&["-H", "no colon", "http://127.0.0.1:1"], "header 1 is not of the form"),
        (&["-H", "Content-Length: 5", "http://127.0.0.1:1"], "leave it out"),
        (&["-X", "GE T", "http://127.0.0.1:1"], "method"),
        (&["--data", "@/no/such/file", "http://127.0.0.1:1"], "/no/such/file"),
        (&["-X", "CONNECT", "http://127.0.0.1:1"], "method"),
        (&["--data", "@-", "--data", "@-", "http://127.0.0.1:1"], "read already"),
        (&["--data", "a", "--json-body", "{}", "http://127.0.0.1:1"], "--json-body"),
        (&["--data", "a", "-F", "a=b", "http://127.0.0.1:1"], "--form"),
        (&["--json-body", "{}", "-F", "a=b", "http://127.0.0.1:1"], "--form"),
        (&["-F", "name", "http://127.0.0.1:1"], "name=value"),
        (&["-F", "a=@/no/such/file", "http://127.0.0.1:1"], "form part 'a'"),
        (&["-F", "a=b", "-H", "Content-Type: text/x", "http://127.0.0.1:1"], "leave it out"),
        (&["-G", "http://127.0.0.1:1"], "--data"),
        (&["-I", "--data", "a", "http://127.0.0.1:1"], "--get"),
        (&["-I", "-X", "GET", "http://127.0.0.1:1"], "--request"),
        (&["-u", "name", "http://127.0.0.1:1"], "name:password"),
        (&["-u", "a:b", "--oauth2-bearer", "c", "http://127.0.0.1:1"], "--oauth2-bearer"),
        (&["-b", "file.txt", "http://127.0.0.1:1"], "name=value"),
        (&["http://127.0.0.1:1/a b"], "not a URL"),
        (&["http://127.0.0.1:1/{{sequence}}"], "seq, uuid, now, rand LOW HIGH"),
        (&["http://127.0.0.1:1/{{rand 9 1}}"], "{{rand 1 100}}"),
        (&["--data", "{{seq", "http://127.0.0.1:1"], "--no-template"),
        (&["-H", "X: {{env TORR_HAS_NO_SUCH_VARIABLE}}", "http://127.0.0.1:1"], "not set"),
        (&["http://{{host}}/"], "placeholders"),
        (&["--urls", "/no/such/file"], "/no/such/file"),
        (&["--urls", "/dev/null"], "empty"),
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
        (&["--otlp", "https://127.0.0.1/", "http://127.0.0.1:1"], "only http://"),
        (&["--otlp", "http://", "http://127.0.0.1:1"], "not a URL such as"),
        (&["--fail-if", "p99", "http://127.0.0.1:1"], "p99>50ms"),
        (&["--fail-if", "p99>50", "http://127.0.0.1:1"], "needs us, ms, s or m"),
        (&["--fail-if", "errors>0.1%,speed<5", "http://127.0.0.1:1"], "'speed' is none of min, mean"),
        (&["--bind", "192.0.2.1", "http://127.0.0.1:1"], "no address of this machine"),
        (&["--bind", "::1", "http://127.0.0.1:1"], "IPv6"),
        (&["--bind", "eth0", "http://127.0.0.1:1"], "--bind"),
        (&["serve", "--workers", "0"], "--workers"),
        (&["serve", "--listen", "nowhere"], "nowhere"),
        (&["serve", "--max-headers", "1000"], "--max-headers"),
        (&["watch", "--listen", "nowhere"], "nowhere"),
        (&["watch", "--listen", "0.0.0.0:0", "--token", ""], "TORR_WATCH_TOKEN"),
        (&["watch", "--port", "0"], "--port"),
        (&["demo", "--json", "/no/such/folder/x.json"], "/no/such/folder"),
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
fn mistakes_in_files_get_one_line_with_their_place() {
    let folder = tempfile::tempdir().expect("there is room for temporary files");
    let cases: &[(&str, &str, &[&str], &str)] = &[
        ("a.txt", "http://127.0.0.1:1/a\nhttp://127.0.0.1:2/\n", &["--urls"], "one scheme, host and port"),
        ("b.txt", "/a\n", &["--urls"], "line 1"),
        ("c.txt", "http://127.0.0.1:1/a\n\n0 /b\n", &["--urls"], "line 3"),
        ("d.txt", "http://127.0.0.1:1/{{name}}\n", &["--urls"], "unknown"),
        ("e.csv", "id\n", &["http://127.0.0.1:1", "--feeder"], "no records"),
        ("f.csv", "id,name\n1\n", &["http://127.0.0.1:1", "--feeder"], "line: 2"),
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
fn a_target_that_cannot_be_reached_is_exit_code_3() {
    let refused = format!("http://127.0.0.1:{}/", free_port());
    for (url, why) in [(refused.as_str(), "connection refused"), ("http://no-such-host.invalid/", "does not resolve")] {
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
    shell.args(["-c", "ulimit -n 100; exec \"$0\" http://127.0.0.1:1 -c 5000", env!("CARGO_BIN_EXE_torr")]);
    let ended = support::program::Running::start(shell).wait();
    assert_eq!(ended.code, Some(2), "{ended:?}");
    assert!(ended.stderr.contains("ulimit -n") && ended.stderr.lines().count() == 1, "{}", ended.stderr);
}

#[test]
fn help_and_version_go_to_standard_output() {
    for args in [["--help"], ["--version"]] {
        let ended = torr(&args);
        assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""), "{args:?}");
        assert!(ended.stdout.to_lowercase().contains("torr"), "{args:?}: {}", ended.stdout);
    }
    let help = torr(&["--help"]).stdout;
    for flag in [
        "--csv",
        "--hlog",
        "--prometheus",
        "--junit",
        "--otlp",
        "--fail-if",
        "-c",
        "-t",
        "-d",
        "-n",
        "-H",
        "-X",
        "--data",
        "--json-body",
        "-F",
        "--urls",
        "--feeder",
        "--timeout",
        "--no-keepalive",
        "--json",
        "-q",
        "serve",
        "demo",
        "ab",
        "wrk",
        "httpress",
        "press",
    ] {
        assert!(help.contains(flag), "{flag} is not in --help:\n{help}");
    }
    let nothing = torr(&[]);
    assert_eq!(nothing.code, Some(2), "{nothing:?}");
}
