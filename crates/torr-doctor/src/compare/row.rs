//! The result of one variant, over all its turns.

use super::conclusion::{ComparisonFact, Failing, WayRate};
use super::transport::Transport;
use crate::observation::Observation;
use crate::turns::{Ratio, median};
use serde::Serialize;
use torr_gauge::Latency;
use torr_signals::ProcessUse;

/// The share of failed requests from which they are reported.
const MANY: f64 = 0.001;

/// The share of failed requests from which a throughput is not compared.
const NO_BASE: f64 = 0.1;

/// The CPU time in seconds below which none is reported: the kernel counts in steps of some 10 ms.
const LEAST_S: f64 = 0.05;

/// A variant. What was not observed is `None`.
#[derive(Debug, Clone, Serialize)]
pub struct Row {
    /// The name of the variant.
    pub name: String,
    /// The number of workers, if workers are compared.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workers: Option<usize>,
    /// The transport, if transports are compared.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transport: Option<Transport>,
    /// Good responses per second, the median of the turns.
    pub rps: f64,
    /// Good responses per second of the slowest turn.
    pub rps_min: f64,
    /// Good responses per second of the fastest turn.
    pub rps_max: f64,
    /// The throughput as a ratio to the first variant's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ratio: Option<Ratio>,
    /// The median response time in microseconds, over all turns together.
    pub p50_us: Option<u64>,
    /// The 99th percentile of response times in microseconds.
    pub p99_us: Option<u64>,
    /// The share of failed requests.
    pub failed_share: f64,
    /// The most frequent failure: a status or an error.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
    /// Whether the turns were so short for the response times that the throughput is too low, as it excludes requests in flight at a
    /// turn's end.
    pub short: bool,
    /// Connections that were opened for each response.
    pub opened_per_request: f64,
    /// CPU in cores that the processes behind the URL used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server_cores: Option<f64>,
    /// CPU time in microseconds of the service for each response.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server_us: Option<f64>,
    /// CPU time in microseconds of a proxy before the service for each response.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub proxy_us: Option<f64>,
    /// Connections that a proxy opened to the service for each response.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub upstream_opened_per_request: Option<f64>,
    /// The share of the proxy's connections to the service that were open in two successive samples.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub upstream_kept: Option<f64>,
    /// Full TLS handshakes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub full_handshakes: Option<u64>,
    /// TLS handshakes that resumed an earlier session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resumed_handshakes: Option<u64>,
    /// The mean time of a TLS handshake in microseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub handshake_us: Option<f64>,
}

impl Row {
    /// Returns the row of a variant's experiments.
    pub fn over(name: &str, observations: &[&Observation], ratio: Option<Ratio>) -> Self {
        let rates: Vec<f64> = observations.iter().map(|observation| observation.good_rps()).collect();
        let (mut latency, mut handshakes) = (Latency::default(), Latency::default());
        for observation in observations {
            latency.add(&observation.sample.answered);
            latency.add(&observation.sample.unanswered);
            handshakes.add(&observation.sample.tls);
        }
        let sum = |of: fn(&Observation) -> u64| observations.iter().map(|observation| of(observation)).sum::<u64>();
        let share = |part: u64, whole: u64| part as f64 / whole.max(1) as f64;
        let (answered, failed) = (sum(|t| t.run.requests), sum(|t| t.run.errors.total()));
        let tls = observations.iter().any(|observation| observation.run.tls.is_some());
        let shares: Vec<_> = observations.iter().filter_map(|observation| cores(observation)).collect();
        Self {
            name: name.into(),
            workers: None,
            transport: None,
            rps_min: rates.iter().copied().fold(f64::INFINITY, f64::min),
            rps_max: rates.iter().copied().fold(0.0, f64::max),
            rps: if rates.is_empty() { 0.0 } else { median(rates) },
            ratio,
            p50_us: latency.quantile(0.5),
            p99_us: latency.quantile(0.99),
            failed_share: share(failed, answered + sum(|t| t.run.errors.unanswered())),
            failure: failure(observations),
            short: false,
            opened_per_request: share(sum(|t| t.run.connections.opened), answered),
            server_cores: (!shares.is_empty()).then(|| median(shares)),
            server_us: cpu_us(observations, |observation| {
                &observation.signals.as_ref().expect("only experiments with signals are selected").processes
            }),
            proxy_us: None,
            upstream_opened_per_request: None,
            upstream_kept: None,
            full_handshakes: tls.then(|| sum(|t| t.sample.full_handshakes)),
            resumed_handshakes: tls.then(|| sum(|t| t.sample.resumed_handshakes)),
            handshake_us: (handshakes.count() > 0).then(|| handshakes.sum() / handshakes.count() as f64),
        }
    }

    /// Returns whether so many requests fail that throughput is not comparable.
    pub fn mostly_fails(&self) -> bool {
        self.failed_share >= NO_BASE
    }

    /// Returns how the variant fails.
    pub fn failing(&self) -> Failing {
        Failing { name: self.name.clone(), share: self.failed_share, failure: self.failure.clone() }
    }

    /// Returns the variant's throughput.
    pub fn rate(&self) -> WayRate {
        WayRate { name: self.name.clone(), rps: self.rps }
    }

    /// Returns the reasons to doubt the figures.
    pub fn doubts(&self) -> impl Iterator<Item = ComparisonFact> {
        let name = || self.name.clone();
        let failed =
            (self.failed_share > MANY).then(|| ComparisonFact::Failed { name: name(), share: self.failed_share });
        let short = self.short.then(|| ComparisonFact::ShortTurns { name: name() });
        failed.into_iter().chain(short)
    }
}

/// Returns the most frequent failure.
fn failure(observations: &[&Observation]) -> Option<String> {
    let mut counts = std::collections::BTreeMap::<String, u64>::new();
    for observation in observations {
        let statuses = observation.run.status.iter().filter(|(status, _)| **status >= 400);
        let refused = statuses.map(|(status, count)| (format!("status {status}"), *count));
        let failed =
            observation.run.causes.iter().map(|cause| (format!("{}: {}", cause.kind, cause.what), cause.count));
        refused.chain(failed).for_each(|(what, count)| *counts.entry(what).or_default() += count);
    }
    counts.into_iter().max_by_key(|(_, count)| *count).map(|(what, _)| what)
}

/// Returns the CPU in cores of the processes behind the URL.
fn cores(observation: &Observation) -> Option<f64> {
    let signals = observation.signals.as_ref()?;
    (!signals.processes.is_empty()).then(|| signals.server_cores())
}

/// Returns the CPU time in microseconds for each response, of the selected processes. Experiments without signals are skipped.
pub fn cpu_us<'t>(
    observations: &[&'t Observation],
    processes: impl Fn(&'t Observation) -> &'t [ProcessUse],
) -> Option<f64> {
    let (mut seconds, mut responses) = (0.0, 0);
    for observation in observations {
        let Some(signals) = &observation.signals else { continue };
        let seen = processes(observation);
        if !seen.is_empty() {
            seconds += seen.iter().map(|process| process.cores).sum::<f64>() * signals.seconds;
            responses += observation.responses();
        }
    }
    (responses > 0 && seconds >= LEAST_S).then(|| seconds * 1e6 / responses as f64)
}
