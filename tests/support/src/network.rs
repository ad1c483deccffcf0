//! Several hosts of the test's own: network namespaces, each joined to a hub by a link with a delay and losses of its own.

use crate::link::Link;
use crate::program::{run, torr_path};
use crate::required::cannot_run;
use crate::supervised::Supervised;
use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};
use std::fs::File;
use std::os::fd::AsFd;
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// The address of the hub, which all hosts reach.
pub const HUB: &str = "10.98.0.1";

/// A link's properties in each direction.
#[derive(Clone, Copy, Default)]
pub struct LinkOf {
    /// The delay of a packet.
    pub delay: Duration,
    /// One packet of so many is lost.
    pub lose_every: Option<u64>,
}

/// A hub and its hosts, which end with this value.
pub struct Network {
    name: String,
    hosts: usize,
    links: Vec<Link>,
}

impl Network {
    /// With a host for each link. None where this process may not make namespaces: then the test [cannot run](cannot_run).
    pub fn start(tag: &str, links: &[LinkOf]) -> Option<Self> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = format!("{}x{}", std::process::id(), NUMBER.fetch_add(1, Ordering::Relaxed));
        let mut network = Self { name: format!("torr-{tag}-{number}"), hosts: links.len(), links: Vec::new() };
        let hub = network.hub();
        let added = run("ip", &["netns", "add", &hub]);
        if added.code != Some(0) {
            cannot_run(std::thread::current().name().unwrap_or(tag), added.stderr.trim());
            return None;
        }
        ip(&["-n", &hub, "link", "set", "lo", "up"]);
        ip(&["-n", &hub, "addr", "add", &format!("{HUB}/32"), "dev", "lo"]);
        for (host, link) in links.iter().enumerate() {
            let namespace = network.host(host);
            ip(&["netns", "add", &namespace]);
            let names = [format!("h{host}"), format!("n{host}")];
            let link = network.on_hub(|| Link::start([&names[0], &names[1]], link.delay, link.lose_every));
            network.links.push(link.unwrap_or_else(|error| panic!("{error}")));
            ip(&["-n", &hub, "link", "set", &names[1], "netns", &namespace]);
            let subnet = format!("10.98.{}", host + 1);
            for (namespace, device, address) in [(&hub, &names[0], 1), (&namespace, &names[1], 2)] {
                ip(&["-n", namespace, "addr", "add", &format!("{subnet}.{address}/30"), "dev", device]);
                ip(&["-n", namespace, "link", "set", device, "up"]);
                ip(&["-n", namespace, "link", "set", "lo", "up"]);
            }
            ip(&["-n", &namespace, "route", "add", "default", "via", &format!("{subnet}.1")]);
        }
        Some(network)
    }

    /// Runs something on a thread that is on the hub, and with it all that it starts and all sockets that it opens.
    pub fn on_hub<T: Send>(&self, run: impl FnOnce() -> T + Send) -> T {
        let namespace = File::open(format!("/run/netns/{}", self.hub())).expect("the namespace has a file");
        let enter = || {
            let network = Some(LinkNameSpaceType::Network);
            move_into_link_name_space(namespace.as_fd(), network).expect("root may change its namespace");
            run()
        };
        std::thread::scope(|scope| scope.spawn(enter).join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
    }

    /// A program on a host.
    fn command(&self, host: usize, program: &str, args: &[&str]) -> Command {
        let mut command = Command::new("ip");
        command.args(["netns", "exec", &self.host(host), program]).args(args);
        command
    }

    /// An agent on a host, named after it, which may load the hub.
    pub fn agent(&self, host: usize, nats: &str) -> Supervised {
        let words = Self::agent_words(host, nats);
        self.agent_by(host, torr_path(), &words.iter().map(String::as_str).collect::<Vec<_>>())
    }

    /// An agent that another program starts.
    pub fn agent_by(&self, host: usize, program: &str, args: &[&str]) -> Supervised {
        let agent = Supervised::spawn(self.command(host, program, args));
        agent.says("is ready");
        agent
    }

    /// The words of the command line of an agent on a host.
    pub fn agent_words(host: usize, nats: &str) -> Vec<String> {
        let name = format!("host{host}");
        let words = ["fleet", "agent", "--nats", nats, "--name", &name, "--ceiling", "1000", "--allow", HUB];
        words.map(str::to_owned).to_vec()
    }

    /// The link of a host.
    pub fn link(&self, host: usize) -> &Link {
        &self.links[host]
    }

    fn hub(&self) -> String {
        format!("{}-hub", self.name)
    }

    fn host(&self, host: usize) -> String {
        format!("{}-{host}", self.name)
    }
}

impl Drop for Network {
    fn drop(&mut self) {
        // What is not there any more need not go.
        for namespace in (0..self.hosts).map(|host| self.host(host)).chain([self.hub()]) {
            let _ = Command::new("ip").args(["netns", "del", &namespace]).status();
        }
    }
}

fn ip(args: &[&str]) {
    let ended = run("ip", args);
    assert_eq!(ended.code, Some(0), "ip {args:?}: {ended:?}");
}
