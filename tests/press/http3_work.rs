//! HTTP/3 for all that has more than one request: sessions, scripts and event streams, and for the commands that find out.

use crate::http3_server::{Http3Server, Manner, Reply, Seen, head};
use crate::recording::{REPLAYED, Recording};
use serde_json::{Value, json};
use tempfile::TempDir;
use torr_test_support::certificates::self_signed;
use torr_test_support::program::{Ended, torr};
use torr_test_support::result::{adds_up, count};
use torr_test_support::servers::Serve;
use torr_wire::http3::{kind, write_header};

/// The places in QPACK's static table of the names of fields (RFC 9204, appendix A).
const STATUS: u8 = 24;
const SET_COOKIE: u8 = 14;
const CONTENT_TYPE: u8 = 44;

/// A response with these fields beside its status.
fn page(fields: &[(u8, &str)], content: &[u8]) -> Vec<u8> {
    let status = [(STATUS, "200".to_owned())];
    let fields: Vec<_> = status.into_iter().chain(fields.iter().map(|(n, value)| (*n, (*value).to_owned()))).collect();
    let mut bytes = head(&fields);
    write_header(kind::DATA, content.len() as u64, &mut bytes);
    bytes.extend_from_slice(content);
    bytes
}

fn value<'s>(seen: &'s Seen, name: &str) -> &'s str {
    seen.fields.iter().find(|(other, _)| other == name).map_or("", |(_, value)| value)
}

/// A shop: a login sets a cookie, without which there is no basket; `/events` is a stream of three.
fn shop() -> Http3Server {
    Http3Server::start(Manner::new(|_, seen| match value(seen, ":path") {
        "/login" => Reply::Bytes(page(&[(SET_COOKIE, "id=a7"), (CONTENT_TYPE, "application/json")], b"{\"n\": 3}")),
        "/events" => {
            let events: String = (1..=3).map(|n| format!("event: tick\ndata: {n}\n\n")).collect();
            Reply::Bytes(page(&[(CONTENT_TYPE, "text/event-stream")], events.as_bytes()))
        }
        path if path.starts_with("/basket/") && value(seen, "cookie") == "id=a7" => {
            Reply::Response(200, path.as_bytes().to_vec())
        }
        _ => Reply::Response(403, b"no".to_vec()),
    }))
}

/// A file in a folder of its own.
fn written(name: &str, text: &str) -> (TempDir, String) {
    let folder = tempfile::tempdir().expect("there is room for temporary files");
    let path = folder.path().join(name);
    std::fs::write(&path, text).expect("a file can be written");
    let path = path.to_str().expect("temporary folders have plain names").to_owned();
    (folder, path)
}

fn run(server: &Http3Server, args: &[&str]) -> Ended {
    torr(&[args, &["--http3", "--cacert", server.certificate()]].concat())
}

fn result(server: &Http3Server, args: &[&str]) -> Value {
    let ended = run(server, &[&["-t", "1", "--json", "-"], args].concat());
    let result = serde_json::from_str(&ended.stdout).unwrap_or_else(|_| panic!("it is JSON: {ended:?}"));
    adds_up(&result);
    result
}

fn paths(server: &Http3Server) -> Vec<String> {
    server.requests().iter().map(|seen| value(seen, ":path").to_owned()).collect()
}

