//! The plan of a run: target, requests, load model and limits.

mod summary;

use crate::inspect::Inspection;
use crate::open_loop::Arrivals;
use crate::request::Requests;
use crate::schedule::Schedule;
use crate::sources::Sources;
use crate::target::Target;
use std::net::IpAddr;
use std::ops::RangeInclusive;
use std::time::Duration;
use torr_gauge::signals::Watcher;
use torr_net::tls::TlsConfig;
use torr_net::{Address, Nanos, clock};

/// One run.
#[derive(Debug, Clone)]
pub struct Plan {
    /// Where to.
    pub target: Target,
    /// The addresses behind the target's name, or the proxy's; connections take them in turn. At least one.
    pub addresses: Vec<Address>,
    /// The addresses to connect from, taken in turn. With none the system chooses; where it runs out of ports on the
    /// loopback network, further addresses of that network are used.
    pub sources: Vec<IpAddr>,
    /// What is sent.
    pub request: Requests,
    /// What is looked at in the answers.
    pub inspection: Inspection,
    /// How it is spoken.
    pub protocol: ProtocolConfig,
    /// What is said to a proxy so that it connects further, and nothing if there is none.
    pub tunnel: Option<Vec<u8>>,
    /// When requests are due.
    pub pace: Pace,
    /// The most requests that a closed loop begins per second, while warming up as well, evenly spaced and in equal parts
    /// for all threads. More than 0. Means nothing for an open loop.
    pub max_rate: Option<f64>,
    /// Connections at a time, at least 1; in an open loop the most, opened as they are needed.
    pub connections: usize,
    /// Requests under way at a time on each connection, at least 1: how deep HTTP/1.1 is pipelined, or HTTP/2's streams.
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
    /// How long each place waits between an answer and its next request, in a closed loop.
    pub think: Option<ThinkTime>,
    /// Whether connections are used again.
    pub keep_alive: bool,
    /// How many requests a connection carries before it is closed.
    pub requests_per_connection: Option<u64>,
    /// After how long without a whole answer a request has failed.
    pub timeout: Duration,
    /// How often the run is sampled.
    pub interval: Duration,
    /// Whether what is received is acknowledged at once, at the cost of a system call each time. A server that writes an
    /// answer in pieces and gathers small ones (Nagle's algorithm) waits for that, which the kernel puts off by some 40 ms.
    pub quick_ack: bool,
    /// Whether to watch the server's processes, where they are on this machine, for what they tell of the run.
    pub watch_server: bool,
    /// Whether to keep what only some reports show, at some cost: times from the connection on.
    pub detailed: bool,
}

/// When requests are due.
#[derive(Debug, Clone, PartialEq)]
pub enum Pace {
    /// A closed loop: each place sends its next request as soon as the one before has ended.
    Closed,
    /// A closed loop whose connections become more and fewer on a schedule.
    Connections(Schedule),
    /// An open loop: on a schedule, whatever the service does.
    Open(Schedule, Arrivals),
}

/// How requests are spoken.
#[derive(Debug, Clone)]
pub struct ProtocolConfig {
    /// HTTP/2 instead of HTTP/1.1.
    pub http2: bool,
    /// TLS, and how.
    pub tls: Option<TlsConfig>,
}

/// A time between an answer and the next request, drawn evenly from a range.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ThinkTime {
    /// The least and the most.
    pub range: RangeInclusive<Duration>,
}

impl ThinkTime {
    /// One such time.
    pub(crate) fn time(&self) -> Nanos {
        fastrand::u64(clock::nanos(*self.range.start())..=clock::nanos(*self.range.end()))
    }
}

impl Plan {
    /// A closed loop with 100 connections and a thread that goes on until it is stopped: what is not said otherwise.
    pub fn new(target: Target, addresses: Vec<Address>, request: Requests) -> Self {
        Self {
            target,
            addresses,
            sources: Vec::new(),
            request,
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

    /// Watches the server's machine, where that is this one.
    pub fn watcher(&self) -> Option<Watcher> {
        if self.tunnel.is_some() || !self.addresses.iter().all(Address::is_local) {
            // What could be seen is the proxy, or one of several servers.
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

    /// Whom connections are made to, for people.
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

    /// Whether a place that has a connection is taken before one that has none.
    #[inline]
    pub(crate) fn prefers_open(&self) -> bool {
        !matches!(self.pace, Pace::Closed)
    }

    /// Whether all that a connection ever sends leaves at once in one packet.
    pub(crate) fn sends_once(&self) -> bool {
        let plain = self.tunnel.is_none() && !self.protocol.http2 && self.protocol.tls.is_none();
        plain && !self.keep_alive && self.request.largest_bytes() <= ONE_PACKET
    }
}

/// A request up to this size leaves in one packet on any path.
const ONE_PACKET: usize = 1200;
