//! The result of a run: one versioned type that every output is made from.

mod caution;
pub mod script;
pub mod validity;

use crate::bounds::{Bounded, OutOfBounds, at_most, text};
use crate::buckets::Buckets;
use crate::datagrams::Datagrams;
use crate::error_times::ErrorSpan;
use crate::failed_response::FailedResponse;
use crate::failure::{FailureKind, FailureSide};
use crate::fleet::Fleet;
use crate::generator::Generator;
use crate::host::Host;
use crate::idle_closes::IdleCloses;
use crate::latency::Summary;
use crate::machine::Machine;
use crate::replay::Replay;
use crate::series::Point;
use crate::sessions::{EntryResult, SessionSummary};
use crate::sockets::Sockets;
use crate::stalls::Stalls;
use crate::steering::SteeringEvent;
use crate::streams::Streams;
use crate::verdict::Verdict;
use crate::websocket::WebSockets;
use script::ScriptResult;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use torr_signals::Signals;
use validity::Validity;

/// The version of [`RunResult`]. Fields may be added to it; what one means does not change.
pub const SCHEMA: &str = "torr.run/1";

/// The protocol of a plan whose requests are calls of gRPC.
pub const GRPC: &str = "grpc";

/// The result of one run. `started` = `requests` + [`Errors::unanswered`] + `unfinished`, always.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunResult {
    /// [`SCHEMA`].
    pub schema: String,
    /// The version of the program that made the run.
    pub torr: String,
    /// The URL.
    pub target: String,
    /// The plan of the run.
    pub plan: PlanSummary,
    /// The time at which the run began (RFC 3339, UTC).
    pub started_at: String,
    /// Whether the run was interrupted.
    #[serde(default)]
    pub interrupted: bool,
    /// The number of requests started.
    #[serde(rename = "asked")]
    pub started: u64,
    /// The number of complete responses, whatever the status.
    pub requests: u64,
    /// [`RunResult::completed`] per second of `duration_s`: the throughput.
    pub rps: f64,
    /// The measured time in seconds: from the start of the run, or the end of its warm-up, to the end of the run.
    pub duration_s: f64,
    /// The number of responses by status code.
    pub status: BTreeMap<u16, u64>,
    /// The number of calls of gRPC by the name of their status, such as `OK` or `UNAVAILABLE`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub grpc: BTreeMap<String, u64>,
    /// Traffic.
    pub bytes: Bytes,
    /// Failed requests by kind.
    pub errors: Errors,
    /// Failed requests by cause.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub causes: Vec<Cause>,
    /// The times of errors of each kind and status, in the order of the first errors.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub error_times: Vec<ErrorSpan>,
    /// The first response with a status of 400 or more, as a sample.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed_response: Option<FailedResponse>,
    /// The number of requests without a response when the run ended.
    pub unfinished: u64,
    /// The response times, from the scheduled time to the last byte. Requests that timed out or are unfinished count with
    /// their ages.
    pub latency_us: Option<Summary>,
    /// The samples of `latency_us`.
    #[serde(default, skip_serializing_if = "Buckets::is_empty")]
    pub latency_histogram: Buckets,
    /// Parts of it.
    pub phases_us: Phases,
    /// Connections.
    pub connections: Connections,
    /// The kernel's statistics of sampled connections, where available.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sockets: Option<Sockets>,
    /// The parameters of TLS, if used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tls: Option<Tls>,
    /// The counts of the warm-up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warmup: Option<Warmup>,
    /// The run over time.
    pub series: Vec<Point>,
    /// The times of a tenth of a second or more without a response on any connection, if there were any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stalls: Option<Stalls>,
    /// The operator's interventions during the run, in the order of time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub steering: Vec<SteeringEvent>,
    /// The resource use of the load generator.
    pub generator: Generator,
    /// The utilisation of the server's machine, where visible.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<Host>,
    /// The signals of the server's machine and processes, where visible.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signals: Option<Signals>,
    /// The machine that the load came from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machine: Option<Machine>,
    /// The number of redirects followed, whose responses are not counted otherwise.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub redirects_followed: u64,
    /// The results of the checks of each response.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub checks: Vec<Check>,
    /// The sessions of virtual users, in a run with sessions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sessions: Option<SessionSummary>,
    /// The entries of the sessions, in the order of the files.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub entries: Vec<EntryResult>,
    /// The streams, in a run whose responses are streams of events.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub streams: Option<Streams>,
    /// The WebSocket connections, in a run over such.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub websocket: Option<WebSockets>,
    /// The datagrams, in a run over HTTP/3.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub datagrams: Option<Datagrams>,
    /// The metrics and checks of a script of k6.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub script: Option<ScriptResult>,
    /// The log that was replayed, and the comparison with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replay: Option<Replay>,
    /// The agents of a run over a fleet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fleet: Option<Fleet>,
    /// The results of the thresholds.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub thresholds: Vec<Threshold>,
    /// The validity of the figures.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub validity: Option<Validity>,
    /// The diagnosis of the service's limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verdict: Option<Verdict>,
}

