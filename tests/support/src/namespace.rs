//! Two hosts of the test's own: network namespaces joined by a veth pair.

use crate::program::run;
use crate::required::cannot_run;
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

/// A client's and a server's namespace, which end with this value.
pub struct Hosts {
    name: String,
}

impl Hosts {
    /// The client is 10.99.0.1 (and .11, .12), the server 10.99.0.2; the client has so many local ports.
    ///
    /// None where this process may not make namespaces: then the test [cannot run](cannot_run).
    pub fn start(tag: &str, ports: u16) -> Option<Self> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = format!("{}-{}", std::process::id(), NUMBER.fetch_add(1, Ordering::Relaxed));
        let hosts = Self { name: format!("torr-{tag}-{number}") };
        let (client, server) = (hosts.client(), hosts.server());
        // Interface names are short: 15 bytes at most.
        let (here, there) = (format!("c{number}"), format!("s{number}"));
        let added = run("ip", &["netns", "add", &client]);
        if added.code != Some(0) {
            cannot_run(std::thread::current().name().unwrap_or(tag), added.stderr.trim());
            return None;
        }
        ip(&["netns", "add", &server]);
        ip(&["link", "add", &here, "netns", &client, "type", "veth", "peer", "name", &there, "netns", &server]);
        for (namespace, link, addresses) in [
            (&client, &here, &["10.99.0.1/24", "10.99.0.11/24", "10.99.0.12/24"][..]),
            (&server, &there, &["10.99.0.2/24"]),
        ] {
            for address in addresses {
                ip(&["-n", namespace, "addr", "add", address, "dev", link]);
            }
            ip(&["-n", namespace, "link", "set", link, "up"]);
            ip(&["-n", namespace, "link", "set", "lo", "up"]);
        }
        let range = format!("40000 {}", 40000 + ports - 1);
        let set = run(
            "ip",
            &["netns", "exec", &client, "sysctl", "-q", "-w", &format!("net.ipv4.ip_local_port_range={range}")],
        );
        assert_eq!(set.code, Some(0), "{set:?}");
        Some(hosts)
    }

    /// A program, to be run on the client.
    pub fn on_client(&self, program: &str, args: &[&str]) -> Command {
        within(&self.client(), program, args)
    }

    /// A program, to be run on the server.
    pub fn on_server(&self, program: &str, args: &[&str]) -> Command {
        within(&self.server(), program, args)
    }

    /// The file by which a thread of the test can enter the server's host.
    pub fn server_namespace(&self) -> String {
        format!("/run/netns/{}", self.server())
    }

    fn client(&self) -> String {
        format!("{}-c", self.name)
    }

    fn server(&self) -> String {
        format!("{}-s", self.name)
    }
}

impl Drop for Hosts {
    fn drop(&mut self) {
        // The veth pair goes with its namespaces. What is not there any more need not go.
        for namespace in [self.client(), self.server()] {
            let _ = Command::new("ip").args(["netns", "del", &namespace]).status();
        }
    }
}

fn within(namespace: &str, program: &str, args: &[&str]) -> Command {
    let mut command = Command::new("ip");
    command.args(["netns", "exec", namespace, program]).args(args);
    command
}

fn ip(args: &[&str]) {
    let ended = run("ip", args);
    assert_eq!(ended.code, Some(0), "ip {args:?}: {ended:?}");
}
