//! One metric of a run: its samples, each with its labels.

use std::borrow::Cow;
use torr_gauge::Latency;

/// The labels of a sample beside those of its run.
pub(crate) type Labels = Vec<(&'static str, String)>;

/// One metric of a run, in the model of Prometheus.
#[derive(Debug)]
pub(crate) struct Family<'r> {
    /// The name with its unit, such as `torr_latency_seconds`.
    pub name: &'static str,
    /// The meaning, as a sentence.
    pub help: &'static str,
    pub samples: Samples<'r>,
}

/// The samples of a metric.
#[derive(Debug)]
pub(crate) enum Samples<'r> {
    Counters(Vec<(Labels, u64)>),
    Gauges(Vec<(Labels, f64)>),
    /// Times, which the formats show in seconds.
    Times(Vec<(Labels, Cow<'r, Latency>)>),
}

impl Family<'_> {
    /// Returns whether there are no samples.
    pub fn is_empty(&self) -> bool {
        match &self.samples {
            Samples::Counters(all) => all.is_empty(),
            Samples::Gauges(all) => all.is_empty(),
            Samples::Times(all) => all.is_empty(),
        }
    }
}

/// Returns a counter without further labels.
pub(super) fn counter(name: &'static str, help: &'static str, n: u64) -> Family<'static> {
    counters(name, help, [(Vec::new(), n)])
}

/// Returns counters, each with its labels.
pub(super) fn counters(
    name: &'static str,
    help: &'static str,
    counts: impl IntoIterator<Item = (Labels, u64)>,
) -> Family<'static> {
    Family { name, help, samples: Samples::Counters(counts.into_iter().collect()) }
}

/// Returns a gauge without further labels.
pub(super) fn gauge(name: &'static str, help: &'static str, value: f64) -> Family<'static> {
    gauges(name, help, [(Vec::new(), value)])
}

/// Returns gauges, each with its labels.
pub(super) fn gauges(
    name: &'static str,
    help: &'static str,
    values: impl IntoIterator<Item = (Labels, f64)>,
) -> Family<'static> {
    Family { name, help, samples: Samples::Gauges(values.into_iter().collect()) }
}

/// Returns histograms of times, each with its labels.
pub(super) fn histograms<'r>(
    name: &'static str,
    help: &'static str,
    times: impl IntoIterator<Item = (Labels, Cow<'r, Latency>)>,
) -> Family<'r> {
    Family { name, help, samples: Samples::Times(times.into_iter().collect()) }
}