#[test]
fn a_session_has_its_cookies_and_captures() {
    let server = shop();
    let text = format!(
        "GET {0}/login\nHTTP/3 200\n[Captures]\nn: jsonpath \"$.n\"\n\nGET {0}/basket/{{{{n}}}}\nHTTP 200\n[Asserts]\n\
         body == \"/basket/3\"\nheader \"content-length\" == \"9\"\n",
        server.url("")
    );
    let (_folder, file) = written("shop.hurl", &text);
    let result = result(&server, &[&file, "-c", "3", "-n", "20"]);
    let sessions = &result["sessions"];
    assert_eq!((count(sessions, "/finished"), count(sessions, "/failed")), (20, 0), "{sessions} {}", result["causes"]);
    assert_eq!((count(&result, "/requests"), &result["plan"]["protocol"]), (40, &json!("h3")));
    assert_eq!(paths(&server).iter().filter(|path| *path == "/basket/3").count(), 20);
    // What one run of the file shows says the version too.
    let ended = run(&server, &["once", &file]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
}

#[test]
fn an_option_of_a_file_is_the_whole_runs() {
    let server = shop();
    let text =
        format!("GET {}/login\n[Options]\nhttp3: true\ncacert: {}\nHTTP/3 200\n", server.url(""), server.certificate());
    let (_folder, file) = written("one.hurl", &text);
    let ended = torr(&[&file, "-n", "3", "-c", "1", "--json", "-"]);
    let result: Value = serde_json::from_str(&ended.stdout).unwrap_or_else(|_| panic!("it is JSON: {ended:?}"));
    assert_eq!(count(&result, "/sessions/finished"), 3, "{result}");
    for (flag, line) in [
        ("--http2", "'http3' is true here, but the run uses HTTP/2: one protocol applies to the whole run"),
        (
            "--proxy=http://127.0.0.1:1",
            "HTTP/3 is not supported through a proxy or a Unix socket, which carry no datagrams",
        ),
    ] {
        let ended = torr(&[&file, "-n", "1", flag]);
        assert!(ended.code == Some(2) && ended.stderr.contains(line), "{ended:?}");
    }
}

#[test]
fn a_server_that_is_learnt_of_is_one_of_http3_too() {
    let (server, other) = (shop(), shop());
    let text = format!(
        "local names = {{ {0}, {1} }}\ntarget = '{2}/login'\nfunction session(user)\n  for _, port in ipairs(names) do\n    \
         local response = http.get('https://localhost:' .. port .. '/login')\n    assert(response.status == 200)\n  \
         end\n  local plain = pcall(http.get, 'http://localhost:{1}/login')\n  assert(not plain)\nend\n",
        server.address.port(),
        other.address.port(),
        server.url(""),
    );
    let (_folder, file) = written("two.lua", &text);
    let ended = torr(&[&file, "-t", "1", "-c", "2", "-n", "4", "--http3", "--insecure", "--json", "-"]);
    let result: Value = serde_json::from_str(&ended.stdout).unwrap_or_else(|_| panic!("it is JSON: {ended:?}"));
    assert_eq!(paths(&other), vec!["/login"; 4], "{result}");
    assert_eq!(paths(&server), vec!["/login"; 4], "{result}");
}

#[test]
fn a_script_of_wrk_sees_responses_and_their_fields() {
    let server = shop();
    let text = "wrk.path = '/login'\nfunction response(status, headers, body)\n  \
                if status == 200 and headers['Content-Type'] == 'application/json' and body == '{\"n\": 3}' then\n    \
                wrk.thread:stop()\n  end\nend\n";
    let (_folder, file) = written("login.lua", text);
    let ended = run(&server, &["--script", &file, &server.url("/"), "-t", "1", "-c", "1", "-d", "60s", "--json", "-"]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(paths(&server).iter().all(|path| path == "/login"), "{:?}", paths(&server));
}

#[test]
fn events_of_streams_are_counted() {
    let server = shop();
    let all = result(&server, &["--sse", "-c", "2", "-n", "10", &server.url("/events")]);
    let streams = &all["streams"];
    assert_eq!((count(streams, "/events"), count(&all, "/requests")), (30, 10), "{streams}");
    // A client that has what it awaits ends the stream, and its connection carries the next one.
    let some = result(&server, &["--sse", "--until", "data == 2", "-c", "1", "-n", "5", &server.url("/events")]);
    assert_eq!((count(&some, "/streams/events"), count(&some, "/connections/opened")), (10, 1), "{}", some["streams"]);
    let none = result(&server, &["--sse", "-c", "1", "-n", "2", &server.url("/login")]);
    assert_eq!(count(&none, "/requests"), 0, "{none}");
}

#[test]
fn a_session_takes_the_events_of_a_stream_one_by_one() {
    let server = shop();
    let text = format!(
        "target = '{0}/events'\nfunction session(user)\n  local seen = ''\n  for event in http.sse('{0}/events') do\n    \
         seen = seen .. event.event .. event.data\n    if event.data == '2' then break end\n  end\n  \
         assert(seen == 'tick1tick2', seen)\nend\n",
        server.url("")
    );
    let (_folder, file) = written("events.lua", &text);
    let result = result(&server, &[&file, "-c", "2", "-n", "6"]);
    let sessions = &result["sessions"];
    assert_eq!((count(sessions, "/finished"), count(sessions, "/failed")), (6, 0), "{sessions} {}", result["causes"]);
}

#[test]
fn one_request_is_shown() {
    let server = shop();
    let ended = run(&server, &["once", &server.url("/login")]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(ended.stdout.contains("HTTP/3 200") && ended.stdout.contains("set-cookie: id=a7"), "{ended:?}");
}

/// The server of the demo application, and the file with its certificate.
fn demo(folder: &TempDir) -> (Serve, String) {
    let (certificate, key) = self_signed(folder.path());
    let text = |path: std::path::PathBuf| path.to_str().expect("temporary folders have plain names").to_owned();
    let (certificate, key) = (text(certificate), text(key));
    let serve = Serve::start(&["--workers", "1", "--http3", "--tls-cert", &certificate, "--tls-key", &key]);
    (serve, certificate)
}

#[test]
fn the_doctor_and_the_limit_load_over_it() {
    let folder = tempfile::tempdir().expect("there is room for temporary files");
    let (serve, certificate) = demo(&folder);
    let url = format!("https://{}/block/5", serve.address);
    let always = ["--http3", "--cacert", &certificate, "-q", "--json", "-", "--budget", "6s", &url];
    let found = |command: &[&str]| -> Value {
        let ended = torr(&[command, &always].concat());
        serde_json::from_str(&ended.stdout).unwrap_or_else(|_| panic!("it is JSON: {ended:?}"))
    };
    let diagnosis = found(&["doctor", "-c", "4"]);
    let trail = diagnosis["trail"].as_array().expect("there are experiments");
    let of_http3 =
        |observed: &&Value| observed["run"]["plan"]["protocol"] == "h3" && count(observed, "/run/requests") > 0;
    assert_eq!(trail.iter().filter(of_http3).count(), trail.len(), "{trail:?}");
    // The server's processes are found by its ports.
    assert_eq!(diagnosis["setting"]["same_machine"], true, "{}", diagnosis["setting"]);
    let limit = found(&["limit"]);
    let steps = limit["steps"].as_array().unwrap_or_else(|| panic!("there are steps: {limit}"));
    let is_good =
        |step: &&Value| step["good_per_s"].as_f64().is_some_and(|rate| rate > 0.0) && step["error_share"] == 0.0;
    assert!(!steps.is_empty() && steps.iter().all(|step| is_good(&step)), "{steps:?}");
    let command = limit["command"].as_str().expect("it is text");
    assert!(command.contains("--http3"), "{command}");
}

#[test]
#[ignore = "long: ./test full"]
fn the_versions_of_http_are_compared_where_the_server_has_them() {
    let folder = tempfile::tempdir().expect("there is room for temporary files");
    let (serve, certificate) = demo(&folder);
    let url = format!("https://{}/", serve.address);
    let ended =
        torr(&["doctor", "--tls", &url, "--cacert", &certificate, "-q", "--json", "-", "-c", "2", "--budget", "20s"]);
    let found: Value = serde_json::from_str(&ended.stdout).unwrap_or_else(|_| panic!("it is JSON: {ended:?}"));
    let rows = found["rows"].as_array().expect("there are rows");
    let versions: Vec<_> = rows.iter().filter_map(|row| row["transport"]["version"].as_str()).collect();
    assert_eq!((rows.len(), versions), (6, vec!["h2", "h3"]), "{found}");
    assert!(rows.iter().all(|row| row["failed_share"] == 0.0), "{rows:?}");
}

#[test]
fn a_recording_of_goreplay_is_sent_with_its_bodies() {
    let server = Http3Server::start(Manner::new(|_, _| Reply::Response(200, b"kept".to_vec())));
    let large = "x".repeat(100_000);
    let recording = Recording::new(&[("POST", "/orders", "{\"a\": 1}"), ("PUT", "/large", &large), ("GET", "/", "")]);
    let target = server.url("/");
    let ended = run(&server, &[&["replay", recording.path(), "--target", &target], REPLAYED].concat());
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let result: Value = serde_json::from_str(&ended.stdout).expect("it is JSON");
    adds_up(&result);
    assert_eq!((count(&result, "/requests"), &result["plan"]["protocol"]), (3, &"h3".into()), "{result:#}");
    let mut requests = server.requests();
    requests.sort_by_key(|seen| value(seen, ":path").len());
    let sent: Vec<_> =
        requests.iter().map(|seen| (value(seen, ":method"), value(seen, ":path"), &seen.content[..])).collect();
    let expected: [(_, _, &[u8]); 3] =
        [("GET", "/", b""), ("PUT", "/large", large.as_bytes()), ("POST", "/orders", b"{\"a\": 1}")];
    assert_eq!(sent, expected);
    assert_eq!(value(&requests[2], "content-type"), "text/x-test");
}
