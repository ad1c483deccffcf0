//! The headline of a finding: what limits the service, as data. `torr-report` has a sentence for each.

/// The rate that a run kept.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum KeptRate {
    /// A rate of the command line, in requests or sessions per second.
    Planned(f64),
    /// A rate of sessions per second.
    Sessions(f64),
    /// The rates that the operator chose during the run.
    Steered,
    /// The rates of stages.
    Stages,
    /// The times of a log.
    Logged,
    /// The highest rate of a closed loop, `--max-rate`.
    Cap(f64),
}

/// The number of workers that block.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum WorkerCount {
    /// Threads that were seen.
    Exactly(usize),
    /// As many as requests in service.
    About(f64),
}

/// What limits a service, or why that is unknown.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs, reason = "the sentence of each headline in torr-report describes it")]
pub enum Headline {
    // Nothing, or nothing that is known.
    RateKept(KeptRate),
    RateKeptWithTail(KeptRate),
    RateKeptThrottled(KeptRate),
    AllAllowed,
    Unclear,
    UnclearNow,
    Interrupted,
    FewRequests,
    FewEvents,
    EventsSteady,
    EventsUneven,
    FirstEventsWait,
    /// Each of so many streams has its events at the pace of one alone: one in so many seconds.
    StreamsPaced {
        streams: u64,
        gap_s: f64,
    },
    EventsHeld,
    /// So many streams have events at a time.
    StreamsAtATime {
        streams: u64,
    },
    Silence,
    AgentLost,
    LoadEndedEarly,
    OthersUseCpu,
    Unavailable,
    SomethingConnects,
    TimeoutTooShort,
    Unseen,
    // The generator.
    Generator,
    GeneratorHere,
    Agents,
    GeneratorFillsMachine,
    MachineFull {
        server_share: f64,
        peers_share: f64,
        generator_share: f64,
    },
    OutOfPorts,
    // The network.
    NetworkTime,
    LinkFull,
    PacedResponses,
    DelayedAck,
    MoreConnections,
    // Connections.
    StreamsHoldConnections,
    /// The service refuses streams beyond so many.
    StreamsRefused {
        streams: u64,
    },
    Handshakes,
    HandshakeEach,
    ConnectionEach,
    ServerCloses,
    ConnectionsDropped,
    // The server.
    AllCpu,
    OneThread {
        cpu_is_free: bool,
    },
    OneCpuShared,
    UnevenWorkers,
    ThreadsSaturated,
    CpuQuota,
    HiddenQuota,
    MachineFullWith {
        server: String,
        is_proxy: bool,
    },
    OneWorker,
    WorkersBlocked(Option<WorkerCount>),
    /// So many streams have a worker each.
    StreamWorkers {
        streams: u64,
    },
    /// A semaphore or a pool lets so many streams begin.
    StreamPool {
        streams: u64,
    },
    Lock,
    Pool {
        size: f64,
    },
    SerialisedComputation,
    RelayWorkers(WorkerCount),
    LimiterRefuses,
    LimiterDelays,
    // What stands before or behind the server.
    Proxy,
    ProxyConnects,
    ProxyOutOfPorts,
    DatabaseBusy,
    PoolInUse,
    PoolerInUse,
    ManyQueries,
    RowsForLittle,
    // Failures.
    NoResponses,
    TooManyFailed,
    AlwaysFail,
    FailUnderLoad,
    SessionsFailed,
}
