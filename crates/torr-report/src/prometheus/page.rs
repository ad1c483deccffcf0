//! Metric families of one run, whose samples share the labels of the run.

use crate::buckets;
use prometheus::proto::{Bucket, Counter, Gauge, Histogram, LabelPair, Metric, MetricFamily, MetricType};
use std::borrow::Cow;
use torr_gauge::{Latency, RunResult};

/// The result from which the metrics take their common labels.
pub(super) struct Page<'r> {
    pub result: &'r RunResult,
}

/// The labels of a sample beside the common ones.
pub(super) type Labels = Vec<(&'static str, String)>;

impl Page<'_> {
    /// Returns a counter without further labels.
    pub fn counter(&self, name: &str, help: &str, n: u64) -> MetricFamily {
        family(name, help, MetricType::COUNTER, vec![self.counted(&[], n)])
    }

    /// Returns counters, each with its labels.
    pub fn counters(&self, name: &str, help: &str, counts: impl IntoIterator<Item = (Labels, u64)>) -> MetricFamily {
        let metrics = counts.into_iter().map(|(labels, n)| self.counted(&labels, n)).collect();
        family(name, help, MetricType::COUNTER, metrics)
    }

    /// Returns a gauge without further labels.
    pub fn gauge(&self, name: &str, help: &str, value: f64) -> MetricFamily {
        family(name, help, MetricType::GAUGE, vec![self.gauged(&[], value)])
    }

    /// Returns gauges, each with its labels.
    pub fn gauges(&self, name: &str, help: &str, values: impl IntoIterator<Item = (Labels, f64)>) -> MetricFamily {
        let metrics = values.into_iter().map(|(labels, value)| self.gauged(&labels, value)).collect();
        family(name, help, MetricType::GAUGE, metrics)
    }

    /// Returns histograms in seconds.
    pub fn histograms<'l>(
        &self,
        name: &str,
        help: &str,
        times: impl IntoIterator<Item = (Labels, Cow<'l, Latency>)>,
    ) -> MetricFamily {
        let metrics = times.into_iter().map(|(labels, latency)| self.distributed(&labels, &latency)).collect();
        family(name, help, MetricType::HISTOGRAM, metrics)
    }

    fn distributed(&self, labels: &[(&str, String)], latency: &Latency) -> Metric {
        let buckets = buckets::cumulative(latency).map(|(bound, count)| {
            let mut bucket = Bucket::default();
            bucket.set_upper_bound(bound);
            bucket.set_cumulative_count(count);
            bucket
        });
        let mut histogram = Histogram::default();
        histogram.set_bucket(buckets.collect());
        histogram.set_sample_count(latency.count());
        histogram.set_sample_sum(latency.sum() / 1e6);
        let mut metric = Metric::from_label(self.labels(labels));
        metric.set_histogram(histogram);
        metric
    }

    fn counted(&self, labels: &[(&str, String)], n: u64) -> Metric {
        let mut counter = Counter::default();
        counter.set_value(n as f64);
        let mut metric = Metric::from_label(self.labels(labels));
        metric.set_counter(counter);
        metric
    }

    fn gauged(&self, labels: &[(&str, String)], value: f64) -> Metric {
        let mut gauge = Gauge::default();
        gauge.set_value(value);
        let mut metric = Metric::from_label(self.labels(labels));
        metric.set_gauge(gauge);
        metric
    }

    fn labels(&self, more: &[(&str, String)]) -> Vec<LabelPair> {
        let shared = [("target", &self.result.target), ("method", &self.result.plan.method)];
        let all = shared.into_iter().chain(more.iter().map(|(name, value)| (*name, value)));
        all.map(|(name, value)| {
            let mut label = LabelPair::default();
            label.set_name(name.to_owned());
            label.set_value(value.clone());
            label
        })
        .collect()
    }
}

fn family(name: &str, help: &str, kind: MetricType, metrics: Vec<Metric>) -> MetricFamily {
    let mut family = MetricFamily::default();
    family.set_name(name.to_owned());
    family.set_help(help.to_owned());
    family.set_field_type(kind);
    family.set_metric(metrics);
    family
}
