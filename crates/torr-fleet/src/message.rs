//! The messages between agents and coordinators, as `PROTOCOL.md` describes them.

mod bounds;
mod digest;

use crate::limits::MOST_MESSAGE;
use crate::subject::FleetName;
use bytes::Bytes;
pub use digest::Digest;
use serde::de::IgnoredAny;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};
use std::collections::BTreeMap;
use std::fmt;
use thiserror::Error;
use torr_gauge::bounds::{Bounded, MOST_IN_A_SECOND};
use torr_gauge::failed_response::FailedResponse;
use torr_gauge::generator::{ThreadCost, TimestampSource};
use torr_gauge::result::Tls;
use torr_gauge::result::validity::Finding;
use torr_gauge::sessions::{EntryCounts, EntryName, SessionCounts};
use torr_gauge::{Sample, redact};

/// The version of the messages. One that a receiver does not know is refused.
pub const PROTOCOL: u32 = 1;

/// The version of the program, whose samples only the same version merges.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The limit of the reason why a message cannot be read, in bytes.
const MOST_REASON: usize = 200;

/// A message with its version.
#[derive(Serialize)]
struct Sent<'m> {
    version: u32,
    message: &'m Message,
}

#[derive(Deserialize)]
struct Received {
    version: u32,
    message: Message,
}

#[derive(Deserialize)]
struct Version {
    version: u32,
    #[serde(rename = "message")]
    _message: IgnoredAny,
}

/// Why bytes are no message.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum MessageError {
    /// The sender speaks another version.
    #[error("expected version {PROTOCOL} of the fleet protocol, found version {0}")]
    Version(u32),
    /// The bytes are not what a sender of this version sends, or a field is out of its bounds. The text is printable.
    #[error("invalid message: {0}")]
    Malformed(String),
}

impl MessageError {
    /// Returns the error of a message that cannot be read. Errors of parsers have texts of the message in them.
    pub(crate) fn malformed(why: impl fmt::Display) -> Self {
        let mut why = redact::printable(&why.to_string()).into_owned();
        why.truncate((0..=MOST_REASON).rev().find(|&end| why.is_char_boundary(end)).unwrap_or_default());
        Self::Malformed(why)
    }
}

/// A message.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Message {
    /// Coordinator to all agents: who is there? The response is [`Message::Hello`].
    Call,
    /// Agent to coordinator.
    Hello(Hello),
    /// Coordinator to an agent: what time is it? The response is [`Message::Time`].
    Clock,
    /// Agent to coordinator: the time of the agent's monotonic clock in nanoseconds.
    Time {
        /// The time.
        ns: u64,
    },
    /// Coordinator to an agent. The response is [`Message::Ready`], [`Message::Missing`] or [`Message::Refused`].
    Plan(Box<PlanMessage>),
    /// Agent to coordinator: the plan names files that the agent does not have.
    Missing {
        /// Their digests.
        files: Vec<Digest>,
    },
    /// Coordinator to an agent: a part of a file. The response is [`Message::Ready`] or [`Message::Refused`].
    File(Box<FilePart>),
    /// Agent to coordinator: the plan can begin, or the part of a file has arrived.
    Ready {
        /// The run; empty for a part of a file, which is of no run.
        run: String,
    },
    /// Agent to coordinator: the plan is not carried out.
    Refused {
        /// The kind of the reason.
        refusal: Refusal,
        /// The reason in one line.
        why: String,
    },
    /// Coordinator to an agent: begin at this time. The response is [`Message::Ready`] or [`Message::Refused`].
    Go {
        /// The run.
        run: FleetName,
        /// The time of the agent's monotonic clock in nanoseconds.
        at_ns: u64,
    },
    /// The sender of this run is there; each second from both sides.
    Alive,
    /// Agent to coordinator: the load began at this time of the agent's monotonic clock.
    Began {
        /// The time in nanoseconds.
        at_ns: u64,
    },
    /// Agent to coordinator: the counts of one interval.
    Interval(Box<Interval>),
    /// Agent to coordinator, before the end: the counts of one entry of sessions, over the whole run.
    Entry(Box<EntryMessage>),
    /// Agent to coordinator: the agent's part is over.
    End(Box<End>),
    /// Coordinator to an agent: these intervals and entries did not arrive.
    Resend {
        /// The run.
        run: FleetName,
        /// The numbers of the intervals.
        intervals: Vec<u64>,
        /// The numbers of the entries.
        entries: Vec<u64>,
    },
    /// To agents and coordinators: end this run now, or every run of the fleet.
    Stop {
        /// The run; `None` for all.
        run: Option<FleetName>,
    },
}

