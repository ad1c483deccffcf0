//! Two hosts of a subject's own: network namespaces with a link between them.
//!
//! A namespace lives as long as the process that is alone in it, so that nothing is left however the clinic ends.

use super::Bed;
use super::place::Place;
use super::process::Process;
use crate::error::Error;
use std::env;
use std::fs;
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

const CLIENT: &str = "10.99.0.1/24";
const SERVER: &str = "10.99.0.2/24";
const START: Duration = Duration::from_secs(10);

/// What is between the client's host and the server's.
pub enum Link {
    /// Nothing that counts, but the client has only so many local ports.
    Ports(u16),
    /// A rate, such as `20mbit`, for what the server sends.
    Rate(&'static str),
    /// A way that takes so long in one direction, such as `10ms`.
    Delay(&'static str),
}

impl Bed {
    /// Has the doctor run on one host and all servers on the other.
    ///
    /// # Errors
    /// If there can be no such hosts.
    pub fn apart(&mut self, link: &Link) -> Result<(), Error> {
        let (client, server) = (self.namespace()?, self.namespace()?);
        let (near, far) = self.devices(link, client, server)?;
        for (host, device, address) in [(client, &near, CLIENT), (server, &far, SERVER)] {
            let within = Place::default().in_network_of(host);
            run(within.command("ip").args(["addr", "add", address, "dev", device]))?;
            run(within.command("ip").args(["link", "set", device, "up"]))?;
            run(within.command("ip").args(["link", "set", "lo", "up"]))?;
        }
        if let Link::Ports(many) = link {
            let range = format!("net.ipv4.ip_local_port_range=40000 {}", 40_000 + many - 1);
            run(Place::default().in_network_of(client).command("sysctl").args(["-q", "-w", &range]))?;
        }
        if let Link::Rate(rate) = link {
            let shape = ["qdisc", "add", "dev", &far, "root", "tbf", "rate", rate, "burst", "32kb", "latency", "100ms"];
            run(Place::default().in_network_of(server).command("tc").args(shape))?;
        }
        self.doctor = Place::default().in_network_of(client);
        self.place = Place::default().in_network_of(server);
        self.host = SERVER.split('/').next().and_then(|host| host.parse().ok()).expect("it is an address");
        Ok(())
    }

    /// A new one, as the number of the process that is in it.
    fn namespace(&mut self) -> Result<u32, Error> {
        let mut command = Place::default().command("unshare");
        let mut holder = Process::start("namespace", command.args(["--net", "sleep", "infinity"]), self.folder())?;
        let pid = holder.pid();
        let ours = fs::read_link("/proc/self/ns/net")?;
        let theirs = format!("/proc/{pid}/ns/net");
        holder.until("a namespace", START, || fs::read_link(&theirs).is_ok_and(|its| its != ours))?;
        self.hold(holder);
        Ok(pid)
    }

    /// The names of the client's device and of the server's, which are there but down.
    fn devices(&mut self, link: &Link, client: u32, server: u32) -> Result<(String, String), Error> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        // A device's name has at most 15 bytes.
        let tag = format!("{}{}", std::process::id(), NUMBER.fetch_add(1, Ordering::Relaxed) % 100);
        let (near, far) = (format!("c{tag}"), format!("s{tag}"));
        let (client, server) = (client.to_string(), server.to_string());
        if let Link::Delay(delay) = link {
            let mut command = Place::default().command(env::current_exe()?);
            command.args(["relay", "--devices", &near, &far, "--delay", delay]);
            let mut relay = Process::start("relay", &mut command, self.folder())?;
            let there = |name: &str| fs::exists(format!("/sys/class/net/{name}")).unwrap_or(false);
            relay.until("its devices", START, || there(&near) && there(&far))?;
            self.hold(relay);
            run(Command::new("ip").args(["link", "set", &near, "netns", &client]))?;
            run(Command::new("ip").args(["link", "set", &far, "netns", &server]))?;
        } else {
            let peer = ["type", "veth", "peer", "name", &far, "netns", &server];
            run(Command::new("ip").args(["link", "add", &near, "netns", &client]).args(peer))?;
        }
        Ok((near, far))
    }
}

/// Runs a command to its end.
fn run(command: &mut Command) -> Result<(), Error> {
    let ended = command.output().map_err(Error::at(format!("{command:?}")))?;
    match ended.status.success() {
        true => Ok(()),
        false => {
            let said = String::from_utf8_lossy(&ended.stderr);
            Err(Error::failed(format!("{command:?}: {}", said.trim())))
        }
    }
}
