//! Scripts whose iterations are sessions of the load engine.

mod common;

use common::{echo, loaded, loaded_from};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use torr_gauge::collector::Measurement;
use torr_k6::run::ScriptSource;
use torr_k6::sessions::{ScriptSessions, SessionsError};
use torr_press::Plan;
use torr_test_support::script::{OK, Script, answering};

fn sessions(script: &str, url: &str) -> ScriptSessions {
    loaded(script, url).sessions().expect("the options are right")
}

/// Runs a number of sessions by so many users on two threads.
fn run(sessions: &ScriptSessions, users: usize, count: u64) -> Measurement {
    let plan = sessions.plan().expect("there is a way to the server");
    let plan = Plan { connections: users, threads: 2, requests: Some(count), watch_server: false, ..plan };
    torr_press::run(&plan, &AtomicBool::new(false), |_| {}).expect("the server is there")
}

/// Returns the number of requests whose first line begins so.
fn count(server: &Script, begin: &str) -> usize {
    server.texts().iter().filter(|text| text.starts_with(begin)).count()
}

#[test]
fn iterations_are_sessions_between_setup_and_teardown() {
    let server = Script::start(answering(OK));
    let script = r#"
        import http from 'k6/http';
        import exec from 'k6/execution';
        export const options = {scenarios: {s: {executor: 'constant-vus', vus: 50, duration: '10h', env: {PAGE: 'page'}}},
            thresholds: {http_reqs: ['count<1']}};
        export function setup() { return {token: http.get(__ENV.URL + 'setup').body}; }
        let own = 0;
        export default function (data) {
            if (data.token !== 'ok' || __ITER !== own++ || exec.vu.idInTest !== __VU || __VU < 1 || __VU > 4) throw new Error('numbers');
            if (exec.scenario.name !== 's') throw new Error('scenario');
            http.get(`${__ENV.URL}${__ENV.PAGE}?n=${exec.scenario.iterationInTest}`);
            http.post(__ENV.URL + 'order', 'x');
        }
        export function teardown(data) { http.get(__ENV.URL + 'teardown/' + data.token); }
    "#;
    let mut sessions = sessions(script, &server.url());
    assert_eq!((sessions.function(), sessions.functions(), sessions.has_batches()), (("default", "s"), 1, false));
    sessions.begin(&AtomicBool::new(false)).expect("setup and the first iteration run");
    assert_eq!([count(&server, "GET /setup"), count(&server, "GET /page"), count(&server, "POST /order")], [1, 1, 1]);
    for runs in 1..=2 {
        let result = run(&sessions, 4, 20).result;
        let ended = result.sessions.as_ref().expect("there are sessions");
        assert_eq!(
            (ended.finished, ended.failed, result.requests, result.errors.total()),
            (20, 0, 40, 0),
            "{result:?}"
        );
        let names: Vec<_> = result.entries.iter().map(|entry| (entry.name.as_str(), entry.requests)).collect();
        assert_eq!(names, [("GET /page", 20), ("POST /order", 20)]);
        assert_eq!((result.plan.threads, result.connections.opened), (Some(2), 4));
        assert_eq!(count(&server, "GET /page"), 1 + 20 * runs);
    }
    assert_eq!(count(&server, "GET /teardown"), 0);
    sessions.finish(&AtomicBool::new(false)).expect("teardown runs");
    sessions.finish(&AtomicBool::new(false)).expect("it has run");
    assert_eq!((count(&server, "GET /setup"), count(&server, "GET /teardown/ok")), (1, 1));
    // Each iteration of the test has a number of its own.
    let mut numbers: Vec<u64> = server
        .texts()
        .iter()
        .filter_map(|text| text.strip_prefix("GET /page?n=")?.split(' ').next()?.parse().ok())
        .collect();
    numbers.sort_unstable();
    assert_eq!(numbers, (0..41).collect::<Vec<_>>());
}

