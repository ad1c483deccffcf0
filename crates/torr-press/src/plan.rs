//! The plan of a run: target, requests, load model and limits.

mod summary;

use crate::inspect::Inspection;
use crate::open_loop::Arrivals;
use crate::request::Requests;
use crate::schedule::Schedule;
use crate::sources::Sources;
use crate::target::Target;
use crate::users::Users;
use std::net::IpAddr;
use std::ops::RangeInclusive;
use std::sync::Arc;
use std::time::Duration;
use torr_gauge::signals::Watcher;
use torr_net::tls::TlsConfig;
use torr_net::{Address, Nanos, clock};

/// One run.
#[derive(Debug, Clone)]
pub struct Plan {
    /// The parsed URL.
    pub target: Target,
    /// The addresses behind the target's name, or the proxy's; connections take them in turn. At least one.
    pub addresses: Vec<Address>,
    /// The addresses to connect from, taken in turn. With none the system chooses; where it runs out of ports on the
    /// loopback network, further addresses of that network are used.
    pub sources: Vec<IpAddr>,
    /// The requests.
    pub request: Requests,
    /// The virtual users, who take the place of `request`. Each has a connection of its own; what is paced and counted by
    /// `requests` is sessions. Not with pipelining or several streams, and responses are not inspected.
    pub users: Option<Arc<dyn Users>>,
    /// The inspection of responses.
    pub inspection: Inspection,
    /// The protocol.
    pub protocol: ProtocolConfig,
    /// The request by which a proxy opens a tunnel, if there is a proxy.
    pub tunnel: Option<Vec<u8>>,
    /// When requests are due.
    pub pace: Pace,
    /// The most requests that a closed loop begins per second, while warming up as well, evenly spaced and in equal parts
    /// for all threads. More than 0. Means nothing for an open loop.
    pub max_rate: Option<f64>,
    /// Connections at a time, at least 1; in an open loop the most, opened as they are needed.
    pub connections: usize,
    /// Slots of each connection, at least 1: the depth of HTTP/1.1 pipelining, or the streams of HTTP/2.
    pub depth: u16,
    /// Threads; more than connections are of no use and are not started.
    pub threads: usize,
    /// When to stop, counted from the first connect or the end of the warm-up.
    pub duration: Option<Duration>,
    /// How many requests to send. With `duration` as well, whichever is reached first ends the run; with neither, only
    /// an interruption does.
    pub requests: Option<u64>,
    /// How long to press before anything counts.
    pub warmup: Duration,
    /// The think time of each slot in a closed loop.
    pub think: Option<ThinkTime>,
    /// Whether connections are used again.
    pub keep_alive: bool,
    /// How many requests a connection carries before it is closed.
    pub requests_per_connection: Option<u64>,
    /// The time after which a request without a complete response has failed.
    pub timeout: Duration,
    /// How often the run is sampled.
    pub interval: Duration,
    /// Whether received bytes are acknowledged at once, at the cost of a system call each time. A server that writes a
    /// response in pieces with Nagle's algorithm waits for the acknowledgement, which the kernel delays by some 40 ms.
    pub quick_ack: bool,
    /// Whether to sample the server's processes, where they are on this machine.
    pub watch_server: bool,
    /// Whether to record the times from the connection on, which only some reports show.
    pub detailed: bool,
}

/// When requests are due.
#[derive(Debug, Clone, PartialEq)]
pub enum Pace {
    /// A closed loop: each slot sends its next request as soon as the one before has ended.
    Closed,
    /// A closed loop whose number of connections follows a schedule.
    Connections(Schedule),
    /// An open loop: requests follow a schedule, whether responses arrive or not.
    Open(Schedule, Arrivals),
}

/// The protocol of a run.
#[derive(Debug, Clone)]
pub struct ProtocolConfig {
    /// HTTP/2 instead of HTTP/1.1.
    pub http2: bool,
    /// TLS, and how.
    pub tls: Option<TlsConfig>,
}

/// A think time: the time between a response and the next request, drawn uniformly from a range.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ThinkTime {
    /// The least and the most.
    pub range: RangeInclusive<Duration>,
}

impl ThinkTime {
    /// Draws a time, in nanoseconds.
    pub fn time(&self) -> Nanos {
        fastrand::u64(clock::nanos(*self.range.start())..=clock::nanos(*self.range.end()))
    }
}

impl Plan {
    /// Returns the default: a closed loop with 100 connections and one thread, without end.
    pub fn new(target: Target, addresses: Vec<Address>, request: Requests) -> Self {
        Self {
            target,
            addresses,
            sources: Vec::new(),
            request,
            users: None,
            inspection: Inspection::default(),
            protocol: ProtocolConfig { http2: false, tls: None },
            tunnel: None,
            pace: Pace::Closed,
            max_rate: None,
            connections: 100,
            depth: 1,
            threads: 1,
            duration: None,
            requests: None,
            warmup: Duration::ZERO,
            think: None,
            keep_alive: true,
            requests_per_connection: None,
            timeout: Duration::from_secs(10),
            interval: Duration::from_secs(1),
            quick_ack: false,
            watch_server: true,
            detailed: false,
        }
    }

    /// Returns a watcher of the server's processes, where they are on this machine.
    pub fn watcher(&self) -> Option<Watcher> {
        if self.tunnel.is_some() || !self.addresses.iter().all(Address::is_local) {
            // The watched process would be the proxy, or one of several servers.
            return None;
        }
        match &self.addresses[..] {
            [Address::Unix(path)] => Watcher::start_unix(path),
            addresses => Watcher::start(&addresses.iter().filter_map(Address::tcp).collect::<Vec<_>>()),
        }
    }

    /// Returns how many addresses connections can come from: those that are given, or else one, and further ones on the
    /// IPv4 loopback network.
    pub fn source_addresses(&self) -> usize {
        Sources::new(&self.sources, &self.addresses).len()
    }

    /// When the run ends, if nothing else ends it, counted from the first connect.
    pub(crate) fn deadline(&self) -> Nanos {
        let schedule = match &self.pace {
            Pace::Closed => None,
            Pace::Connections(schedule) | Pace::Open(schedule, _) => schedule.length(),
        };
        let measured = [self.duration, schedule].into_iter().flatten().map(clock::nanos).min();
        measured.map_or(Nanos::MAX, |measured| measured.saturating_add(clock::nanos(self.warmup)))
    }

    pub(crate) fn thread_count(&self) -> usize {
        self.threads.clamp(1, self.connections)
    }

    /// Returns the address of connections, for messages.
    pub(crate) fn reached_by(&self) -> String {
        let target = self.target.host_and_port();
        match self.addresses.first() {
            Some(Address::Unix(path)) => format!("the Unix socket {}", path.display()),
            Some(proxy) if self.tunnel.is_some() => format!("{target} by the proxy {proxy}"),
            _ => target,
        }
    }

    /// Whether requests are due at times of their own.
    pub(crate) fn is_scheduled(&self) -> bool {
        matches!(self.pace, Pace::Open(..))
    }

    /// Whether slots of open connections are filled first.
    #[inline]
    pub(crate) fn prefers_open(&self) -> bool {
        !matches!(self.pace, Pace::Closed)
    }

    /// Whether all that a connection ever sends leaves at once in one packet.
    pub(crate) fn sends_once(&self) -> bool {
        let plain = self.tunnel.is_none() && !self.protocol.http2 && self.protocol.tls.is_none();
        plain && !self.keep_alive && self.users.is_none() && self.request.largest_bytes() <= ONE_PACKET
    }
}

/// A request up to this size leaves in one packet on any path.
const ONE_PACKET: usize = 1200;
