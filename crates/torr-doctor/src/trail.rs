//! What experiments were made, and what came of them.

use serde::Serialize;
use std::time::Duration;
use torr_gauge::collector::Measured;
use torr_gauge::latency::Summary;
use torr_gauge::signals::QuotaUse;
use torr_gauge::{RunResult, Sample, Signals};

/// An experiment that is about to be made, for who watches.
#[derive(Debug, Clone, Copy)]
pub struct Step<'s> {
    /// What is done.
    pub experiment: &'s str,
    /// What it is to tell.
    pub why: &'s str,
    /// The part of the budget that is spent, 0 to 1.
    pub spent: f64,
}

/// What was seen beside an experiment's own result.
#[derive(Debug, Default)]
pub struct Seen {
    /// By the server's machine.
    pub server: Option<Signals>,
    /// Of the CPU quota that the generator is under.
    pub own_quota: Option<QuotaUse>,
}

/// One experiment and what came of it.
#[derive(Debug, Serialize)]
pub struct Trial {
    /// What was done.
    pub experiment: String,
    /// What it was to tell.
    pub why: String,
    /// What was measured.
    pub run: RunResult,
    /// What the server's machine saw meanwhile.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signals: Option<Signals>,
    /// The CPU quota that the generator was under.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub own_quota: Option<QuotaUse>,
    /// What the run was made from.
    #[serde(skip)]
    pub sample: Sample,
}

impl Trial {
    /// Keeps what was measured.
    pub fn new(experiment: &str, why: &str, measured: Measured, seen: Seen) -> Self {
        let Measured { result, total, .. } = measured;
        Self {
            experiment: experiment.into(),
            why: why.into(),
            run: result,
            signals: seen.server,
            own_quota: seen.own_quota,
            sample: total,
        }
    }

    /// Answers per second that were no refusals.
    pub fn good_rps(&self) -> f64 {
        self.run.good_rps()
    }

    /// Requests that ended badly, as a share of those that ended.
    pub fn failed_share(&self) -> f64 {
        let ended = self.run.requests + self.run.errors.unanswered();
        self.run.errors.total() as f64 / ended.max(1) as f64
    }

    /// The share of answers with one of these statuses.
    pub fn status_share(&self, statuses: &[u16]) -> f64 {
        let count: u64 = statuses.iter().filter_map(|status| self.run.status.get(status)).sum();
        count as f64 / self.run.requests.max(1) as f64
    }

    /// CPU that the generator used, in cores.
    pub fn generator_cores(&self) -> f64 {
        self.run.generator.cpu_share * self.run.plan.threads as f64
    }

    /// CPU time in seconds that the hypervisor gave to others, on the server's machine.
    pub fn stolen_s(&self) -> f64 {
        let stolen = |signals: &Signals| Some(signals.seconds * signals.machine?.cores as f64 * signals.stolen_share());
        self.signals.as_ref().and_then(stolen).unwrap_or(0.0)
    }

    /// Connections opened for each answer, beside those that are there at the end.
    pub fn opened_per_request(&self) -> f64 {
        let again = self.run.connections.opened.saturating_sub(self.run.plan.connections as u64);
        again as f64 / self.run.requests.max(1) as f64
    }

    /// Answers, those included that came before anything counted: all that the server's machine saw.
    pub fn answers(&self) -> u64 {
        self.run.requests + self.run.warmup.map_or(0, |warmup| warmup.requests)
    }

    /// Connections that were opened on the server's machine by others than the generator.
    pub fn opened_by_others(&self) -> Option<u64> {
        let opened = self.signals.as_ref()?.network?.active_opens?;
        Some(opened.saturating_sub(self.run.connections.opened + self.run.connections.carried))
    }

    /// The same for each answer.
    pub fn upstream_opens(&self) -> Option<f64> {
        Some(self.opened_by_others()? as f64 / self.answers().max(1) as f64)
    }

    /// Bytes received for each answer.
    pub fn bytes_per_request(&self) -> f64 {
        self.run.bytes.received as f64 / self.run.requests.max(1) as f64
    }

    /// The median response time of those that were answered.
    pub fn median(&self) -> Option<Duration> {
        quantile(&self.sample.answered, 0.5)
    }

    /// How long connecting took.
    pub fn connect(&self) -> Option<Summary> {
        self.sample.connect.summary()
    }

    /// The median time to connect.
    pub fn connect_median(&self) -> Option<Duration> {
        quantile(&self.sample.connect, 0.5)
    }
}

/// A quantile that is told however few samples there are.
pub fn quantile(latency: &torr_gauge::Latency, share: f64) -> Option<Duration> {
    (latency.count() > 0).then(|| Duration::from_micros(latency.histogram().value_at_quantile(share)))
}
