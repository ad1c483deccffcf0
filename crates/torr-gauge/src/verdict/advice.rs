//! What a verdict recommends, as data. `torr-report` has a sentence for each.

use super::experiment::KeepAliveCondition;

/// A recommended change or a next step.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs, reason = "the sentence of each advice in torr-report describes it")]
pub enum Advice {
    // The next test.
    FindLimit,
    Diagnose,
    CompareConnections { fewer: usize, more: usize },
    TestConnections { connections: usize },
    TestBelowLimit,
    MoreRequests,
    KeepAgents,
    StopOthers,
    MoreBudget,
    LetItEnd { seconds: f64 },
    LongerBudget,
    RaiseMaxRate,
    WatchServer,
    ComparePaths,
    TryOne { command: Option<String> },
    StartServer { command: String },
    ExportSecrets { variables: Vec<(String, String)> },
    // The generator.
    MoreThreads,
    MoreCpu,
    MoreAgents,
    OtherMachine,
    RunBelowElsewhere,
    KeepConnectionsOrSources,
    WidenPortRange,
    // The network.
    LoadFromNearer,
    ServeFromNearer,
    SendLess,
    RaiseConnectionRate,
    WriteOnce,
    // Connections.
    KeepConnections,
    KeepInClients,
    TurnKeepAliveOn,
    DropCondition { condition: KeepAliveCondition },
    RaiseKeepAliveTimeout,
    ResumeSessions,
    EcdsaCertificate,
    RaiseBacklog,
    AcceptFaster,
    // The server.
    CheaperRequests,
    Profile,
    MoreWorkers { workers: usize },
    MoreBlockingWorkers { cores: Option<usize> },
    StillMoreWorkers,
    SpreadConnections,
    RaiseQuota,
    ShortenLock,
    FindPool { size: f64 },
    RaiseLimit,
    // What stands before or behind the server.
    CheaperProxy,
    KeepUpstreamConnections,
    ProxyLimits,
    SlowQueries,
    CacheReads,
    LargerPool { connections: f64 },
    FasterQueries,
    OneQuery,
    FewerRows,
    // Failures.
    FixFailures,
    FixFirst,
    LogUnderLoad,
    LookAtResponse,
    FollowRedirects,
    LookAtSession { file: String },
    LogOfSilence,
    LogOf503,
    // The search for a limit.
    RaiseMaxConnections { connections: usize },
    RaiseBudget { seconds: f64 },
    LowerObjectives,
    ShedLoad,
    BoundQueue,
    SearchAgain { factor: f64, noise: bool },
}
