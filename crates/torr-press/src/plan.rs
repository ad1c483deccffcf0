//! The plan of a run: target, requests, load model and limits.

mod pacer;
pub(crate) mod servers;
mod share;
mod steerable;
mod summary;

pub use share::Share;

use crate::pace::Pace;
use crate::response::events::EventPlan;
use crate::response::grpc::GrpcMethod;
use crate::response::inspect::Inspection;
use crate::servers::destination::Destination;
use crate::servers::sources::Sources;
use crate::servers::target::Target;
use crate::steering::Steering;
use crate::work::Work;
use std::net::IpAddr;
use std::ops::RangeInclusive;
use std::sync::Arc;
use std::time::Duration;
use torr_gauge::result::AltSvc;
use torr_net::tls::TlsConfig;
use torr_net::{Address, Nanos, clock};
use torr_signals::Watcher;

/// The plan of one run.
#[derive(Debug, Clone)]
pub struct Plan {
    /// The parsed URL.
    pub target: Target,
    /// The addresses behind the target's name, or the proxy's; connections take them in turn. At least one.
    pub addresses: Vec<Address>,
    /// The addresses to connect from, taken in turn. With none the system chooses; where it runs out of ports on the
    /// loopback network, further addresses of that network are used.
    pub sources: Vec<IpAddr>,
    /// The requests, or the virtual users who send them.
    pub work: Work,
    /// The further servers that users' requests go to, numbered from 1; the one that the plan itself describes has number
    /// 0. Each user has a connection of its own to each. Behind them come the servers that the users learn of
    /// ([`Users::learnt`](crate::users::Users::learnt)).
    pub further: Vec<Destination>,
    /// The inspection of responses.
    pub inspection: Inspection,
    /// What is awaited of responses that are event streams: where all are, or among those to virtual users.
    pub events: Option<EventPlan>,
    /// The protocol.
    pub protocol: ProtocolConfig,
    /// The request by which a proxy opens a tunnel, if there is a proxy.
    pub tunnel: Option<Vec<u8>>,
    /// The server's offer of other protocols, if it has decided on this one.
    pub alt_svc: Option<AltSvc>,
    /// The times at which requests are due.
    pub pace: Pace,
    /// Connections at a time, at least 1; in an open loop the most, opened as they are needed.
    pub connections: usize,
    /// Slots of each connection, at least 1: the depth of HTTP/1.1 pipelining, or the streams of HTTP/2 and HTTP/3.
    pub depth: u16,
    /// Threads; more than connections are of no use and are not started.
    pub threads: usize,
    /// The length of the run, counted from its start or the end of the warm-up; `None` without limit.
    pub duration: Option<Duration>,
    /// The number of requests to send; the warm-up's do not count. With `duration` as well, whichever is reached first ends the
    /// run; `None` is without limit, so that with neither of both only an interruption ends the run.
    pub requests: Option<u64>,
    /// The time of load before anything counts.
    pub warmup: Duration,
    /// The think time of each slot in a closed loop.
    pub think: Option<ThinkTime>,
    /// Whether connections are used again.
    pub keep_alive: bool,
    /// The number of requests that a connection carries before it is closed; `None` is without limit.
    pub requests_per_connection: Option<u64>,
    /// The time after which a request without a complete response has failed.
    pub timeout: Duration,
    /// The time between two samples of the run.
    pub interval: Duration,
    /// Whether received bytes are acknowledged at once, at the cost of a system call each time. A server that writes a
    /// response in pieces with Nagle's algorithm waits for the acknowledgement, which the kernel delays by some 40 ms.
    pub quick_ack: bool,
    /// Requests of an open loop with constant arrivals that are due within a window of this length leave together, at its
    /// end, from which their response times count: a wake-up for each of them would cost more CPU than the requests.
    pub coalesce: Duration,
    /// The longest wait for a connection of a request that is due in an open loop: one that has waited longer is not sent, and has
    /// failed.
    pub patience: Option<Duration>,
    /// The clock of a response's arrival.
    pub timestamps: Timestamps,
    /// Whether to sample the server's processes, where they are on this machine.
    pub watch_server: bool,
    /// Whether to record the times from the connection on, which only some reports show.
    pub detailed: bool,
    /// The delay of each request of an open loop with constant arrivals, as a part of the time between two of them, 0 to 1:
    /// generators that begin at one time take turns by it.
    pub phase: f64,
    /// The number of users that other generators have before those of this one, where several share a plan.
    pub users_before: usize,
    /// The steering of an operator.
    pub steering: Option<Arc<Steering>>,
}

/// The clock of a response's arrival.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Timestamps {
    /// The kernel's clock in an open loop over TCP, which then need not be awake when responses arrive; otherwise the user's,
    /// which costs less.
    #[default]
    Auto,
    /// The kernel notes when packets arrive, however late they are read (SO_TIMESTAMPING). Not for Unix sockets.
    Kernel,
    /// The time at which the response was read.
    User,
}

/// The protocol of a run.
#[derive(Debug, Clone)]
pub struct ProtocolConfig {
    /// HTTP/2 instead of HTTP/1.1.
    pub http2: bool,
    /// HTTP/3 instead of HTTP/1.1. It needs `tls`.
    pub http3: bool,
    /// The settings of TLS; `None` without TLS.
    pub tls: Option<TlsConfig>,
    /// The method whose calls the requests are, where these are of gRPC. HTTP/2 carries them.
    pub grpc: Option<GrpcMethod>,
}

impl ProtocolConfig {
    /// Whether a connection may have several requests in flight whose responses come in any order: HTTP/2 and HTTP/3.
    pub fn multiplexes(&self) -> bool {
        self.http2 || self.http3
    }

