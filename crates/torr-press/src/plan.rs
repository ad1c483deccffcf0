//! What to press, and how hard.

use crate::inspect::Inspection;
use crate::open_loop::Arrivals;
use crate::request::{Requests, split};
use crate::schedule::Schedule;
use crate::sources::Sources;
use http::Uri;
use std::net::IpAddr;
use std::ops::RangeInclusive;
use std::time::Duration;
use thiserror::Error;
use torr_gauge::result::{self, PlanSummary};
use torr_gauge::shown;
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

    /// What the result says of the plan.
    pub(crate) fn summary(&self) -> PlanSummary {
        PlanSummary {
            connections: self.connections,
            threads: self.thread_count(),
            duration_s: self.duration.map(|d| d.as_secs_f64()),
            requests: self.requests,
            rate: match &self.pace {
                Pace::Open(schedule, _) => schedule.constant_rate(),
                _ => None,
            },
            max_rate: self.max_rate.filter(|_| !self.is_scheduled()),
            think_s: self
                .think
                .as_ref()
                .map(|ThinkTime { range }| [range.start(), range.end()].map(Duration::as_secs_f64)),
            arrivals: match &self.pace {
                Pace::Open(_, Arrivals::Constant) => Some(result::Arrivals::Constant),
                Pace::Open(_, Arrivals::Poisson) => Some(result::Arrivals::Poisson),
                _ => None,
            },
            keep_alive: self.keep_alive,
            protocol: if self.protocol.http2 { "h2".into() } else { "http/1.1".into() },
            method: self.request.method(),
            timeout_s: self.timeout.as_secs_f64(),
            staged: match &self.pace {
                Pace::Closed => false,
                Pace::Connections(_) => true,
                Pace::Open(schedule, _) => schedule.constant_rate().is_none(),
            },
            depth: self.depth,
            warmup_s: (!self.warmup.is_zero()).then_some(self.warmup.as_secs_f64()),
            requests_per_connection: self.requests_per_connection.filter(|_| self.keep_alive),
        }
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

/// Why a plan cannot be made; each is the user's to mend.
#[derive(Debug, Error)]
pub enum PlanError {
    /// Not a URL.
    #[error("'{url}' is not a URL: {why}")]
    Url {
        /// As given, without user and password.
        url: String,
        /// What is wrong.
        why: String,
    },
    /// A URL of another scheme, without user and password.
    #[error("cannot press '{0}': only http:// and https:// URLs")]
    Scheme(String),
}

/// The parts of the URL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// The whole URL, but for a user and password.
    pub url: String,
    /// Whether the scheme is `https`.
    pub tls: bool,
    /// A name or an address, without brackets.
    pub host: String,
    /// The port, given or the scheme's.
    pub port: u16,
    /// In lower case.
    pub(crate) scheme: String,
    /// User and password, as they stand in the URL.
    pub(crate) userinfo: Option<String>,
    /// What stands in the `Host` field, unless overridden.
    pub(crate) authority: String,
    /// Path and query as given: they may have placeholders, and are checked with what is sent.
    pub(crate) path: String,
}

impl Target {
    /// Host and port as they stand in the URL.
    pub fn authority(&self) -> &str {
        &self.authority
    }

    /// Host and port, the host in brackets where it is an IPv6 address.
    pub fn host_and_port(&self) -> String {
        let host = if self.host.contains(':') { format!("[{}]", self.host) } else { self.host.clone() };
        format!("{host}:{}", self.port)
    }

    /// Path and query.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Whether the URL names a port.
    pub fn has_port(&self) -> bool {
        self.authority.rsplit(']').next().is_some_and(|rest| rest.contains(':'))
    }

