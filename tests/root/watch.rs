//! `torr watch` in another network namespace than the one that asks.
use serde_json::Value;
use std::process::Command;
use torr_doctor::remote::RemoteWatch;
use torr_signals::Reading;
use torr_test_support::namespace::Hosts;
use torr_test_support::program::{Running, torr_command, torr_path};
use torr_test_support::servers::Serve;

fn port(address: &str) -> u16 {
    address.rsplit_once(':').and_then(|(_, port)| port.parse().ok()).expect("an address has a port")
}

#[test]
fn another_network_namespace_is_not_taken_for_this_one() {
    let Some(hosts) = Hosts::start("watch", 100) else { return };
    let server = Serve::start_as(hosts.on_server(torr_path(), &["serve", "--listen", "10.99.0.2:0"]));
    let inside =
        Serve::start_as(hosts.on_server(torr_path(), &["watch", "--listen", "10.99.0.2:0", "--token", "a-secret"]));
    // From outside, nothing is to be seen of it.
    let mut command = torr_command(&["watch", "--listen", "127.0.0.1:0"]);
    command.env_remove("TORR_WATCH_TOKEN");
    let outside = Serve::start_as(command);
    let refused = RemoteWatch::connect(&outside.address, None, port(&server.address)).expect_err("it is not there");
    assert!(refused.to_string().contains("no visible process listens"), "{refused}");
    let curl = format!("http://{}/signals?address={}", inside.address, server.address);
    let command = hosts.on_client("curl", &["-sS", "-H", "Authorization: Bearer a-secret", &curl]);
    let ended = Running::start(command).wait();
    let reading: Reading = serde_json::from_str(&ended.stdout).unwrap_or_else(|error| panic!("{error}: {ended:?}"));
    assert_eq!((reading.listeners.len(), reading.processes.len()), (1, 1), "{reading:?}");
    assert_eq!(reading.listeners[0].address, server.address);
}

#[test]
fn root_looks_into_the_network_namespace_of_the_server() {
    let Some(hosts) = Hosts::start("look", 1000) else { return };
    let server = Serve::start_as(hosts.on_server(torr_path(), &["serve", "--listen", "10.99.0.2:0"]));
    let url = format!("http://{}/", server.address);
    let arguments = ["-c", "4", "-t", "1", "-d", "2s", "-q", "--json", "-", &url];
    let ended = Running::start(hosts.on_client(torr_path(), &arguments)).wait();
    let result: Value = serde_json::from_str(&ended.stdout).unwrap_or_else(|error| panic!("{error}: {ended:?}"));
    let signals = &result["signals"];
    assert_eq!(signals["other_namespace"], true, "{signals}");
    assert_eq!(signals["processes"][0]["name"], "torr", "{signals}");
    assert_eq!(signals["listeners"][0]["address"], server.address, "{signals}");
    let connections = signals["clients"]["established"].as_f64();
    assert!(connections.is_some_and(|mean| mean > 1.0 && mean <= 4.0), "{signals}");
    let accepted = signals["network"]["passive_opens"].as_u64();
    assert!(
        accepted.is_some_and(|accepted| accepted >= 4),
        "the counters are those of the server's namespace: {signals}"
    );
    assert!(signals["network"]["local_ports"].as_u64().is_some_and(|ports| ports > 0), "{signals}");
}

/// Runs a command of the shell in a namespace.
fn shell(command: fn(&Hosts, &str, &[&str]) -> Command, hosts: &Hosts, line: &str) {
    let ended = Running::start(command(hosts, "sh", &["-c", line])).wait();
    assert_eq!(ended.code, Some(0), "{line}: {ended:?}");
}

/// Returns the signals of a load from the client's namespace.
fn signals_of_load(hosts: &Hosts, server: &Serve) -> Value {
    let arguments = ["-c", "4", "-t", "1", "-n", "2000", "-q", "--json", "-", &format!("http://{}/", server.address)];
    let ended = Running::start(hosts.on_client(torr_path(), &arguments)).wait();
    let mut result: Value =
        serde_json::from_str(&ended.stdout).unwrap_or_else(|error| panic!("{error}: {ended:?}"));
    assert_eq!(result["requests"], 2000, "{result}");
    result["signals"].take()
}

#[test]
fn root_looks_into_a_namespace_that_ipv6_leads_to() {
    let Some(hosts) = Hosts::start("look6", 1000) else { return };
    let add = |which: &str, address: &str| {
        format!("ip addr add {address}/64 dev $(ls /sys/class/net | grep '^{which}[0-9]') nodad")
    };
    shell(Hosts::on_client, &hosts, &add("c", "fd00:99::1"));
    shell(Hosts::on_server, &hosts, &add("s", "fd00:99::2"));
    let server = Serve::start_as(hosts.on_server(torr_path(), &["serve", "--listen", "[fd00:99::2]:0"]));
    let signals = signals_of_load(&hosts, &server);
    assert_eq!(signals["other_namespace"], true, "{signals}");
    assert_eq!(signals["listeners"][0]["address"], server.address, "{signals}");
}

#[test]
fn an_address_behind_a_gateway_is_another_machines_though_a_namespace_has_it() {
    let Some(hosts) = Hosts::start("far", 1000) else { return };
    shell(Hosts::on_server, &hosts, "ip addr add 10.98.0.2/32 dev lo");
    shell(Hosts::on_client, &hosts, "ip route add 10.98.0.2 via 10.99.0.2");
    let server = Serve::start_as(hosts.on_server(torr_path(), &["serve", "--listen", "10.98.0.2:0"]));
    assert_eq!(signals_of_load(&hosts, &server), Value::Null);
}