#[test]
fn pauses_batches_and_promises_go_one_after_another() {
    let server = Script::start(echo());
    let script = r#"
        import http from 'k6/http';
        import { sleep } from 'k6';
        export default async function () {
            const [a, b] = http.batch([['POST', __ENV.URL + 'a', '1'], ['POST', __ENV.URL + 'b', '2']]);
            sleep(0.01);
            const later = http.asyncRequest('POST', __ENV.URL + 'c', a.body + b.body);
            await new Promise(done => setTimeout(done, 5));
            const c = await later;
            http.post(__ENV.URL + 'd', c.body + '3');
        }
    "#;
    let mut sessions = sessions(script, &server.url());
    assert!(sessions.has_batches());
    sessions.begin(&AtomicBool::new(false)).expect("the first iteration runs");
    let result = run(&sessions, 3, 9).result;
    let ended = result.sessions.as_ref().expect("there are sessions");
    assert_eq!((ended.finished, ended.failed, result.requests), (9, 0, 36), "{result:?}");
    assert_eq!(result.connections.opened, 3, "a user has one connection");
    assert!(server.texts().iter().filter(|text| text.starts_with("POST /d")).all(|text| text.ends_with("\r\n\r\n123")));
}

#[test]
fn statuses_and_exceptions_are_judged() {
    let server = Script::start(|client| {
        while let Some(request) = client.request() {
            let status = if request.starts_with(b"GET /missing") { "404 Not Found" } else { "200 OK" };
            client.send(format!("HTTP/1.1 {status}\r\nContent-Length: 2\r\n\r\nok").as_bytes());
        }
    });
    let script = r#"
        import http from 'k6/http';
        export default function () {
            http.get(__ENV.URL);
            http.get(__ENV.URL + 'missing');
            http.get(__ENV.URL + 'missing', {responseCallback: http.expectedStatuses(404)});
            if (__ITER % 2 === 1) throw new TypeError('every second one');
        }
    "#;
    let mut sessions = sessions(script, &server.url());
    sessions.begin(&AtomicBool::new(false)).expect("the first iteration runs");
    let result = run(&sessions, 1, 10).result;
    let ended = result.sessions.as_ref().expect("there are sessions");
    assert_eq!((ended.finished, ended.failed, result.requests), (5, 5, 30), "{result:?}");
    assert_eq!(result.errors.total(), 10, "{:?}", result.errors);
    assert!(
        result.entries[2].causes.iter().any(|cause| cause.what.contains("every second one")),
        "{:?}",
        result.entries
    );
}

#[test]
fn what_stops_a_script_is_said_in_one_line() {
    let server = Script::start(answering(OK));
    let fails = |script: &str| {
        let mut sessions = sessions(script, &server.url());
        let error = sessions.begin(&AtomicBool::new(false)).expect_err("it cannot run").to_string();
        assert_eq!(error.lines().count(), 1, "{error}");
        error
    };
    let setup = "export function setup() { throw new Error('no luck'); } export default function () {}";
    assert!(fails(setup).contains("no luck"));
    assert!(fails("export default function () {}").contains("sends no request"));
    let throws =
        "import http from 'k6/http'; export default function () { http.get(__ENV.URL); throw new Error('first'); }";
    assert!(fails(throws).contains("first"));
    let aborts = "import exec from 'k6/execution'; export default function () { exec.test.abort('enough'); }";
    assert!(fails(aborts).contains("enough"));
    let gone = "import http from 'k6/http'; export default function () { http.get('http://127.0.0.1:1/'); }";
    assert!(fails(gone).contains("refused"));
    let slow = r#"
        import { sleep } from 'k6';
        export const options = {setupTimeout: '50ms'};
        export function setup() { sleep(1e6); }
        export default function () {}
    "#;
    assert!(fails(slow).contains("setupTimeout"));
}

