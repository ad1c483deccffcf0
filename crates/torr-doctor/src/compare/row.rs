//! What came of one way, over all its turns.

use super::transport::Transport;
use crate::observation::Observation;
use crate::turns::{Ratio, median};
use crate::words::percent;
use serde::Serialize;
use torr_gauge::Latency;
use torr_gauge::signals::ProcessUse;

/// Failures above this share of the requests are told.
const MANY: f64 = 0.001;

/// The share of failed requests from which a throughput is none to compare with.
const NO_BASE: f64 = 0.1;

/// The kernel tells CPU time in steps of some 10 ms: less than this is not told.
const LEAST_S: f64 = 0.05;

/// One way. What could not be seen is absent.
#[derive(Debug, Clone, Serialize)]
pub struct Row {
    /// What it is called.
    pub name: String,
    /// Workers, if those are compared.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workers: Option<usize>,
    /// TLS, if that is compared.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transport: Option<Transport>,
    /// Good answers per second: the median of its turns.
    pub rps: f64,
    /// The worst turn.
    pub rps_min: f64,
    /// The best turn.
    pub rps_max: f64,
    /// Its throughput as a ratio to the first way's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ratio: Option<Ratio>,
    /// The median response time in microseconds, over all turns together.
    pub p50_us: Option<u64>,
    /// The 99th percentile.
    pub p99_us: Option<u64>,
    /// Requests that failed, as a share.
    pub failed_share: f64,
    /// How most of them failed: a status, or what went wrong.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
    /// Whether responses took so long beside its turns that the throughput is too low: what was under way when a turn ended
    /// is not in it.
    pub short: bool,
    /// Connections that were opened for each answer.
    pub opened_per_request: f64,
    /// CPU in cores that the processes behind the URL used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server_cores: Option<f64>,
    /// CPU time in microseconds that the service itself used for each answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server_us: Option<f64>,
    /// The same of a proxy before it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub proxy_us: Option<f64>,
    /// Connections that a proxy opened to the service for each answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub upstream_opened_per_request: Option<f64>,
    /// The share of the proxy's connections to the service that were still there a moment later.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub upstream_kept: Option<f64>,
    /// TLS handshakes with a key exchange of their own.
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
    /// Of its experiments.
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
                &observation.signals.as_ref().expect("it is asked for what was seen").processes
            }),
            proxy_us: None,
            upstream_opened_per_request: None,
            upstream_kept: None,
            full_handshakes: tls.then(|| sum(|t| t.sample.full_handshakes)),
            resumed_handshakes: tls.then(|| sum(|t| t.sample.resumed_handshakes)),
            handshake_us: (handshakes.count() > 0).then(|| handshakes.sum() / handshakes.count() as f64),
        }
    }

    /// Whether so many requests fail that throughput says nothing, and is no base of a ratio.
    pub fn mostly_fails(&self) -> bool {
        self.failed_share >= NO_BASE
    }

    /// How requests fail, for a sentence.
    pub fn told_failure(&self) -> String {
        let how = self.failure.as_ref().map_or(String::new(), |failure| format!(", with {failure}"));
        format!("{} of the requests fail{how}", percent(self.failed_share.max(0.01)))
    }

    /// What is to be said against its figures.
    pub fn doubts(&self) -> impl Iterator<Item = String> {
        let failed = (self.failed_share > MANY)
            .then(|| format!("{} of the requests failed: {}", percent(self.failed_share.max(0.01)), self.name));
        let short = self.short.then(|| {
            format!(
                "responses took long beside the turns: throughput is more than shown: {}; give a longer --budget",
                self.name
            )
        });
        failed.into_iter().chain(short)
    }
}

/// How most of the failed requests failed.
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

/// CPU in cores of the processes behind the URL.
fn cores(observation: &Observation) -> Option<f64> {
    let signals = observation.signals.as_ref()?;
    (!signals.processes.is_empty()).then(|| signals.server_cores())
}

/// CPU time in microseconds for each answer, of some of the processes that were seen. Of experiments where nothing was seen
/// nothing is asked.
pub fn cpu_us<'t>(
    observations: &[&'t Observation],
    processes: impl Fn(&'t Observation) -> &'t [ProcessUse],
) -> Option<f64> {
    let (mut seconds, mut answers) = (0.0, 0);
    for observation in observations {
        let Some(signals) = &observation.signals else { continue };
        let seen = processes(observation);
        if !seen.is_empty() {
            seconds += seen.iter().map(|process| process.cores).sum::<f64>() * signals.seconds;
            answers += observation.answers();
        }
    }
    (answers > 0 && seconds >= LEAST_S).then(|| seconds * 1e6 / answers as f64)
}