impl RunResult {
    /// Returns the number of responses that were complete within the measured time, those to requests that began while
    /// warming up included: what throughput is made of. Without a warm-up these are all of `requests`.
    pub fn completed(&self) -> u64 {
        self.requests + self.warmup.map_or(0, |warmup| warmup.carried)
    }

    /// Returns whether the server has responded to a request: completely, or with an event of a stream.
    pub fn has_responses(&self) -> bool {
        self.requests > 0 || self.streams.as_ref().is_some_and(|streams| streams.events > 0)
    }

    /// Returns the times by which the server is judged: to the responses, or to the first events where responses are streams, whose
    /// lengths are by design.
    pub fn waits_us(&self) -> Option<Summary> {
        match &self.streams {
            Some(streams) => streams.first_event_us,
            None => self.latency_us,
        }
    }

    /// Returns the number of units of the server's work within the measured time: responses, or events where responses are streams.
    pub fn units(&self) -> u64 {
        self.streams.as_ref().map_or_else(|| self.completed(), |streams| streams.events)
    }

    /// Returns the number of requests that nothing had come back for when the run ended: of streams, those without an event.
    pub fn waiting(&self) -> u64 {
        self.unfinished.saturating_sub(self.streams.as_ref().map_or(0, |streams| streams.open))
    }

    /// Sets the number of requests started to that of the known ends, where requests were begun whose ends are not known.
    pub fn recount_started(&mut self) {
        self.started = self.requests + self.errors.unanswered() + self.unfinished;
    }

    /// Returns the responses per second that are no errors: the goodput, of the same responses as `rps`.
    pub fn good_rps(&self) -> f64 {
        let failed = self.errors.of_responses() + self.warmup.map_or(0, |warmup| warmup.carried_errors);
        self.completed().saturating_sub(failed) as f64 / self.duration_s.max(1e-6)
    }

    /// Returns the CPU time of the generator in cores; `None` where nothing is known of its threads.
    pub fn generator_cores(&self) -> Option<f64> {
        Some(self.generator.cpu_share? * self.plan.threads? as f64)
    }

    /// Returns the share of the machine's CPU that neither the server, its peers nor the generator used, 0 to 1. `None` if the server's
    /// machine, or the generator's part of it, is not visible.
    pub fn others_share(&self) -> Option<f64> {
        let host = self.host.as_ref()?;
        let behind = self.signals.as_ref().map_or(0.0, Signals::peer_cores);
        let known = host.server_cores + self.generator_cores()? + behind;
        Some((host.cpu_share - known / host.cores.max(1) as f64).max(0.0))
    }

    /// Returns the bytes per second that were received within the measured time.
    pub fn received_per_s(&self) -> f64 {
        let received = self.bytes.received.saturating_add(self.warmup.map_or(0, |warmup| warmup.carried_received));
        received as f64 / self.duration_s.max(1e-6)
    }
}

/// The summary of a run's plan.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct PlanSummary {
    /// The number of concurrent connections.
    pub connections: usize,
    /// The number of threads; `None` if it is not known: of a fleet that lost an agent.
    pub threads: Option<usize>,
    /// The planned duration in seconds; `None` if the plan has none.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub duration_s: Option<f64>,
    /// The planned number of requests; `None` if the plan has none.
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
    /// The distribution of arrivals, in an open loop.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub arrivals: Option<Arrivals>,
    /// The length in seconds of the windows within which requests leave together, in open loop with constant arrivals.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub coalesce_s: Option<f64>,
    /// The time in seconds after which a request that no connection was available for is not sent, in open loop.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub patience_s: Option<f64>,
    /// Whether connections are used again.
    pub keep_alive: bool,
    /// The protocol: `http/1.1`, `h2`, `h3`, or `grpc`.
    pub protocol: String,
    /// The server's offer of HTTP/3 before the run, if it has decided on the protocol.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub alt_svc: Option<AltSvc>,
    /// The method.
    pub method: String,
    /// After how many seconds a request counts as timed out.
    pub timeout_s: f64,
    /// Whether rate or connections went in stages.
    #[serde(default, skip_serializing_if = "is_false")]
    pub staged: bool,
    /// The stages of the rate, in an open loop that has any; empty where an operator changed the load.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stages: Vec<RateStage>,
    /// The number of requests in flight on each connection: pipelined, or streams of HTTP/2.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub depth: u16,
    /// The length of the warm-up in seconds.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub warmup_s: Option<f64>,
    /// The servers of a run with several.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub origins: Vec<String>,
    /// The number of requests that a connection carried before it was closed.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub requests_per_connection: Option<u64>,
}

/// What a server offers in `Alt-Svc` (RFC 7838).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AltSvc {
    /// The value of the field, cut to 200 characters; empty if the response has none.
    pub offer: String,
    /// The port at which the server offers HTTP/3 on the same host; `None` if it does not.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub port: Option<u16>,
}

/// A stage of an open loop, in which the rate goes in a straight line.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct RateStage {
    /// The length in seconds.
    pub length_s: f64,
    /// The rate at its beginning, per second.
    pub from: f64,
    /// The rate at its end, per second.
    pub to: f64,
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

