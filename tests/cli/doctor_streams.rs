//! `torr doctor` of streams of events: the load is their number, and events and gaps tell what limits.

use serde_json::Value;
use std::io::{ErrorKind, Read};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use torr_test_support::program::{torr, torr_json};
use torr_test_support::result::count;
use torr_test_support::script::{Client, OK, Script};
use torr_test_support::servers::Serve;

const STREAM: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n";
/// The time between two events of a stream.
const GAP: Duration = Duration::from_millis(50);
/// The streams that a service lets begin at a time.
const MOST: usize = 3;

fn examined(url: &str, args: &[&str]) -> Value {
    torr_json(&[&["doctor", url, "--budget", "12s", "--no-where", "-q"], args].concat())
}

/// Asserts that the verdict is one of these, or unknown since other programs used the CPU: all tests share this machine.
fn is_named(found: &Value, factors: &[&str]) {
    let verdict = &found["verdict"];
    let is_disturbed = verdict["summary"].as_str().is_some_and(|text| text.contains("Other programs"));
    let is_one = verdict["factor"].as_str().is_some_and(|factor| factors.contains(&factor));
    assert!(is_one || is_disturbed && verdict["factor"] == "unknown", "{verdict:#}");
}

/// Returns the observation of an experiment.
fn seen<'v>(found: &'v Value, id: &str) -> &'v Value {
    let trail = found["trail"].as_array().expect("it has experiments");
    trail.iter().find(|seen| seen["id"] == id).unwrap_or_else(|| panic!("no {id}: {found:#}"))
}

/// Sends events at a pace to a number of streams, and none to others until one of these ends.
fn admits(client: &mut Client, open: &AtomicUsize) {
    let Some(request) = client.request() else { return };
    if !request.starts_with(b"GET / ") {
        return client.send(OK);
    }
    let is_admitted =
        || open.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |open| (open < MOST).then_some(open + 1)).is_ok();
    let mut begun = false;
    client.stream.set_read_timeout(Some(GAP)).expect("a socket takes options");
    loop {
        match begun {
            true => client.send(b"data: x\n\n"),
            false if is_admitted() => {
                begun = true;
                client.send(STREAM);
            }
            false => {}
        }
        // The client sends nothing more: what ends the wait early is that it goes.
        match client.stream.read(&mut [0]) {
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {}
            _ => break,
        }
    }
    if begun {
        open.fetch_sub(1, Ordering::SeqCst);
    }
}

#[test]
fn a_service_that_paces_its_events_has_no_limit() {
    let serve = Serve::start(&["--workers", "1"]);
    let found = examined(&serve.url("/sse/1000000/50"), &["--sse", "-c", "8"]);
    is_named(&found, &["none"]);
    assert_eq!((&found["setting"]["streams"], &found["keep_alive"]), (&"events".into(), &Value::Null), "{found:#}");
    let full = seen(&found, "full");
    assert_eq!((&full["experiment"], count(full, "/run/streams/open")), (&"8 streams".into(), 8), "{full:#}");
    // An endless stream is no slow response: 20 events a second on each, and the ladder's figure is their sum.
    let events_per_s = full["run"]["streams"]["events_per_s"].as_f64().expect("it is a number");
    let ladder = found["figures"]["ladder"].as_array().expect("it has rungs");
    let rung = ladder.iter().find(|rung| rung["connections"] == 8).expect("the load is a rung");
    // The load is repeated once if other programs disturb it.
    let trail = found["trail"].as_array().expect("it has experiments");
    let of_load =
        trail.iter().filter(|seen| ["full", "full-undisturbed"].contains(&seen["id"].as_str().unwrap_or_default()));
    assert!(of_load.map(|seen| &seen["run"]["streams"]["events_per_s"]).any(|figure| *figure == rung["rps"]), "{rung}");
    assert!(events_per_s > 20.0 && events_per_s < 200.0, "{events_per_s}");
    let ids = found["trail"].as_array().into_iter().flatten().map(|seen| &seen["id"]);
    let others: Vec<_> = ids
        .filter(|id| {
            !["alone", "alone-longer", "full", "full-undisturbed", "double"].contains(&id.as_str().unwrap_or_default())
                && id.get("rung").is_none()
        })
        .collect();
    assert!(others.is_empty() || found["verdict"]["factor"] != "none", "{others:?}");
    if found["verdict"]["factor"] == "none" {
        let (summary, verify) = (&found["verdict"]["summary"], &found["verdict"]["verify"]);
        assert!(summary.as_str().is_some_and(|text| text.contains("Nothing limits 8 streams")), "{summary}");
        assert!(verify.as_str().is_some_and(|text| text.contains("--sse") && text.contains("-c 32")), "{verify}");
    }
}

#[test]
fn streams_that_wait_for_others_to_end_are_counted() {
    let open = AtomicUsize::new(0);
    let service = Script::start(move |client| admits(client, &open));
    let found = examined(&service.url(), &["--sse", "-c", "8"]);
    // The service is a part of this test program, in which other tests compute.
    assert!(
        !["none", "connections", "errors"].contains(&found["verdict"]["factor"].as_str().unwrap_or_default()),
        "{found:#}"
    );
    for (id, wanted) in [("full", 8), ("double", 16)] {
        let run = &seen(&found, id)["run"];
        let most = MOST as u64;
        assert_eq!((count(run, "/streams/open"), count(run, "/unfinished")), (most, wanted), "{run:#}");
    }
    if ["pool", "workers"].contains(&found["verdict"]["factor"].as_str().unwrap_or_default()) {
        let because = found["verdict"]["because"].to_string();
        assert!(because.contains("of 8 streams, 3 had an event") && because.contains("of 16 streams, 3"), "{because}");
    }
}

#[test]
fn what_says_nothing_of_streams_is_refused_in_one_line() {
    let url = "http://127.0.0.1:1/";
    for (args, words) in [
        (&[url, "--sse", "--via", url][..], "not supported in a comparison"),
        (&[url, "--sse", "--paths", "/a,/b"], "not supported in a comparison"),
        (&[url, "--max-events", "5"], "needs"),
        (&[url, "--listen"], "ws://"),
        (&["ws://127.0.0.1:1/", "--sse"], "--sse is not supported for WebSockets"),
    ] {
        let ended = torr(&[&["doctor"], args].concat());
        assert_eq!((ended.code, ended.stdout.as_str(), ended.stderr.lines().count()), (Some(2), "", 1), "{ended:?}");
        assert!(ended.stderr.contains(words), "{args:?}: {}", ended.stderr);
    }
}
