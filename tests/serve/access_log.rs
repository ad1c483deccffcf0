//! The access log of `torr serve`: one line for each request, whatever becomes of it, and what stands there.

use regex::Regex;
use serde_json::Value;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use torr_test_support::certificates::self_signed;
use torr_test_support::client::{Client, get, post};
use torr_test_support::program::{run, signal, torr_command, torr_json, torr_path};
use torr_test_support::result::count;
use torr_test_support::servers::Serve;
use torr_test_support::supervised::Supervised;
use torr_test_support::{KilledAtEnd, wait_until};

/// A server and its log.
struct Scene {
    folder: tempfile::TempDir,
    serve: Serve,
}

impl Scene {
    fn set(args: &[&str]) -> Self {
        let folder = tempfile::tempdir().expect("there is room for temporary files");
        let log = folder.path().join("log").display().to_string();
        let serve = Serve::start(&[&["--access-log", &log], args].concat());
        Self { folder, serve }
    }

    fn json(args: &[&str]) -> Self {
        Self::set(&[&["--access-log-format", "json"], args].concat())
    }

    fn log(&self) -> PathBuf {
        self.folder.path().join("log")
    }

    /// All lines once the server has ended, after which none can come.
    fn at_the_end(mut self) -> Vec<String> {
        self.serve.terminate();
        assert_eq!(self.serve.wait(), Some(0));
        lines_of(&self.log())
    }

    fn objects(self) -> Vec<Value> {
        self.at_the_end().iter().map(|line| serde_json::from_str(line).expect("it is JSON")).collect()
    }
}

fn lines_of(path: &PathBuf) -> Vec<String> {
    let text = std::fs::read_to_string(path).expect("the log is there");
    assert!(text.is_empty() || text.ends_with('\n'), "the last line is whole: {text}");
    text.lines().map(str::to_owned).collect()
}

/// What a line says in short.
fn short(line: &Value) -> String {
    let word = |key: &str| line[key].as_str().unwrap_or("-").to_owned();
    format!("{} {} {} {} {}", word("method"), word("target"), word("protocol"), line["status"], line["bytes"])
}

