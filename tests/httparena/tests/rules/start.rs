//! The start without mounts and without a database, the end, and mistakes in the environment.

use crate::application::{Application, command};
use crate::curl::get;
use crate::database;
use serde_json::json;
use std::time::{Duration, Instant};
use torr_test_support::program::Running;

/// The most time of an end with no request in flight. The server waits up to 30 s for tasks that stay.
const END: Duration = Duration::from_secs(10);

#[test]
fn without_mounts_and_database_it_starts_and_serves_the_rest() {
    let application = Application::start_bare();
    assert_eq!(get(&application.http("/baseline11?a=13&b=42")).text(), "55");
    assert_eq!(get(&application.http("/async-db?min=10&max=50&limit=5")).json(), json!({ "items": [], "count": 0 }));
    assert_eq!(get(&application.http("/json/5?m=2")).json(), json!({ "items": [], "count": 0 }));
    assert_eq!(get(&application.http("/static/app.js")).status, 404);
    assert_eq!(get(&application.http("/crud/items/1")).status, 404);
    assert_eq!(application.stop().code(), Some(0));
}

#[test]
fn a_database_that_cannot_be_reached_is_a_503_and_no_end() {
    let url = format!("postgres://x:secret@127.0.0.1:{}/x", torr_test_support::servers::closed_port());
    let application = Application::start_with(&[("DATABASE_URL", &url)]);
    for path in ["/async-db?limit=5", "/crud/items/1", "/crud/items"] {
        let got = get(&application.http(path));
        assert_eq!(got.status, 503, "{path}");
        assert!(!String::from_utf8_lossy(&got.content).contains("secret"), "{got:?}");
    }
    assert_eq!(get(&application.http("/pipeline")).text(), "ok");
}

#[test]
fn with_open_connections_to_the_database_it_ends_at_once() {
    let application = database::start();
    database::ranges(&application);
    let begin = Instant::now();
    assert_eq!(application.stop().code(), Some(0));
    assert!(begin.elapsed() < END, "{:?}", begin.elapsed());
}

#[test]
fn a_mistake_is_one_line_at_last_and_exit_code_2() {
    for (name, value) in [("H2_PORT", "x"), ("DATABASE_URL", "nonsense"), ("BIND", "192.0.2.1"), ("DATASET", "/")] {
        let mut command = command();
        command.env(name, value);
        let ended = Running::start(command).wait();
        let last = ended.stderr.lines().last().unwrap_or_default();
        assert_eq!(ended.code, Some(2), "{name}: {ended:?}");
        assert!(last.starts_with("torr-httparena: ") && !ended.stderr.contains("panicked"), "{name}: {ended:?}");
    }
}
