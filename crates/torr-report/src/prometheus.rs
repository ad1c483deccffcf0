//! A run's figures in Prometheus' text format.

use crate::buckets;
use crate::families::{self, Family, Labels, Samples};
use prometheus::proto::{Bucket, Counter, Gauge, Histogram, LabelPair, Metric, MetricFamily, MetricType};
use prometheus::{Result, TextEncoder};
use std::borrow::Cow;
use torr_gauge::collector::Measurement;
use torr_gauge::{Latency, RunResult};

/// Returns all metrics, with the target and the method as labels.
///
/// # Errors
/// Never for the result of a run.
pub fn text(run: &Measurement) -> Result<String> {
    let families: Vec<_> = families::of(run).iter().map(|family| metrics(&run.result, family)).collect();
    TextEncoder::new().encode_to_string(&families)
}

fn metrics(run: &RunResult, family: &Family<'_>) -> MetricFamily {
    let (kind, metrics) = match &family.samples {
        Samples::Counters(all) => {
            let metric = |(own, n): &(Labels, u64)| {
                let mut counter = Counter::default();
                counter.set_value(*n as f64);
                let mut metric = Metric::from_label(labels(run, own));
                metric.set_counter(counter);
                metric
            };
            (MetricType::COUNTER, all.iter().map(metric).collect())
        }
        Samples::Gauges(all) => {
            let metric = |(own, value): &(Labels, f64)| {
                let mut gauge = Gauge::default();
                gauge.set_value(*value);
                let mut metric = Metric::from_label(labels(run, own));
                metric.set_gauge(gauge);
                metric
            };
            (MetricType::GAUGE, all.iter().map(metric).collect())
        }
        Samples::Times(all) => {
            let metric = |(own, latency): &(Labels, Cow<'_, Latency>)| {
                let mut metric = Metric::from_label(labels(run, own));
                metric.set_histogram(histogram(latency));
                metric
            };
            (MetricType::HISTOGRAM, all.iter().map(metric).collect())
        }
    };
    let mut made = MetricFamily::default();
    made.set_name(family.name.to_owned());
    made.set_help(family.help.to_owned());
    made.set_field_type(kind);
    made.set_metric(metrics);
    made
}

fn histogram(latency: &Latency) -> Histogram {
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
    histogram
}

fn labels(run: &RunResult, own: &Labels) -> Vec<LabelPair> {
    let all = families::labels(run).into_iter().chain(own.iter().map(|(name, value)| (*name, value.as_str())));
    let label = |(name, value): (&str, &str)| {
        let mut label = LabelPair::default();
        label.set_name(name.to_owned());
        label.set_value(value.to_owned());
        label
    };
    all.map(label).collect()
}