/// What an agent is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Hello {
    /// The agent's name, unique in the fleet.
    pub agent: FleetName,
    /// [`VERSION`] of the agent's program.
    pub torr: String,
    /// What is the same for all agents of a machine until it is started again; empty where that is not known.
    #[serde(default)]
    pub machine: String,
    /// The number of CPUs that it may use.
    pub cores: usize,
    /// The requests per second that it makes against a server of its own on its machine.
    pub ceiling: f64,
    /// The targets that it may load, as its user gave them.
    pub allow: Vec<String>,
    /// The run that it is part of.
    pub run: Option<FleetName>,
}

/// An agent's part of a run. The load may hold secrets: they go into no log, and `Debug` does not show them.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
pub struct PlanMessage {
    /// The run.
    pub run: FleetName,
    /// The whole load, of which the agent carries out its part.
    pub load: LoadMessage,
    /// The part of all rates, more than 0 and at most 1.
    pub part: f64,
    /// The number of the agent's connections.
    pub connections: usize,
    /// The number of the agent's requests, where the plan has one.
    pub requests: Option<u64>,
    /// By how much requests on schedule are due later, as a part of the time between two of them.
    pub phase: f64,
    /// The number of virtual users of the agents before this one.
    pub users_before: usize,
    /// What the agent does if it hears of the coordinator no more.
    pub if_lost: IfLost,
}

impl fmt::Debug for PlanMessage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PlanMessage").field("run", &self.run).field("part", &self.part).finish_non_exhaustive()
    }
}

/// A load as it travels. Its settings, variables and secrets may hold secrets: they go into no log.
#[derive(Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct LoadMessage {
    /// The load as JSON, without its outputs. The program around the agent reads and checks it.
    pub load: Value,
    /// The files that the load names, and files that those name, by the paths that they have there.
    pub files: BTreeMap<String, Digest>,
    /// The variables that each session begins with, as JSON values.
    pub variables: BTreeMap<String, Value>,
    /// Values that no output shows.
    pub secrets: Vec<String>,
}

/// A part of a file.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FilePart {
    /// The digest of the whole file.
    pub digest: Digest,
    /// The number of the part, from 0. Parts are sent in order.
    pub part: u64,
    /// Whether it is the last one.
    pub last: bool,
    /// The bytes in base64 (RFC 4648).
    pub content: String,
}

impl fmt::Debug for FilePart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FilePart").field("digest", &self.digest).field("part", &self.part).finish_non_exhaustive()
    }
}

/// What an agent does if it hears of the coordinator no more.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum IfLost {
    /// It stops at once.
    #[default]
    Stop,
    /// It stops at the end of the plan.
    Finish,
}

/// The kind of a refusal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Refusal {
    /// The target is none that the agent may load.
    Target,
    /// The plan is none that the agent can carry out.
    Plan,
    /// The agent carries out another plan.
    Busy,
    /// The agent cannot reach the target.
    Unreachable,
}

/// The counts of an agent in one interval of one second.
#[derive(Debug, Serialize, Deserialize)]
pub struct Interval {
    /// The number of the interval from 0, counted from the beginning of the measurement.
    pub number: u64,
    /// Whether the agent ended within it.
    pub last: bool,
    /// The counts, with histograms as words `US:COUNT`.
    pub sample: SampleText,
}

/// A sample as it travels: a text that can be read, and whose counts are within their bounds.
#[derive(Debug, Clone, Serialize)]
#[serde(transparent)]
pub struct SampleText {
    text: Box<RawValue>,
    /// The number of requests without a response that it counts.
    #[serde(skip)]
    unanswered: u64,
}

impl<'de> Deserialize<'de> for SampleText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        // Written anew, a text is no longer than a sample makes it, whatever the sender did.
        let sent = Self { text: Box::<RawValue>::deserialize(deserializer)?, unanswered: 0 };
        sent.sample().map(|sample| Self::of(&sample)).map_err(serde::de::Error::custom)
    }
}

impl SampleText {
    /// Writes a sample.
    pub fn of(sample: &Sample) -> Self {
        let text = to_raw_value(sample).expect("a sample has no map whose keys are no texts");
        Self { text, unanswered: sample.unanswered.count().max(sample.unfinished) }
    }

