//! Artillery as an oracle: a script, and what is imported of it, send the same requests, and as many sessions begin.

use crate::compare::{Compared, assert_same, compared};
use crate::echo::{Arrived, Echo};
use crate::newman::ORACLES;
use crate::walk;
use std::path::Path;
use std::process::Command;
use torr_test_support::program::{Ended, Running, torr_command};

/// Fields that only one of the two programs adds to every request.
const OWN: &[&str] = &["accept"];

/// The requests of the script with one scenario.
const REQUESTS: usize = 49;

/// Responds with an object that the script captures, or with a redirect.
fn respond(request: &Arrived) -> Option<Vec<u8>> {
    if let Some(code) = request.target.strip_prefix("/redirect/") {
        return Some(format!("HTTP/1.1 {code} Moved\r\nLocation: /landed\r\nContent-Length: 0\r\n\r\n").into_bytes());
    }
    let body = "{\"token\":\"t0k\",\"id\":7,\"list\":[4,5],\"user\":{\"name\":\"bob\"},\"missing\":1}";
    let shown = if request.method == "HEAD" { "" } else { body };
    let head =
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nSet-Cookie: visit=1; Path=/\r\nContent-Length".to_owned();
    Some(format!("{head}: {}\r\n\r\n{shown}", body.len()).into_bytes())
}

fn artillery(folder: &Path, args: &[&str]) -> Ended {
    let oracles = std::env::var(ORACLES).expect("./test full sets it");
    let mut command = Command::new(Path::new(&oracles).join("node_modules/.bin/artillery"));
    command.arg("run").args(args).current_dir(folder);
    command.env("ARTILLERY_DISABLE_TELEMETRY", "true").env("ORACLE_WORD", "word");
    let ended = Running::start(command).wait();
    assert_eq!(ended.code, Some(0), "{ended:?}");
    ended
}

/// Returns requests in which the UUID of a user, which is the same in a session, has one spelling.
fn without_uuid(mut sent: Vec<Compared>) -> Vec<Compared> {
    for request in &mut sent {
        if let Some(uuids) = request.line.strip_prefix("GET /same/") {
            let (one, other) = uuids.split_once('/').expect("there are two");
            assert!(one == other && one.len() == 36, "{uuids}");
            request.line = "GET /same".to_owned();
        }
    }
    sent
}

#[test]
#[ignore = "Artillery is installed by ./test full"]
fn what_is_imported_sends_what_artillery_sends() {
    let echo = Echo::responding(respond);
    let folder = tempfile::tempdir().expect("there is room");
    let folder = folder.path();
    let script = include_str!("artillery/requests.yml").replace("TARGET", &echo.origin);
    for (name, text) in [("shop.yml", script.as_str()), ("a.txt", "file\n"), ("a.json", "{}")] {
        std::fs::write(folder.join(name), text).expect("there is room");
    }
    artillery(folder, &["--environment", "test", "shop.yml"]);
    let expected = without_uuid(compared(echo.take(), OWN));
    let imported = walk::import(folder, &["artillery", "shop.yml", "--environment", "test"]);
    assert_eq!(imported.code, Some(0), "{imported:?}");
    let mut command = torr_command(&["once", "made.hurl", "--secret", "authorization=abc"]);
    let given = std::fs::read_to_string(folder.join("made.hurl")).expect("it is made");
    command.current_dir(folder).env("ORACLE_WORD", "word");
    let ended = Running::start(command).wait();
    let sent = without_uuid(compared(echo.take(), OWN));
    assert_eq!(ended.code, Some(0), "{ended:?}\n{given}");
    assert_same(&sent, &expected);
    assert_eq!(expected.len(), REQUESTS);
}

#[test]
#[ignore = "Artillery is installed by ./test full"]
fn as_many_sessions_begin_in_each_phase() {
    let echo = Echo::responding(respond);
    let folder = tempfile::tempdir().expect("there is room");
    let folder = folder.path();
    let script = format!(
        "config:\n  target: {}\n  phases:\n    - {{duration: 2, arrivalRate: 10}}\n    - {{pause: 1}}\n    - {{duration: 2, arrivalCount: 6}}\n    \
         - {{duration: 3, arrivalRate: 2, rampTo: 12}}\nscenarios:\n  - {{name: a, weight: 3, flow: [{{get: {{url: /a}}}}]}}\n  \
         - {{name: b, flow: [{{get: {{url: /b}}}}]}}\n",
        echo.origin
    );
    std::fs::write(folder.join("shop.yml"), script).expect("there is room");
    artillery(folder, &["shop.yml"]);
    let expected = echo.take().len();
    let mut command = torr_command(&["import", "artillery", "shop.yml", "-o", "made.hurl"]);
    command.current_dir(folder);
    let imported = Running::start(command).wait();
    assert_eq!(imported.code, Some(0), "{imported:?}");
    let load =
        imported.stderr.lines().find_map(|line| line.strip_prefix("torr: load: torr ")).expect("it says the command");
    let mut command = torr_command(&load.split(' ').collect::<Vec<_>>());
    command.current_dir(folder);
    let ended = Running::start(command).wait();
    assert_eq!(ended.code, Some(0), "{load}: {ended:?}");
    let arrived = echo.take();
    let of = |target: &str| arrived.iter().filter(|request| request.target == target).count();
    assert!(arrived.len().abs_diff(expected) <= 2, "{load}: {} and {expected}", arrived.len());
    assert!(of("/a") > of("/b") && of("/b") > 0, "{} and {}", of("/a"), of("/b"));
}
