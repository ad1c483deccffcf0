//! Hurl files as load: virtual users in a shop that knows its customers, and refuses users who mix them up.

use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use torr_test_support::certificates;
use torr_test_support::program::{Ended, Running, torr_command};
use torr_test_support::result::{adds_up, count};
use torr_test_support::script::{Client, Script};
use torr_test_support::servers::Serve;

/// The session of a customer: five entries with captures, asserts, a cookie, a redirect and a record.
const SHOPPING: &str = r#"# name: log in
POST http://{{host}}/login
{"user": "{{user}}"}
HTTP 200
[Captures]
token: jsonpath "$.token"
item: jsonpath "$.items" nth 1
[Asserts]
jsonpath "$.items" count == 3
header "Content-Type" contains "json"

GET http://{{host}}/items?token={{token}}
HTTP 200
[Asserts]
body contains "{{user}}"

POST http://{{host}}/cart
Authorization: Bearer {{token}}
[Options]
location: true
[Form]
item: {{item}}
HTTP 200
[Asserts]
jsonpath "$.cart" == {{item}}
url endsWith "/cart"

GET http://{{host}}/cart
HTTP 200

# name: log out
DELETE http://{{host}}/login
HTTP 204
[Asserts]
cookie "sid" not exists
"#;

/// A shop with customers.
struct Shop {
    server: Script,
}

impl Shop {
    fn open() -> Self {
        let carts: Mutex<BTreeMap<String, String>> = Mutex::default();
        let visits = AtomicUsize::new(0);
        Self { server: Script::start(move |client| serve(client, &carts, &visits)) }
    }

    fn host(&self) -> String {
        format!("host={}", self.server.address)
    }
}

fn serve(client: &mut Client, carts: &Mutex<BTreeMap<String, String>>, visits: &AtomicUsize) {
    while let Some(request) = client.request() {
        let text = String::from_utf8_lossy(&request).into_owned();
        client.send(respond(&text, carts, visits).as_bytes());
    }
}

/// Returns the value of a field.
fn field<'t>(request: &'t str, name: &str) -> Option<&'t str> {
    let named = |line: &'t str| line.split_once(": ").filter(|(field, _)| field.eq_ignore_ascii_case(name));
    request.lines().find_map(named).map(|(_, value)| value)
}

