//! The facts that a verdict rests on: measurements as data. `torr-report` has a sentence for each.

use super::experiment::{CheapRequest, ExperimentLabel, KeepAliveCondition};
use super::limit::{OverloadEffect, SearchGoal};
use crate::fleet::EarlyEnd;
use serde::{Deserialize, Serialize};
use torr_signals::{ProgramUse, Signals};

/// A ratio of throughput between two loads that were measured in turns, with its 95% confidence interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Speedup {
    /// The median throughput of the first load, in good responses per second.
    pub before_rps: f64,
    /// The median throughput of the second load, in good responses per second.
    pub after_rps: f64,
    /// The ratio of the second to the first.
    pub ratio: f64,
    /// The interval of the ratio; `None` with one pair.
    pub interval: Option<(f64, f64)>,
    /// The number of pairs.
    pub pairs: usize,
}

/// What a load counts: requests or sessions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Unit {
    /// Requests.
    Request,
    /// Sessions of several requests.
    Session,
}

/// What a thread waits for in the kernel, as far as the name of the kernel's function tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WaitKind {
    /// A time to pass: a sleep.
    Sleep,
    /// Data from a socket.
    Socket,
    /// Data from a pipe.
    Pipe,
    /// A disk: a read, or data to be written durably (`fsync`).
    Disk,
    /// A lock of a file.
    FileLock,
    /// A child process to end.
    Child,
}

