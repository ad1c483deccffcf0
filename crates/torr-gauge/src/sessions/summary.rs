//! Sessions and entries as the result contains them.

use super::counts::SessionCounts;
use super::entry::{AssertExample, EntryCounts};
use super::name::EntryName;
use crate::Latency;
use crate::generator::round3;
use crate::latency::Summary;
use crate::streams::Streams;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The facts of a run with sessions.
#[derive(Debug, Default)]
pub struct SessionFacts {
    /// The maximum number of concurrent virtual users.
    pub users: u64,
    /// The names of the entries, by number.
    pub entries: Vec<EntryName>,
    /// The origins of the servers that requests may go to, by number.
    pub origins: Vec<String>,
    /// The merged counts of all threads.
    pub counts: SessionCounts,
}

/// The sessions of a run. `started` = `finished` + `failed` + `unfinished`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SessionSummary {
    /// The maximum number of concurrent virtual users.
    pub users: u64,
    /// The number of sessions begun.
    pub started: u64,
    /// The number of sessions that came to their end.
    pub finished: u64,
    /// The number of sessions that ended early at an entry.
    pub failed: u64,
    /// The number of sessions in progress when the run ended.
    pub unfinished: u64,
    /// Finished sessions per second.
    pub per_second: f64,
    /// The durations of finished sessions in microseconds, from the scheduled time of the session to its end.
    pub duration_us: Option<Summary>,
}

/// One entry of a run's sessions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EntryResult {
    /// The name, from the file or made of method and path. Several entries may have one name.
    pub name: String,
    /// The file.
    pub file: String,
    /// The line of the request in the file, from 1.
    pub line: usize,
    /// The origins of the servers that the entry's requests went to, where a run has more than one server.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub origins: Vec<String>,
    /// The number of complete responses, whatever the status.
    pub requests: u64,
    /// Complete responses per second.
    pub rps: f64,
    /// The number of complete responses by status code.
    pub status: BTreeMap<u16, u64>,
    /// The number of calls of gRPC by the name of their status, other than OK.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub grpc: BTreeMap<String, u64>,
    /// The number of requests that failed: without a complete response, with a failed assert, or, where the entry expects no
    /// status, with a status of 400 or more.
    pub failed: u64,
    /// The part of `failed` without a complete response.
    pub request_failures: u64,
    /// The number of requests without a response when the run ended.
    pub unfinished: u64,
    /// The number of requests that were sent again because of failed asserts.
    pub retries: u64,
    /// The number of sessions that ended early at this entry.
    pub sessions_failed: u64,
    /// The reasons other than asserts for which sessions ended early at this entry, the most frequent first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub causes: Vec<EntryCause>,
    /// The response times in microseconds, with the ages of requests that timed out or are unfinished.
    pub latency_us: Option<Summary>,
    /// The streams among the responses, if any were event streams. Their lengths are response times of the entry.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub streams: Option<Streams>,
    /// The number of failed asserts; one response may fail several.
    pub asserts_failed: u64,
    /// The asserts, in the order of the file.
    pub asserts: Vec<AssertResult>,
}

/// A reason for which sessions ended early.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EntryCause {
    /// The reason.
    pub what: String,
    /// The number of sessions.
    pub count: u64,
}

/// One assert of an entry.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AssertResult {
    /// The assert, such as `status == 200`.
    pub assert: String,
    /// The number of responses that failed it.
    pub failed: u64,
    /// The first distinct examples of what was expected and what was there.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub examples: Vec<AssertExample>,
}

impl SessionFacts {
    /// Returns the sessions of a run of this length in seconds.
    pub(crate) fn summary(&self, duration_s: f64) -> SessionSummary {
        let counts = &self.counts;
        SessionSummary {
            users: self.users,
            started: counts.started,
            finished: counts.finished,
            failed: counts.failed,
            unfinished: counts.unfinished,
            per_second: per_second(counts.finished, duration_s),
            duration_us: counts.durations.summary(),
        }
    }

    /// Returns the entries of a run of this length in seconds.
    pub(crate) fn entries(&self, duration_s: f64) -> Vec<EntryResult> {
        let nothing = EntryCounts::default();
        let counts = self.counts.entries.iter().chain(std::iter::repeat(&nothing));
        self.entries.iter().zip(counts).map(|(name, counts)| self.entry(name, counts, duration_s)).collect()
    }

    fn entry(&self, name: &EntryName, counts: &EntryCounts, duration_s: f64) -> EntryResult {
        let several = self.origins.len() > 1;
        let origins = counts.servers().filter_map(|number| self.origins.get(number)).filter(|_| several);
        let assert = |(at, assert): (usize, &String)| {
            let counts = counts.asserts.get(at).cloned().unwrap_or_default();
            AssertResult { assert: assert.clone(), failed: counts.failed, examples: counts.examples }
        };
        let (status, grpc) = counts.status.by_name(false);
        let cause = |(what, count): (&str, u64)| EntryCause { what: what.to_owned(), count };
        EntryResult {
            name: name.name.clone(),
            file: name.file.clone(),
            line: name.line,
            origins: origins.cloned().collect(),
            requests: counts.requests(),
            rps: per_second(counts.requests(), duration_s),
            status,
            grpc,
            failed: counts.failed(),
            request_failures: counts.request_failures,
            unfinished: counts.unfinished,
            retries: counts.retries,
            sessions_failed: counts.sessions_failed,
            causes: counts.causes().into_iter().map(cause).collect(),
            latency_us: counts.summary(),
            streams: counts.streams.as_ref().map(|streams| streams.summary(&Latency::default(), duration_s)),
            asserts_failed: counts.asserts_failed(),
            asserts: name.asserts.iter().enumerate().map(assert).collect(),
        }
    }
}

fn per_second(count: u64, duration_s: f64) -> f64 {
    round3(count as f64 / duration_s.max(f64::MIN_POSITIVE))
}
