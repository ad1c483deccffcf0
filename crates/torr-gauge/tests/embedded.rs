//! The example of a client that is measured by another program.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::process::Command;
use std::thread;
use torr_gauge::RunResult;
use torr_test_support::example;

#[test]
fn the_example_has_a_result_of_each_request() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let address = listener.local_addr().expect("it is bound");
    thread::spawn(move || {
        let mut count = 0;
        for mut stream in listener.incoming().flatten() {
            let mut command = [0; 6];
            while stream.read_exact(&mut command).is_ok() {
                assert_eq!(command, *b"PING\r\n");
                // The first is wrong, and the example opens another connection.
                let reply: &[u8; 7] = if count == 0 { b"-DOWN\r\n" } else { b"+PONG\r\n" };
                stream.write_all(reply).expect("the example reads");
                count += 1;
            }
        }
    });
    let ran = Command::new(example("embed-gauge")).arg(address.to_string()).output().expect("it runs");
    assert!(ran.status.success(), "{ran:?}");
    let result: RunResult = serde_json::from_slice(&ran.stdout).expect("it is a result");
    assert_eq!((result.requests, result.errors.total(), result.started), (1999, 1, 2000));
    assert_eq!(result.causes[0].what, "the reply is not PONG");
    assert_eq!(result.connections.opened, 2);
    assert!(result.latency_us.is_some() && result.duration_s > 1.9 && !result.series.is_empty(), "{result:?}");
}
