//! Hurl files whose requests go to several servers.

use serde_json::Value;
use std::sync::atomic::{AtomicUsize, Ordering};
use torr_test_support::certificates::self_signed;
use torr_test_support::program::{Ended, Running, torr_command};
use torr_test_support::result::{adds_up, count};
use torr_test_support::script::{Client, Script};
use torr_test_support::servers::{Nginx, closed_port};

/// A login at one server, whose token opens the other one, and back.
const LOGIN_AND_API: &str = r#"POST http://{{auth}}/login
HTTP 200
[Captures]
token: header "Token"

GET http://api.test:{{port}}/items?{{token}}
HTTP 200
[Asserts]
body == "items"

GET http://{{auth}}/profile
HTTP 200
"#;

fn auth() -> Script {
    Script::start(|client| respond(client, "Set-Cookie: sid=1\r\nToken: t7\r\n", "welcome"))
}

fn api() -> Script {
    Script::start(|client| respond(client, "", "items"))
}

fn respond(client: &mut Client, fields: &str, content: &str) {
    while client.request().is_some() {
        let length = content.len();
        client.send(format!("HTTP/1.1 200 OK\r\n{fields}Content-Length: {length}\r\n\r\n{content}").as_bytes());
    }
}

fn torr(file: &str, args: &[&str]) -> Ended {
    let folder = tempfile::tempdir().expect("there is room");
    std::fs::write(folder.path().join("a.hurl"), file).expect("there is room");
    let mut command = torr_command(args);
    command.current_dir(folder.path());
    Running::start(command).wait()
}

fn result(file: &str, args: &[&str]) -> Value {
    let ended = torr(file, &[args, &["-t", "1", "-q", "--json", "-"]].concat());
    assert_eq!(ended.code, Some(0), "{ended:?}");
    serde_json::from_str(&ended.stdout).unwrap_or_else(|error| panic!("{error}: {ended:?}"))
}

/// What the file of [`LOGIN_AND_API`] has to be given.
fn variables(auth: &Script, api: &Script) -> [String; 3] {
    let port = api.address.port();
    [format!("auth={}", auth.address), format!("port={port}"), format!("api.test:{port}:127.0.0.1")]
}

#[test]
fn each_user_keeps_a_connection_to_each_server() {
    for load in [&["-n", "40", "-c", "4"][..], &["-n", "40", "-r", "200", "-c", "4"]] {
        let (auth, api) = (auth(), api());
        let [host, port, resolve] = variables(&auth, &api);
        let given = ["a.hurl", "--variable", &host, "--variable", &port, "--resolve", &resolve];
        let result = result(LOGIN_AND_API, &[&given[..], load].concat());
        adds_up(&result);
        assert_eq!((auth.requests(), api.requests()), (80, 40), "{result}");
        assert!(auth.connections() <= 4 && api.connections() <= 4, "{result}");
        assert_eq!(count(&result, "/connections/opened"), (auth.connections() + api.connections()) as u64, "{result}");
        assert_eq!(count(&result, "/sessions/finished"), 40, "{result}");
        assert_eq!(result["errors"]["status"], 0, "{result}");
        let port = api.address.port();
        assert_eq!(
            result["plan"]["origins"],
            serde_json::json!([format!("http://{}", auth.address), format!("http://api.test:{port}")])
        );
        // Each server gets its own name and cookies.
        let to_api = format!("\r\nHost: api.test:{port}\r\n");
        assert!(api.texts().iter().all(|text| text.contains(&to_api) && !text.contains("Cookie")), "{:?}", api.texts());
        assert_eq!(auth.texts().iter().filter(|text| text.contains("Cookie: sid=1")).count(), 40, "{:?}", auth.texts());
    }
}

