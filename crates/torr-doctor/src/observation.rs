//! The observation of an experiment.

use crate::thresholds::LOADS_APART;
use crate::times::Times;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use std::time::Duration;
use torr_gauge::collector::Measurement;
use torr_gauge::signals::QuotaUse;
use torr_gauge::{RunResult, Sample, Signals};

/// An experiment that is about to be made, for who watches.
#[derive(Debug, Clone, Copy)]
pub struct ExperimentStart<'s> {
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
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Observation {
    /// What was done.
    pub experiment: String,
    /// What it was to tell.
    pub why: String,
    /// What was measured.
    pub run: RunResult,
    /// What the server's machine saw meanwhile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signals: Option<Signals>,
    /// The CPU quota that the generator was under.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub own_quota: Option<QuotaUse>,
    /// Times of responses and connections that the rules read beside the run's own.
    pub times: Times,
    /// When the experiment ended, in seconds since the diagnosis began; 0 in a comparison.
    #[serde(default)]
    pub ended_s: f64,
    /// What the run was made from. Empty in an observation that was read from a recording.
    #[serde(skip)]
    pub sample: Arc<Sample>,
}

impl Observation {
    /// Keeps what was measured.
    pub fn new(experiment: &str, why: &str, measured: Measurement, seen: Seen) -> Self {
        let Measurement { result, total, .. } = measured;
        Self {
            experiment: experiment.into(),
            why: why.into(),
            times: Times::of(&result, &total),
            run: result,
            signals: seen.server,
            own_quota: seen.own_quota,
            ended_s: 0.0,
            sample: Arc::new(total),
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
        let connections = &self.run.connections;
        let while_warming_up =
            self.run.warmup.filter(|_| !self.run.plan.keep_alive).map_or(0, |warmup| warmup.requests);
        Some(opened.saturating_sub(connections.opened + connections.carried + while_warming_up))
    }

    /// Connections that the server opened for each request, as far as two loads tell: what is opened more under this load than
    /// under a `gentle` one is the server's doing, and what is opened all the time is that of other programs. `None` if the kernel does
    /// not tell, or if the loads are too much alike.
    pub fn upstream_opens(&self, gentle: &Self) -> Option<f64> {
        let per_second = |observation: &Self| {
            let seconds = observation.signals.as_ref()?.seconds;
            let opened = observation.opened_by_others()?;
            (seconds > 0.0).then(|| (opened as f64 / seconds, observation.answers() as f64 / seconds))
        };
        let ((opened, answered), (less_opened, less_answered)) = (per_second(self)?, per_second(gentle)?);
        let apart = answered >= LOADS_APART * less_answered;
        apart.then(|| ((opened - less_opened) / (answered - less_answered)).max(0.0))
    }

    /// Bytes received for each answer.
    pub fn bytes_per_request(&self) -> f64 {
        self.run.bytes.received as f64 / self.run.requests.max(1) as f64
    }

    /// Returns the median response time in seconds of the requests that were answered.
    pub fn median_s(&self) -> Option<f64> {
        Some(self.times.answered?.median_us / 1e6)
    }

    /// Returns the median time to connect in seconds.
    pub fn connect_median_s(&self) -> Option<f64> {
        Some(self.times.connect?.median_us / 1e6)
    }
}

/// A quantile that is told however few samples there are.
pub fn quantile(latency: &torr_gauge::Latency, share: f64) -> Option<Duration> {
    (latency.count() > 0).then(|| Duration::from_micros(latency.histogram().value_at_quantile(share)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// A second of so many requests, in which so many connections were opened beside the generator's one.
    fn observation(requests: u64, opened: u64) -> Observation {
        let run = json!({
            "schema": "torr.run/1", "torr": "0", "target": "http://h/", "started_at": "",
            "plan": {"connections": 1, "threads": 1, "keep_alive": true, "protocol": "http/1.1", "method": "GET", "timeout_s": 10.0},
            "asked": requests, "requests": requests, "rps": requests, "duration_s": 1.0, "status": {}, "unfinished": 0,
            "bytes": {"sent": 1, "received": 1, "body": 1},
            "errors": {"connect": 0, "tls": 0, "timeout": 0, "read": 0, "write": 0, "protocol": 0, "status": 0, "ports": 0},
            "latency_us": null, "phases_us": {"connect": null, "tls": null, "first_byte": null},
            "connections": {"opened": 1, "peak": 1, "closed_by_server": 0, "requests_per_connection": 1.0}, "series": [],
            "generator": {"cpu_us_per_request": 2.0, "cpu_share": 0.2, "busy_share": 0.3, "saturated": false}
        });
        let signals = json!({"seconds": 1.0, "network": {"active_opens": opened + 1}});
        Observation {
            experiment: String::new(),
            why: String::new(),
            run: serde_json::from_value(run).expect("it has the schema's form"),
            signals: Some(serde_json::from_value(signals).expect("it has the schema's form")),
            own_quota: None,
            times: Times::default(),
            ended_s: 0.0,
            sample: Arc::default(),
        }
    }

    #[test]
    fn what_other_programs_open_all_the_time_is_not_put_down_to_requests() {
        for (what, gentle, full, each) in [
            ("only others open connections", (80, 150), (400, 150), Some(0.0)),
            ("one for each request, and those of others", (80, 230), (400, 550), Some(1.0)),
            ("one for each request", (80, 80), (4_000, 4_000), Some(1.0)),
            ("others have stopped meanwhile", (80, 150), (400, 10), Some(0.0)),
            ("a service that does no more under load", (80, 90), (100, 130), None),
        ] {
            let observation = |(requests, opened)| observation(requests, opened);
            assert_eq!(observation(full).upstream_opens(&observation(gentle)), each, "{what}");
        }
    }
}
