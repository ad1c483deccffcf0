//! `torr replay`: what of a log is sent, when, and how the run is compared with the log.

use serde_json::Value;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;
use std::process::Stdio;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::Duration;
use torr_test_support::program::{Running, torr, torr_command};
use torr_test_support::result::{adds_up, count};
use torr_test_support::script::{Client, Script};

/// Returns a server that responds by the path.
fn server() -> Script {
    Script::start(|client: &mut Client| {
        while let Some(request) = client.request() {
            let is_broken = request.windows(7).any(|bytes| bytes == b"/broken");
            let status = if is_broken { "500 Internal Server Error" } else { "200 OK" };
            let response = format!("HTTP/1.1 {status}\r\nContent-Length: 0\r\n\r\n");
            if client.stream.write_all(response.as_bytes()).is_err() {
                return;
            }
        }
    })
}

/// Writes a log of these requests, one each second from 10:00:00 on, and returns its path.
fn log(folder: &Path, requests: &[&str]) -> String {
    let mut text = String::new();
    for (second, request) in requests.iter().enumerate() {
        let time = format!("29/Nov/2026:10:{:02}:{:02} +0100", second / 60, second % 60);
        let _ = writeln!(text, r#"10.0.0.1 - - [{time}] "{request} HTTP/1.1" 200 5 "-" "browser/1""#);
    }
    let path = folder.join("access.log");
    std::fs::write(&path, text).expect("there is room");
    path.to_str().expect("it is text").to_owned()
}

#[test]
fn a_log_is_sent_again_and_compared() {
    let (server, folder) = (server(), tempfile::tempdir().expect("there is room"));
    let requests = ["GET /orders/1?token=s3cretvalue", "POST /orders", "HEAD /orders/2", "GET /broken", "junk"];
    let (path, json) = (log(folder.path(), &requests), folder.path().join("result.json"));
    let json = json.to_str().expect("it is text");
    let target = server.url();
    let ended = torr(&["replay", &path, "--target", &target, "--speed", "4", "-c", "1", "--json", json]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let lines: Vec<_> = server.texts().iter().map(|text| text.lines().next().unwrap_or_default().to_owned()).collect();
    let expected = ["GET /orders/1?token=s3cretvalue HTTP/1.1", "HEAD /orders/2 HTTP/1.1", "GET /broken HTTP/1.1"];
    assert_eq!(lines, expected);
    assert!(server.texts().iter().all(|text| text.to_lowercase().contains("user-agent: browser/1\r\n")));

    let text = std::fs::read_to_string(json).expect("it was written");
    let result: Value = serde_json::from_str(&text).expect("it is JSON");
    adds_up(&result);
    let replay = &result["replay"];
    assert_eq!((count(&result, "/requests"), count(replay, "/lines"), count(replay, "/unreadable")), (3, 5, 1));
    assert_eq!((count(replay, "/compared"), count(replay, "/changed")), (3, 1));
    assert_eq!(replay["left_out_methods"]["POST"], 1);
    assert_eq!((&result["plan"]["arrivals"], &replay["spread"]), (&"replayed".into(), &true.into()));
    let paths: Vec<_> = replay["paths"].as_array().expect("it is a list").iter().map(|path| &path["path"]).collect();
    assert_eq!(paths, ["/broken", "/orders/{id}", "/orders/{id}"]);
    // The last request is due after 3 s of the log.
    assert!(result["duration_s"].as_f64().is_some_and(|s| s >= 0.75), "{result:#}");

    for part in ["left out", "POST 1", "200 -> 500: 1", "GET /orders/{id}", "without bodies", "spread evenly"] {
        assert!(ended.stdout.contains(part) || ended.stderr.contains(part), "{part}: {ended:?}");
    }
    for output in [&text, &ended.stdout, &ended.stderr] {
        assert!(!output.contains("s3cretvalue"), "{output}");
    }
}

/// Returns a record of GoReplay: its first line and a message.
fn record(first: &str, message: &str) -> String {
    format!("{first}\n{message}\n\u{1f435}\u{1f648}\u{1f649}\n")
}

#[test]
fn a_recording_of_goreplay_is_sent_with_its_bodies() {
    let (server, folder) = (server(), tempfile::tempdir().expect("there is room"));
    let large = "x".repeat(200_000);
    let post = |path: &str, content: &str| {
        let fields = "Host: shop.example\r\nContent-Type: application/json\r\nAuthorization: Bearer s3cretvalue";
        format!("POST {path} HTTP/1.1\r\n{fields}\r\nContent-Length: {}\r\n\r\n{content}", content.len())
    };
    let records = [
        record("1 aa 1764410400000000000", &post("/orders", r#"{"a": 1}"#)),
        record("2 aa 1764410400001000000 1000000", "HTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n"),
        record("1 ab 1764410400100000000", &post("/large", &large)),
        record("1 ac 1764410400200000000", "GET /broken HTTP/1.1\r\nHost: shop.example\r\n\r\n"),
        record("2 ac 1764410400201000000 1000000", "HTTP/1.1 500 x\r\nContent-Length: 0\r\n\r\n"),
        record("1 ad soon", "GET /junk HTTP/1.1\r\n\r\n"),
    ];
    let path = folder.path().join("requests_0.gor");
    std::fs::write(&path, records.concat()).expect("there is room");
    let (path, target) = (path.to_str().expect("it is text"), server.url());
    let flags = ["--methods", "GET,POST", "--host", "shop.example", "-c", "1", "--json", "-"];
    let ended = torr(&[&["replay", path, "--target", &target][..], &flags].concat());
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let texts = server.texts();
    let [orders, other, broken] = &texts[..] else { panic!("{} requests", texts.len()) };
    assert!(orders.ends_with("Content-Type: application/json\r\nContent-Length: 8\r\n\r\n{\"a\": 1}"), "{orders}");
    assert!(other.ends_with(&format!("Content-Length: 200000\r\n\r\n{large}")), "{} bytes", other.len());
    assert!(broken.starts_with("GET /broken HTTP/1.1\r\n") && broken.ends_with("\r\n\r\n"), "{broken}");
    assert!(!texts.concat().contains("s3cretvalue"), "credentials stay in the recording");
    let result: Value = serde_json::from_str(&ended.stdout).expect("it is JSON");
    adds_up(&result);
    let replay = &result["replay"];
    assert_eq!(replay["formats"], serde_json::json!(["GoReplay"]));
    assert_eq!((count(replay, "/lines"), count(replay, "/unreadable"), count(replay, "/compared")), (4, 1, 2));
    assert_eq!((count(replay, "/changed"), count(&result, "/errors/status")), (1, 0), "201 is 200 now: {replay}");
    assert!(!ended.stderr.contains("without bodies"), "{}", ended.stderr);
}

#[test]
fn standard_input_a_range_and_methods_are_taken() {
    let (server, folder) = (server(), tempfile::tempdir().expect("there is room"));
    let requests = ["GET /0", "GET /1", "POST /2", "GET /3", "GET /4"];
    let text = std::fs::read(log(folder.path(), &requests)).expect("it was written");
    let target = server.url();
    let flags = ["--from", "10:00:01", "--to", "10:00:04", "--methods", "get,post", "--speed", "100", "-c", "1", "-q"];
    let mut command = torr_command(&[&["replay", "-", "--target", &target][..], &flags].concat());
    command.stdin(Stdio::piped());
    let mut running = Running::start_with_its_input(command);
    running.stdin().write_all(&text).expect("it reads");
    let ended = running.wait();
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let texts = server.texts();
    let lines: Vec<_> = texts.iter().map(|text| text.lines().next().unwrap_or_default()).collect();
    assert_eq!(lines, ["GET /1 HTTP/1.1", "POST /2 HTTP/1.1", "GET /3 HTTP/1.1"]);
    assert!(texts[1].contains("Content-Length: 0\r\n"), "{texts:?}");
}

#[test]
fn what_cannot_be_replayed_is_said_in_one_line() {
    let (server, folder) = (server(), tempfile::tempdir().expect("there is room"));
    let target = server.url();
    let of_host = log(folder.path(), &["GET http://shop.example/a", "GET http://shop.example/b?token=s3cretvalue"]);
    let other = folder.path().join("notes");
    std::fs::write(&other, "Dear diary, http://ann:s3cretvalue@host/\n").expect("there is room");
    let other = other.to_str().expect("it is text");
    let with_path = format!("{target}api");
    for (args, line) in [
        (
            &[&*of_host, "--target", &target][..],
            "no request of the log can be sent: 2 of other hosts: add --host shop.example",
        ),
        (
            &[&*of_host, "--target", &target, "--host", "shop.example", "--methods", "PUT"],
            "2 of other methods: add --methods GET",
        ),
        (&[other, "--target", &target], "unknown log format"),
        (&["no.log", "--target", &target], "cannot read 'no.log': no such file"),
        (&[&*of_host, "--target", &with_path], "--target must have no path"),
        (&[&*of_host, "--target", &target, "--format", "$request"], "missing a time: $time_local"),
        (&[&*of_host, "--target", &target, "--speed", "0"], "must be from 0.001 to 1000"),
        (&[&*of_host, "--target", &target, "--from", "soon"], "expected a time such as 10:00"),
        (&[&*of_host, "--target", &target, "--json", &of_host], "access.log"),
    ] {
        let ended = torr(&[&["replay"], args].concat());
        assert_eq!((ended.code, ended.stderr.lines().count()), (Some(2), 1), "{args:?}: {ended:?}");
        assert!(ended.stderr.contains(line) && !ended.stderr.contains("s3cretvalue"), "{args:?}: {ended:?}");
    }
    assert_eq!(server.requests(), 0);
    let ended = torr(&["replay", &of_host, "--target", &target, "--host", "shop.example", "--speed", "10"]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(server.texts().iter().all(|text| text.contains("Host: shop.example\r\n")), "{:?}", server.texts());
}

/// Workers of a server, of which each has one request at a time.
#[derive(Default)]
struct Workers {
    busy: Mutex<usize>,
    free: Condvar,
    waited: AtomicUsize,
}

const WORKERS: usize = 2;
const WORK: Duration = Duration::from_millis(5);

impl Workers {
    fn work(&self) {
        let mut busy = self.busy.lock().expect("no thread panics with it");
        if *busy == WORKERS {
            self.waited.fetch_add(1, Ordering::SeqCst);
        }
        while *busy == WORKERS {
            busy = self.free.wait(busy).expect("no thread panics with it");
        }
        *busy += 1;
        drop(busy);
        thread::sleep(WORK);
        *self.busy.lock().expect("no thread panics with it") -= 1;
        self.free.notify_one();
    }
}

/// Returns a server with so few workers, and their count of requests that waited.
fn bounded() -> (Script, Arc<Workers>) {
    let workers = Arc::<Workers>::default();
    let own = Arc::clone(&workers);
    let server = Script::start(move |client: &mut Client| {
        while client.request().is_some() {
            own.work();
            if client.stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n").is_err() {
                return;
            }
        }
    });
    (server, workers)
}

/// The mean rate of a log hides its bursts. A burst of 50 requests takes two workers 125 ms, however fast the machine is, so that of 500
/// requests in ten bursts those that count for the p99 take 100 ms and more. At the mean rate, half of what the workers can do, hardly
/// any request waits.
#[test]
fn a_log_with_bursts_has_another_p99_than_its_mean_rate() {
    let folder = tempfile::tempdir().expect("there is room");
    let path = folder.path().join("bursts.log");
    let line = |burst: u32| format!("{}.{:02} \"GET / HTTP/1.1\" 200\n", 1_795_946_400 + burst / 4, burst % 4 * 25);
    let text: String = (0..10).flat_map(|burst| (0..50).map(move |_| burst)).map(line).collect();
    std::fs::write(&path, text).expect("there is room");
    let path = path.to_str().expect("it is text");
    let measured = |args: &[&str]| {
        let ended = torr(args);
        assert_eq!(ended.code, Some(0), "{ended:?}");
        let result: Value = serde_json::from_str(&ended.stdout).expect("it is JSON");
        assert_eq!(count(&result, "/requests"), 500, "{result:#}");
        result
    };

    let (server, workers) = bounded();
    let format = "$msec \"$request\" $status";
    let bursts =
        measured(&["replay", path, "--target", &server.url(), "--format", format, "-c", "100", "-q", "--json", "-"]);
    let waited_in_bursts = workers.waited.load(Ordering::SeqCst);
    assert!(bursts["latency_us"]["p99"].as_u64().is_some_and(|us| us >= 100_000), "{bursts:#}");
    assert!(waited_in_bursts >= 300, "{waited_in_bursts} of 500 requests waited");

    // These bursts at a rate of the load.
    let (server, workers) = bounded();
    let load = ["--log", path, "--log-format", format, "-r", "200", "-n", "500", "-c", "100", "-q", "--json", "-"];
    let logged = measured(&[&[&server.url(), "--arrivals", "logged"], &load[..]].concat());
    assert!(logged["latency_us"]["p99"].as_u64().is_some_and(|us| us >= 100_000), "{logged:#}");
    let waited_in_logged = workers.waited.load(Ordering::SeqCst);
    assert!(waited_in_logged >= 300, "{waited_in_logged} of 500 requests waited");
    assert_eq!((&logged["plan"]["arrivals"], &logged["plan"]["rate"]), (&"logged".into(), &200.0.into()));

    let (server, workers) = bounded();
    measured(&[&server.url(), "-r", "200", "-n", "500", "-c", "100", "-q", "--json", "-"]);
    let waited = workers.waited.load(Ordering::SeqCst);
    assert!(
        waited < waited_in_bursts,
        "{waited} of 500 requests waited at the mean rate, {waited_in_bursts} in bursts"
    );
}

#[test]
fn the_mix_of_a_log_is_a_load_of_any_pace() {
    let (server, folder) = (server(), tempfile::tempdir().expect("there is room"));
    let requests = ["GET /orders/1?token=s3cretvalue", "POST /orders", "HEAD /orders/2", "GET /orders/1", "junk"];
    let (path, target) = (log(folder.path(), &requests), server.url());
    let ended = torr(&[&target, "--log", &path, "-n", "7", "-c", "1", "-t", "1", "--json", "-"]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let result: Value = serde_json::from_str(&ended.stdout).expect("it is JSON");
    assert_eq!((count(&result, "/requests"), count(&result, "/status/200")), (7, 7), "{result:#}");
    let lines: Vec<_> = server.texts().iter().map(|text| text.lines().next().unwrap_or_default().to_owned()).collect();
    let one = "GET /orders/1?token=s3cretvalue HTTP/1.1";
    let expected = [one, "HEAD /orders/2 HTTP/1.1", "GET /orders/1 HTTP/1.1"];
    assert_eq!(lines, expected.iter().cycle().take(7).copied().collect::<Vec<_>>());
    for part in ["3 requests of the log, format combined", "1 unreadable, the first one '", "1 by method (POST 1)"] {
        assert!(ended.stderr.contains(part), "{part}: {ended:?}");
    }
    assert!(!format!("{ended:?}").contains("s3cretvalue"), "{ended:?}");

    let search = ["limit", &target, "--log", &path, "--budget", "5s", "--max-connections", "2", "--json", "-"];
    let ended = torr(&[&search[..], &["--arrivals", "logged"]].concat());
    assert!(ended.code == Some(0) || ended.code == Some(1), "{ended:?}");
    let outcome: Value = serde_json::from_str(&ended.stdout).expect("it is JSON");
    assert_eq!(outcome["arrivals"], "logged");
    let paths: std::collections::BTreeSet<_> =
        server.texts().iter().map(|text| text.lines().next().unwrap_or_default().to_owned()).collect();
    assert_eq!(paths.iter().map(String::as_str).collect::<Vec<_>>(), [expected[2], one, expected[1]]);

    let other = tempfile::tempdir().expect("there is room");
    let single = log(other.path(), &["GET /"]);
    for (args, line) in [
        (&["http://127.0.0.1:1/path", "--log", &path][..], "with --log, the URL must be http(s):// without a path"),
        (&["http://127.0.0.1:1", "--log", "/no/such.log"], "/no/such.log"),
        (&["http://127.0.0.1:1", "--log", &path, "--data", "x"], "--data"),
        (&["http://127.0.0.1:1", "--log", &path, "--log-methods", "DELETE"], "add --log-methods GET,HEAD,POST"),
        (&["http://127.0.0.1:1", "--log-methods", "GET"], "--log-methods needs --log"),
        (&["http://127.0.0.1:1", "-r", "9", "--arrivals", "logged"], "--arrivals logged needs --log"),
        (&["limit", "http://127.0.0.1:1", "--arrivals", "logged"], "--arrivals logged needs --log"),
        (
            &["http://127.0.0.1:1", "--log", &single, "-r", "9", "--arrivals", "logged"],
            "all requests of the log have the same time",
        ),
        (
            &["limit", "http://127.0.0.1:1", "--log", &single, "--arrivals", "logged"],
            "all requests of the log have the same time",
        ),
    ] {
        let ended = torr(args);
        assert!(ended.code == Some(2) && ended.stderr.contains(line), "{args:?}: {ended:?}");
    }
}
