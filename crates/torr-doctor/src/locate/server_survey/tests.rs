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

/// Responds to each command of a connection.
fn serve(listener: &TcpListener) {
    let (mut connection, _) = listener.accept().expect("the client connects");
    let mut bytes = [0; 256];
    while connection.read(&mut bytes).expect("the client closes in order") > 0 {
        connection.write_all(b"$-1\r\n").expect("the client reads it");
    }
}

/// Sends a command each [`PACE`], those that are late at once.
fn send(mut connection: TcpStream, stop: &AtomicBool) {
    let (mut due, mut bytes) = (Instant::now(), [0; 64]);
    while !stop.load(Ordering::Relaxed) {
        connection.write_all(b"*2\r\n$3\r\nGET\r\n$1\r\nk\r\n").expect("the server reads it");
        assert_eq!(connection.read(&mut bytes).expect("the server responds"), 5);
        due += PACE;
        thread::sleep(due.saturating_duration_since(Instant::now()));
    }
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
        rps: 50.0,
        in_flight: None,
        length: Duration::from_millis(900),
    };
    let (ended, never) = (AtomicBool::new(false), AtomicBool::new(false));
    let located = thread::scope(|scope| {
        scope.spawn(|| serve(&listener));
        let client = TcpStream::connect(address).expect("it listens");
        scope.spawn(|| send(client, &ended));
        let survey = ServerSurvey::default();
        let mut sampling = survey.prepare(&site);
        sampling.sample(Duration::ZERO, &never);
        ended.store(true, Ordering::Relaxed);
        sampling.located()
    });
    let Some(place) = located.places.first() else {
        return required::cannot_run("the capture of commands", &format!("{:?}", located.unseen));
    };
    let per_response = place.per_response.expect("there were responses");
    assert!((9.5..=10.5).contains(&per_response), "{per_response} of {} calls", place.samples);
}
