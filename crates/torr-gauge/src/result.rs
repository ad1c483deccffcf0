//! The result of a run: one versioned type that every output is made from.

use crate::error_times::ErrorSpan;
use crate::failed_response::FailedResponse;
use crate::failure::{FailureKind, FailureSide};
use crate::generator::Generator;
use crate::host::Host;
use crate::latency::Summary;
use crate::series::Point;
use crate::signals::Signals;
use crate::sockets::Sockets;
use crate::validity::Validity;
use crate::verdict::Verdict;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The version of [`RunResult`]. Fields may be added to it; what one means does not change.
pub const SCHEMA: &str = "torr.run/1";

/// All that is known of one run. `asked` = `requests` + [`Errors::unanswered`] + `unfinished`, always.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunResult {
    /// [`SCHEMA`].
    pub schema: String,
    /// The version of the program that made the run.
    pub torr: String,
    /// The URL.
    pub target: String,
    /// What was asked for.
    pub plan: PlanSummary,
    /// When the run began (RFC 3339, UTC).
    pub started_at: String,
    /// Whether somebody ended it early.
    #[serde(default)]
    pub interrupted: bool,
    /// Requests that were begun.
    pub asked: u64,
    /// Requests that were answered in full, whatever the status.
    pub requests: u64,
    /// [`RunResult::completed`] per second of `duration_s`: the throughput.
    pub rps: f64,
    /// From the first connect to the end, in seconds.
    pub duration_s: f64,
    /// Answers by status code.
    pub status: BTreeMap<u16, u64>,
    /// Traffic.
    pub bytes: Bytes,
    /// Failed requests by kind.
    pub errors: Errors,
    /// Failed requests by cause.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub causes: Vec<Cause>,
    /// When errors of each kind and status happened, in the order of the first of each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub error_times: Vec<ErrorSpan>,
    /// The first response with a status of 400 or more, as a sample.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed_response: Option<FailedResponse>,
    /// Requests without an answer when the run ended.
    pub unfinished: u64,
    /// From the moment a request was due to its last byte. Includes, at their age, requests that timed out or were
    /// unfinished.
    pub latency_us: Option<Summary>,
    /// Parts of it.
    pub phases_us: Phases,
    /// Connections.
    pub connections: Connections,
    /// What the kernel told of some of them, where it does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sockets: Option<Sockets>,
    /// TLS, if it was spoken.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tls: Option<Tls>,
    /// What was seen while warming up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warmup: Option<Warmup>,
    /// The run over time.
    pub series: Vec<Point>,
    /// What the load generator itself cost.
    pub generator: Generator,
    /// The server's machine, where it could be looked at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<Host>,
    /// What that machine and the server's processes told beside their CPU time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signals: Option<Signals>,
    /// Redirects that were followed; their answers are not counted, only the ones they led to.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub redirects_followed: u64,
    /// What was expected of each answer.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub checks: Vec<Check>,
    /// What was expected of the run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub thresholds: Vec<Threshold>,
    /// Whether the figures mean what they seem to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub validity: Option<Validity>,
    /// What limits the service.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verdict: Option<Verdict>,
}

impl RunResult {
    /// Returns the number of responses that were complete within the measured time, those to requests that began while
    /// warming up included: what throughput is made of. Without a warm-up these are all of `requests`.
    pub fn completed(&self) -> u64 {
        self.requests + self.warmup.map_or(0, |warmup| warmup.carried)
    }

    /// Returns the responses per second with a status below 400: the goodput, of the same responses as `rps`.
    pub fn good_rps(&self) -> f64 {
        let failed = self.errors.status + self.warmup.map_or(0, |warmup| warmup.carried_errors);
        self.completed().saturating_sub(failed) as f64 / self.duration_s.max(1e-6)
    }

    /// Returns the bytes per second that were received within the measured time.
    pub fn received_per_s(&self) -> f64 {
        let received = self.bytes.received + self.warmup.map_or(0, |warmup| warmup.carried_received);
        received as f64 / self.duration_s.max(1e-6)
    }
}

/// What was asked for.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct PlanSummary {
    /// Connections at a time.
    pub connections: usize,
    /// Threads.
    pub threads: usize,
    /// How long, in seconds.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub duration_s: Option<f64>,
    /// How many requests.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub requests: Option<u64>,
    /// Requests per second, in open loop.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub rate: Option<f64>,
    /// The most requests per second, in closed loop.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub max_rate: Option<f64>,
    /// The least and the longest pause between a response and the next request of its slot in seconds, in closed loop.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub think_s: Option<[f64; 2]>,
    /// How requests are spread, in open loop.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub arrivals: Option<Arrivals>,
    /// Whether connections are used again.
    pub keep_alive: bool,
    /// The protocol, such as `http/1.1`.
    pub protocol: String,
    /// The method.
    pub method: String,
    /// After how many seconds a request counts as timed out.
    pub timeout_s: f64,
    /// Whether rate or connections went in stages.
    #[serde(default, skip_serializing_if = "is_false")]
    pub staged: bool,
    /// Requests under way at a time on each connection: pipelined, or HTTP/2's streams.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub depth: u16,
    /// How many seconds were pressed before anything counted.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub warmup_s: Option<f64>,
    /// How many requests a connection carried before it was closed.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub requests_per_connection: Option<u64>,
}

fn one() -> u16 {
    1
}

