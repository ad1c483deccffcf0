//! Local ports, and running out of them: between two hosts of the test's own, and on the loopback network.

use serde_json::Value;
use torr_test_support::namespace::Hosts;
use torr_test_support::program::{Running, torr_path};
use torr_test_support::wait_until;

const PORTS: u16 = 100;
const URL: &str = "http://10.99.0.2:8080/";

/// `torr serve` on the server's host.
fn serve(hosts: &Hosts) -> Running {
    let server =
        Running::start(hosts.on_server(torr_path(), &["serve", "--listen", "10.99.0.2:8080", "--workers", "1"]));
    wait_until("the server to listen", || {
        let listening = Running::start(hosts.on_server("ss", &["-Hltn", "sport = 8080"])).wait();
        listening.stdout.contains(":8080").then_some(())
    });
    server
}

fn press(hosts: &Hosts, args: &[&str]) -> Value {
    let ended = Running::start(hosts.on_client(torr_path(), &[args, &["--json", "-", URL]].concat())).wait();
    assert_eq!(ended.code, Some(0), "{args:?}: {ended:?}");
    let result: Value = serde_json::from_str(&ended.stdout).unwrap_or_else(|error| panic!("{error}: {ended:?}"));
    let n = |pointer: &str| {
        result.pointer(pointer).and_then(Value::as_u64).unwrap_or_else(|| panic!("{pointer}: {result}"))
    };
    let failed: u64 = ["connect", "tls", "timeout", "read", "write", "protocol", "ports"]
        .map(|k| n(&format!("/errors/{k}")))
        .iter()
        .sum();
    assert_eq!(n("/asked"), n("/requests") + failed + n("/unfinished"), "{result}");
    result
}

#[test]
fn more_connections_than_ports_are_counted_and_named_and_the_rest_goes_on() {
    let Some(hosts) = Hosts::start("many", PORTS) else { return };
    let _server = serve(&hosts);
    let result = press(&hosts, &["-c", "150", "-d", "2s"]);
    assert!(result["errors"]["ports"].as_u64() > Some(0), "{result}");
    assert_eq!(result["connections"]["peak"], PORTS, "{result}");
    assert!(result["requests"].as_u64() > Some(1000), "{result}");
    assert_eq!(result["verdict"]["factor"], "client-ports", "{result}");
    assert_eq!(result["causes"][0]["side"], "client", "{result}");

    let more = press(&hosts, &["-c", "150", "-d", "3s", "--bind", "10.99.0.11,10.99.0.12"]);
    assert_eq!((&more["errors"]["ports"], &more["connections"]["opened"]), (&0.into(), &150.into()), "{more}");
    assert_eq!(more["connections"]["sources"], 2, "{more}");
}

#[test]
fn ports_that_wait_after_use_neither_hang_nor_end_the_run() {
    let Some(hosts) = Hosts::start("wait", PORTS) else { return };
    let _server = serve(&hosts);
    // The server keeps the connection alive, so that this side closes it, and holds its port afterwards.
    let keep = ["--no-keepalive", "-H", "Connection: keep-alive", "-c", "4"];
    let result = press(&hosts, &[&keep[..], &["-d", "3s"]].concat());
    let requests = result["requests"].as_u64().unwrap();
    assert_eq!(requests, u64::from(PORTS), "each port serves once a minute: {result}");
    assert!(result["errors"]["ports"].as_u64() > Some(0), "{result}");
    assert!(result["duration_s"].as_f64().unwrap() < 4.0, "{result}");
    assert_eq!(result["verdict"]["factor"], "client-ports", "{result}");

    let more = press(&hosts, &[&keep[..], &["-n", "200", "--bind", "10.99.0.11,10.99.0.12"]].concat());
    assert_eq!((&more["requests"], &more["errors"]["ports"]), (&200.into(), &0.into()), "{more}");
}

#[test]
fn a_run_that_will_use_up_the_ports_is_warned_before() {
    let Some(hosts) = Hosts::start("warn", PORTS) else { return };
    let _server = serve(&hosts);
    let press = |args: &[&str]| Running::start(hosts.on_client(torr_path(), &[args, &["-q", URL]].concat())).wait();
    for (args, shown) in [
        (
            &["--no-keepalive", "-n", "500", "-r", "5000"][..],
            "500 connections of one request may need more ports than the 100",
        ),
        (&["--no-keepalive", "-d", "100ms"], "above 1,000 connections per second"),
        (&["-c", "150", "-n", "300"], "150 simultaneous connections need more ports than the 100"),
    ] {
        let ended = press(args);
        let line = ended.stderr.lines().next().unwrap_or_default();
        assert!(line.starts_with("torr: warning: ") && line.contains(shown), "{args:?}: {ended:?}");
        assert!(line.contains("--bind") && line.contains("net.ipv4.ip_local_port_range"), "{args:?}: {ended:?}");
    }
    // Other programs' command lines are warned of the same.
    let ended = Running::start(hosts.on_client(torr_path(), &["ab", "-n", "300", "-c", "2", URL])).wait();
    assert!(ended.stderr.starts_with("torr: warning: 300 connections"), "{ended:?}");
    for args in [
        &["--no-keepalive", "-n", "100"][..],
        &["-n", "500", "-c", "100"],
        &["--no-keepalive", "-n", "200", "--bind", "10.99.0.11,10.99.0.12"],
    ] {
        let ended = press(args);
        assert!(!ended.stderr.contains("warning"), "{args:?}: {ended:?}");
    }
}

#[test]
fn a_connection_that_takes_its_time_is_not_this_sides_lag() {
    let Some(hosts) = Hosts::start("lag", 5000) else { return };
    let _server = serve(&hosts);
    let result = press(&hosts, &["-r", "100", "-d", "2s", "--no-keepalive", "-c", "20", "-t", "1"]);
    assert_eq!(result["requests"], 200, "{result}");
    let lag = result["generator"]["send_lag_p99_us"].as_u64().expect("it is a number");
    assert!(lag < 500_000, "p99 of sending late {lag} us: {result}");
}

#[test]
fn on_loopback_further_addresses_are_used_by_themselves() {
    let Some(hosts) = Hosts::start("loop", PORTS) else { return };
    let _server =
        Running::start(hosts.on_client(torr_path(), &["serve", "--listen", "127.0.0.1:8080", "--workers", "1"]));
    wait_until("the server to listen", || {
        let listening = Running::start(hosts.on_client("ss", &["-Hltn", "sport = 8080"])).wait();
        listening.stdout.contains(":8080").then_some(())
    });
    let args = ["-c", "250", "-n", "5000", "--json", "-", "http://127.0.0.1:8080/"];
    let ended = Running::start(hosts.on_client(torr_path(), &args)).wait();
    let result: Value = serde_json::from_str(&ended.stdout).unwrap_or_else(|error| panic!("{error}: {ended:?}"));
    assert_eq!((&result["requests"], &result["errors"]["ports"]), (&5000.into(), &0.into()), "{result}");
    assert_eq!(
        (&result["connections"]["opened"], &result["connections"]["sources"]),
        (&250.into(), &3.into()),
        "{result}"
    );
}
