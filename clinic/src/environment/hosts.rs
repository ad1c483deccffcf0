//! Two hosts: network namespaces with a link between them.
//!
//! A namespace lives as long as the one process in it, so that none is left however the clinic ends.

use super::Environment;
use super::placement::Placement;
use super::process::Process;
use std::env;
use std::fs;
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;
use torr_test_support::error::Error;

const CLIENT: &str = "10.99.0.1/24";
const SERVER: &str = "10.99.0.2/24";
const START: Duration = Duration::from_secs(10);

/// The link between the client's host and the server's.
pub enum Link {
    /// A link without limits.
    Direct,
    /// A link without limits, and a number of local ports for the client.
    Ports(u16),
    /// A link with a rate, such as `20mbit`, from the server to the client.
    Rate(&'static str),
    /// A link with a delay in each direction, such as `10ms`.
    Delay(&'static str),
}

impl Environment {
    /// Puts the load generator on one host and all servers on the other.
    ///
    /// # Errors
    /// If the hosts or the link cannot be created.
    pub fn apart(&mut self, link: &Link) -> Result<(), Error> {
        let client = self.namespace()?;
        self.connect(link, client)?;
        self.generator = Placement::default().in_network_of(client);
        Ok(())
    }

    /// Puts all servers into a network namespace, as containers are, and leaves the load generator where it is.
    ///
    /// # Errors
    /// If the namespace or the link cannot be created.
    pub fn contain(&mut self) -> Result<(), Error> {
        self.connect(&Link::Direct, std::process::id())
    }

    /// Leaves the servers' host some local ports, of which none is reused within a minute.
    ///
    /// # Errors
    /// If the kernel's settings cannot be changed.
    pub fn scarce_ports(&self, many: u16) -> Result<(), Error> {
        let range = format!("net.ipv4.ip_local_port_range=40000 {}", 40_000 + many - 1);
        run(self.placement.command("sysctl").args(["-q", "-w", &range, "net.ipv4.tcp_tw_reuse=0"]))
    }

    /// Creates the servers' host, and a link to the client's.
    fn connect(&mut self, link: &Link, client: u32) -> Result<(), Error> {
        let server = self.namespace()?;
        let (near, far) = self.devices(link, client, server)?;
        for (host, device, address) in [(client, &near, CLIENT), (server, &far, SERVER)] {
            let within = Placement::default().in_network_of(host);
            run(within.command("ip").args(["addr", "add", address, "dev", device]))?;
            run(within.command("ip").args(["link", "set", device, "up"]))?;
            run(within.command("ip").args(["link", "set", "lo", "up"]))?;
        }
        if let Link::Ports(many) = link {
            let range = format!("net.ipv4.ip_local_port_range=40000 {}", 40_000 + many - 1);
            run(Placement::default().in_network_of(client).command("sysctl").args(["-q", "-w", &range]))?;
        }
        if let Link::Rate(rate) = link {
            let shape = ["qdisc", "add", "dev", &far, "root", "tbf", "rate", rate, "burst", "32kb", "latency", "100ms"];
            run(Placement::default().in_network_of(server).command("tc").args(shape))?;
        }
        self.placement = Placement::default().in_network_of(server);
        self.host =
            SERVER.split('/').next().and_then(|host| host.parse().ok()).expect("SERVER is an address and a prefix");
        Ok(())
    }

    /// Creates a namespace, and returns the number of the process in it.
    fn namespace(&mut self) -> Result<u32, Error> {
        let mut command = Placement::default().command("unshare");
        let mut holder = Process::start("namespace", command.args(["--net", "sleep", "infinity"]), self.folder())?;
        let pid = holder.pid();
        let ours = fs::read_link("/proc/self/ns/net")?;
        let theirs = format!("/proc/{pid}/ns/net");
        holder.until("a namespace", START, || fs::read_link(&theirs).is_ok_and(|theirs| theirs != ours))?;
        self.hold(holder);
        Ok(pid)
    }

    /// Creates the devices of the client and of the server, which are down, and returns their names.
    fn devices(&mut self, link: &Link, client: u32, server: u32) -> Result<(String, String), Error> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        // A device's name has at most 15 bytes.
        let tag = format!("{}{}", std::process::id(), NUMBER.fetch_add(1, Ordering::Relaxed) % 100);
        let (near, far) = (format!("c{tag}"), format!("s{tag}"));
        let (client, server) = (client.to_string(), server.to_string());
        if let Link::Delay(delay) = link {
            let mut command = Placement::default().command(env::current_exe()?);
            command.args(["relay", "--devices", &near, &far, "--delay", delay]);
            let mut relay = Process::start("relay", &mut command, self.folder())?;
            let exists = |name: &str| fs::exists(format!("/sys/class/net/{name}")).unwrap_or(false);
            relay.until("its devices", START, || exists(&near) && exists(&far))?;
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

/// Runs a command, and waits for its end.
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