#[test]
fn each_format_is_as_its_readers_expect() {
    let combined = r#"^127\.0\.0\.1 - - \[\d\d/[A-Z][a-z]{2}/\d{4}:\d\d:\d\d:\d\d \+0000\] "GET /bytes/9\?a=%22 HTTP/1\.1" 200 9 "http://from\.test/" "an \\"agent\\" \\x1b\\xc3\\xa9"$"#;
    let common = combined.split(r#" "http:"#).next().expect("a text has a first part").to_owned() + "$";
    let request = b"GET /bytes/9?a=%22 HTTP/1.1\r\nHost: own.test\r\nReferer: http://from.test/\r\nUser-Agent: an \"agent\" \xc3\xa9\r\n\r\n";
    // Heads may not hold control characters, but for the tab.
    let combined = combined.replace(r"\\x1b", "");
    for (format, pattern) in [("common", common.as_str()), ("combined", &combined)] {
        let scene = Scene::set(&["--access-log-format", format]);
        let mut client = scene.serve.client();
        client.send(request);
        assert_eq!(client.response().body.len(), 9);
        let lines = scene.at_the_end();
        assert!(
            lines.len() == 1 && Regex::new(pattern).expect("it is one").is_match(&lines[0]),
            "{pattern}\n{lines:?}"
        );
    }
    let scene = Scene::json(&["--request-ids", "true"]);
    let mut client = scene.serve.client();
    client.send(request);
    let id = client.response().field("X-Request-Id").expect("it is told").to_owned();
    let line = scene.objects().remove(0);
    for (key, value) in [
        ("client", "127.0.0.1"),
        ("method", "GET"),
        ("target", "/bytes/9?a=%22"),
        ("protocol", "HTTP/1.1"),
        ("host", "own.test"),
        ("referer", "http://from.test/"),
        ("user_agent", "an \"agent\" é"),
        ("request_id", &id),
    ] {
        assert_eq!(line[key], value, "{key}: {line}");
    }
    assert_eq!((count(&line, "/status"), count(&line, "/bytes")), (200, 9));
    assert!(line["duration_us"].is_u64() && line["tls"].is_null(), "{line}");
    let time = Regex::new(r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$").expect("it is one");
    assert!(time.is_match(line["time"].as_str().expect("it is text")), "{line}");
}

#[test]
fn every_request_has_one_line_with_the_bytes_of_its_response() {
    let scene = Scene::json(&[
        "--max-body",
        "1000",
        "--head-timeout",
        "300ms",
        "--body-timeout",
        "300ms",
        "--max-head",
        "4000",
    ]);
    let long = "x".repeat(1001);
    let cases = [
        (get("/"), vec!["GET / HTTP/1.1 200 20"]),
        ("HEAD / HTTP/1.1\r\nHost: x\r\n\r\n".into(), vec!["HEAD / HTTP/1.1 200 0"]),
        ("GET / HTTP/1.0\r\n\r\n".into(), vec!["GET / HTTP/1.0 200 20"]),
        (get("/bytes/3000000"), vec!["GET /bytes/3000000 HTTP/1.1 200 3000000"]),
        ("HEAD /bytes/3000000 HTTP/1.1\r\nHost: x\r\n\r\n".into(), vec!["HEAD /bytes/3000000 HTTP/1.1 200 0"]),
        (get("/sleep/1"), vec!["GET /sleep/1 HTTP/1.1 200 6"]),
        (get("/pool/1"), vec!["GET /pool/1 HTTP/1.1 200 6"]),
        (post("/echo", "hello"), vec!["POST /echo HTTP/1.1 200 5"]),
        ("OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n".into(), vec!["OPTIONS * HTTP/1.1 204 0"]),
        (get("/nowhere"), vec!["GET /nowhere HTTP/1.1 404 10"]),
        (post("/", "x"), vec!["POST / HTTP/1.1 405 19"]),
        (post("/echo", &long), vec!["POST /echo HTTP/1.1 413 22"]),
        (
            format!("POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3e9\r\n{long}\r\n0\r\n\r\n"),
            vec!["POST /echo HTTP/1.1 413 22"],
        ),
        // What is no request has none in its line, but what came before has.
        (get("/") + "nonsense\r\n\r\n", vec!["GET / HTTP/1.1 200 20", "- - - 400"]),
        (format!("GET / HTTP/1.1\r\nHost: x\r\nPadding: {}\r\n\r\n", "p".repeat(5000)), vec!["- - - 431"]),
        // Time-outs: of a head, and of a body whose head is known.
        ("GET / HT".into(), vec!["- - - 408"]),
        ("POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nhalf".into(), vec!["POST /echo HTTP/1.1 408"]),
        (
            "POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\nz".into(),
            vec!["POST /echo HTTP/1.1 400"],
        ),
        // Pipelined, with handlers that are waited for.
        (
            [get("/sleep/1"), get("/"), get("/pool/1"), post("/echo", "abc"), get("/bytes/100000")].concat(),
            vec![
                "GET /sleep/1 HTTP/1.1 200 6",
                "GET / HTTP/1.1 200 20",
                "GET /pool/1 HTTP/1.1 200 6",
                "POST /echo HTTP/1.1 200 3",
                "GET /bytes/100000 HTTP/1.1 200 100000",
            ],
        ),
        // There was no request.
        (String::new(), vec![]),
        ("\r\n\r\n".into(), vec![]),
    ];
    let mut expected = Vec::new();
    for (requests, lines) in &cases {
        let mut client = scene.serve.client();
        client.send(requests);
        expected.extend(lines.clone());
        // Who ends its side while a handler is waited for has gone: so this one stays until all is noted.
        wait_until("the lines", || (lines_of(&scene.log()).len() >= expected.len()).then_some(()));
    }
    let noted: Vec<_> = scene.objects().iter().map(short).collect();
    assert_eq!(noted.len(), expected.len(), "{noted:#?}");
    for (noted, expected) in noted.iter().zip(expected) {
        assert!(noted.starts_with(expected), "{noted} for {expected}");
    }
}

#[test]
fn a_press_has_a_line_for_each_request_and_no_more() {
    for flags in [&["--pipeline", "5"][..], &["--no-keepalive"], &["--http2-prior-knowledge", "--streams", "7"]] {
        let scene = Scene::json(&["--workers", "2", "--request-ids", "true"]);
        for path in ["/", "/sleep/1", "/bytes/200000"] {
            let load = ["-n", "300", "-c", "6", "-t", "2", &scene.serve.url(path)];
            assert_eq!(count(&torr_json(&[flags, &load].concat()), "/status/200"), 300);
        }
        let lines = scene.objects();
        let noted = |path: &str, bytes: u64| {
            lines.iter().filter(|line| line["target"] == path && line["bytes"] == bytes).count()
        };
        assert_eq!(
            (noted("/", 20), noted("/sleep/1", 6), noted("/bytes/200000", 200_000)),
            (300, 300, 300),
            "{flags:?}"
        );
        assert_eq!(lines.len(), 900, "{flags:?}");
        let ids: std::collections::HashSet<_> = lines.iter().map(|line| line["request_id"].to_string()).collect();
        assert_eq!(ids.len(), 900, "{flags:?}");
    }
}

#[test]
fn requests_over_tls_and_http_2_are_noted_alike() {
    let folder = tempfile::tempdir().expect("there is room for temporary files");
    let (certificate, key) = self_signed(folder.path());
    let (certificate, key) = (certificate.display().to_string(), key.display().to_string());
    let scene = Scene::json(&["--workers", "1", "--tls-cert", &certificate, "--tls-key", &key, "--max-body", "10"]);
    let url = |path: &str| format!("https://{}{path}", scene.serve.address);
    for protocol in ["--http1.1", "--http2"] {
        for args in [
            &[url("/bytes/100000")][..],
            &["--head".into(), url("/")],
            &["--data".into(), "x".repeat(11), url("/echo")],
            &[url("/no")],
        ] {
            let always =
                ["--silent", "--cacert", &certificate, "--user-agent", "me", "--output", "/dev/null", protocol];
            let args: Vec<_> = always.into_iter().chain(args.iter().map(String::as_str)).collect();
            assert_eq!(run("curl", &args).code, Some(0), "{args:?}");
        }
    }
    let lines = scene.objects();
    assert!(
        lines.iter().all(|line| line["tls"] == "TLSv1.3" && line["user_agent"] == "me" && line["host"].is_string()),
        "{lines:?}"
    );
    let noted: Vec<_> = lines.iter().map(short).collect();
    let expected = |protocol: &str| {
        ["GET /bytes/100000 P 200 100000", "HEAD / P 200 0", "POST /echo P 413 22", "GET /no P 404 10"]
            .map(|line| line.replace('P', protocol).replace(&format!("{protocol}OST"), "POST"))
    };
    assert_eq!(noted, [expected("HTTP/1.1"), expected("HTTP/2")].concat());
}

#[test]
fn a_client_that_closes_before_the_response_is_logged_with_499() {
    let scene = Scene::json(&[]);
    let lines = || lines_of(&scene.log());
    // In the middle of a response.
    let mut client = scene.serve.client();
    client.send(get("/bytes/1000000000"));
    client.response_head();
    client.pass_over(2_000_000);
    drop(client);
    wait_until("the first line", || (lines().len() == 1).then_some(()));
    // A stream of HTTP/2, before its response.
    let url = scene.serve.url("/sleep/100000");
    let ended = run("curl", &["--silent", "--http2-prior-knowledge", "--max-time", "0.5", &url]);
    assert_eq!(ended.code, Some(28), "curl gives up: {ended:?}");
    wait_until("the second line", || (lines().len() == 2).then_some(()));
    let noted = scene.objects();
    let bytes = count(&noted[0], "/bytes");
    assert!(noted[0]["status"] == 200 && (2_000_000..1_000_000_000).contains(&bytes), "{}", noted[0]);
    assert_eq!(short(&noted[1]), "GET /sleep/100000 HTTP/2 499 0");
    assert_eq!(noted.len(), 2);
}

#[test]
fn a_file_that_was_moved_goes_on_to_be_written() {
    let scene = Scene::json(&["--workers", "1"]);
    let mut client = scene.serve.client();
    client.get("/");
    wait_until("a line", || (lines_of(&scene.log()).len() == 1).then_some(()));
    let moved = scene.folder.path().join("log.1");
    std::fs::rename(scene.log(), &moved).expect("it can be moved");
    client.get("/json");
    wait_until("the next line", || (lines_of(&moved).len() == 2).then_some(()));
    assert!(!scene.log().exists());
}

#[test]
fn standard_output_takes_it_too() {
    let mut command =
        torr_command(&["serve", "--listen", "127.0.0.1:0", "--access-log", "-", "--access-log-format", "json"]);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = KilledAtEnd(command.spawn().expect("torr starts"));
    let mut line = String::new();
    BufReader::new(child.0.stderr.take().expect("it was piped")).read_line(&mut line).expect("it can be read");
    let address = line.split("http://").nth(1).and_then(|rest| rest.split(' ').next()).expect("it says where");
    let mut client = Client::connect(address.to_owned());
    client.send(get("/json"));
    client.response();
    let mut noted = String::new();
    BufReader::new(child.0.stdout.take().expect("it was piped")).read_line(&mut noted).expect("it can be read");
    assert_eq!(short(&serde_json::from_str(&noted).expect("it is JSON")), "GET /json HTTP/1.1 200 27");
}

/// As `logrotate` does it: the file gets another name, then the server is signalled to open a new one.
#[test]
fn after_sighup_a_new_file_is_begun_and_no_line_is_lost() {
    let scene = Scene::json(&["--workers", "2"]);
    let mut clients: Vec<_> = (0..8).map(|_| scene.serve.client()).collect();
    let mut all = |target: &str| clients.iter_mut().for_each(|client| assert_eq!(client.get(target).status, 404));
    all("/before");
    wait_until("lines", || (lines_of(&scene.log()).len() == 8).then_some(()));
    let elsewhere = tempfile::tempdir().expect("there is room for temporary files");
    let moved = elsewhere.path().join("log.1");
    std::fs::rename(scene.log(), &moved).expect("it can be moved");
    signal(scene.serve.pid(), "HUP");
    wait_until("the new file", || scene.log().exists().then_some(()));
    all("/after");
    let after = scene.at_the_end();
    let before = lines_of(&moved);
    assert!(before.len() == 8 && before.iter().all(|line| line.contains("/before")), "{before:?}");
    assert!(after.len() == 8 && after.iter().all(|line| line.contains("/after")), "{after:?}");
}

#[test]
fn a_full_disk_costs_lines_of_the_log_and_no_request() {
    let mut server = Supervised::start(&["--workers", "1", "--access-log", "/dev/full"]);
    let result = torr_json(&[&server.url(), "-n", "3000", "-c", "4", "-q"]);
    assert_eq!((&result["requests"], &result["status"]["200"]), (&3000.into(), &3000.into()), "{result}");
    server.signal("TERM");
    assert_eq!(server.wait().code(), Some(0));
    let line = server.says("3000 lines were lost");
    assert!(line.contains("No space left"), "{line}");
}

#[test]
fn a_log_that_cannot_be_opened_is_one_line() {
    let mut command = Command::new(torr_path());
    command.args(["serve", "--listen", "127.0.0.1:0", "--access-log", "/no/such/folder/log"]).stderr(Stdio::piped());
    let mut child = KilledAtEnd(command.spawn().expect("torr starts"));
    let mut shown = String::new();
    child.0.stderr.take().expect("it was piped").read_to_string(&mut shown).expect("it can be read");
    assert_eq!(child.0.wait().expect("it ends").code(), Some(2));
    assert!(shown.lines().count() == 1 && shown.contains("/no/such/folder/log"), "{shown}");
    std::io::stdout().flush().expect("standard output is there");
}
