//! The settings of a server and their defaults.

use crate::client::forwarded::{ForwardedField, Trusted};
use crate::client::proxy_protocol::ProxyProtocol;
use crate::observe::access_log::{LogFormat, LogTarget};
use std::path::PathBuf;
use std::time::Duration;
use torr_net::tls::{ServerTlsSettings as TlsSettings, TlsAcceptor, TlsError};
use torr_wire::request;

/// The settings of a server. Start from [`Settings::default`] and change fields.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Settings {
    /// The number of worker processes, which a supervisor keeps running, at most 1,024. Default: 0, no supervisor, with the
    /// worker threads in this process.
    pub processes: usize,
    /// The number of worker threads of each process, each with its own listener and event loop, at most 4,096; 0 counts as 1.
    /// Default: one per CPU.
    pub workers: usize,
    /// The maximum size in bytes of a request's header section, and of its request line, at least 256. Default: 16 KiB each.
    pub max_head: usize,
    /// The maximum number of header fields of a request, from 1 to 256. Default: 100.
    pub max_headers: usize,
    /// The maximum size in bytes of a request's body for a handler, which is gathered in memory. Default: 1 MiB.
    pub max_body: u64,
    /// The maximum size in bytes of a request's body that is streamed to a router. Default: 0, no limit, since a stream takes
    /// little memory and axum's extractors have a limit of their own, 2 MB.
    pub max_streamed_body: u64,
    /// The maximum number of open connections of all workers, at least 1, of which each worker process has an equal share.
    /// Further ones are sent a 503, unless they use TLS, and closed. The limit of open files is raised accordingly; if that is
    /// not permitted, fewer connections are accepted, so that handlers can still open files. Default: 100,000.
    pub max_connections: usize,
    /// The maximum number of open connections of one address, or of one /64 network of IPv6, in each process. Trusted proxies
    /// are not limited. Default: 0, no limit.
    pub max_connections_per_address: usize,
    /// The maximum number of requests of a connection, which is then closed. Default: 0, no limit.
    pub requests_per_connection: u64,
    /// The age of a connection from which on it ends with its current requests, so that load balancers can spread clients anew: over
    /// HTTP/1.1 the next response has `Connection: close`, over HTTP/2 there is a GOAWAY, and an idle connection is closed. Up to a
    /// tenth less, by chance, so that connections which began together do not end together. WebSockets and other upgraded
    /// connections have no such limit. Default: 0, no limit.
    pub max_connection_age: Duration,
    /// The time for which a connection is kept alive without a request. Default: 75 s.
    pub idle_timeout: Duration,
    /// The time limit of a request's header section, from its first byte. Default: 10 s.
    pub head_timeout: Duration,
    /// The time limit of a request's body, or of the time between two parts of a body that is streamed to a router.
    /// Default: 60 s.
    pub body_timeout: Duration,
    /// The lowest mean rate in bytes per second at which a client has to send a request's body that is streamed to a router, before
    /// the response has begun. `body_timeout` comes on top, and time in which the router takes nothing does not count. 0 is no limit:
    /// then a byte per `body_timeout` is enough. Default: 240.
    pub min_body_rate: u64,
    /// The time for which a client may take nothing of a pending response: acknowledge no byte of it, or over HTTP/2 and HTTP/3 make
    /// no room for more of it. Over HTTP/3 other responses of its connection continue. Default: 60 s.
    pub write_timeout: Duration,
    /// The time limit of a graceful stop, for requests in flight and all else. Default: 30 s.
    pub stop_timeout: Duration,
    /// The time limit of responses of unknown length (server-sent events) and upgraded connections (WebSockets) in a graceful
    /// stop, at most `stop_timeout`. In a reload they have `stop_timeout`. Default: 5 s.
    pub stream_stop_timeout: Duration,
    /// The time for which tasks of handlers (`tokio::spawn`, `spawn_blocking`) may continue after the last connection of their
    /// worker has ended, at most `stop_timeout`; then they are dropped. Use 0 if there are tasks that never end, such as those
    /// of connections in a pool outside of the application. Default: 30 s.
    pub task_stop_timeout: Duration,
    /// The time limit of the start of a worker process in a restart or reload. Default: 60 s.
    pub start_timeout: Duration,
    /// A file with the number of the process that handles signals, which exists as long as the server runs. Default: none.
    pub pid_file: Option<PathBuf>,
    /// The length of each worker's accept queue in connections, which the kernel bounds by `somaxconn`. Default: 4,096.
    pub backlog: i32,
    /// Whether a connection is accepted only when its first bytes have arrived, or after about a second (TCP_DEFER_ACCEPT), which
    /// saves a wake-up for each connection. Default: yes.
    pub defer_accept: bool,
    /// Whether all workers, of all processes, accept from one listener, as they do from a listener of the program's own. Otherwise
    /// each has a listener of its own, among which the kernel distributes connections by a hash: that costs less for many short
    /// connections. A connection to a worker whose handler blocks is then accepted by another worker thread of the process, after a
    /// quarter of a second; with one listener any idle worker accepts it at once, also one of another process. Default: no.
    pub shared_listener: bool,
    /// The maximum number of threads for blocking handlers in each process, which are started on demand; 0 counts as 1.
    /// Default: eight per CPU.
    pub blocking_threads: usize,
    /// The maximum number of requests that wait for one of these threads in each process. Further ones are sent a 503.
    /// Default: 1,024.
    pub blocking_queue: usize,
    /// The time for which a handler may compute or block without waiting before its route counts as one that holds up its
    /// worker. Later requests of such a route of the router run on other threads, as many as [`Settings::blocking_threads`] but
    /// apart from these, as long as there is room. Each such request has a thread to itself, on which its future is polled in
    /// the context of the same runtime as before; tasks of `spawn_local` cannot be started there. A route whose calls are short
    /// again returns to the workers. Handlers of the [`App`](crate::App) stay where their kind says, and are named in the log.
    /// 0 switches it off, but for [`App::computes`](crate::App::computes). Default: 10 ms.
    pub compute_after: Duration,
    /// TLS and its certificates. The server sets the protocols of ALPN. Default: no TLS.
    pub tls: Option<TlsSettings>,
    /// Whether HTTP/2 is supported: with prior knowledge, over TLS by ALPN. Default: yes.
    pub http2: bool,
    /// Whether HTTP/3 is supported, on the UDP port of the same number as the TCP port; responses over HTTP/1.1 and HTTP/2 announce it
    /// (`Alt-Svc`). It requires the crate's feature `http3`, TLS 1.3, a TCP address, and worker threads instead of processes.
    /// Header sections have at most 64 KiB. WebSockets stay with the other versions. Default: no.
    pub http3: bool,
    /// Whether clients that resume a session may send requests with their first datagrams over HTTP/3 (0-RTT), which saves them a round
    /// trip. Handlers get safe requests only, such as GET; others get 425 until the handshake is complete. A session is resumed once, so
    /// that a recorded request is none. It requires `http3`, and no client certificates. Default: no.
    pub http3_early_data: bool,
    /// The `Server` field of responses, in printable ASCII; none if it is empty. Default: `torr`, and empty for
    /// [`serve`](crate::serve), which responds as `axum::serve` does.
    pub server_name: &'static str,
    /// The proxies whose forwarding fields are trusted. Default: none.
    pub trusted_proxies: Trusted,
    /// The field in which trusted proxies send the client's address. Default: `X-Forwarded-For`.
    pub forwarded_field: ForwardedField,
    /// Whether connections begin with a header of the PROXY protocol, which requires `trusted_proxies`. Default: off.
    pub proxy_protocol: ProxyProtocol,
    /// Whether each request has an id, a [`RequestId`](crate::RequestId) among its extensions. Default: no.
    pub request_ids: bool,
    /// The destination of the access log. Default: no log.
    pub access_log: Option<LogTarget>,
    /// The format of the access log. Default: combined.
    pub access_log_format: LogFormat,
}