/// A measurement, or a result of an experiment.
///
/// Names that end with `_s` are seconds, with `_per_s` numbers per second, with `_rps` requests per second.
///
/// `share` is from 0 to 1, `cores` is CPU time in CPUs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "fact", rename_all = "kebab-case")]
#[allow(missing_docs, reason = "the sentence of each fact in torr-report describes it")]
pub enum Fact {
    // The machines.
    ServerCpu { used_cores: f64, cores: Option<usize>, busiest_thread: Option<f64> },
    ServerNotVisible,
    SaturatedThreads { threads: usize, cores: Option<usize> },
    MachineCpu { share: f64, cores: Option<usize> },
    CpuShares { share: f64, others_share: f64 },
    OtherPrograms { programs: Vec<ProgramUse> },
    Steal { share: f64 },
    CpuSplit { server_cores: f64, generator_cores: f64, cores: usize, machine_share: f64 },
    Throttled { quota_cores: f64, share: f64, cgroup: Option<String>, cores: Option<usize> },
    ThrottledAt { rps: f64, share: f64 },
    IdleWorkers { workers: usize },
    ThreadsStopped { share: f64 },
    StopsEachPeriod { period_s: f64, stopped_s: f64 },
    LightLoadStops { request: CheapRequest, rps: f64, target_rps: f64 },
    BehindProxy { services: Vec<String> },
    OthersChanged { least_share: f64, most_share: f64 },
    // The generator.
    GeneratorBusy { share: f64, cores: Option<f64> },
    GeneratorCpu { share: f64 },
    GeneratorStarved { share: f64 },
    GeneratorThrottled { quota_cores: f64, share: f64 },
    GeneratorCost { us: f64 },
    AnotherThread { speedup: Speedup },
    MoreAgents { from: usize, to: usize, speedup: Speedup },
    NullService { null_rps: f64, rps: f64 },
    NullConnecting { kept_rps: f64, connecting_rps: f64 },
    AgentLost { agent: String, share: f64, why: Option<EarlyEnd> },
    AgentEnded { agent: String, share: f64 },
    AgentLimit { agent: String },
    FiguresUntil { at_s: f64 },
    // The load.
    Responses { responses: u64 },
    Events { events: u64 },
    Done { unit: Unit, done: u64, due: u64, unfinished: u64 },
    RateCapped { unit: Unit, rps: f64, cap_rps: f64 },
    FewFailed { failed: u64 },
    RateLostWithAgent { agent: String },
    RateMissed { unit: Unit, due: u64, share: f64 },
    RateLate { due: u64, last_due_s: f64, ended_s: f64 },
    RateAbandoned { unit: Unit, due: u64, share: f64, patience_s: f64 },
    Pauses { mean_s: f64 },
    Utilisation { connections: usize, rps: f64, share: f64 },
    ThroughputAtMost { rps: f64 },
    NoGoodResponse,
    GrowthPerDoubling { factor: f64, up_to: usize },
    ThroughputGrew { factor: f64, from: usize, to: usize },
    ThroughputFlat { rps: f64, from: usize, to: Option<usize> },
    ThroughputSame { few_rps: f64, few: usize, rps: f64, connections: usize },
    Experiments { made: Vec<ExperimentLabel> },
    // Response times.
    RequestAlone { seconds: f64 },
    ResponseTimes { p50_s: f64, p99_s: Option<f64>, max_s: f64 },
    FirstEvents { p50_s: f64, p99_s: Option<f64>, max_s: f64 },
    FirstEventWaits { p50_s: f64, min_s: f64 },
    Gaps { p50_s: f64, p99_s: Option<f64>, silence_s: f64 },
    LongestSilence { seconds: f64 },
    OpenStreams { open: u64, waiting: u64 },
    NoGap { seconds: f64 },
    EventsAtMost { events_per_s: f64 },
    EventsFlat { events_per_s: f64, from: u64, to: Option<u64> },
    EventsGrew { factor: f64, from: u64, to: u64 },
    StreamsPace { streams: u64, events_per_s: f64, share: f64 },
    StreamsAtATime { open: u64, of: u64 },
    StreamsCapped { begun_per_s: f64, cap_per_s: f64 },
    NullStreams { null_events_per_s: f64, events_per_s: f64 },
    StreamAlone { first_event_s: f64, gap_s: Option<f64> },
    Quartiles { p50_s: f64, p75_s: f64 },
    LongestResponse { seconds: f64 },
    Tail { p50_s: f64, p99_s: f64 },
    Stalls { stalls: u64, longest_s: f64, share: f64 },
    Silence { from_s: f64, to_s: f64 },
    NoQueueing { median_s: f64, min_s: f64 },
    ConnectionsBound { min_s: f64, connections: usize, rps: f64 },
    Waiting { mean_s: f64, min_s: f64, at_a_time: f64 },
    AtATime { connections: usize, rps: f64, alone_s: f64, at_a_time: f64, range: Option<(f64, f64)> },
    LessThanOne { alone_s: f64, at_a_time: f64 },
    Burst { pause_s: f64, responses: f64, expected: f64 },
    Handler { request: CheapRequest, seconds: f64, target_s: f64 },
    LightLoad { connections: usize, request: CheapRequest, response_s: Option<f64>, alone_s: f64, waits: bool },
    InService { requests: f64, of: f64 },
    ThreadsBlocked { threads: usize },
    ThreadsTakeTurns { threads: usize },
    // The network.
    RoundTrip { rtt_s: f64, response_s: f64 },
    RoundTripShare { share: f64 },
    RoundTripGrew { from_s: f64, to_s: f64 },
    RoundTripBound { connections: usize, rps: f64 },
    Traffic { received_bytes_per_s: f64, sent_bytes_per_s: f64 },
    ConnectDelay { seconds: f64 },
    SmallerResponses { bytes: f64, usual_bytes: f64, speedup: Speedup },
    PacedResponses { share: f64 },
    ConnectionRate { bytes_per_s: f64, rtt_s: f64 },
    DelayedAcks { per_response: f64 },
    DelayedAckTimes,
    AckedAtOnce { before_s: f64, after_s: f64, speedup: Option<Speedup> },
    LoadAckedAtOnce { speedup: Speedup },
    // Connections.
    ConnectionsOpened { per_response: f64, offered: Option<bool> },
    ConnectionEach,
    ClosedByServer { closed: u64, opened: u64, responses_each: f64 },
    ClosesAfter { requests: u64 },
    ClosesIdle { seconds: f64 },
    IdleCloses { requests: u64, idle_s: Option<f64> },
    KeepAliveDepends { condition: KeepAliveCondition, kept: bool },
    NotKept,
    KeptIf { condition: KeepAliveCondition, speedup: Speedup },
    KeepAliveOffered { speedup: Speedup },
    KeepAliveNotOffered { speedup: Speedup },
    ConnectingCost { share: f64, of_machine: bool },
    HandshakeShare { share: f64, of_single: bool },
    Resumed { resumed: u64, handshakes: u64 },
    NoPort { requests: u64 },
    Opened { connections: u64, responses: u64 },
    FewerPorts { connections: usize, failed: Option<u64> },
    LateConnections { count: u64, share: f64, few: usize, few_share: f64 },
    SlowestConnect { seconds: f64 },
    ConnectTail { p50_s: Option<f64>, p99_s: f64 },
    ListenOverflows { count: u64, few: Option<(usize, u64)> },
    AcceptQueue { backlog: u64, queued: u64 },
    NothingInService,
    PeerQueueFull { peer: String, backlog: u64, queued: u64 },
    PortsTaken { time_wait: u64, ports: u64 },
    UnevenConnections { rps: f64, usual_rps: f64 },
    NotConnected { why: String },
    OpenFiles { process: String, pid: i32, open: u64, limit: u64 },
    // Failures.
    Failed { failed: u64, started: u64 },
    FailedShare { share: f64, alone_share: f64 },
    ErrorsBegin { clean: usize, connections: usize, share: f64 },
    ErrorsStay { connections: usize, share: f64 },
    Cause { count: u64, kind: String, what: String },
    StatusCount { status: u16, count: u64 },
    Unanswered { requests: u64, seconds: Option<f64> },
    AloneUnanswered,
    TimedOut { requests: u64, timeout_s: f64 },
    SessionsFailed { failed: u64, started: u64 },
    SessionsEnded { sessions: u64, entry: String, file: String, line: usize },
    Refused { share: f64, status: u16, alone_share: Option<f64> },
    Accepted { rps: f64 },
    Offered { offered_rps: f64, accepted_rps: f64, twice_rps: f64 },
    TwoAddresses { factor: f64, apart: bool },
    // The search for a limit.
    RateFailed { rps: Option<f64>, why: Option<Box<Self>> },
    StreamsFailed { streams: u64, why: Option<Box<Self>> },
    NoResponse,
    StatusShare { status: u16, share: f64 },
    CauseShare { kind: String, what: String, share: f64 },
    ObjectiveMissed { objective: String, measured: Option<String> },
    FellBehind { share: f64 },
    QueueGrew { seconds_per_s: f64 },
    EndedEarly,
    ClientFailures { what: String },
    SendLag { p99_s: f64 },
    GeneratorMostCpu,
    MaxRateReached,
    GeneratorLimit { why: Option<Box<Self>> },
    ConnectionLimit,
    SearchEnded { interrupted: bool, before: SearchGoal },
    OtherRates { kept_above: Vec<(f64, usize)>, failed_too: bool, failed_below: Vec<(f64, usize)> },
    OtherStreams { kept_above: Vec<(f64, usize)>, failed_too: bool, failed_below: Vec<(f64, usize)> },
    DisturbedSteps { others_share: f64, stolen_share: f64, steps: usize, failed: usize, of: usize },
    Overload(OverloadEffect),
    ConnectionsNeeded { connections: u64, busy: f64, waiting: f64, all: bool },
    Knee { connections: u64 },
    ScalabilityLaw { lambda: f64, sigma: f64, kappa: f64, r2: f64, off: f64, good: bool, peak: Option<f64> },
    // Proxies and what stands behind the server.
    WithoutProxy { service: Option<String>, addresses: Vec<String>, speedup: Speedup },
    ProxyCpu { proxy: Option<String>, cores: f64, saturated_threads: Option<usize> },
    BehindCpu { service: String, cores: f64 },
    UpstreamOpens { peer: Option<String>, per_request: f64 },
    UpstreamKept { share: f64 },
    PeerConnections { peer: String, mean: f64, most: usize },
    PeerInFlight { peer: String, mean: f64, connections: f64 },
    PeerCpu { peer: String, cores: f64, server_cores: f64 },
    PeerThrottled { peer: String },
    Messages { peer: String, per_request: f64 },
    TripTime { alone_s: f64, each_s: f64 },
    BytesFetched { peer: String, bytes: f64, response_bytes: f64 },
    RelayAlone { through_s: f64, direct_s: f64 },
    WorkerProcesses { name: String, processes: usize },
    PeerQueue { peer: String, accepted: f64, unread: f64, queued: f64 },
    PoolerConnections { pooler: String, database: String, mean: f64, most: usize, in_flight: Option<f64> },
    // What requests wait for.
    WaitsIn { what: WaitKind, threads: f64 },
    HeldDuringCall { database: String, connections: f64, querying: f64, peer: String, in_flight: f64 },
    NamesResolved { lookups: f64 },
    LoopBlocked { requests: f64 },
    OtherNamespace,
}

impl Fact {
    /// Returns the programs besides server and generator that used at least `least_cores` of the CPU of the server's
    /// machine. `None` if none did.
    pub fn other_programs(signals: &Signals, least_cores: f64) -> Option<Self> {
        let programs: Vec<_> = signals.busiest_others(least_cores).cloned().collect();
        (!programs.is_empty()).then_some(Self::OtherPrograms { programs })
    }

    /// Returns whether the fact is that a scheduled rate was not kept.
    pub fn is_missed_rate(&self) -> bool {
        matches!(
            self,
            Self::RateLostWithAgent { .. }
                | Self::RateMissed { .. }
                | Self::RateLate { .. }
                | Self::RateAbandoned { .. }
        )
    }
}