    /// Returns the number of requests without a response that the sample counts.
    pub(crate) fn unanswered(&self) -> u64 {
        self.unanswered
    }

    /// Reads the sample.
    ///
    /// # Errors
    /// [`MessageError::Malformed`].
    pub fn sample(&self) -> Result<Sample, MessageError> {
        let mut sample: Sample = serde_json::from_str(self.text.get()).map_err(MessageError::malformed)?;
        sample.bound(MOST_IN_A_SECOND).map_err(MessageError::malformed)?;
        Ok(sample)
    }
}

/// The counts of one entry of sessions.
#[derive(Debug, Serialize, Deserialize)]
pub struct EntryMessage {
    /// The number of the entry, from 0, counted over all files of the load; of a script's, in the order in which the agent met it.
    pub number: u64,
    /// Its names, by which entries of scripts are known.
    pub name: EntryName,
    /// The counts.
    pub counts: EntryCounts,
    /// The origins of the servers that its requests went to.
    pub origins: Vec<String>,
}

/// The end of an agent's part.
#[derive(Debug, Serialize, Deserialize)]
pub struct End {
    /// The number of intervals that the agent has sent.
    pub intervals: u64,
    /// Whether it was stopped before the end of the plan.
    pub stopped: bool,
    /// Why there was no run at all; no other field but the next one means anything then.
    pub failed: Option<String>,
    /// Whether there was none because not one connection came about.
    pub unreachable: bool,
    /// What the samples do not contain.
    pub facts: Facts,
    /// What the agent found out about itself.
    pub own: Own,
}

/// What an agent's samples do not contain.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Facts {
    /// The duration of the measured time in nanoseconds.
    pub duration_ns: u64,
    /// The number of requests started.
    pub started: u64,
    /// Whether the number of requests started is not known.
    pub given_up: bool,
    /// The number of connections that were open when the warm-up ended.
    pub carried: u64,
    /// The maximum number of concurrent connections.
    pub peak: u64,
    /// The maximum number of source addresses of a thread.
    pub sources: u64,
    /// Where the times of responses come from.
    pub timestamps: TimestampSource,
    /// The resource use of each thread.
    pub threads: Vec<ThreadCost>,
    /// The parameters of TLS.
    pub tls: Option<Tls>,
    /// The first response with a status of 400 or more.
    pub failed_response: Option<FailedResponse>,
    /// The counts of the warm-up.
    pub warmup: Option<Sample>,
    /// The counts of sessions, without their entries.
    pub sessions: Option<SessionCounts>,
    /// The number of entries of sessions, each of which has a message of its own.
    pub entries: u64,
}

/// What an agent found out about itself, of its own part alone.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Own {
    /// The share of the time in which its busiest thread was not idle; `None` if nothing is known of its threads.
    pub busy_share: Option<f64>,
    /// The 99th percentile of its send lag in microseconds.
    pub send_lag_p99_us: Option<u64>,
    /// Whether a thread was saturated.
    pub saturated: bool,
    /// Its verdict in one sentence.
    pub verdict: Option<String>,
    /// The criteria of validity that its part does not meet.
    pub findings: Vec<Finding>,
    /// The error that ended its part, of a script.
    pub error: Option<String>,
}

impl Message {
    /// Returns the message as bytes.
    pub fn encode(&self) -> Bytes {
        let sent = Sent { version: PROTOCOL, message: self };
        serde_json::to_vec(&sent).expect("no message has a map whose keys are no texts").into()
    }

    /// Reads a message. Each field of it is within its bounds then, and each text of a machine is printable.
    ///
    /// # Errors
    /// [`MessageError`].
    pub fn decode(bytes: &[u8]) -> Result<Self, MessageError> {
        if bytes.len() > MOST_MESSAGE {
            return Err(MessageError::Malformed(format!("it is larger than {} MiB", MOST_MESSAGE >> 20)));
        }
        match serde_json::from_slice::<Received>(bytes) {
            Ok(Received { version: PROTOCOL, mut message }) => {
                message.bound().map_err(MessageError::malformed)?;
                Ok(message)
            }
            Ok(Received { version, .. }) => Err(MessageError::Version(version)),
            // Another version may have other messages.
            Err(error) => match serde_json::from_slice::<Version>(bytes) {
                Ok(Version { version, .. }) if version != PROTOCOL => Err(MessageError::Version(version)),
                _ => Err(MessageError::malformed(error)),
            },
        }
    }
}

#[cfg(test)]
mod hostile;
#[cfg(test)]
mod tests;
