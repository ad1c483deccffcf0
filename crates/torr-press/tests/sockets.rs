//! What the kernel's TCP tells of the connections is in the result, as far as there is TCP.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::os::unix::net::UnixListener;
use std::sync::atomic::AtomicBool;
use std::thread;
use std::time::Duration;
use torr_gauge::RunResult;
use torr_net::Address;
use torr_press::{Pace, Plan, Requests, Target, run};

/// Responds to all requests on these connections, for as long as the test runs.
fn respond<C: Read + Write + Send + 'static>(connections: impl Iterator<Item = C> + Send + 'static) {
    thread::spawn(move || {
        for mut stream in connections {
            thread::spawn(move || {
                let mut bytes = [0; 4096];
                while stream.read(&mut bytes).is_ok_and(|n| n > 0) {
                    let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
                }
            });
        }
    });
}

fn tcp() -> Address {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let address = listener.local_addr().expect("it is bound");
    respond(std::iter::from_fn(move || listener.accept().ok()).map(|(stream, _)| stream));
    address.into()
}

fn plan(address: Address) -> Plan {
    let target = Target::parse("http://name.test/").expect("it is a URL");
    let request = Requests::get(&target, true).expect("it is a request");
    Plan { connections: 20, threads: 2, pace: Pace::closed(Some(2000.0)), ..Plan::new(target, vec![address], request) }
}

fn pressed(plan: &Plan) -> RunResult {
    run(plan, &AtomicBool::new(false), |_| {}).expect("it runs").result
}

#[test]
fn a_run_over_loopback_is_near_and_loses_nothing() {
    let long = Duration::from_millis(2500);
    let result = pressed(&Plan { duration: Some(long), warmup: long / 25, ..plan(tcp()) });
    let sockets = result.sockets.expect("there is TCP");
    // Ten connections of each thread at the end, and one of each every 20 ms, the last of which can be due as the run ends.
    // A busy machine may miss some of them.
    assert!((150..=272).contains(&sockets.looked_at), "{sockets:?}");
    assert!(sockets.min_rtt_us.is_some_and(|us| us < 5000), "{sockets:?}");
    assert!(sockets.rtt_us.is_some_and(|us| us >= sockets.min_rtt_us.unwrap_or(0) as f64), "{sockets:?}");
    assert!(sockets.rtt_max_us.is_some_and(|us| us as f64 >= sockets.rtt_us.unwrap_or(0.0)), "{sockets:?}");
    assert_eq!((sockets.retransmits, sockets.retransmitted_share), (Some(0), Some(0.0)));
    assert!(sockets.busy_us.is_some_and(|us| us <= 20 * 2_600_000), "{sockets:?}");
    assert!(sockets.rwnd_limited_us.is_some() && sockets.sndbuf_limited_us.is_some(), "{sockets:?}");
}

#[test]
fn a_run_of_one_request_is_looked_at_too() {
    let sockets = pressed(&Plan { connections: 1, requests: Some(1), ..plan(tcp()) }).sockets;
    assert!(sockets.is_some_and(|sockets| sockets.looked_at >= 1), "{sockets:?}");
}

#[test]
fn a_unix_socket_has_no_tcp() {
    let folder = tempfile::tempdir().expect("there is room for temporary files");
    let path = folder.path().join("server.sock");
    let listener = UnixListener::bind(&path).expect("the path is free");
    respond(std::iter::from_fn(move || listener.accept().ok()).map(|(stream, _)| stream));
    let result = pressed(&Plan { requests: Some(200), ..plan(Address::Unix(path)) });
    assert_eq!((result.requests, result.sockets), (200, None));
}
