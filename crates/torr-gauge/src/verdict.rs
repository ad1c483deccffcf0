//! The factors that limit a service, in the vocabulary of results.

use crate::gain::Gain;
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
    /// A lock.
    Lock,
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

impl fmt::Display for Factor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
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
            Self::RateLimit => "rate-limit",
            Self::DelayedAck => "delayed-ack",
            Self::Errors => "errors",
            Self::None => "none",
            Self::Unknown => "unknown",
        })
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

/// The diagnosis of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Verdict {
    /// The limiting factor.
    pub factor: Factor,
    /// The confidence.
    pub confidence: Confidence,
    /// The verdict in one sentence.
    pub summary: String,
    /// The evidence, in words with numbers.
    pub because: Vec<String>,
    /// Recommended changes.
    pub advice: Vec<String>,
    /// The gain of throughput that following the advice should bring.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gain: Option<Gain>,
    /// A command that would show it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verify: Option<String>,
}

impl Verdict {
    /// A verdict without evidence yet.
    pub fn new(factor: Factor, confidence: Confidence, summary: impl Into<String>) -> Self {
        let (because, advice, gain, verify) = (vec![], vec![], None, None);
        Self { factor, confidence, summary: summary.into(), because, advice, gain, verify }
    }

    /// Adds a piece of evidence.
    #[must_use]
    pub fn because(mut self, reason: impl Into<String>) -> Self {
        self.because.push(reason.into());
        self
    }

    /// Adds a piece of evidence if there is one.
    #[must_use]
    pub fn because_if(self, reason: Option<String>) -> Self {
        match reason {
            Some(reason) => self.because(reason),
            None => self,
        }
    }

    /// Adds a piece of evidence that rests on a count. A count of zero is no evidence, so `tell` is not called then and the verdict
    /// stays as it is.
    #[must_use]
    pub fn because_counted(self, count: u64, tell: impl FnOnce(u64) -> String) -> Self {
        if count > 0 { self.because(tell(count)) } else { self }
    }

    /// Adds a recommended change.
    #[must_use]
    pub fn advice(mut self, advice: impl Into<String>) -> Self {
        self.advice.push(advice.into());
        self
    }

    /// Sets the gain that following the advice should bring.
    #[must_use]
    pub fn gain(mut self, gain: Gain) -> Self {
        self.gain = Some(gain);
        self
    }

    /// Sets the command that would show the limiting factor.
    #[must_use]
    pub fn verify(mut self, command: impl Into<String>) -> Self {
        self.verify = Some(command.into());
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_factor_is_spelled_alike_on_screen_and_in_results() {
        for factor in [Factor::ServerCpu, Factor::KeepAlive, Factor::ClientPorts, Factor::None, Factor::Unknown] {
            assert_eq!(serde_json::to_value(factor).unwrap(), factor.to_string());
        }
    }

    #[test]
    fn a_count_of_zero_is_no_evidence() {
        let verdict = |count| {
            let verdict = Verdict::new(Factor::AcceptBacklog, Confidence::Likely, "connections are dropped");
            verdict.because_counted(count, |count| format!("the kernel counted {count} overflows")).because
        };
        assert_eq!(verdict(0), Vec::<String>::new());
        assert_eq!(verdict(585), ["the kernel counted 585 overflows"]);
    }
}