#[test]
fn a_script_ends_all_runs_and_teardown_follows() {
    let server = Script::start(answering(OK));
    let script = r#"
        import http from 'k6/http';
        import exec from 'k6/execution';
        export default function () {
            http.get(__ENV.URL);
            if (exec.scenario.iterationInTest === 5) exec.test.abort('enough');
        }
        export function teardown() { http.get(__ENV.URL + 'teardown'); }
    "#;
    let mut sessions = sessions(script, &server.url());
    sessions.begin(&AtomicBool::new(false)).expect("the first iteration runs");
    let plan = Plan { connections: 1, duration: Some(Duration::from_secs(600)), ..sessions.plan().expect("a way") };
    let measured = torr_press::run(&plan, &AtomicBool::new(false), |_| {}).expect("the server is there");
    assert_eq!(measured.result.requests, 5);
    let users = plan.work.users().expect("they are users");
    assert!(users.error().is_some_and(|error| error.contains("enough")));
    assert!(sessions.stopped().is_some());
    sessions.finish(&AtomicBool::new(false)).expect("teardown runs");
    assert_eq!(count(&server, "GET /teardown"), 1);
}

#[test]
fn an_interruption_ends_the_preparation() {
    let script = r#"
        import { sleep } from 'k6';
        export function setup() { sleep(1e6); }
        export default function () {}
    "#;
    let mut sessions = sessions(script, "");
    let error = sessions.begin(&AtomicBool::new(true)).expect_err("it is interrupted");
    assert!(matches!(error, SessionsError::Interrupted), "{error}");
}

#[test]
fn a_script_runs_elsewhere_by_what_was_read_and_seen() {
    let server = Script::start(answering(OK));
    let folder = tempfile::tempdir().expect("there is room");
    std::fs::create_dir(folder.path().join("lib")).expect("there is room");
    let script = r#"
        import http from 'k6/http';
        import { page } from './lib/page';
        const rows = JSON.parse(open('./rows.json'));
        export function setup() { http.get(__ENV.URL + 'setup'); return rows[0]; }
        export default function (row) { http.get(__ENV.URL + page(row) + '?vu=' + __VU); }
    "#;
    for (name, text) in [
        ("shop.js", script),
        ("lib/page.ts", "export const page = (row: string): string => 'page/' + row;"),
        ("rows.json", "[\"first\"]"),
    ] {
        std::fs::write(folder.path().join(name), text).expect("there is room");
    }
    let here = loaded_from(ScriptSource::File(folder.path().join("shop.js")), &server.url());
    let (entry, files) = here.files().expect("they were kept");
    assert_eq!(files.keys().collect::<Vec<_>>(), ["lib/page.ts", "rows.json", "shop.js"]);
    let mut sessions = here.sessions().expect("the options are right");
    sessions.begin(&AtomicBool::new(false)).expect("setup and the first iteration run");
    let seen = serde_json::to_string(&sessions.first_iteration()).expect("it is JSON");
    drop(folder);

    let elsewhere = loaded_from(ScriptSource::Sent { entry, files: Arc::new(files) }, &server.url());
    let mut sessions = elsewhere.sessions().expect("the options are right");
    sessions.follow(serde_json::from_str(&seen).expect("it was written so"));
    let plan = sessions.plan().expect("there is a way to the server");
    let plan = Plan { connections: 2, requests: Some(10), users_before: 7, watch_server: false, ..plan };
    let result = torr_press::run(&plan, &AtomicBool::new(false), |_| {}).expect("the server is there").result;
    assert_eq!((result.requests, result.errors.total()), (10, 0), "{result:?}");
    assert_eq!((count(&server, "GET /setup"), count(&server, "GET /page/first?vu=1 ")), (1, 1));
    assert_eq!(count(&server, "GET /page/first?vu=8 ") + count(&server, "GET /page/first?vu=9 "), 10);
}

#[test]
fn sessions_have_no_sockets_and_say_so() {
    for (module, call) in [
        ("import grpc from 'k6/net/grpc'", "new grpc.Client().connect('127.0.0.1:1', { plaintext: true })"),
        ("import ws from 'k6/ws'", "ws.connect('ws://127.0.0.1:1', () => {})"),
    ] {
        let script = format!("{module}; export default function () {{ {call}; }}");
        let error = sessions(&script, "").begin(&AtomicBool::new(false)).expect_err("it cannot run").to_string();
        assert!(error.contains("by 'torr script.js' and 'torr k6 run' only: here "), "{module}: {error}");
    }
}
