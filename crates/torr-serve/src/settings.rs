//! What can be set, and its defaults.

use crate::client::forwarded::{ForwardedField, Trusted};
use crate::client::proxy_protocol::ProxyProtocol;
use crate::observe::access_log::{LogFormat, LogTarget};
use std::path::PathBuf;
use std::time::Duration;
use torr_net::tls::{ServerTlsSettings as TlsSettings, TlsAcceptor, TlsError};
use torr_wire::request;

/// Limits and sizes of a server. Start from [`Settings::default`] and change what you need.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Settings {
    /// Worker processes, kept by a supervisor: 0, which is no supervisor, and the worker threads in this process.
    pub processes: usize,
    /// Worker threads, of each worker process if there are such, each with its own listener and loop. Default: one per
    /// CPU.
    pub workers: usize,
    /// Bytes of a request's header section, and as many of its request line: 16 KiB each.
    pub max_head: usize,
    /// Header fields of a request: 100; at most 256.
    pub max_headers: usize,
    /// Bytes of a request's body that is gathered for a handler: 1 MiB.
    pub max_body: u64,
    /// Bytes of a request's body that a router receives as it comes: 0, which is no limit. It takes no memory here, and
    /// axum's extractors have a limit of their own, 2 MB.
    pub max_streamed_body: u64,
    /// Connections at a time, of all workers together: 100,000. Further ones get a 503 and are closed. Of several worker
    /// processes each has an equal share. The limit of open files is raised to what they need; if it cannot be, there are as
    /// many as it has room for beside the files of handlers.
    pub max_connections: usize,
    /// Connections of one address at a time, of all workers of each process: 0, no limit. Of IPv6, a network of 64 bits is one
    /// address. Trusted proxies are not limited.
    pub max_connections_per_address: usize,
    /// Requests that a connection may bring before it is closed: 0, no limit.
    pub requests_per_connection: u64,
    /// How long a connection may stay open without a request: 75 s.
    pub idle_timeout: Duration,
    /// How long a request's head may take from its first byte: 10 s.
    pub head_timeout: Duration,
    /// How long its body may take, or how long nothing of it may come where a router receives it as it comes: 60 s.
    pub body_timeout: Duration,
    /// How long a client may read nothing of an answer that waits for it: 60 s.
    pub write_timeout: Duration,
    /// How long requests under way, and all else, may take once the server is told to stop: 30 s.
    pub stop_timeout: Duration,
    /// How long responses of unknown length (server-sent events), and upgraded connections (WebSockets), may go on once the
    /// server is told to stop: 5 s, and never longer than `stop_timeout`. In a reload they have as long as requests.
    pub stream_stop_timeout: Duration,
    /// How long work that handlers have left behind (`tokio::spawn`, `spawn_blocking`) may go on after the last connection of
    /// its worker has ended: 30 s, and never longer than `stop_timeout`. What then has not ended is dropped. Where there are
    /// tasks that never end, such as those of connections that a pool outside of the application holds, 0 is right.
    pub task_stop_timeout: Duration,
    /// How long a worker process may take until it serves, once the server does: 60 s.
    pub start_timeout: Duration,
    /// A file for the number of the process to send signals to, there as long as it serves: none.
    pub pid_file: Option<PathBuf>,
    /// Connections that may wait to be accepted, per worker: 4,096. The kernel's `somaxconn` limits it too.
    pub backlog: i32,
    /// Whether connections are accepted only once their first bytes have come, or after about a second (TCP_DEFER_ACCEPT):
    /// yes. Saves a wake-up for each connection.
    pub defer_accept: bool,
    /// Threads for blocking handlers, of all workers of each process: eight per CPU. They are started when they are needed.
    pub blocking_threads: usize,
    /// Requests that may wait for one of these threads, in each process: 1,024. Further ones get a 503.
    pub blocking_queue: usize,
    /// How TLS is spoken, if it is: with which certificates. The protocols to agree on are the server's. Default: not.
    pub tls: Option<TlsSettings>,
    /// Whether HTTP/2 is spoken too: yes. A connection may begin with it; over TLS it is offered.
    pub http2: bool,
    /// The `Server` field of answers: `torr`. Must be printable ASCII.
    pub server_name: &'static str,
    /// The proxies that are believed when they tell who the client is: none.
    pub trusted_proxies: Trusted,
    /// By which field they tell it: `X-Forwarded-For`.
    pub forwarded_field: ForwardedField,
    /// Whether connections begin with a header of the PROXY protocol: off.
    pub proxy_protocol: ProxyProtocol,
    /// Whether each request gets an id, [`RequestId`](crate::RequestId) among its extensions: no.
    pub request_ids: bool,
    /// Where requests are noted: nowhere.
    pub access_log: Option<LogTarget>,
    /// What the notes look like: combined.
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
            idle_timeout: seconds(75),
            head_timeout: seconds(10),
            body_timeout: seconds(60),
            write_timeout: seconds(60),
            stop_timeout: seconds(30),
            stream_stop_timeout: seconds(5),
            task_stop_timeout: seconds(30),
            start_timeout: seconds(60),
            pid_file: None,
            backlog: 4096,
            defer_accept: true,
            blocking_threads: 8 * cpus,
            blocking_queue: 1024,
            tls: None,
            http2: true,
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

/// Longer than any process runs, and short enough for every clock.
const FOREVER: Duration = Duration::from_secs(100 * 365 * 24 * 3600);

impl Settings {
    /// Tells what no server can be started with.
    pub(crate) fn check(&self) -> Result<(), String> {
        let name = self.server_name;
        let sound = !name.is_empty() && name.trim() == name && name.bytes().all(|byte| (b' '..=b'~').contains(&byte));
        if !sound {
            return Err(format!("server_name must be printable ASCII, with no space at either end, not {name:?}"));
        }
        if self.proxy_protocol == ProxyProtocol::Required && self.trusted_proxies.is_empty() {
            return Err("proxy_protocol needs trusted_proxies: only they are let in".into());
        }
        if !(1..=request::MAX_HEADERS).contains(&self.max_headers) {
            return Err(format!("max_headers must be from 1 to {}, not {}", request::MAX_HEADERS, self.max_headers));
        }
        if self.max_head == 0 || self.max_connections == 0 {
            return Err("max_head and max_connections must be 1 or more".into());
        }
        for (name, number, most) in [("processes", self.processes, 1024), ("workers", self.workers, 4096)] {
            if number > most {
                return Err(format!("{name} must be at most {most}, not {number}"));
            }
        }
        Ok(())
    }

    /// The same with times that can be added to any clock.
    pub(crate) fn bounded(mut self) -> Self {
        for time in [
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

    /// Reads the certificates and keys, if there are any.
    pub(crate) fn acceptor(&self) -> Result<Option<TlsAcceptor>, TlsError> {
        let protocols = if self.http2 { &["h2", "http/1.1"][..] } else { &["http/1.1"] };
        let alpn = protocols.iter().map(|protocol| (*protocol).to_owned()).collect();
        self.tls.clone().map(|tls| TlsSettings { alpn, ..tls }.load()).transpose()
    }

    /// The most bytes of a body that is passed on as it comes.
    pub(crate) fn most_streamed(&self) -> u64 {
        if self.max_streamed_body == 0 { u64::MAX } else { self.max_streamed_body }
    }

    /// The most bytes of a whole head, its request line included.
    pub(crate) fn most_of_head(&self) -> usize {
        self.max_head.saturating_mul(2)
    }

    pub(crate) fn limits(&self) -> request::Limits {
        request::Limits { head: self.max_head, headers: self.max_headers }
    }
}
