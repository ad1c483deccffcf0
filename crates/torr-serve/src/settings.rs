//! What can be set, and its defaults.

use std::path::PathBuf;
use std::time::Duration;
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
    /// Bytes of a request's head: 8 KiB.
    pub max_head: usize,
    /// Header fields of a request: 100; at most 256.
    pub max_headers: usize,
    /// Bytes of a request's body: 1 MiB.
    pub max_body: u64,
    /// Connections at a time, of all workers together: 100,000. Further ones get a 503 and are closed. Of several worker
    /// processes each has an equal share.
    pub max_connections: usize,
    /// How long a connection may stay open without a request: 75 s.
    pub idle_timeout: Duration,
    /// How long a request's head may take from its first byte: 10 s.
    pub head_timeout: Duration,
    /// How long its body may take: 60 s.
    pub body_timeout: Duration,
    /// How long a client may read nothing of an answer that waits for it: 60 s.
    pub write_timeout: Duration,
    /// How long requests under way may take once the server is told to stop: 30 s.
    pub stop_timeout: Duration,
    /// How long a worker process may take until it serves, once the server does: 60 s.
    pub start_timeout: Duration,
    /// A file for the number of the process to send signals to, there as long as it serves: none.
    pub pid_file: Option<PathBuf>,
    /// Connections that may wait to be accepted, per worker: 4,096. The kernel's `somaxconn` limits it too.
    pub backlog: i32,
    /// Whether connections are accepted only once their first bytes have come, or after about a second (TCP_DEFER_ACCEPT):
    /// yes. Saves a wake-up for each connection.
    pub defer_accept: bool,
    /// The `Server` field of answers: `torr`. Must be printable ASCII.
    pub server_name: &'static str,
}

impl Default for Settings {
    fn default() -> Self {
        let seconds = Duration::from_secs;
        Self {
            processes: 0,
            workers: std::thread::available_parallelism().map_or(1, usize::from),
            max_head: 8 * 1024,
            max_headers: 100,
            max_body: 1024 * 1024,
            max_connections: 100_000,
            idle_timeout: seconds(75),
            head_timeout: seconds(10),
            body_timeout: seconds(60),
            write_timeout: seconds(60),
            stop_timeout: seconds(30),
            start_timeout: seconds(60),
            pid_file: None,
            backlog: 4096,
            defer_accept: true,
            server_name: "torr",
        }
    }
}

impl Settings {
    pub(crate) fn limits(&self) -> request::Limits {
        request::Limits { head: self.max_head, headers: self.max_headers }
    }
}