    /// Parses a URL of `http` or `https`; `http://` may be left out.
    ///
    /// # Errors
    /// [`PlanError::Url`] and [`PlanError::Scheme`].
    pub fn parse(url: &str) -> Result<Self, PlanError> {
        let bad = |why: &str| PlanError::Url { url: shown::url(url).into_owned(), why: why.to_owned() };
        let parts = split(url);
        let scheme = parts.scheme.unwrap_or("http").to_ascii_lowercase();
        if parts.authority.contains(['{', '}']) {
            return Err(bad("its host cannot have placeholders"));
        }
        let origin = format!("{scheme}://{}", parts.authority);
        let uri: Uri = origin.parse().map_err(|error: http::uri::InvalidUri| bad(&error.to_string()))?;
        let tls = match scheme.as_str() {
            "http" => false,
            "https" => true,
            _ => return Err(PlanError::Scheme(shown::url(url).into_owned())),
        };
        let authority = uri.authority().ok_or_else(|| bad("it has no host"))?;
        let host = authority.host().trim_start_matches('[').trim_end_matches(']');
        if host.is_empty() {
            return Err(bad("it has no host"));
        }
        let port = match &authority.as_str()[authority.host().len()..] {
            "" if tls => 443,
            "" => 80,
            ":" => return Err(bad("the port is missing after ':'")),
            port => port[1..].parse().ok().filter(|&p| p != 0).ok_or_else(|| bad("the port is not 1 to 65535"))?,
        };
        // A query without a path still asks for the root (RFC 9112, section 3.2.1).
        let path = if parts.path.starts_with('/') { parts.path.to_owned() } else { format!("/{}", parts.path) };
        Ok(Self {
            tls,
            url: format!("{origin}{}", parts.path),
            host: host.to_owned(),
            port,
            userinfo: parts.userinfo.map(str::to_owned),
            authority: authority.to_string(),
            path,
            scheme,
        })
    }

    /// Whether the URL names a user.
    pub fn has_userinfo(&self) -> bool {
        self.userinfo.is_some()
    }

    /// The URL of another path of the same server, with the user and password that stand in this one.
    pub fn whole_as_user(&self, path: &str) -> String {
        let user = self.userinfo.as_ref().map_or(String::new(), |userinfo| format!("{userinfo}@"));
        format!("{}://{user}{}{path}", self.scheme, self.authority)
    }

    /// The URL of another path of the same scheme, host and port.
    pub fn whole(&self, path: &str) -> String {
        format!("{}://{}{path}", self.scheme, self.authority)
    }

    /// Another path of the same server, asked for by the same user.
    pub fn at(&self, path: &str) -> Self {
        Self { url: self.whole(path), path: path.to_owned(), ..self.clone() }
    }

    /// Scheme, host and port.
    pub(crate) fn origin(&self) -> String {
        self.whole("")
    }

    pub(crate) fn has_origin_of(&self, other: &Self) -> bool {
        self.scheme == other.scheme && self.port == other.port && self.host.eq_ignore_ascii_case(&other.host)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_of_many_forms() {
        for (url, host, port, authority, path) in [
            ("http://example.com", "example.com", 80, "example.com", "/"),
            ("example.com:8080/a?b=c#d", "example.com", 8080, "example.com:8080", "/a?b=c"),
            ("http://[::1]:81/x", "::1", 81, "[::1]:81", "/x"),
            ("https://a/", "a", 443, "a", "/"),
            ("HTTP://127.0.0.1?q", "127.0.0.1", 80, "127.0.0.1", "/?q"),
            ("http://user:secret@h:1/{{rand 1 9}}", "h", 1, "h:1", "/{{rand 1 9}}"),
        ] {
            let target = Target::parse(url).unwrap_or_else(|error| panic!("{url}: {error}"));
            assert_eq!(
                (target.host.as_str(), target.port, target.authority.as_str(), target.path.as_str()),
                (host, port, authority, path)
            );
            assert!(!target.url.contains("secret"), "{}", target.url);
        }
    }

    #[test]
    fn an_ipv6_address_stands_in_brackets_before_its_port() {
        let told = |url| Target::parse(url).map(|target| target.host_and_port()).unwrap();
        assert_eq!((told("http://[::1]/"), told("https://a/")), ("[::1]:80".into(), "a:443".into()));
    }

    #[test]
    fn what_is_no_url_says_why() {
        for (url, why) in [
            ("", "is not a URL"),
            ("http://", "is not a URL"),
            ("http:///x", "is not a URL"),
            ("http://host:0/", "the port"),
            ("http://host:99999/", "the port"),
            ("http://a b/", "is not a URL"),
            ("http://a{{b}}/", "is not a URL"),
            ("ftp://host/", "only http://"),
        ] {
            let error = Target::parse(url).expect_err(url).to_string();
            assert!(error.contains(why), "{url}: {error}");
        }
    }
}
