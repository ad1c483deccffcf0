//! Torr's counters against the kernel's and the server's own: between two hosts of the test's own, where no other program
//! opens a connection or sends a byte.

use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs::File;
use std::os::fd::AsFd;
use torr_test_support::namespace::Hosts;
use torr_test_support::program::{Running, torr_path};
use torr_test_support::script::{OK, Script, answering};

/// The least and the most that IP and TCP put before the content of a packet.
const HEADERS: (u64, u64) = (40, 80);

/// The kernel's counters of the client's host, as `Tcp.ActiveOpens`.
fn counters(hosts: &Hosts) -> BTreeMap<String, u64> {
    let mut all = BTreeMap::new();
    for file in ["/proc/net/snmp", "/proc/net/netstat"] {
        let ended = Running::start(hosts.on_client("cat", &[file])).wait();
        assert_eq!(ended.code, Some(0), "{ended:?}");
        // Pairs of lines: names, and numbers in the same order.
        let lines: Vec<_> = ended.stdout.lines().collect();
        for pair in lines.chunks_exact(2) {
            let group = pair[0].split(':').next().unwrap_or_default();
            for (name, value) in pair[0].split_whitespace().zip(pair[1].split_whitespace()).skip(1) {
                // One of them may be -1, which is none of those looked at.
                all.insert(format!("{group}.{name}"), value.parse().unwrap_or(0));
            }
        }
    }
    all
}

/// Runs something on a thread that is on the server's host, and with it all sockets that it opens.
fn on_server<T: Send>(hosts: &Hosts, run: impl FnOnce() -> T + Send) -> T {
    let namespace = File::open(hosts.server_namespace()).expect("the namespace has a file");
    let enter = || {
        let network = Some(LinkNameSpaceType::Network);
        move_into_link_name_space(namespace.as_fd(), network).expect("root may change its namespace");
        run()
    };
    std::thread::scope(|scope| scope.spawn(enter).join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
}

#[test]
fn connections_and_bytes_are_those_that_the_kernel_and_the_server_count() {
    let Some(hosts) = Hosts::start("kernel", 10_000) else { return };
    for (args, opened) in [
        (&["-n", "20000", "-c", "37", "-t", "3"][..], 37),
        (&["-n", "1500", "-c", "10", "-t", "2", "--no-keepalive"], 1500),
        (&["-r", "1000", "-n", "1000", "-c", "50", "-t", "2", "--no-keepalive"], 1000),
    ] {
        on_server(&hosts, || check(&hosts, args, opened));
    }
}

/// Presses a server on this host from the other one, and compares what each of the three has counted.
fn check(hosts: &Hosts, args: &[&str], opened: u64) {
    let server = Script::start_on("10.99.0.2:0", answering(OK));
    let before = counters(hosts);
    let ended = Running::start(hosts.on_client(torr_path(), &[args, &["--json", "-", &server.url()]].concat())).wait();
    let after = counters(hosts);
    assert_eq!(ended.code, Some(0), "{args:?}: {ended:?}");
    let result: Value = serde_json::from_str(&ended.stdout).unwrap_or_else(|error| panic!("{error}: {ended:?}"));
    let n = |pointer: &str| result.pointer(pointer).and_then(Value::as_u64).expect(pointer);
    let kernel = |name: &str| after[name] - before[name];

    assert_eq!(kernel("Tcp.ActiveOpens"), opened, "{args:?}: connections that were tried");
    assert_eq!(n("/connections/opened"), opened, "{args:?}: {result}");
    assert_eq!(server.connections() as u64, opened, "{args:?}: {result}");
    assert_eq!(server.requests() as u64, n("/requests"), "{args:?}: {result}");
    assert_eq!(n("/asked"), n("/requests"), "{args:?}: {result}");

    // Bytes on the way are content, and headers of each packet.
    for (bytes, octets, packets) in
        [("received", "IpExt.InOctets", "Ip.InReceives"), ("sent", "IpExt.OutOctets", "Ip.OutRequests")]
    {
        let (content, octets, packets) = (n(&format!("/bytes/{bytes}")), kernel(octets), kernel(packets));
        let headers = octets.checked_sub(content).expect("there is more on the way than content");
        let (least, most) = (HEADERS.0 * packets, HEADERS.1 * packets);
        assert!((least..=most).contains(&headers), "{args:?}: {bytes} {content}, {octets} in {packets} packets");
    }
    assert_eq!(n("/bytes/received"), OK.len() as u64 * n("/requests"), "{args:?}: {result}");
}
