//! The replay of a log, and the comparison with it.

use crate::latency::Summary;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The replay of a log, and the comparison with it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Replay {
    /// The formats of the logs.
    pub formats: Vec<String>,
    /// The factor by which the time of the log passes faster.
    pub speed: f64,
    /// The time of the first request in the log (RFC 3339, UTC).
    pub from: String,
    /// The time of the last one that was replayed.
    pub to: String,
    /// The number of lines read.
    pub lines: u64,
    /// The number of requests that were taken from the log, up to the end of the run.
    pub requests: u64,
    /// The number of lines that could not be read.
    pub unreadable: u64,
    /// The first of them, without secrets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_unreadable: Option<String>,
    /// The number of lines outside the range of times.
    pub outside: u64,
    /// The requests left out for their method.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub left_out_methods: BTreeMap<String, u64>,
    /// The requests left out for their host.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub left_out_hosts: BTreeMap<String, u64>,
    /// The number of requests that were in flight for so long that they were replayed later than they began.
    pub late: u64,
    /// Whether the log has whole seconds, so that the requests of a second were spread evenly over it.
    pub spread: bool,
    /// The requests of the log per second; `None` if they are of one second.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bursts: Option<Bursts>,
    /// The responses whose status the log has as well.
    pub compared: u64,
    /// Of these, responses with another status.
    pub changed: u64,
    /// The statuses then and now, most frequent first.
    pub statuses: Vec<StatusPair>,
    /// The response times in the log, where it has them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub then_us: Option<Summary>,
    /// The requests by template of the path, most frequent first.
    pub paths: Vec<ReplayedPath>,
}

/// How much the number of requests per second varies, by the clock of the log.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Bursts {
    /// The number of seconds.
    pub seconds: u64,
    /// The mean number of requests per second.
    pub mean: f64,
    /// The greatest number of requests in a second.
    pub peak: u64,
    /// The index of dispersion: the variance of the counts per second divided by their mean. It is about 1 for independent users, 0 for
    /// a constant rate, and greater for bursts.
    pub dispersion: f64,
}

/// The number of responses with a status, to requests whose response had the same or another one in the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct StatusPair {
    /// The status in the log.
    pub then: u16,
    /// The status in the run.
    pub now: u16,
    /// The number of responses.
    pub count: u64,
}

/// The requests of one template of paths.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ReplayedPath {
    /// The method.
    pub method: String,
    /// The path with `{id}` in the place of segments that vary, without the query. Paths beyond the bound of the table are `others`.
    pub path: String,
    /// The number of requests that ended: with a response, or failed.
    pub requests: u64,
    /// Of these, requests that failed without a response.
    pub failed: u64,
    /// Of these, responses with another status than in the log.
    pub changed: u64,
    /// The median response time in the log in microseconds, with two significant digits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub then_p50_us: Option<u64>,
    /// The median in the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub now_p50_us: Option<u64>,
    /// The 99th percentile in the log.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub then_p99_us: Option<u64>,
    /// The 99th percentile in the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub now_p99_us: Option<u64>,
}