/// The counts of the warm-up.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Warmup {
    /// The number of complete responses.
    pub requests: u64,
    /// The number of failed requests, responses with a status of 400 or more included.
    pub errors: u64,
    /// The median response time in microseconds.
    pub p50: Option<u64>,
    /// The part of `requests` that were in flight when the warm-up ended and completed after that. `rps`, the
    /// series and `requests_per_connection` count them; `requests` of the result and all that goes with it does not.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub carried: u64,
    /// Of `carried`, responses that are errors: those with a status of 400 or more, and redirects that were not followed
    /// although they should have been.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub carried_errors: u64,
    /// The number of bytes received after the warm-up for requests that began in the warm-up.
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
    /// The number of full handshakes.
    pub full: u64,
    /// The number of handshakes that resumed a session.
    pub resumed: u64,
    /// Of these, the number in which the server has taken requests before their end (0-RTT), if the load tried that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub early_data: Option<u64>,
}

impl Bounded for Tls {
    fn bound(&mut self, most: u64) -> Result<(), OutOfBounds> {
        let Self { version, cipher, group, key, full, resumed, early_data } = self;
        [version, cipher].into_iter().chain(group).chain(key).for_each(text);
        at_most("full", [*full], most)?;
        at_most("early_data", *early_data, most)?;
        at_most("resumed", [*resumed], most)
    }
}

impl PlanSummary {
    /// Returns whether the load is constant: a closed loop, or an open one without stages.
    pub fn is_steady(&self) -> bool {
        !self.staged
    }

    /// Whether requests are calls of gRPC.
    pub fn is_grpc(&self) -> bool {
        self.protocol == GRPC
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

/// The distribution of the arrivals of an open loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Arrivals {
    /// Evenly.
    Constant,
    /// At random, as those of independent users.
    Poisson,
    /// At the times of a log.
    Replayed,
    /// With the bursts of a log, at a rate of the plan.
    Logged,
}

/// Traffic in bytes of the requests that count, TCP and TLS overhead not counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Bytes {
    /// Sent.
    pub sent: u64,
    /// Received, heads and framing included.
    pub received: u64,
    /// The received bytes of content.
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
    /// [`FailureKind::Status`], whose responses are complete and so counted by `requests` too. Of gRPC each status but `OK`.
    pub status: u64,
    /// [`FailureKind::Ports`].
    pub ports: u64,
    /// [`FailureKind::Redirect`], whose responses are complete and so counted by `requests` too.
    #[serde(default)]
    pub redirect: u64,
    /// [`FailureKind::Abandoned`], whose requests were not sent.
    #[serde(default)]
    pub abandoned: u64,
}

impl Errors {
    /// Returns the number of errors of a kind.
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
            FailureKind::Redirect => self.redirect,
            FailureKind::Abandoned => self.abandoned,
        }
    }

    /// Returns the number of all errors.
    pub fn total(&self) -> u64 {
        FailureKind::ALL.iter().map(|&kind| self.of(kind)).sum()
    }

    /// Returns the number of errors without a complete response.
    pub fn unanswered(&self) -> u64 {
        self.total() - self.of_responses()
    }

    /// Returns the number of complete responses that are errors.
    pub fn of_responses(&self) -> u64 {
        self.status + self.redirect
    }
}

/// Failed requests of one cause.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cause {
    /// The step that failed.
    pub kind: FailureKind,
    /// The side of the cause.
    pub side: FailureSide,
    /// A description of the failure.
    pub what: String,
    /// The number of failures.
    pub count: u64,
}

/// Parts of the response time, in microseconds.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Phases {
    /// Connecting, of each connection.
    pub connect: Option<Summary>,
    /// The TLS handshake, of each connection.
    pub tls: Option<Summary>,
    /// The time from the scheduled time to the first byte, of each response.
    pub first_byte: Option<Summary>,
}

/// Connections of the run.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Connections {
    /// The number of connections established within the measured time.
    pub opened: u64,
    /// The number of connections that were open when the warm-up ended.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub carried: u64,
    /// The maximum number of concurrent connections; `None` if it is not known: of a fleet that lost an agent.
    pub peak: Option<u64>,
    /// The number of source addresses used, more than requested if one ran out of ports; `None` if it is not known.
    #[serde(default)]
    pub sources: Option<u64>,
    /// The number of reusable connections that the server closed.
    pub closed_by_server: u64,
    /// Completed responses per connection, on average.
    pub requests_per_connection: f64,
    /// The requests that failed since the server closed an idle connection at the same time; `None` without any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idle_closes: Option<IdleCloses>,
}

/// The result of a check of each response.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Check {
    /// The check as given, such as `status 200`.
    pub name: String,
    /// The number of responses that passed.
    pub passed: u64,
    /// The number of responses that failed.
    pub failed: u64,
}

/// The result of a threshold, whose violation fails the run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Threshold {
    /// The threshold as given, such as `p99>50ms`.
    pub rule: String,
    /// The measured value as text in the unit of the rule; `None` if not measurable, which is a failure too.
    pub measured: Option<String>,
    /// Whether the threshold fails the run.
    pub failed: bool,
}