impl Default for Settings {
    fn default() -> Self {
        let seconds = Duration::from_secs;
        let cpus = std::thread::available_parallelism().map_or(1, usize::from);
        Self {
            processes: 0,
            workers: cpus,
            max_head: 16 * 1024,
            max_headers: 100,
            max_body: 1024 * 1024,
            max_streamed_body: 0,
            max_connections: 100_000,
            max_connections_per_address: 0,
            requests_per_connection: 0,
            max_connection_age: Duration::ZERO,
            idle_timeout: seconds(75),
            head_timeout: seconds(10),
            body_timeout: seconds(60),
            min_body_rate: 240,
            write_timeout: seconds(60),
            stop_timeout: seconds(30),
            stream_stop_timeout: seconds(5),
            task_stop_timeout: seconds(30),
            start_timeout: seconds(60),
            pid_file: None,
            backlog: 4096,
            defer_accept: true,
            shared_listener: false,
            blocking_threads: 8 * cpus,
            blocking_queue: 1024,
            compute_after: Duration::from_millis(10),
            tls: None,
            http2: true,
            http3: false,
            http3_early_data: false,
            server_name: "torr",
            trusted_proxies: Trusted::default(),
            forwarded_field: ForwardedField::default(),
            proxy_protocol: ProxyProtocol::default(),
            request_ids: false,
            access_log: None,
            access_log_format: LogFormat::default(),
        }
    }
}

