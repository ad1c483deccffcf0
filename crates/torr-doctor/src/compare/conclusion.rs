//! The conclusion of a comparison, as data. The program has a sentence for each headline, fact and advice.

use super::transport::HttpVersion;
use crate::turns::Ratio;
use serde::Serialize;
use torr_gauge::verdict::{Advice, Headline};

/// The conclusion of a comparison.
#[derive(Debug, Clone, PartialEq)]
pub struct Conclusion {
    /// The result.
    pub headline: ComparisonHeadline,
    /// The evidence.
    pub because: Vec<ComparisonFact>,
    /// The recommended changes.
    pub advice: Vec<ComparisonAdvice>,
    /// A command that verifies the conclusion.
    pub verify: Option<String>,
}

/// A variant most of whose requests fail.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Failing {
    /// The variant's name.
    pub name: String,
    /// The share of failed requests, 0 to 1.
    pub share: f64,
    /// The most frequent failure.
    pub failure: Option<String>,
}

/// A variant and its throughput in good responses per second.
#[derive(Debug, Clone, PartialEq)]
pub struct WayRate {
    /// The variant's name.
    pub name: String,
    /// The median throughput.
    pub rps: f64,
}

/// The result of a comparison.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs, reason = "the sentence of each headline describes it")]
pub enum ComparisonHeadline {
    NothingToCompare {
        failing: Vec<Failing>,
    },
    FirstPathFails {
        first: Failing,
        best: WayRate,
        worst: WayRate,
    },
    PathsVague,
    PathsSame {
        first: String,
        rounds: usize,
    },
    PathsDiffer {
        best: WayRate,
        worst: WayRate,
    },
    /// The shares of the throughput of plain connections: with keep-alive, and of full handshakes without it.
    TlsCost {
        kept: f64,
        full: Option<f64>,
    },
    TlsConnecting {
        share: f64,
    },
    ProxyUnknown {
        failing: Vec<Failing>,
    },
    ProxyVague {
        ratio: Ratio,
    },
    ProxyFree {
        ratio: Ratio,
    },
    ProxyGains {
        ratio: Ratio,
    },
    /// `machine` is what a diagnosis finds about the machine, if its CPU is saturated.
    ProxyCosts {
        ratio: Ratio,
        machine: Option<Headline>,
    },
    WorkersUnknown {
        failing: Failing,
    },
    ConnectionsLimit {
        connections: usize,
        workers: usize,
    },
    ConnectionsBusy {
        connections: usize,
        workers: usize,
    },
    OneCountEnough {
        workers: usize,
    },
    StillGrowing {
        workers: usize,
    },
    FewestEnough {
        workers: usize,
    },
}

/// A measurement of a comparison.
///
/// Names that end with `_s` are seconds, with `_us` microseconds, with `_rps` good responses per second; `share` is from 0 to 1,
/// `cores` is CPU time in CPUs.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "fact", rename_all = "kebab-case")]
#[allow(missing_docs, reason = "the sentence of each fact describes it")]
pub enum ComparisonFact {
    MostlyFails {
        failing: Failing,
        is_base: bool,
    },
    Failed {
        name: String,
        share: f64,
    },
    ShortTurns {
        name: String,
    },
    PathThroughput {
        name: String,
        first: String,
        ratio: Ratio,
        server_us: Option<f64>,
        first_server_us: Option<f64>,
    },
    TlsKept {
        ratio: Ratio,
    },
    FullHandshakes {
        ratio: Ratio,
    },
    ResumedHandshakes {
        ratio: Ratio,
    },
    ResumedConnecting {
        ratio: Ratio,
    },
    Version {
        version: HttpVersion,
        ratio: Ratio,
    },
    HandshakeTimes {
        full_s: f64,
        resumed_s: f64,
    },
    NoneResumed,
    Throughputs {
        direct_rps: f64,
        through_rps: f64,
    },
    Medians {
        direct_s: f64,
        through_s: f64,
    },
    ResponseCost {
        proxy_us: f64,
        service_us: Option<f64>,
    },
    CpuUse {
        proxy: String,
        proxy_cores: f64,
        service: String,
        service_cores: f64,
        machine_share: f64,
    },
    UpstreamOpened {
        per_request: f64,
    },
    UpstreamKept {
        share: f64,
    },
    WorkersThroughput {
        workers: usize,
        rps: f64,
    },
    BusyConnections {
        share: f64,
        connections: usize,
        alone_s: f64,
    },
    FewerWorkers {
        workers: usize,
        ratio: Ratio,
    },
    MostThroughput {
        workers: usize,
        rps: f64,
        ratio: Ratio,
    },
    /// The rule of thumb for the number of workers, beside `chosen`, the measured one. `least` is the smallest number of workers,
    /// with which a worker used `worker_cores`; it is enough if `chosen` is the same.
    RuleOfThumb {
        work: Option<Work>,
        worker_cores: Option<f64>,
        least: usize,
        cores: usize,
        waiting: (usize, usize),
        chosen: usize,
    },
}

/// The kind of work of a worker.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Work {
    /// The work uses the CPU most of the time.
    Computes,
    /// The work waits most of the time.
    Waits,
}

/// A recommended change or a next step.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs, reason = "the sentence of each advice describes it")]
pub enum ComparisonAdvice {
    /// An advice that a diagnosis has as well.
    Diagnosis(Advice),
    OrmCost,
    KeepUpstreamIfNot,
    NoAccessLog,
    ServeStatic,
    StartWith {
        workers: usize,
    },
    /// `None` where the user has limited the connections.
    MoreConnections {
        connections: Option<usize>,
    },
    LongerBudget,
    MoreCounts,
    MoreConnectionsThanWorkers {
        connections: usize,
    },
    Diagnose,
}
