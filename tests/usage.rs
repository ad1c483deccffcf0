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
        (&["https://127.0.0.1/"], "only http://"),
        (&["http://"], "not a URL"),
        (&[""], "not a URL"),
        (&["http://127.0.0.1:99999/"], "port"),
        (&["-H", "no colon", "http://127.0.0.1:1"], "header 'no colon'"),
        (&["-H", "Content-Length: 5", "http://127.0.0.1:1"], "leave it out"),
        (&["-X", "GE T", "http://127.0.0.1:1"], "method"),
        (&["--data", "@/no/such/file", "http://127.0.0.1:1"], "/no/such/file"),
        (&["--json", "/no/such/folder/x.json", "http://127.0.0.1:1"], "/no/such/folder"),
        (&["--bind", "192.0.2.1", "http://127.0.0.1:1"], "no address of this machine"),
        (&["--bind", "::1", "http://127.0.0.1:1"], "IPv6"),
        (&["--bind", "eth0", "http://127.0.0.1:1"], "--bind"),
        (&["serve", "--workers", "0"], "--workers"),
        (&["serve", "--listen", "nowhere"], "nowhere"),
        (&["serve", "--max-headers", "1000"], "--max-headers"),
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
        "-c",
        "-t",
        "-d",
        "-n",
        "-H",
        "-X",
        "--data",
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
