//! `torr fleet` with hurl files, records and lists of URLs: what they name travels, and each record is one agent's.

use crate::fleet::{Target, ends_without_a_word_of, result};
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::sync::{Arc, Mutex};
use torr_test_support::nats::NatsServer;
use torr_test_support::program::Running;
use torr_test_support::result::{adds_up, count};
use torr_test_support::script::{Client, Script};
use torr_test_support::wait_until;

const SETUP: &str = "POST http://{{host}}/open\nHTTP 200\n[Captures]\ntoken: body\n";
const TEARDOWN: &str = "DELETE http://{{host}}/open\nX-Token: {{token}}\nHTTP 200\n";
const VISIT: &str = "# name: greet
POST http://{{host}}/greet
X-Token: {{token}}
X-Key: {{key}}
file,greeting.txt;
HTTP 200
[Captures]
mark: body

# name: user
GET http://{{host}}/users/{{user}}?mark={{mark}}
HTTP 200
";

/// A server that notes the users that each connection names, and the files beside it.
struct Visited {
    server: Script,
    users: Arc<Mutex<Vec<BTreeSet<String>>>>,
    folder: tempfile::TempDir,
}

impl Visited {
    fn start() -> Self {
        let users: Arc<Mutex<Vec<BTreeSet<String>>>> = Arc::default();
        let noted = Arc::clone(&users);
        let server = Script::start(move |client: &mut Client| {
            let mut of_connection = BTreeSet::new();
            while let Some(request) = client.request() {
                let text = String::from_utf8_lossy(&request).into_owned();
                let path = text.split_whitespace().nth(1).unwrap_or_default();
                of_connection
                    .extend(path.strip_prefix("/users/").and_then(|path| path.split('?').next()).map(str::to_owned));
                client.send(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nt-123");
            }
            noted.lock().expect("nothing panics with it").push(of_connection);
        });
        let folder = tempfile::tempdir().expect("there is room");
        let visited = Self { server, users, folder };
        visited.write("visit.hurl", VISIT);
        visited.write("setup.hurl", SETUP);
        visited.write("teardown.hurl", TEARDOWN);
        visited.write("greeting.txt", "good morning");
        visited.write("users.csv", "user,note\na,1\nb,2\nc,3\nd,4\ne,5\n");
        visited
    }

    fn write(&self, name: &str, text: &str) -> String {
        let path = self.folder.path().join(name);
        fs::write(&path, text).expect("there is room");
        path.display().to_string()
    }

    fn path(&self, name: &str) -> String {
        Path::join(self.folder.path(), name).display().to_string()
    }

    fn host(&self) -> String {
        format!("host={}", self.server.address)
    }

    /// The number of requests that begin so.
    fn requests(&self, start: &str) -> usize {
        self.server.texts().iter().filter(|text| text.starts_with(start)).count()
    }
}

#[test]
fn sessions_travel_with_their_files_variables_and_records() {
    let (nats, visited) = (NatsServer::start(), Visited::start());
    let agents = [nats.agent("one", &[]), nats.agent("two", &[])];
    let [visit, setup, teardown, users] =
        ["visit.hurl", "setup.hurl", "teardown.hurl", "users.csv"].map(|name| visited.path(name));
    let host = visited.host();
    let args = ["--agents", "2", "--", &visit, "--setup", &setup, "--teardown", &teardown, "--feeder", &users];
    let load = ["--variable", &host, "--secret", "key=quite-secret", "-n", "21", "-c", "4", "-d", "30s", "--json", "-"];
    let csv = visited.path("entries.csv");
    let outputs = ["--csv-entries", &csv, "--fail-if", "p50{greet}>20s,sessions_failed>0%"];
    let ended = Running::start(nats.run_of_fleet(&[&args[..], &load, &outputs].concat())).wait();
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let result = result(&ended);
    adds_up(&result);
    let sessions = ["/sessions/users", "/sessions/started", "/sessions/finished"].map(|name| count(&result, name));
    assert_eq!(sessions, [4, 21, 21], "{result:#}");
    let entries: Vec<_> = result["entries"].as_array().expect("there are entries").iter().collect();
    let counted: Vec<_> = entries.iter().map(|entry| (entry["name"].as_str(), count(entry, "/requests"))).collect();
    assert_eq!(counted, [(Some("greet"), 21), (Some("user"), 21)], "{result:#}");
    assert!(
        entries.iter().all(|entry| entry["latency_us"]["p50"].is_u64() && entry["file"] == "visit.hurl"),
        "{result:#}"
    );
    assert_eq!(fs::read_to_string(&csv).expect("it was written").lines().count(), 3, "a head and two entries");
    let sent = ["POST /open ", "POST /greet ", "GET /users/", "DELETE /open "].map(|start| visited.requests(start));
    assert_eq!(sent, [1, 21, 21, 1], "setup and teardown are sent once");
    let greetings: Vec<_> = visited.server.texts().into_iter().filter(|text| text.starts_with("POST /greet")).collect();
    for part in ["X-Token: t-123\r\n", "X-Key: quite-secret\r\n", "\r\n\r\ngood morning"] {
        assert!(greetings.iter().all(|text| text.contains(part)), "{part}: {greetings:?}");
    }
    // Each agent has its own records: those of even numbers, or those of odd ones.
    let named = wait_until("the ends of four connections", || {
        let users = visited.users.lock().expect("nothing panics with it");
        let named: Vec<_> = users.iter().filter(|users| !users.is_empty()).cloned().collect();
        (named.len() == 4).then_some(named)
    });
    let of = |all: &str| named.iter().filter(|users| users.iter().all(|user| all.contains(user.as_str()))).count();
    assert_eq!((of("ace"), of("bd")), (2, 2), "{named:?}");
    for agent in agents {
        ends_without_a_word_of(agent, "quite-secret");
    }
}

#[test]
fn a_list_of_urls_and_a_body_of_a_file_travel() {
    let (nats, visited) = (NatsServer::start(), Visited::start());
    let _agents = [nats.agent("one", &[]), nats.agent("two", &[])];
    let list = visited.write("urls.txt", &format!("http://{}/a?u={{{{user}}}}\n/b\n", visited.server.address));
    let (body, users) = (format!("@{}", visited.path("greeting.txt")), visited.path("users.csv"));
    let args = ["--urls", &list, "--order", "sequence", "--data", &body, "--feeder", &users];
    let load = ["-n", "40", "-c", "2", "-d", "30s", "--json", "-"];
    let ended = Running::start(nats.run_of_fleet(&[&["--"], &args[..], &load].concat())).wait();
    assert_eq!((ended.code, count(&result(&ended), "/requests")), (Some(0), 40), "{ended:?}");
    assert_eq!(
        [visited.requests("POST /a?u="), visited.requests("POST /b ")],
        [20, 20],
        "{:?}",
        visited.server.texts()
    );
    assert!(visited.server.texts().iter().all(|text| text.ends_with("good morning")));
}

#[test]
fn a_session_leads_no_agent_to_a_server_that_it_may_not_load() {
    let (nats, mut other) = (NatsServer::start(), Target::start());
    let there = other.url();
    let redirect = format!("HTTP/1.1 302 Found\r\nLocation: {there}\r\nContent-Length: 0\r\n\r\n");
    let redirecting = Script::start(move |client: &mut Client| {
        while client.request().is_some() {
            client.send(redirect.as_bytes());
        }
    });
    let _agent = nats.agent("one", &["--allow", &redirecting.address.to_string()]);
    let folder = tempfile::tempdir().expect("there is room");
    let path = folder.path().join("away.hurl").display().to_string();
    fs::write(&path, format!("GET {}\n[Options]\nlocation: true\nHTTP 200\n", redirecting.url()))
        .expect("there is room");
    let ended =
        Running::start(nats.run_of_fleet(&["--", &path, "-n", "5", "-c", "1", "-d", "30s", "--json", "-"])).wait();
    let result = result(&ended);
    let why = result["entries"][0]["causes"][0]["what"].as_str().unwrap_or_default();
    assert!(why.contains("may not load") && why.contains("--allow"), "{result:#}");
    assert_eq!((ended.code, count(&result, "/sessions/failed"), other.responses()), (Some(1), 5, 0), "{result:#}");
}

#[test]
fn sessions_of_one_machine_are_refused_in_a_line() {
    let (nats, visited) = (NatsServer::start(), Visited::start());
    let _agents = [nats.agent("one", &[]), nats.agent("two", &[])];
    let [few, script] = [("few.csv", "user\na\n"), ("a.lua", "")].map(|(name, text)| visited.write(name, text));
    let environment = visited.write("env.hurl", &format!("GET {}{{{{getEnv \"HOME\"}}}}\n", visited.server.url()));
    let options = [("cert.hurl", "cert: ca.pem"), ("unix.hurl", "unix-socket: /run/x"), ("proxy.hurl", "proxy: p:1")];
    let [cert, unix, proxy] = options
        .map(|(name, option)| visited.write(name, &format!("GET {}\n[Options]\n{option}\n", visited.server.url())));
    visited.write("ca.pem", "");
    let (visit, host, url) = (visited.path("visit.hurl"), visited.host(), visited.server.url());
    let list = visited.write("urls.txt", &format!("{url}{{{{seq}}}}\n"));
    let records = [&visit, "--variable", &host, "--variable", "token=t", "--variable", "key=k", "--feeder", &few];
    let mistakes: [(&[&str], &str); 8] = [
        (&[&environment], "getEnv"),
        (&[&cert], "'cert'"),
        (&[&unix], "'unix-socket'"),
        (&[&proxy], "'proxy'"),
        (&[&script, &url], "a.lua"),
        (&records, "2 agents"),
        (&["--urls", &list], "{{seq}}"),
        (&[&url, "--script", &script], "scripts are not permitted: add --scripts"),
    ];
    for (args, named) in mistakes {
        let ended = Running::start(nats.run_of_fleet(&[&["--agents", "2", "--"], args, &["-d", "1s"]].concat())).wait();
        assert_eq!((ended.code, ended.stderr.trim().lines().count()), (Some(2), 1), "{args:?}: {ended:?}");
        assert!(ended.stderr.contains(named), "{args:?}: {ended:?}");
    }
    assert_eq!(visited.server.requests(), 0);
}

#[test]
fn sessions_of_a_lost_agent_are_not_in_the_report_which_says_so() {
    let (nats, visited) = (NatsServer::start(), Visited::start());
    let (kept, mut lost) = (nats.agent("kept", &[]), nats.agent("lost", &[]));
    let (visit, host) = (visited.path("visit.hurl"), visited.host());
    let given = ["--variable", &host, "--variable", "token=t", "--variable", "key=k", "--variable", "user=u"];
    let load = ["-r", "50", "-d", "8s", "-c", "4"];
    let run = Running::start(nats.run_of_fleet(&[&["--agents", "2", "--", &visit], &given[..], &load].concat()));
    wait_until("sessions of two seconds", || (visited.requests("GET /users/") > 100).then_some(()));
    lost.signal("KILL");
    lost.wait();
    let ended = run.wait();
    assert_eq!(ended.code, Some(1), "{ended:?}");
    for part in ["agent lost was lost", "sessions and entries cover the other agents only"] {
        assert!(ended.stdout.contains(part) || ended.stderr.contains(part), "{part}: {ended:?}");
    }
    kept.says_times("ended", 1);
}

#[test]
fn a_plan_of_sessions_goes_over_a_fleet() {
    let (nats, visited) = (NatsServer::start(), Visited::start());
    let _agents = [nats.agent("one", &[]), nats.agent("two", &[])];
    let plan = visited.write(
        "plan.toml",
        &format!(
            "variable = [\"{}\", \"token=t\", \"key=k\"]\nfeeder = \"{}\"\nrequests = 8\nduration = \"30s\"\n\
             connections = 2\n[target]\n\"{}\" = 3\n",
            visited.host(),
            visited.path("users.csv"),
            visited.path("visit.hurl")
        ),
    );
    let ended = Running::start(nats.run_of_fleet(&["--agents", "2", "--", &plan, "--json", "-"])).wait();
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let result: Value = result(&ended);
    assert_eq!((count(&result, "/sessions/finished"), visited.requests("GET /users/")), (8, 8), "{result:#}");
}
