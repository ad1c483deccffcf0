//! The gain of throughput that a finding promises, as data. `torr-report` has the sentences.

/// The change that a gain is promised for.
#[derive(Debug, Clone, Copy, PartialEq)]
#[allow(missing_docs, reason = "the words of each change in torr-report describe it")]
pub enum Change {
    KeptConnections,
    PortForEach,
    MorePorts,
    AllAccepted,
    NoLimiter,
    NoFailures,
    GeneratorCpu,
    AnotherThread,
    CpuOfGenerator,
    HalfTheBytes,
    WholeMachine,
    CheaperQueries,
    CheaperRequests,
    CheaperEvents,
    OneQuery,
    RawDriver,
    CheaperProxy,
    Connections(usize),
    MoreConnections,
    NoNetworkDelay,
    SameConnections,
    TwiceTheLimit,
    TwiceThePool,
    AdvisedWorkers,
    TwiceTheWorkers,
    NoLock,
    /// Workers as many as there are CPUs, or as the free CPU allows; `elsewhere` is the factor with the generator on another machine.
    MoreWorkers {
        by_free_cpu: bool,
        elsewhere: Option<f64>,
    },
}

/// Why an end of a gain is unknown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "the words of each reason in torr-report describe it")]
pub enum UnknownGain {
    CpuNotVisible,
    OthersUseCpu,
    NextLimitNotReached,
    ServiceNotAtLimit,
    NothingServed,
    ConnectionCost,
    HardlyConnected,
    AcceptedNotSeen,
    FailuresTellLittle,
    NoMoreTried,
    QueryCost,
    NotTried,
    ProxyCost,
    ConcurrencyNotSeen,
}

/// The throughput after the advice was followed, as an interval of factors of the measured throughput.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Promise {
    /// The lower end. `None` where it is unknown.
    pub low: Option<f64>,
    /// The upper end. `None` where it is unknown.
    pub high: Option<f64>,
    /// The change.
    pub change: Change,
    /// Why an end is unknown. `None` if both are known.
    pub unknown: Option<UnknownGain>,
}

impl Promise {
    /// Returns a gain between two factors.
    pub fn between(low: f64, high: f64, change: Change) -> Self {
        Self { low: Some(low), high: Some(high), change, unknown: None }
    }

    /// Returns a gain whose upper end is unknown.
    pub fn at_least(low: f64, change: Change, why: UnknownGain) -> Self {
        Self { low: Some(low), high: None, change, unknown: Some(why) }
    }

    /// Returns a gain that is unknown.
    pub fn unknown(change: Change, why: UnknownGain) -> Self {
        Self { low: None, high: None, change, unknown: Some(why) }
    }
}
