//! The factors that limit a service, and the confidence of a verdict.

use serde::{Deserialize, Serialize};
use std::fmt;

/// The one factor that limits throughput, or that none does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Factor {
    /// The load generator itself.
    Generator,
    /// Too few connections to keep the service busy.
    Connections,
    /// Time on the way.
    NetworkDelay,
    /// The link is full.
    Bandwidth,
    /// Connections are opened over and over.
    KeepAlive,
    /// The client has no local port left.
    ClientPorts,
    /// Connections wait to be accepted, or are dropped.
    AcceptBacklog,
    /// TLS handshakes.
    TlsHandshake,
    /// A proxy in between.
    Proxy,
    /// All CPU that the server can use is used.
    ServerCpu,
    /// One thread is busy while other cores idle.
    SingleCore,
    /// A quota of CPU time.
    CpuQuota,
    /// All workers are taken while CPU is free.
    Workers,
    /// The database behind the service.
    Database,
    /// The layer between the application and its database.
    Orm,
    /// A lock, which lets one request in at a time.
    Lock,
    /// A semaphore, or a pool that is neither of workers nor of the database's connections: several requests at a time.
    Pool,
    /// A limiter that refuses or holds back.
    RateLimit,
    /// Nagle's algorithm against delayed acknowledgements.
    DelayedAck,
    /// Requests fail.
    Errors,
    /// Nothing limits: the service kept the offered rate, and its headroom is unknown.
    None,
    /// The factor is not known.
    Unknown,
}

impl Factor {
    /// Returns the name, as results and reports have it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Generator => "generator",
            Self::Connections => "connections",
            Self::NetworkDelay => "network-delay",
            Self::Bandwidth => "bandwidth",
            Self::KeepAlive => "keep-alive",
            Self::ClientPorts => "client-ports",
            Self::AcceptBacklog => "accept-backlog",
            Self::TlsHandshake => "tls-handshake",
            Self::Proxy => "proxy",
            Self::ServerCpu => "server-cpu",
            Self::SingleCore => "single-core",
            Self::CpuQuota => "cpu-quota",
            Self::Workers => "workers",
            Self::Database => "database",
            Self::Orm => "orm",
            Self::Lock => "lock",
            Self::Pool => "pool",
            Self::RateLimit => "rate-limit",
            Self::DelayedAck => "delayed-ack",
            Self::Errors => "errors",
            Self::None => "none",
            Self::Unknown => "unknown",
        }
    }
}

impl fmt::Display for Factor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The confidence of a verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Confidence {
    /// A passive witness and an intervention agree.
    Certain,
    /// Observations indicate the factor, but no experiment has confirmed it.
    Likely,
    /// The factor is unknown.
    Unknown,
}

impl fmt::Display for Confidence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Certain => "certain",
            Self::Likely => "likely",
            Self::Unknown => "unknown",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_factor_is_spelled_alike_on_screen_and_in_results() {
        for factor in
            [Factor::ServerCpu, Factor::KeepAlive, Factor::ClientPorts, Factor::Pool, Factor::None, Factor::Unknown]
        {
            assert_eq!(serde_json::to_value(factor).unwrap(), factor.to_string());
        }
    }
}