/// The least `max_head` in bytes, below which the header sections of common clients are refused.
const LEAST_HEAD: usize = 256;

/// A time limit longer than any process runs, which every clock can add.
const FOREVER: Duration = Duration::from_secs(100 * 365 * 24 * 3600);

impl Settings {
    /// Returns an error in words for settings with which no server can be started.
    pub(crate) fn check(&self) -> Result<(), String> {
        let name = self.server_name;
        let sound = name.trim() == name && name.bytes().all(|byte| (b' '..=b'~').contains(&byte));
        if !sound {
            return Err(format!("server_name must be printable ASCII without a space at either end, found {name:?}"));
        }
        if self.proxy_protocol == ProxyProtocol::Required && self.trusted_proxies.is_empty() {
            return Err("proxy_protocol needs trusted_proxies: only these may connect".into());
        }
        if self.http3 {
            self.check_http3()?;
        }
        if self.http3_early_data {
            self.check_early_data()?;
        }
        if !(1..=request::MAX_HEADERS).contains(&self.max_headers) {
            return Err(format!("max_headers must be from 1 to {}, found {}", request::MAX_HEADERS, self.max_headers));
        }
        if self.max_head < LEAST_HEAD {
            return Err(format!("max_head must be {LEAST_HEAD} or more, found {}", self.max_head));
        }
        if self.max_connections == 0 {
            return Err("max_connections must be 1 or more".into());
        }
        for (name, number, most) in [("processes", self.processes, 1024), ("workers", self.workers, 4096)] {
            if number > most {
                return Err(format!("{name} must be at most {most}, found {number}"));
            }
        }
        Ok(())
    }

    /// Returns an error in words for settings with which HTTP/3 cannot be served.
    fn check_http3(&self) -> Result<(), String> {
        if !cfg!(feature = "http3") {
            return Err("http3 needs the feature 'http3' of torr-serve".into());
        }
        if self.tls.is_none() {
            return Err("http3 needs TLS: QUIC is always encrypted".into());
        }
        if self.processes > 0 {
            return Err("http3 needs worker threads: set processes to 0".into());
        }
        if self.proxy_protocol == ProxyProtocol::Required {
            return Err("http3 cannot be combined with proxy_protocol: QUIC has no such header".into());
        }
        Ok(())
    }

    /// Returns an error in words for settings with which no early data can be taken.
    fn check_early_data(&self) -> Result<(), String> {
        if !self.http3 {
            return Err("http3_early_data needs http3".into());
        }
        if self.tls.as_ref().is_some_and(|tls| tls.client_roots.is_some()) {
            return Err("http3_early_data cannot be combined with client certificates".into());
        }
        Ok(())
    }

    /// Returns the settings with time limits that every clock can add.
    pub(crate) fn bounded(mut self) -> Self {
        for time in [
            &mut self.max_connection_age,
            &mut self.idle_timeout,
            &mut self.head_timeout,
            &mut self.body_timeout,
            &mut self.write_timeout,
            &mut self.stop_timeout,
            &mut self.stream_stop_timeout,
            &mut self.task_stop_timeout,
            &mut self.start_timeout,
        ] {
            *time = (*time).min(FOREVER);
        }
        self
    }

    /// Reads the certificates and keys, if TLS is set.
    pub(crate) fn acceptor(&self) -> Result<Option<TlsAcceptor>, TlsError> {
        let protocols = if self.http2 { &["h2", "http/1.1"][..] } else { &["http/1.1"] };
        let alpn = protocols.iter().map(|protocol| (*protocol).to_owned()).collect();
        self.tls.clone().map(|tls| TlsSettings { alpn, ..tls }.load()).transpose()
    }

    /// Returns the most bytes of a body that is streamed to a router.
    pub(crate) fn most_streamed(&self) -> u64 {
        if self.max_streamed_body == 0 { u64::MAX } else { self.max_streamed_body }
    }

    /// Returns the most bytes of a header section with its request line.
    pub(crate) fn most_of_head(&self) -> usize {
        self.max_head.saturating_mul(2)
    }

    pub(crate) fn limits(&self) -> request::Limits {
        request::Limits { head: self.max_head, headers: self.max_headers }
    }
}
