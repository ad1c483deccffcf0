//! The messages between agents and coordinators, as `docs/fleet-protocol.md` describes them.

use bytes::Bytes;
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};
use std::collections::BTreeMap;
use std::fmt;
use thiserror::Error;
use torr_gauge::Sample;
use torr_gauge::failed_response::FailedResponse;
use torr_gauge::generator::{ThreadCost, TimestampSource};
use torr_gauge::result::Tls;
use torr_gauge::sessions::{EntryCounts, EntryName, SessionCounts};
use torr_gauge::validity::Finding;

/// The version of the messages. One that a receiver does not know is refused.
pub const PROTOCOL: u32 = 1;

/// The version of the program, whose samples only the same version merges.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

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
    #[error("it speaks version {0} of the fleet's messages, and this program version {PROTOCOL}")]
    Version(u32),
    /// The bytes are not what a sender of this version sends.
    #[error("it is no message of a fleet: {0}")]
    Malformed(String),
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
        files: Vec<String>,
    },
    /// Coordinator to an agent: a part of a file. The response is [`Message::Ready`] or [`Message::Refused`].
    File(Box<FilePart>),
    /// Agent to coordinator: the plan can begin.
    Ready {
        /// The run.
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
        run: String,
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
        run: String,
        /// The numbers of the intervals.
        intervals: Vec<u64>,
        /// The numbers of the entries.
        entries: Vec<u64>,
    },
    /// To agents and coordinators: end this run now, or every run of the fleet.
    Stop {
        /// The run; `None` for all.
        run: Option<String>,
    },
}

/// What an agent is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Hello {
    /// The agent's name, unique in the fleet.
    pub agent: String,
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
    pub run: Option<String>,
}

/// An agent's part of a run. The words may hold secrets: they go into no log, and `Debug` does not show them.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
pub struct PlanMessage {
    /// The run.
    pub run: String,
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

/// A load as it travels. The words, variables and secrets may hold secrets: they go into no log.
#[derive(Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct LoadMessage {
    /// The words of a command line, without those of outputs.
    pub words: Vec<String>,
    /// The files that the words name, and files that those name, by the paths that they have there: the SHA-256 of each in
    /// hexadecimal digits.
    pub files: BTreeMap<String, String>,
    /// The variables that each session begins with, as JSON values.
    pub variables: BTreeMap<String, Value>,
    /// Values that no output shows.
    pub secrets: Vec<String>,
}

/// A part of a file.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FilePart {
    /// The SHA-256 of the whole file in hexadecimal digits.
    pub digest: String,
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

/// A sample as it travels.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SampleText(Box<RawValue>);

impl SampleText {
    /// Writes a sample.
    pub fn of(sample: &Sample) -> Self {
        Self(to_raw_value(sample).expect("a sample has no map whose keys are no texts"))
    }

    /// Reads the sample.
    ///
    /// # Errors
    /// [`MessageError::Malformed`].
    pub fn sample(&self) -> Result<Sample, MessageError> {
        serde_json::from_str(self.0.get()).map_err(|error| MessageError::Malformed(error.to_string()))
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
    /// The share of the time in which its busiest thread was not idle.
    pub busy_share: f64,
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

    /// Reads a message.
    ///
    /// # Errors
    /// [`MessageError`].
    pub fn decode(bytes: &[u8]) -> Result<Self, MessageError> {
        match serde_json::from_slice::<Received>(bytes) {
            Ok(Received { version: PROTOCOL, message }) => Ok(message),
            Ok(Received { version, .. }) => Err(MessageError::Version(version)),
            // Another version may have other messages.
            Err(error) => match serde_json::from_slice::<Version>(bytes) {
                Ok(Version { version, .. }) if version != PROTOCOL => Err(MessageError::Version(version)),
                _ => Err(MessageError::Malformed(error.to_string())),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_version_is_something_else_than_no_message() {
        let text = String::from_utf8(Message::Call.encode().to_vec()).unwrap();
        assert_eq!(text, r#"{"version":1,"message":"call"}"#);
        assert!(matches!(Message::decode(text.as_bytes()), Ok(Message::Call)));
        let later = r#"{"version":2,"message":{"what":{"nobody":"knows"}}}"#;
        assert_eq!(Message::decode(later.as_bytes()).unwrap_err(), MessageError::Version(2));
        for bad in ["", "{}", r#"{"version":1,"message":"sing"}"#, "[1]"] {
            assert!(matches!(Message::decode(bad.as_bytes()), Err(MessageError::Malformed(_))), "{bad}");
        }
    }

    #[test]
    fn a_sample_survives_the_way() {
        use torr_gauge::error_times::ErrorClass;
        use torr_gauge::{Failure, FailureKind, FailureSide};
        let mut sample = Sample { sent: 1, received: 2, body: 3, opened: 4, unfinished: 6, ..Sample::default() };
        (1..500).for_each(|n| sample.answered.record(n * 12_345));
        sample.lag.record(77_000);
        sample.status.count(200);
        sample.status.count(503);
        sample.failures.count(Failure::new(FailureKind::Read, FailureSide::Server, "gone"));
        sample.error_times.record(ErrorClass::Status(503), 9_000_000);
        sample.error_times.record(ErrorClass::Kind(FailureKind::Read), 7);
        let answered = sample.answered.clone();
        let text = SampleText::of(&sample);
        let bytes = Message::Interval(Box::new(Interval { number: 3, last: true, sample: text })).encode();
        let Ok(Message::Interval(interval)) = Message::decode(&bytes) else { panic!("{bytes:?}") };
        let read = interval.sample.sample().unwrap();
        assert!(read.answered == answered, "the histogram is another");
        let failed = (read.failures.of(FailureKind::Read), read.status_errors());
        assert_eq!((interval.number, interval.last, failed), (3, true, (1, 1)));
        let again = Interval { sample: SampleText::of(&read), ..*interval };
        assert_eq!(Message::Interval(Box::new(again)).encode(), bytes, "nothing is lost");
    }

    #[test]
    fn a_plans_words_are_not_shown() {
        let plan = PlanMessage {
            run: "r".into(),
            load: LoadMessage { words: vec!["--user=a:secret".into()], ..LoadMessage::default() },
            part: 1.0,
            connections: 1,
            requests: None,
            phase: 0.0,
            users_before: 0,
            if_lost: IfLost::Stop,
        };
        assert!(!format!("{:?}", Message::Plan(Box::new(plan))).contains("secret"));
    }
}
