//! Where connections go: every address of a name in turn, of either family.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;
use torr_press::{Plan, Requests, Target, run};

/// Responds to all requests on an address, for as long as the test runs, and counts its connections.
fn server(address: &str) -> (SocketAddr, Arc<AtomicUsize>) {
    let listener = TcpListener::bind(address).unwrap_or_else(|error| panic!("{address}: {error}"));
    let bound = listener.local_addr().expect("it is bound");
    let connections = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&connections);
    thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            count.fetch_add(1, Ordering::SeqCst);
            thread::spawn(move || {
                let mut bytes = [0; 4096];
                while stream.read(&mut bytes).is_ok_and(|n| n > 0) {
                    let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
                }
            });
        }
    });
    (bound, connections)
}

fn plan(addresses: Vec<SocketAddr>, connections: usize, requests: u64) -> Plan {
    let target = Target::parse("http://name.test/").expect("it is a URL");
    let addresses = addresses.into_iter().map(Into::into).collect();
    let request = Requests::get(&target, true).expect("it is a request");
    Plan {
        connections,
        threads: 2,
        duration: Some(Duration::from_secs(30)),
        requests: Some(requests),
        ..Plan::new(target, addresses, request)
    }
}

#[test]
fn connections_take_every_address_in_turn() {
    let (first, at_first) = server("127.0.0.1:0");
    let (second, at_second) = server("127.0.0.2:0");
    let (third, at_third) = server("[::1]:0");
    let result =
        run(&plan(vec![first, second, third], 9, 900), &AtomicBool::new(false), |_| {}).expect("it runs").result;
    assert_eq!((result.requests, result.errors.total()), (900, 0), "{result:?}");
    let each = [at_first, at_second, at_third].map(|count| count.load(Ordering::SeqCst));
    assert_eq!(each, [3, 3, 3]);
}

#[test]
fn a_dead_address_beside_a_living_one_costs_only_its_attempts() {
    let (alive, connections) = server("127.0.0.1:0");
    // Bound, so that no other program takes the port, but without a listener.
    let holder = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None).expect("a socket can be had");
    holder.bind(&SocketAddr::from(([127, 0, 0, 1], 0)).into()).expect("a port is free");
    let dead = holder.local_addr().ok().and_then(|address| address.as_socket()).expect("it is bound");
    let result = run(&plan(vec![dead, alive], 4, 400), &AtomicBool::new(false), |_| {}).expect("it runs").result;
    // Two connections begin at the dead address, fail once each, and go on to the other.
    assert_eq!((result.errors.connect, result.requests), (2, 398), "{result:?}");
    assert_eq!(connections.load(Ordering::SeqCst), 4);
    assert_eq!(result.started, result.requests + result.errors.unanswered() + result.unfinished);
}