fn respond(request: &str, carts: &Mutex<BTreeMap<String, String>>, visits: &AtomicUsize) -> String {
    let reply = |status: &str, fields: &str, content: &str| {
        format!("HTTP/1.1 {status}\r\n{fields}Content-Length: {}\r\n\r\n{content}", content.len())
    };
    let json = "Content-Type: application/json\r\n";
    let content = request.split_once("\r\n\r\n").map_or("", |(_, content)| content);
    let cookies = field(request, "cookie").unwrap_or_default();
    let user = cookies.split("; ").find_map(|cookie| cookie.strip_prefix("sid="));
    let mut words = request.split(' ');
    let route = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let mut carts = carts.lock().expect("nobody panics with it");
    match (route, user) {
        (("POST", "/login"), _) => {
            let login: Value = serde_json::from_str(content).expect("a session sends JSON");
            let user = login["user"].as_str().expect("a session has a user");
            let fields = format!("{json}Set-Cookie: sid={user}; Path=/; HttpOnly\r\n");
            reply("200 OK", &fields, &format!(r#"{{"token": "t-{user}", "items": [10, 20, 30]}}"#))
        }
        (("GET", path), Some(user)) if path == format!("/items?token=t-{user}") => {
            reply("200 OK", json, &format!(r#"{{"for": "{user}"}}"#))
        }
        (("POST", "/cart"), Some(user)) if field(request, "authorization") == Some(&format!("Bearer t-{user}")) => {
            let item = content.strip_prefix("item=").expect("a session sends a form").to_owned();
            carts.insert(user.to_owned(), item);
            reply("303 See Other", "Location: /cart\r\n", "")
        }
        (("GET", "/cart"), Some(user)) => {
            let cart = carts.get(user).cloned().unwrap_or_default();
            reply("200 OK", json, &format!(r#"{{"cart": {cart}}}"#))
        }
        (("DELETE", "/login"), Some(_)) => {
            "HTTP/1.1 204 No Content\r\nSet-Cookie: gone=1; Max-Age=0\r\n\r\n".to_owned()
        }
        (("GET", "/sometimes"), _) => match visits.fetch_add(1, Ordering::SeqCst) % 4 {
            3 => reply("200 OK", "", "ready"),
            _ => reply("200 OK", "", "not yet"),
        },
        (("GET", "/close"), _) => "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok".to_owned(),
        _ => reply("403 Forbidden", "", "who are you?"),
    }
}

/// Runs `torr` in a folder with these files.
fn torr_with(files: &[(&str, &str)], args: &[&str]) -> Ended {
    let folder = tempfile::tempdir().expect("there is room");
    for (name, text) in files {
        std::fs::write(folder.path().join(name), text).expect("there is room");
    }
    torr_in(folder.path(), args)
}

fn torr_in(folder: &Path, args: &[&str]) -> Ended {
    let mut command = torr_command(args);
    command.current_dir(folder);
    Running::start(command).wait()
}

/// Runs a file and returns its result.
fn result(file: &str, args: &[&str]) -> Value {
    result_of(&[("a.hurl", file)], &[&["a.hurl"], args].concat())
}

fn result_of(files: &[(&str, &str)], args: &[&str]) -> Value {
    let ended = torr_with(files, &[args, &["--json", "-"]].concat());
    let result: Value = serde_json::from_str(&ended.stdout).unwrap_or_else(|error| panic!("{error}: {}", ended.stderr));
    adds_up(&result);
    result
}

#[test]
fn each_user_has_its_own_variables_cookies_and_connection() {
    let shop = Shop::open();
    let records: String = (0..50).map(|n| format!("user-{n}\n")).collect();
    let files = [("a.hurl", SHOPPING), ("users.csv", &format!("user\n{records}"))];
    let args = ["a.hurl", "--variable", &shop.host(), "--feeder", "users.csv", "-c", "20", "-n", "50"];
    let result = result_of(&files, &args);
    let sessions = &result["sessions"];
    assert_eq!((count(sessions, "/started"), count(sessions, "/finished")), (50, 50), "{result}");
    assert_eq!((count(sessions, "/users"), count(sessions, "/failed")), (20, 0));
    let entries = result["entries"].as_array().expect("it is a list");
    let shown: Vec<_> =
        entries.iter().map(|entry| (entry["name"].as_str().expect("it has one"), count(entry, "/requests"))).collect();
    // The third entry is redirected to the cart.
    let expected = [("log in", 50), ("GET /items", 50), ("POST /cart", 100), ("GET /cart", 50), ("log out", 50)];
    assert_eq!(shown, expected);
    assert_eq!(count(&result, "/requests"), 300);
    assert_eq!(count(&result, "/errors/status"), 0);
    assert!(shop.server.connections() <= 20, "a user keeps its connection: {}", shop.server.connections());
    let logins = shop.server.texts().into_iter().filter(|request| request.starts_with("POST /login"));
    let mut users: Vec<_> =
        logins.map(|login| login.split_once("\r\n\r\n").expect("it has content").1.to_owned()).collect();
    users.sort_unstable();
    users.dedup();
    assert_eq!(users.len(), 50, "each session takes a record of its own");
}

#[test]
fn the_file_runs_over_tls_and_http2_too() {
    let folder = tempfile::tempdir().expect("there is room");
    let (certificate, key) = torr_test_support::certificates::self_signed(folder.path());
    let (certificate, key) = (certificate.to_string_lossy().into_owned(), key.to_string_lossy().into_owned());
    let server = torr_test_support::servers::Serve::start(&["--tls-cert", &certificate, "--tls-key", &key]);
    let file = "GET {{base}}/bytes/10\nHTTP 200\n[Captures]\nbody: body\n[Asserts]\nbytes count == 10\n\
                GET {{base}}/json?{{body}}\nHTTP 200\n[Asserts]\njsonpath \"$.message\" == \"Hello, World!\"\nversion == \"VERSION\"";
    let base = format!("base={}", server.url("").trim_end_matches('/').replace("http://", "https://"));
    for (version, flags) in [("1.1", &["-k"][..]), ("2", &["-k", "--http2"])] {
        let file = file.replace("VERSION", version);
        let result = result(&file, &[&["--variable", &base, "-c", "4", "-n", "40"], flags].concat());
        assert_eq!(count(&result, "/sessions/finished"), 40, "{version}: {result}");
        assert_eq!(count(&result, "/requests"), 80, "{version}");
    }
}

#[test]
fn a_failed_assert_ends_the_session_and_is_shown_with_examples() {
    let shop = Shop::open();
    let file =
        "GET http://{{host}}/sometimes\nHTTP 200\n[Asserts]\nbody == \"ready\"\nGET http://{{host}}/close\nHTTP 200";
    let result = result(file, &["--variable", &shop.host(), "-c", "1", "-n", "8"]);
    assert_eq!((count(&result, "/sessions/finished"), count(&result, "/sessions/failed")), (2, 6), "{result}");
    let first = &result["entries"][0];
    assert_eq!((count(first, "/sessions_failed"), count(first, "/asserts_failed")), (6, 6));
    let assert = &first["asserts"][1];
    assert_eq!((assert["assert"].as_str(), count(assert, "/failed")), (Some("body == \"ready\""), 6));
    assert_eq!(assert["examples"][0]["actual"], "string \"not yet\"");
    assert_eq!(count(&result["entries"][1], "/requests"), 2, "only who passed goes on");
}

#[test]
fn retries_delays_and_closed_connections_are_part_of_a_session() {
    let shop = Shop::open();
    let file = "GET http://{{host}}/sometimes\n[Options]\nretry: 5\nretry-interval: 1ms\nHTTP 200\n[Asserts]\n\
                body == \"ready\"\nGET http://{{host}}/close\n[Options]\ndelay: 30ms\nHTTP 200";
    let result = result(file, &["--variable", &shop.host(), "-c", "1", "-n", "3"]);
    assert_eq!(count(&result, "/sessions/finished"), 3, "{result}");
    assert_eq!((count(&result, "/entries/0/retries"), count(&result, "/entries/0/requests")), (9, 12));
    let shortest = result.pointer("/sessions/duration_us/min").and_then(Value::as_f64).expect("sessions finished");
    assert!(shortest >= 30_000.0, "the delay is part of the session: {shortest}");
    assert_eq!(shop.server.connections(), 3, "each session's last response closes the connection");
}

#[test]
fn a_rate_is_that_of_sessions_and_weights_divide_them() {
    let shop = Shop::open();
    let one = "GET http://{{host}}/close\nHTTP 200";
    let files = [("a.hurl", one), ("b.hurl", one)];
    let args = ["a.hurl=3", "b.hurl=1", "--variable", &shop.host(), "-r", "200", "-d", "2s"];
    let result = result_of(&files, &args);
    assert_eq!(count(&result, "/sessions/started"), 400, "{result}");
    let share = count(&result, "/entries/0/requests") as f64 / count(&result, "/requests") as f64;
    // Four standard deviations of a share of 3/4 in 400 draws.
    assert!((share - 0.75).abs() < 0.087, "{share}");
}

#[test]
fn a_session_that_cannot_go_on_fails_with_its_reason_and_the_run_ends() {
    let shop = Shop::open();
    let file = "GET http://{{host}}/close\nHTTP 200\n[Captures]\nto: header \"Nowhere\"\nGET http://{{host}}/{{to}}";
    let result = result(file, &["--variable", &shop.host(), "-c", "2", "-n", "4"]);
    assert_eq!(count(&result, "/sessions/failed"), 4, "{result}");
    let skipped = "GET http://{{host}}/close\n[Options]\nskip: true";
    let result = result_of(&[("a.hurl", skipped)], &["a.hurl", "--variable", &shop.host(), "-c", "2", "-n", "5"]);
    assert_eq!((count(&result, "/sessions/finished"), count(&result, "/requests")), (5, 0), "{result}");
}

#[test]
fn setup_and_teardown_run_once_and_captures_are_everybodys() {
    let shop = Shop::open();
    let setup = "POST http://{{host}}/login\n{\"user\": \"ann\"}\nHTTP 200\n[Captures]\ntoken: jsonpath \"$.token\"";
    let main = "GET http://{{host}}/close?{{token}}\nHTTP 403";
    let teardown = "GET http://{{host}}/close\nHTTP 200";
    let files = [("a.hurl", main), ("setup.hurl", setup), ("teardown.hurl", teardown)];
    let args =
        ["--variable", &shop.host(), "-c", "2", "-n", "10", "--setup", "setup.hurl", "--teardown", "teardown.hurl"];
    let result = result_of(&files, &[&["a.hurl"], &args[..]].concat());
    assert_eq!(count(&result, "/sessions/finished"), 10, "{result}");
    let texts = shop.server.texts();
    assert!(texts[0].starts_with("POST /login") && texts[11].starts_with("GET /close HTTP"), "{texts:?}");
    assert!(texts[1..11].iter().all(|text| text.starts_with("GET /close?t-ann ")), "{texts:?}");
}

#[test]
fn once_shows_every_request_and_response_and_hides_secrets() {
    let shop = Shop::open();
    let args = ["once", "a.hurl", "--variable", &shop.host(), "--secret", "user=geheim"];
    let ended = torr_with(&[("a.hurl", SHOPPING)], &args);
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""), "{}", ended.stdout);
    let shown = &ended.stdout;
    for line in
        ["> POST /login HTTP/1.1", "> Cookie: sid=***", "< HTTP/1.1 303", "< Location: /cart", "The session finished."]
    {
        assert!(shown.lines().any(|shown| shown == line), "{line}: {shown}");
    }
    assert!(!shown.contains("geheim"), "{shown}");
    for (status, lines) in [
        ("201", ["  failed: HTTP 201", "    expected: status 201", "    actual:   status 200"]),
        ("200", ["  failed: body == \"no\"", "    expected: string \"no\"", "    actual:   string \"ok\""]),
    ] {
        let file = format!("GET http://{{{{host}}}}/close\nHTTP {status}\n[Asserts]\nbody == \"no\"");
        let ended = torr_with(&[("a.hurl", &file)], &["once", "a.hurl", "--variable", &shop.host()]);
        assert_eq!(ended.code, Some(1), "{}", ended.stdout);
        for line in lines {
            assert!(ended.stdout.lines().any(|shown| shown == line), "{line}: {}", ended.stdout);
        }
    }
}

#[test]
fn what_is_captured_as_a_secret_is_hidden_from_then_on() {
    let shop = Shop::open();
    let log_in = "POST http://{{host}}/login\n{\"user\": \"ann\"}\nHTTP 200\n[Captures]\n\
                  token: jsonpath \"$.token\" redact\n";
    let uses = "GET http://{{host}}/items?token={{token}}\nCookie: sid=ann\nHTTP 200\n[Asserts]\nvariable \"token\" == \"other\"\n";
    let host = shop.host();
    let whole = format!("{log_in}{uses}");
    let once = torr_with(&[("a.hurl", &whole)], &["once", "a.hurl", "--variable", &host]);
    assert!(once.code == Some(1) && once.stdout.contains("GET /items?token=***"), "{once:?}");
    let run = torr_with(&[("a.hurl", &whole)], &["a.hurl", "-n", "1", "-c", "1", "--variable", &host]);
    let files = [("a.hurl", uses), ("setup.hurl", log_in)];
    let later = torr_with(&files, &["a.hurl", "--setup", "setup.hurl", "-n", "1", "-c", "1", "--variable", &host]);
    for ended in [once, run, later] {
        assert!(ended.stdout.contains("string \"***\"") && !ended.stdout.contains("t-ann"), "{ended:?}");
    }
}

#[test]
fn what_is_no_run_is_said_in_one_line_before_anything_is_sent() {
    let shop = Shop::open();
    let host = shop.host();
    let cases: [(&str, &[&str], &str); 6] = [
        ("GET http://{{host}}/\n", &[], "a.hurl:1:14: the variable 'host' has no value"),
        ("GET http://{{host}}/\nHTTP 2000", &["--variable", &host], "a.hurl:2"),
        ("# nothing\n", &[], "no request in this file"),
        ("GET http://{{host}}/", &["--variable", &host, "-H", "A: b"], "is not supported for sessions"),
        ("GET http://{{host}}/", &["--variable", &host, "--pipeline", "2"], "--pipeline is not supported for sessions"),
        (
            "GET http://{{host}}/\n[Options]\nproxy: http://p:1\nGET http://{{host}}/\n[Options]\nproxy: http://q:1",
            &["--variable", &host],
            "a.hurl:6:1: 'proxy' is http://q:1 here",
        ),
    ];
    for (file, args, message) in cases {
        let ended = torr_with(&[("a.hurl", file)], &[&["a.hurl", "-n", "1"], args].concat());
        assert_eq!(ended.code, Some(2), "{file}: {}", ended.stderr);
        assert!(ended.stderr.contains(message) && ended.stderr.lines().count() == 1, "{file}: {}", ended.stderr);
    }
    assert_eq!(shop.server.requests(), 0);
}

#[test]
fn asserts_look_at_the_certificate_of_the_server() {
    let folder = tempfile::tempdir().expect("there is room");
    let (certificate, key) = certificates::self_signed(folder.path());
    let files = [&certificate, &key].map(|path| path.to_str().expect("it is UTF-8"));
    let server = Serve::start(&["--workers", "1", "--tls-cert", files[0], "--tls-key", files[1]]);
    let asserts = "certificate \"Subject\" == \"CN=rcgen self signed cert\"\ncertificate \"Issuer\" contains \"rcgen\"\n\
                   certificate \"Start-Date\" daysBeforeNow > 0\ncertificate \"Expire-Date\" daysAfterNow > 0\n\
                   certificate \"Serial-Number\" matches /^[0-9a-f]{2}(:[0-9a-f]{2})+$/\n\
                   certificate \"Subject-Alt-Name\" == \"DNS:localhost, IP Address:127.0.0.1\"\n\
                   certificate \"Value\" startsWith \"-----BEGIN CERTIFICATE\"\n";
    let file = format!("GET https://{{{{host}}}}/\n[Options]\ninsecure: true\nHTTP 200\n[Asserts]\n{asserts}");
    let host = format!("host={}", server.address);
    let ended = torr_with(&[("a.hurl", &file)], &["once", "a.hurl", "--variable", &host]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let result = result(&file, &["--variable", &host, "-c", "2", "-n", "6"]);
    assert_eq!(count(&result, "/sessions/finished"), 6, "{result}");
    let plain = "GET http://{{host}}/close\nHTTP 200\n[Asserts]\ncertificate \"Subject\" not exists";
    let shop = Shop::open();
    let ended = torr_with(&[("a.hurl", plain)], &["once", "a.hurl", "--variable", &shop.host()]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
}
