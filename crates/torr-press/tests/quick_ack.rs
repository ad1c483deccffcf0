//! Acknowledgements at once: against a server that writes in two pieces and gathers small ones, which waits for them.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::sync::atomic::AtomicBool;
use std::thread;
use torr_gauge::RunResult;
use torr_press::{Plan, Requests, Target, run};

/// Writes head and body apart, with Nagle's algorithm, which holds the body back until the head is acknowledged.
fn server() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let bound = listener.local_addr().expect("it is bound");
    thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            thread::spawn(move || {
                let mut bytes = [0; 4096];
                while stream.read(&mut bytes).is_ok_and(|n| n > 0) {
                    let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n");
                    let _ = stream.write_all(b"ok");
                }
            });
        }
    });
    bound
}

fn pressed(server: SocketAddr, quick_ack: bool) -> RunResult {
    let target = Target::parse("http://name.test/").expect("it is a URL");
    let request = Requests::get(&target, true).expect("it is a request");
    let plan =
        Plan { connections: 1, requests: Some(50), quick_ack, ..Plan::new(target, vec![server.into()], request) };
    run(&plan, &AtomicBool::new(false), |_| {}).expect("it runs").result
}

#[test]
fn they_save_the_forty_milliseconds_that_the_kernel_waits() {
    let server = server();
    let [delayed, quick] = [false, true].map(|quick_ack| {
        let result = pressed(server, quick_ack);
        assert_eq!((result.requests, result.errors.total()), (50, 0), "{result:?}");
        result.latency_us.and_then(|latency| latency.p50).expect("fifty requests have a median")
    });
    assert!((30_000..100_000).contains(&delayed), "put off, an answer takes {delayed} us");
    assert!(quick < 10_000, "at once, an answer takes {quick} us");
}