    /// Whether requests leave before the handshake is complete where the server permits it.
    pub(crate) fn tries_early_data(&self) -> bool {
        self.http3 && self.tls.as_ref().is_some_and(TlsConfig::early_data)
    }
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
    pub fn new(target: Target, addresses: Vec<Address>, work: impl Into<Work>) -> Self {
        Self {
            target,
            addresses,
            sources: Vec::new(),
            work: work.into(),
            further: Vec::new(),
            inspection: Inspection::default(),
            events: None,
            protocol: ProtocolConfig { http2: false, http3: false, tls: None, grpc: None },
            tunnel: None,
            alt_svc: None,
            pace: Pace::closed(None),
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
            coalesce: COALESCE,
            patience: None,
            timestamps: Timestamps::Auto,
            watch_server: true,
            detailed: false,
            phase: 0.0,
            users_before: 0,
            steering: None,
        }
    }

    /// Returns a watcher of the server's processes, where they are on this machine.
    pub fn watcher(&self) -> Option<Watcher> {
        if self.tunnel.is_some() || !self.further.is_empty() {
            // The watched process would be the proxy, or one of several servers.
            return None;
        }
        match &self.addresses[..] {
            [Address::Unix(path)] => Watcher::start_unix(path),
            addresses => {
                let is_here = addresses.iter().all(Address::is_local);
                let addresses: Vec<_> = addresses.iter().filter_map(Address::tcp).collect();
                if is_here { Watcher::start(&addresses) } else { Watcher::start_elsewhere(&addresses) }
            }
        }
    }

    /// Returns how many addresses connections can come from: those that are given, or else one, and further ones on the
    /// IPv4 loopback network.
    pub fn source_addresses(&self) -> usize {
        Sources::new(&self.sources, self.all_addresses()).len()
    }

    /// Returns the time in nanoseconds after the run's start at which the run ends, if nothing else ends it before; the maximum
    /// if it has no end.
    pub fn deadline(&self) -> Nanos {
        let schedule = self.pace.schedule().and_then(|schedule| schedule.length());
        let measured = [self.duration, schedule].into_iter().flatten().map(clock::nanos).min();
        measured.map_or(Nanos::MAX, |measured| measured.saturating_add(clock::nanos(self.warmup)))
    }

    /// Returns the number of threads that the run has.
    pub fn thread_count(&self) -> usize {
        self.threads.clamp(1, self.connections)
    }

    /// Returns the number of connections that may be open at a time: with virtual users, one for each user
    /// and server that is known before the run.
    pub fn most_connections(&self) -> usize {
        self.prepared_connections() * (1 + self.further.len())
    }

    /// Returns the number of connections to one server that the run is prepared for: more than planned where an operator may
    /// raise them.
    pub(crate) fn prepared_connections(&self) -> usize {
        let steered = self.steering.as_ref().and_then(|steering| steering.most_connections());
        steered.unwrap_or(self.connections)
    }

    /// Returns the addresses of all servers.
    pub fn all_addresses(&self) -> impl Iterator<Item = &Address> {
        self.addresses.iter().chain(self.further.iter().flat_map(|further| &further.addresses))
    }

    /// Returns the origins of the servers that are known before the run.
    pub fn origins(&self) -> Vec<String> {
        let all = std::iter::once(&self.target).chain(self.further.iter().map(|further| &further.target));
        all.map(Target::origin).collect()
    }

    /// Whether requests are due at times of their own.
    pub(crate) fn is_scheduled(&self) -> bool {
        self.pace.is_open()
    }

    /// Whether all responses are to be streams.
    pub(crate) fn demands_streams(&self) -> bool {
        self.events.as_ref().is_some_and(|events| events.demands_streams)
    }

    /// Whether the kernel's time stamps tell when responses arrived.
    pub(crate) fn uses_kernel_timestamps(&self) -> bool {
        let wanted = match self.timestamps {
            // The times between events are short, and none may be as long as a read was late.
            Timestamps::Auto => self.is_scheduled() || self.demands_streams(),
            Timestamps::Kernel => true,
            Timestamps::User => false,
        };
        // Those of datagrams are not read.
        wanted && !self.protocol.http3 && !self.all_addresses().any(|address| matches!(address, Address::Unix(_)))
    }

    /// Whether responses may be read late: each has a time stamp of its own, and only its slot waits for it.
    pub(crate) fn can_read_late(&self) -> bool {
        let one_at_a_time =
            self.depth == 1 && !self.protocol.multiplexes() && self.work.users().is_none() && self.events.is_none();
        self.uses_kernel_timestamps() && self.is_scheduled() && one_at_a_time
    }

    /// Whether slots of open connections are filled first.
    #[inline]
    pub(crate) fn prefers_open(&self) -> bool {
        let may_have_fewer = self.steering.as_ref().is_some_and(|steering| steering.has_connections());
        self.pace.schedule().is_some() || self.pace.is_open() || may_have_fewer
    }

    /// Whether all that a connection ever sends leaves at once in one packet.
    pub(crate) fn sends_once(&self) -> bool {
        let plain = !self.work.is_websocket()
            && self.tunnel.is_none()
            && !self.protocol.multiplexes()
            && self.protocol.tls.is_none();
        let fits = self.work.requests().is_some_and(|requests| requests.largest_bytes() <= ONE_PACKET);
        plain && !self.keep_alive && fits
    }
}

/// The default of [`Plan::coalesce`]: with a late wake-up added, 99% of requests leave within 200 us of their time.
const COALESCE: Duration = Duration::from_micros(150);

/// A request up to this size leaves in one packet on any path.
const ONE_PACKET: usize = 1200;
