//! The identity of each experiment, by which evidence, recordings and rules find its observation, and the question that it settles.

use serde::{Deserialize, Serialize};
use std::net::SocketAddr;
use torr_gauge::verdict::{CheapRequest, KeepAliveCondition};

/// The identity of an experiment within a diagnosis.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[allow(missing_docs, reason = "the question of each experiment describes it")]
pub enum ExperimentId {
    // The survey.
    Alone,
    AloneLonger,
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
    Offered,
    OfferedTwice,
    TwoAddresses,
    // What limits the rate.
    Gentle,
    WholeResponses,
    HeadsOnly,
    AfterPause,
    // The generator.
    Threads(usize),
    Agents(usize),
    // Proxies.
    Upstream(SocketAddr),
    ThroughProxy,
    Direct,
}

impl ExperimentId {
    /// Returns the question that the experiment settles.
    pub fn why(self) -> &'static str {
        use ExperimentId as Id;
        match self {
            Id::Alone => "what a request takes when nothing else is asked",
            Id::AloneLonger => "hardly one was answered in so short a time",
            Id::AloneAcked => "what a request takes when nothing else is asked, acknowledged at once",
            Id::AloneAckedLonger => "hardly one was answered in so short a time, acknowledged at once",
            Id::Cheap(_) => "whether there is a request that costs the server little",
            Id::Rung(_) => "where throughput stops to grow",
            Id::Full => "what the service does under your load",
            Id::FullUndisturbed => "again, since other programs used the machine",
            Id::FullSpread => "again, since one of the server's workers had nearly all connections",
            Id::Double => "whether more connections bring more",
            Id::DoubleConnected => "again, once all of them have come about",
            Id::Null => "what this generator reaches where the service costs nothing",
            Id::NullConnecting => "what a connection costs here",
            Id::Beside(_) | Id::LightLoad(_) => "whether others wait while the target is saturated",
            Id::AckedAsUsual | Id::AckedAtOnce => "whether answers wait for acknowledgements",
            Id::LoadAckedAsUsual | Id::LoadAckedAtOnce => "whether your load waits for acknowledgements",
            Id::KeptIf(_) => "what keep-alive depends on",
            Id::Idle => "how long the server keeps it",
            Id::EachConnects | Id::KeptAlive => "what it would bring to keep connections",
            Id::AsRequested | Id::WithCondition(_) => "whether the condition for keep-alive is this",
            Id::KeepAliveOffered | Id::KeepAliveNotOffered => "whether it makes a difference to offer keep-alive",
            Id::FewerPorts => "whether fewer connections find their ports",
            Id::FewConnections => "whether connections are dropped then, too",
            Id::ConnectForHeads => "whether connections are dropped where answers are small, too",
            Id::Offered | Id::OfferedTwice => "whether more is accepted if more is asked for",
            Id::TwoAddresses => "whether the limiter counts each client's address apart",
            Id::Gentle => "whether the quota still throttles at less than half the load",
            Id::WholeResponses | Id::HeadsOnly => "whether smaller answers pass more often",
            Id::AfterPause => "whether more passes after a pause",
            Id::Threads(_) => "whether another thread of the generator brings more",
            Id::Agents(_) => "whether more agents bring more",
            Id::Upstream(_) => "whether what is behind it gives the same answer",
            Id::ThroughProxy | Id::Direct => "what the proxy costs",
        }
    }
}
