//! The observation of an experiment.

use crate::thresholds::LOADS_APART;
use crate::times::Times;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use std::time::Duration;
use torr_gauge::collector::Measurement;
use torr_gauge::verdict::{ExperimentId, ExperimentLabel};
use torr_gauge::{RunResult, Sample};
use torr_signals::{QuotaUse, Signals};

/// The length in bytes of a long header section with its framing, above which bytes are those of incomplete responses.
const LONGEST_HEADER: f64 = 8192.0;

/// An experiment that is about to be made, for the display of progress.
#[derive(Debug, Clone, Copy)]
pub struct ExperimentStart<'s> {
    /// The experiment.
    pub label: &'s ExperimentLabel,
    /// The part of the budget that is spent, 0 to 1.
    pub spent: f64,
}

/// The signals beside an experiment's own result.
#[derive(Debug, Default)]
pub struct Seen {
    /// The signals of the server's machine.
    pub server: Option<Signals>,
    /// The use of the generator's CPU quota.
    pub own_quota: Option<QuotaUse>,
}

/// An experiment and its observation.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Observation {
    /// The identity of the experiment.
    pub id: ExperimentId,
    /// The variant of a comparison. `None` in a diagnosis.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variant: Option<String>,
    /// The result of the run.
    pub run: RunResult,
    /// The signals of the server's machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signals: Option<Signals>,
    /// The use of the generator's CPU quota.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub own_quota: Option<QuotaUse>,
    /// Times of responses and connections that the rules read beside the run's own.
    pub times: Times,
    /// The time of the experiment's end, in seconds since the diagnosis began; 0 in a comparison.
    #[serde(default)]
    pub ended_s: f64,
    /// The sample of the run. Empty in an observation from a recording.
    #[serde(skip)]
    pub sample: Arc<Sample>,
}

impl Observation {
    /// Returns the observation of a measured experiment.
    pub fn new(id: ExperimentId, variant: Option<String>, measured: Measurement, seen: Seen) -> Self {
        let Measurement { mut result, total, warm_connects, .. } = measured;
        // A diagnosis has dozens of runs, whose samples would be most of its JSON.
        result.latency_histogram = Default::default();
        if let Some(streams) = &mut result.streams {
            (streams.first_event_histogram, streams.gap_histogram) = Default::default();
        }
        Self {
            id,
            variant,
            times: Times::of(&result, &total, &warm_connects),
            run: result,
            signals: seen.server,
            own_quota: seen.own_quota,
            ended_s: 0.0,
            sample: Arc::new(total),
        }
    }

    /// Returns what the name of the experiment consists of.
    pub fn label(&self) -> ExperimentLabel {
        let plan = &self.run.plan;
        let (connections, rate) = (plan.connections, plan.rate);
        let streams = self.run.streams.as_ref().map(|_| connections * usize::from(plan.depth.max(1)));
        ExperimentLabel { id: self.id, connections, streams, rate, variant: self.variant.clone() }
    }

    /// Returns the good responses per second, those that were not refusals; of streams, the events per second.
    pub fn good_rps(&self) -> f64 {
        self.run.streams.as_ref().map_or_else(|| self.run.good_rps(), |streams| streams.events_per_s)
    }

    /// Returns the share of failed requests among those that ended; of streams, which may be endless, among those that were begun.
    pub fn failed_share(&self) -> f64 {
        let ended = match self.run.streams {
            Some(_) => self.run.started,
            None => self.run.requests + self.run.errors.unanswered(),
        };
        self.run.errors.total() as f64 / ended.max(1) as f64
    }

    /// Returns the share of responses with one of these statuses.
    pub fn status_share(&self, statuses: &[u16]) -> f64 {
        let count: u64 = statuses.iter().filter_map(|status| self.run.status.get(status)).sum();
        count as f64 / self.run.requests.max(1) as f64
    }

    /// Returns the CPU time of the server's machine in seconds that the hypervisor gave to others.
    pub fn stolen_s(&self) -> f64 {
        let stolen = |signals: &Signals| Some(signals.seconds * signals.machine?.cores as f64 * signals.stolen_share());
        self.signals.as_ref().and_then(stolen).unwrap_or(0.0)
    }

    /// Returns the connections opened for each response, beyond those of the plan, which the warm-up may have opened.
    pub fn opened_per_request(&self) -> f64 {
        let connections = &self.run.connections;
        let first = (self.run.plan.connections as u64).saturating_sub(connections.carried);
        let again = connections.opened.saturating_sub(first);
        again as f64 / self.run.requests.max(1) as f64
    }

    /// Returns the number of responses with those of the warm-up, as signals of the server's machine include it.
    pub fn responses(&self) -> u64 {
        self.run.requests + self.run.warmup.map_or(0, |warmup| warmup.requests)
    }

    /// Returns the connections opened on the server's machine by programs other than the generator.
    pub fn opened_by_others(&self) -> Option<u64> {
        let signals = self.signals.as_ref()?;
        let opened = signals.network?.active_opens?;
        if signals.other_namespace {
            // The generator's connections are counted in its own network namespace.
            return Some(opened);
        }
        let connections = &self.run.connections;
        let while_warming_up =
            self.run.warmup.filter(|_| !self.run.plan.keep_alive).map_or(0, |warmup| warmup.requests);
        Some(opened.saturating_sub(connections.opened + connections.carried + while_warming_up))
    }

    /// Returns the connections that the server opened for each request: those opened in addition to the ones under a `gentle` load, which
    /// are those of other programs. `None` if the kernel does not report them, or if the loads are too similar.
    pub fn upstream_opens(&self, gentle: &Self) -> Option<f64> {
        let per_second = |observation: &Self| {
            let seconds = observation.signals.as_ref()?.seconds;
            let opened = observation.opened_by_others()?;
            (seconds > 0.0).then(|| (opened as f64 / seconds, observation.responses() as f64 / seconds))
        };
        let ((opened, answered), (less_opened, less_answered)) = (per_second(self)?, per_second(gentle)?);
        let apart = answered >= LOADS_APART * less_answered;
        apart.then(|| ((opened - less_opened) / (answered - less_answered)).max(0.0))
    }

    /// Returns the bytes of a response: those received for each, without the parts of responses that were not complete when the run
    /// ended.
    pub fn bytes_per_request(&self) -> f64 {
        let each = |bytes: u64| bytes as f64 / self.run.requests.max(1) as f64;
        let bytes = &self.run.bytes;
        each(bytes.body) + each(bytes.received.saturating_sub(bytes.body)).min(LONGEST_HEADER)
    }

    /// Returns the median response time in seconds.
    pub fn median_s(&self) -> Option<f64> {
        Some(self.times.answered?.median_us / 1e6)
    }

    /// Returns the median time to connect in seconds.
    pub fn connect_median_s(&self) -> Option<f64> {
        Some(self.times.connect?.median_us / 1e6)
    }
}

/// Returns a quantile of any number of samples but zero.
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
            id: ExperimentId::Full,
            variant: None,
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