#[test]
fn servers_with_and_without_tls_go_together() {
    let folder = tempfile::tempdir().expect("there is room");
    let (certificate, key) = self_signed(folder.path());
    let secure = Nginx::start_tls(&certificate, &key, "location / { return 200 'secure'; }");
    let plain = auth();
    let file = format!(
        "GET http://{}/\nHTTP 200\nGET https://{}/\nHTTP 200\n[Asserts]\nbody == \"secure\"\ncertificate \"Serial-Number\" exists\nGET http://{}/end\nHTTP 200\n",
        plain.address, secure.address, plain.address
    );
    for (sessions, load) in [(30, &["-c", "3"][..]), (30, &["-c", "3", "-r", "300"]), (5, &["--no-keepalive"])] {
        let sessions_in_words = sessions.to_string();
        let result = result(&file, &[&["a.hurl", "-k", "-n", &sessions_in_words], load].concat());
        adds_up(&result);
        assert_eq!(
            (count(&result, "/sessions/finished"), count(&result, "/requests")),
            (sessions, 3 * sessions),
            "{result}"
        );
        assert!(result["tls"]["version"].is_string(), "{result}");
    }
    let ended = torr(&file, &["once", "a.hurl", "-k"]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(ended.stdout.contains("secure") && ended.stdout.contains("The session finished."), "{}", ended.stdout);
}

#[test]
fn a_server_that_is_down_fails_its_entries_alone() {
    let (auth, api) = (auth(), api());
    let [host, port, resolve] = variables(&auth, &api);
    drop(api);
    let given = ["a.hurl", "--variable", &host, "--variable", &port, "--resolve", &resolve, "-c", "2", "-n", "6"];
    let ended = torr(LOGIN_AND_API, &[&given[..], &["-t", "1", "-q", "--json", "-"]].concat());
    let result: Value = serde_json::from_str(&ended.stdout).unwrap_or_else(|error| panic!("{error}: {ended:?}"));
    adds_up(&result);
    // A run in which no session finished has failed, and says where.
    assert_eq!(ended.code, Some(1), "{ended:?}");
    let line = "torr: no session finished, 6 failed: GET /items: 6 sessions ended here: ";
    assert!(ended.stderr.contains(line) && ended.stderr.contains("refused"), "{ended:?}");
    assert_eq!((count(&result, "/sessions/failed"), count(&result, "/errors/connect")), (6, 6), "{result}");
    assert_eq!(
        (count(&result, "/entries/0/request_failures"), count(&result, "/entries/1/request_failures")),
        (0, 6),
        "{result}"
    );
    assert_eq!(auth.requests(), 6, "nothing follows in a session that has failed: {result}");
}

#[test]
fn the_server_that_refuses_is_named() {
    let server = auth();
    let refused = format!("127.0.0.1:{}", closed_port());
    let file = format!("GET http://{refused}/\nHTTP 200\nGET http://{}/\nHTTP 200\n", server.address);
    let ended = torr(&file, &["a.hurl", "-n", "5", "-c", "2", "-q"]);
    assert_eq!(ended.code, Some(3), "{ended:?}");
    assert_eq!(
        ended.stderr,
        format!("torr: cannot connect to {refused}: connection refused; start the server or check the port\n")
    );
    // A script goes to servers that are not known before the run.
    let folder = tempfile::tempdir().expect("there is room");
    let script = folder.path().join("e.lua");
    std::fs::write(&script, format!("function session(user) http.get(\"http://{refused}/x\") end\n"))
        .expect("there is room");
    let target = format!("http://{}/", server.address);
    let script = script.to_str().expect("it is text");
    let ended = torr_test_support::program::torr(&[&target, "--script", script, "-n", "5", "-c", "2", "-q"]);
    assert_eq!(ended.code, Some(3), "{ended:?}");
    assert_eq!(
        ended.stderr,
        format!("torr: cannot connect to {refused}: connection refused; start the server or check the port\n")
    );
}

/// A server that redirects everything to a URL, and hands the URL out in a field too.
fn leading_to(url: &str) -> Script {
    let moved = format!("HTTP/1.1 302 Found\r\nLocation: {url}\r\nNext: {url}\r\nContent-Length: 0\r\n\r\n");
    Script::start(move |client| {
        while client.request().is_some() {
            client.send(moved.as_bytes());
        }
    })
}

#[test]
fn a_server_that_only_a_response_names_is_learnt_of() {
    let stranger = api();
    let server = leading_to(&stranger.url());
    let redirected =
        format!("GET {}\n[Options]\nlocation: true\nHTTP 200\n[Asserts]\nbody == \"items\"\n", server.url());
    let captured = format!(
        "GET {}\nHTTP 302\n[Captures]\nnext: header \"Next\"\nGET {{{{next}}}}\nHTTP 200\n[Asserts]\nbody == \"items\"\n",
        server.url()
    );
    let loads = [&["-c", "4", "-t", "2"][..], &["-c", "4", "-r", "200"], &["-c", "2", "--no-keepalive"]];
    for (file, load) in [&redirected, &captured].into_iter().flat_map(|file| loads.map(|load| (file, load))) {
        let (before, connections) = (stranger.requests(), stranger.connections());
        let ended = torr(file, &[&["a.hurl", "-n", "40", "-q", "--json", "-"], load].concat());
        let result: Value = serde_json::from_str(&ended.stdout).unwrap_or_else(|error| panic!("{error}: {ended:?}"));
        adds_up(&result);
        assert_eq!((count(&result, "/sessions/finished"), ended.code), (40, Some(0)), "{load:?}: {result}");
        assert_eq!(stranger.requests() - before, 40, "{load:?}: {result}");
        if !load.contains(&"--no-keepalive") {
            assert!(stranger.connections() - connections <= 4, "{load:?}: each user has one connection: {result}");
        }
        // The result names both servers, and which entries went where.
        let [first, second] = [&server, &stranger].map(|server| format!("http://{}", server.address));
        assert_eq!(result["plan"]["origins"], serde_json::json!([first, second]), "{result}");
        let expected =
            if file == &redirected { serde_json::json!([first, second]) } else { serde_json::json!([first]) };
        assert_eq!(result["entries"][0]["origins"], expected, "{result}");
        if file == &captured {
            assert_eq!(result["entries"][1]["origins"], serde_json::json!([second]), "{result}");
        }
    }
    // `once` shows nothing of the look-up.
    let ended = torr(&redirected, &["once", "a.hurl"]);
    assert!(ended.code == Some(0) && !ended.stdout.contains("pause"), "{ended:?}");
}

#[test]
fn cpu_time_of_one_of_several_servers_is_not_shown_as_the_servers() {
    let stranger = api();
    let server = leading_to(&stranger.url());
    let file = |options: &str, status: u16| format!("GET {}\n{options}HTTP {status}\n", server.url());
    let load = ["a.hurl", "-n", "100", "-r", "200", "-c", "4"];
    for (file, is_one) in [(file("", 302), true), (file("[Options]\nlocation: true\n", 200), false)] {
        let result = result(&file, &load);
        let points = result["series"].as_array().expect("there is a series");
        let known = |field: &str| points.iter().filter(|point| point[field].is_number()).count();
        assert!(known("generator_cores") > 0, "{result}");
        let server = (known("server_cores") > 0, known("cpu_share") > 0, result["host"].is_object());
        assert_eq!(server, (is_one, is_one, is_one), "{result}");
    }
}

#[test]
fn a_server_with_tls_is_learnt_of_by_a_run_without() {
    let folder = tempfile::tempdir().expect("there is room");
    let (certificate, key) = self_signed(folder.path());
    let secure = Nginx::start_tls(&certificate, &key, "location / { return 200 'secure'; }");
    let server = leading_to(&format!("https://{}/", secure.address));
    let file = format!("GET {}\n[Options]\nlocation: true\nHTTP 200\n[Asserts]\nbody == \"secure\"\n", server.url());
    let result = result(&file, &["a.hurl", "-k", "-n", "30", "-c", "3"]);
    adds_up(&result);
    assert_eq!((count(&result, "/sessions/finished"), count(&result, "/errors/protocol")), (30, 0), "{result}");
    assert!(result["tls"]["version"].is_string(), "{result}");
}

#[test]
fn a_server_that_cannot_be_learnt_of_ends_the_session_with_its_name() {
    for (url, why) in [
        ("http://nowhere.invalid/", "the request goes to http://nowhere.invalid: cannot resolve 'nowhere.invalid'"),
        ("http://127.0.0.1:1/", "refused"),
    ] {
        let server = leading_to(url);
        let file = format!("GET {}\n[Options]\nlocation: true\nHTTP 200\n", server.url());
        let ended = torr(&file, &["a.hurl", "-n", "4", "-c", "2", "-q", "--json", "-"]);
        let result: Value = serde_json::from_str(&ended.stdout).unwrap_or_else(|error| panic!("{error}: {ended:?}"));
        assert_eq!((count(&result, "/sessions/failed"), server.requests()), (4, 4), "{result}");
        assert_eq!(ended.code, Some(1), "{ended:?}");
        assert!(result["entries"][0]["causes"][0]["what"].as_str().is_some_and(|what| what.contains(why)), "{result}");
    }
}

#[test]
fn records_behind_the_first_thousand_name_servers() {
    let (one, two) = (auth(), api());
    let folder = tempfile::tempdir().expect("there is room");
    let records = folder.path().join("hosts.csv");
    let lines = std::iter::repeat_n(one.address, 1000).chain([two.address; 5]);
    let text: String = lines.map(|address| format!("{address}\n")).collect();
    std::fs::write(&records, format!("host\n{text}")).expect("there is room");
    let feeder = records.display().to_string();
    let result = result("GET http://{{host}}/\nHTTP 200\n", &["a.hurl", "-n", "1005", "-c", "2", "--feeder", &feeder]);
    assert_eq!((count(&result, "/sessions/finished"), one.requests(), two.requests()), (1005, 1000, 5), "{result}");
}

#[test]
fn a_diagnosis_and_a_limit_name_the_server_that_they_look_at() {
    let (auth, api) = (auth(), api());
    let [host, port, resolve] = variables(&auth, &api);
    let given =
        ["a.hurl", "--variable", &host, "--variable", &port, "--resolve", &resolve, "-t", "1", "-q", "--budget", "5s"];
    for (command, load) in [("doctor", &["-c", "2"][..]), ("limit", &["--max-connections", "4"])] {
        let ended = torr(LOGIN_AND_API, &[&[command], &given[..], load].concat());
        let said = format!("go to 2 servers: 'torr {command}' examines http://{}, the first one", auth.address);
        assert!(ended.stderr.contains(&said) && ended.code.is_some_and(|code| code < 2), "{ended:?}");
    }
}

#[test]
fn http2_by_tls_names_the_url_that_has_none() {
    let file = "GET https://127.0.0.1:1/\nGET http://127.0.0.1:2/x\n";
    let ended = torr(file, &["a.hurl", "--http2"]);
    assert_eq!(ended.code, Some(2), "{ended:?}");
    assert!(ended.stderr.contains("http://127.0.0.1:2/x") && ended.stderr.lines().count() == 1, "{ended:?}");
}

#[test]
fn a_server_that_shows_up_in_the_file_is_known_before_the_run() {
    let stranger = api();
    let server = leading_to(&stranger.url());
    let file = format!("GET {}\n[Options]\nlocation: true\nHTTP 200\n", server.url());
    // An entry, or a record of the feeder, that names the server makes it known.
    let known = format!("{file}GET http://{{{{host}}}}/\n[Options]\nvariable: host={}\nHTTP 200\n", stranger.address);
    let result = result(&known, &["a.hurl", "-n", "2", "-c", "1"]);
    assert_eq!((count(&result, "/sessions/finished"), stranger.requests()), (2, 4), "{result}");
}

#[test]
fn a_request_without_a_response_is_sent_again_as_often_as_the_entry_says() {
    // Each second connection is cut after the request.
    let attempts = AtomicUsize::new(0);
    let server = Script::start(move |client| {
        while client.request().is_some() {
            if attempts.fetch_add(1, Ordering::Relaxed).is_multiple_of(2) {
                return;
            }
            client.send(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
        }
    });
    let file = format!("GET {}\n[Options]\nretry: 2\nretry-interval: 5ms\nHTTP 200\n", server.url());
    let result = result(&file, &["a.hurl", "-n", "5", "-c", "1"]);
    adds_up(&result);
    assert_eq!((count(&result, "/sessions/finished"), count(&result, "/sessions/failed")), (5, 0), "{result}");
    assert_eq!((count(&result, "/entries/0/retries"), count(&result, "/errors/read")), (5, 5), "{result}");
    // A server that is not there yet is waited for.
    let address = server.address;
    drop(server);
    let retried = format!("GET http://{address}/\n[Options]\nretry: 3\nretry-interval: 5ms\nHTTP 200\n");
    let ended = torr(&retried, &["once", "a.hurl"]);
    assert_eq!(ended.stdout.matches("Torr sends it again").count(), 3, "{ended:?}");
    assert_eq!(ended.code, Some(3), "{ended:?}");
}

#[test]
fn records_name_servers() {
    let (one, two) = (auth(), api());
    let folder = tempfile::tempdir().expect("there is room");
    let records = folder.path().join("hosts.csv");
    std::fs::write(&records, format!("host\n{}\n{}\n", one.address, two.address)).expect("there is room");
    let feeder = records.display().to_string();
    let result = result("GET http://{{host}}/\nHTTP 200\n", &["a.hurl", "-n", "8", "-c", "1", "--feeder", &feeder]);
    assert_eq!((count(&result, "/sessions/finished"), one.requests(), two.requests()), (8, 4, 4), "{result}");
}
