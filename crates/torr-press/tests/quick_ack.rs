//! Acknowledgements at once: against a server that writes in two pieces and gathers small ones, which waits for them.

mod server;

use std::net::SocketAddr;
use std::sync::atomic::AtomicBool;
use torr_gauge::RunResult;
use torr_press::{Plan, Requests, Target, run};

/// Head and body come apart, and Nagle's algorithm holds the body back until the head is acknowledged.
const APART: &[&[u8]] = &[b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n", b"ok"];

fn pressed(server: SocketAddr, quick_ack: bool) -> RunResult {
    let target = Target::parse("http://name.test/").expect("it is a URL");
    let request = Requests::get(&target, true).expect("it is a request");
    let plan =
        Plan { connections: 1, requests: Some(50), quick_ack, ..Plan::new(target, vec![server.into()], request) };
    run(&plan, &AtomicBool::new(false), |_| {}).expect("it runs").result
}

#[test]
fn they_save_the_time_for_which_the_kernel_puts_them_off() {
    let server = server::start(APART);
    let [delayed, quick] = [false, true].map(|quick_ack| {
        let result = pressed(server, quick_ack);
        assert_eq!((result.requests, result.errors.total()), (50, 0), "{result:?}");
        result.latency_us.and_then(|latency| latency.p50).expect("fifty requests have a median")
    });
    // How long an acknowledgement is put off is the kernel's to decide: on each, one that is put off takes most of a response's time.
    assert!(
        quick < delayed / 2,
        "a response takes {quick} us at once, and {delayed} us where the acknowledgement may be put off"
    );
}