fn is_false(is: &bool) -> bool {
    !is
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

fn is_one(depth: &u16) -> bool {
    *depth == 1
}

/// What was seen before anything counted.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Warmup {
    /// Requests that were answered in full.
    pub requests: u64,
    /// Requests that failed, answers with a status of 400 or more included.
    pub errors: u64,
    /// The median response time in microseconds.
    pub p50: Option<u64>,
    /// Of `requests`, those that were in flight when the warm-up ended and were answered after that. `rps`, the
    /// series and `requests_per_connection` count them; `requests` of the result and all that goes with it does not.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub carried: u64,
    /// Of `carried`, responses with a status of 400 or more.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub carried_errors: u64,
    /// Bytes that were received for them after the warm-up had ended.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub carried_received: u64,
}

/// TLS of the run.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Tls {
    /// The version, such as `TLSv1.3`; of the first connection.
    pub version: String,
    /// The cipher suite, such as `TLS13_AES_256_GCM_SHA384`; of the first connection.
    pub cipher: String,
    /// The group of the key exchange, such as `X25519`; of the first connection, if it had one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
    /// The kind of key that the server's certificate is for, `RSA`, `ECDSA` or `Ed25519`; of the first connection.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// Handshakes with certificates and a key exchange of their own.
    pub full: u64,
    /// Handshakes that went on from an earlier connection's session.
    pub resumed: u64,
}

impl PlanSummary {
    /// Whether the same is asked for all the time: a closed loop, or an open one without stages.
    pub fn is_steady(&self) -> bool {
        !self.staged
    }

    /// Whether requests are due on a schedule, whatever the service does: an open loop.
    pub fn is_scheduled(&self) -> bool {
        self.arrivals.is_some() || self.rate.is_some()
    }

    /// The mean pause between a response and the next request of its slot, in seconds; 0 where there is none.
    pub fn mean_think_s(&self) -> f64 {
        self.think_s.map_or(0.0, |[least, most]| (least + most) / 2.0)
    }
}

/// How the requests of an open loop are spread.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Arrivals {
    /// Evenly.
    Constant,
    /// At random, as those of independent users.
    Poisson,
}

/// Traffic in bytes of the requests that count, TCP and TLS overhead not counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Bytes {
    /// Sent.
    pub sent: u64,
    /// Received, heads and framing included.
    pub received: u64,
    /// Of those, content of bodies.
    pub body: u64,
}

/// Failed requests by [`FailureKind`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Errors {
    /// [`FailureKind::Connect`].
    pub connect: u64,
    /// [`FailureKind::Tls`].
    pub tls: u64,
    /// [`FailureKind::Timeout`].
    pub timeout: u64,
    /// [`FailureKind::Read`].
    pub read: u64,
    /// [`FailureKind::Write`].
    pub write: u64,
    /// [`FailureKind::Protocol`].
    pub protocol: u64,
    /// [`FailureKind::Status`]: these were answered, so `requests` counts them too.
    pub status: u64,
    /// [`FailureKind::Ports`].
    pub ports: u64,
}

impl Errors {
    /// The count of a kind.
    pub fn of(&self, kind: FailureKind) -> u64 {
        match kind {
            FailureKind::Connect => self.connect,
            FailureKind::Tls => self.tls,
            FailureKind::Timeout => self.timeout,
            FailureKind::Read => self.read,
            FailureKind::Write => self.write,
            FailureKind::Protocol => self.protocol,
            FailureKind::Status => self.status,
            FailureKind::Ports => self.ports,
        }
    }

    /// All of them.
    pub fn total(&self) -> u64 {
        FailureKind::ALL.iter().map(|&kind| self.of(kind)).sum()
    }

    /// Those that got no whole answer.
    pub fn unanswered(&self) -> u64 {
        self.total() - self.status
    }
}

/// Failed requests of one cause.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cause {
    /// The step that failed.
    pub kind: FailureKind,
    /// Whose side it is on.
    pub side: FailureSide,
    /// What happened.
    pub what: String,
    /// How often.
    pub count: u64,
}

/// Parts of the response time, in microseconds.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Phases {
    /// Connecting, of each connection.
    pub connect: Option<Summary>,
    /// The TLS handshake, of each connection.
    pub tls: Option<Summary>,
    /// From due to first byte, of each answered request.
    pub first_byte: Option<Summary>,
}

/// Connections of the run.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Connections {
    /// How many were established, while it counted.
    pub opened: u64,
    /// How many were open already when the warm-up ended.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub carried: u64,
    /// The most at a time.
    pub peak: u64,
    /// Source addresses used. More than were asked for if one ran out of ports.
    #[serde(default)]
    pub sources: u64,
    /// How many would have been used again, had not the server ended them.
    pub closed_by_server: u64,
    /// Completed responses per connection, on average.
    pub requests_per_connection: f64,
}

/// Something that is expected of each answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Check {
    /// As it was asked for, such as `status 200`.
    pub name: String,
    /// Answers that were as expected.
    pub passed: u64,
    /// Answers that were not.
    pub failed: u64,
}

/// Something that would make the run a failure.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Threshold {
    /// As it was asked for, such as `p99>50ms`.
    pub rule: String,
    /// What was measured, in the unit of the rule, as text; `None` if it could not be told, which is a failure too.
    pub measured: Option<String>,
    /// Whether the run failed by it.
    pub failed: bool,
}
