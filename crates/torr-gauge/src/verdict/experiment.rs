//! The experiments of diagnoses and comparisons, as identities with the numbers of their names. `torr-report` has the name and the
//! question of each.

use serde::{Deserialize, Serialize};
use std::net::SocketAddr;

/// A property of a request that keep-alive may depend on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum KeepAliveCondition {
    /// The client accepts content that is compressed with gzip.
    AcceptsGzip,
    /// The request has the field `Connection: keep-alive`.
    ConnectionField,
    /// The client accepts no compressed content.
    Uncompressed,
    /// The request is of HTTP/1.0.
    Http10,
}

/// A request that a server responds to without the work of its handlers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CheapRequest {
    /// A request for a path that does not exist, which returns 404.
    AbsentPath,
    /// A request of HTTP/1.1 without the field `Host`.
    WithoutHost,
}

/// The identity of an experiment within a diagnosis or a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[allow(missing_docs, reason = "the question of each experiment in torr-report describes it")]
pub enum ExperimentId {
    // The survey.
    Alone,
    AloneLonger,
    AloneUndisturbed,
    AloneAcked,
    AloneAckedLonger,
    Cheap(CheapRequest),
    /// A rung of the ladder, with so many connections.
    Rung(usize),
    Full,
    FullUndisturbed,
    FullSpread,
    Double,
    DoubleConnected,
    Null,
    NullConnecting,
    /// The load beside which a light load of cheap requests is sent.
    Beside(CheapRequest),
    LightLoad(CheapRequest),
    /// The limiting load, while the server's processes are sampled.
    Sampled,
    // Acknowledgements.
    AckedAsUsual,
    AckedAtOnce,
    LoadAckedAsUsual,
    LoadAckedAtOnce,
    // Keep-alive.
    KeptIf(KeepAliveCondition),
    Idle,
    EachConnects,
    KeptAlive,
    AsRequested,
    WithCondition(KeepAliveCondition),
    KeepAliveOffered,
    KeepAliveNotOffered,
    // Failures.
    FewerPorts,
    FewConnections,
    ConnectForHeads,
    FullWithoutErrors,
    Offered,
    OfferedTwice,
    TwoAddresses,
    // What limits the rate.
    Gentle,
    WholeResponses,
    HeadsOnly,
    AfterPause,
    /// The load of the user, sampled so often that stops within a period of a quota show.
    Stops,
    LightStops(CheapRequest),
    // The generator.
    Threads(usize),
    Agents(usize),
    // Proxies.
    Upstream(SocketAddr),
    ThroughProxy,
    Direct,
    /// A pause before an experiment, in which nothing is sent.
    Pause,
    // Turns of comparisons. The label names the variant.
    StartServer,
    StartedAlone,
    FirstRun,
    WorkersTurn,
    ProxyTurn,
    TlsTurn,
    PathsTurn,
    // The comparison of two versions.
    VersionLimit,
    SameVersionTurn,
    VersionsTurn,
}

/// An experiment with all that its name consists of.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ExperimentLabel {
    /// The identity.
    pub id: ExperimentId,
    /// Connections at a time.
    pub connections: usize,
    /// Streams of events at a time, where responses are such.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub streams: Option<usize>,
    /// The offered rate of an open loop in requests per second.
    pub rate: Option<f64>,
    /// The variant of a comparison.
    pub variant: Option<String>,
}
