//! The example of a diagnosis by another program.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::process::Command;
use std::thread;
use std::time::Duration;
use torr_gauge::Factor;
use torr_gauge::verdict::Fact;
use torr_test_support::example;

#[test]
fn the_example_names_a_factor_and_its_facts() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let address = listener.local_addr().expect("it is bound");
    thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            thread::spawn(move || {
                let mut bytes = [0; 4096];
                while stream.read(&mut bytes).is_ok_and(|n| n > 0) {
                    thread::sleep(Duration::from_millis(2));
                    // A client that has closed needs no more.
                    let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
                }
            });
        }
    });
    let ran = Command::new(example("embed-doctor")).arg(format!("http://{address}/")).output().expect("it runs");
    let shown = String::from_utf8_lossy(&ran.stdout);
    assert!(ran.status.success(), "{ran:?}");
    let (finding, facts) = shown.split_once('\n').expect("there is a finding");
    let (factor, rest) = finding.split_once(" (").expect("it has a confidence");
    let named: Result<Factor, _> = serde_json::from_value(factor.into());
    assert!(named.is_ok() && rest.ends_with(" experiments"), "{finding}");
    for fact in facts.lines() {
        let read: Result<Fact, _> = serde_json::from_str(fact);
        assert!(read.is_ok(), "{fact}: {read:?}");
    }
}
