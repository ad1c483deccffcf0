//! Tests with a server of commands of this process, whose packets are captured.

use super::ServerSurvey;
use crate::locate::{Database, Locator, Process, Site};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};
use torr_gauge::Factor;
use torr_test_support::required;

/// The time from one command to the next.
const PACE: Duration = Duration::from_millis(2);

/// The commands after which a connection is decoded for sure that was open before the capture.
const TURNS: usize = 8;

/// How many responses the service is said to give per second: so many that their count tells the time.
const RPS: f64 = 10_000.0;

/// Responds to each command of a connection.
fn serve(listener: &TcpListener) {
    let (mut connection, _) = listener.accept().expect("the client connects");
    let mut bytes = [0; 256];
    while connection.read(&mut bytes).expect("the client closes in order") > 0 {
        connection.write_all(b"$-1\r\n").expect("the client reads it");
    }
}

/// Sends a command each [`PACE`], those that are late at once. Returns when each was sent.
fn send(mut connection: TcpStream, stop: &AtomicBool) -> Vec<Instant> {
    let (mut due, mut bytes, mut sent) = (Instant::now(), [0; 64], Vec::new());
    while !stop.load(Ordering::Relaxed) {
        sent.push(Instant::now());
        connection.write_all(b"*2\r\n$3\r\nGET\r\n$1\r\nk\r\n").expect("the server reads it");
        assert_eq!(connection.read(&mut bytes).expect("the server responds"), 5);
        due += PACE;
        thread::sleep(due.saturating_duration_since(Instant::now()));
    }
    sent
}

/// Returns the fewest and the most commands that were sent in any window of this length.
fn in_any(window: Duration, sent: &[Instant]) -> (usize, usize) {
    let end = sent.last().expect("a command was sent");
    let windows = sent.iter().take_while(|start| **start + window <= *end);
    let counts = windows.map(|start| sent.iter().filter(|at| (*start..*start + window).contains(*at)).count());
    let counts: Vec<usize> = counts.collect();
    let bounds = counts.iter().min().zip(counts.iter().max());
    bounds.map(|(min, max)| (*min, *max)).expect("the load was longer than the window")
}

#[test]
fn responses_and_statements_are_counted_in_the_same_time() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("there is a free port");
    let address = listener.local_addr().expect("it is bound");
    let name = Some("redis-server".to_owned());
    let site = Site {
        factor: Factor::Database,
        processes: vec![Process { pid: std::process::id().cast_signed(), name: "test".to_owned() }],
        databases: vec![Database { address: address.to_string(), name, processes: vec![] }],
        rps: RPS,
        in_flight: None,
        length: Duration::from_millis(900),
    };
    let (ended, never) = (AtomicBool::new(false), AtomicBool::new(false));
    let (located, sent) = thread::scope(|scope| {
        scope.spawn(|| serve(&listener));
        let client = TcpStream::connect(address).expect("it listens");
        let client = scope.spawn(|| send(client, &ended));
        let survey = ServerSurvey::default();
        let mut sampling = survey.prepare(&site);
        sampling.sample(Duration::ZERO, &never);
        ended.store(true, Ordering::Relaxed);
        (sampling.located(), client.join().expect("the server responds to each command"))
    });
    let Some(place) = located.places.first() else {
        return required::cannot_run("the capture of commands", &format!("{:?}", located.unseen));
    };
    let per_response = place.per_response.expect("there were responses");
    let window = Duration::from_secs_f64(place.samples as f64 / per_response / RPS);
    // A busy machine sends late, and then catches up: what a window should have counted depends on where it lies.
    let (fewest, most) = in_any(window, &sent);
    let counted = usize::try_from(place.samples).expect("it is a count of commands");
    // And a connection that was busy without a pause when the capture began is decoded only after some turns.
    let range = fewest.saturating_sub(2 + TURNS)..=most + 2;
    assert!(range.contains(&counted), "{counted} calls in {window:?}, not {range:?}");
    assert!(window >= Duration::from_millis(300), "{window:?}");
}
