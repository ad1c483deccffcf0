//! A run's figures in Prometheus' text format.

use crate::buckets;
use prometheus::proto::{Bucket, Counter, Gauge, Histogram, LabelPair, Metric, MetricFamily, MetricType};
use prometheus::{Result, TextEncoder};
use torr_gauge::collector::Measurement;
use torr_gauge::{FailureKind, RunResult};

/// Returns all metrics, with the target and the method as labels.
///
/// # Errors
/// Never for the result of a run.
pub fn text(run: &Measurement) -> Result<String> {
    let result = &run.result;
    let errors = FailureKind::ALL.map(|kind| ([("kind", kind.name().to_owned())], result.errors.of(kind)));
    let bytes = [("sent", result.bytes.sent), ("received", result.bytes.received)];
    let page = Page { result };
    let families = [
        page.counters(
            "torr_requests_total",
            "Complete responses by status.",
            result.status.iter().map(|(status, &n)| ([("status", status.to_string())], n)),
        ),
        page.counters("torr_errors_total", "Failed requests by kind; those of kind status had a response.", errors),
        page.counter("torr_asked_total", "Requests begun.", result.asked),
        page.counter("torr_unfinished_total", "Requests in flight when the run ended.", result.unfinished),
        page.counters(
            "torr_bytes_total",
            "Bytes on the connections, header sections and framing included.",
            bytes.map(|(direction, n)| ([("direction", direction.to_owned())], n)),
        ),
        page.counter("torr_body_bytes_total", "Bytes of content received.", result.bytes.body),
        page.counter("torr_connections_total", "Connections opened.", result.connections.opened),
        page.histogram(run),
        page.gauge("torr_requests_per_second", "Complete responses per second over the whole run.", result.rps),
        page.gauge("torr_duration_seconds", "How long the run took.", result.duration_s),
        page.gauge(
            "torr_generator_saturated",
            "1 if the load generator was the bottleneck, or near it.",
            f64::from(u8::from(result.generator.saturated)),
        ),
        page.counters(
            "torr_check_failures_total",
            "Responses that failed a check, by check.",
            result.checks.iter().map(|check| ([("check", check.name.clone())], check.failed)),
        ),
        page.gauges(
            "torr_threshold_failed",
            "1 if the run failed the threshold.",
            result.thresholds.iter().map(|t| ([("rule", t.rule.clone())], f64::from(u8::from(t.failed)))),
        ),
    ];
    // The format does not allow metrics without samples, such as checks of a run without checks.
    let families: Vec<_> = families.into_iter().filter(|family| !family.get_metric().is_empty()).collect();
    TextEncoder::new().encode_to_string(&families)
}

/// The result from which the metrics take their common labels.
struct Page<'r> {
    result: &'r RunResult,
}

type Labels = [(&'static str, String); 1];

impl Page<'_> {
    fn counter(&self, name: &str, help: &str, n: u64) -> MetricFamily {
        family(name, help, MetricType::COUNTER, vec![self.counted(&[], n)])
    }

    fn counters(&self, name: &str, help: &str, counts: impl IntoIterator<Item = (Labels, u64)>) -> MetricFamily {
        let metrics = counts.into_iter().map(|(labels, n)| self.counted(&labels, n)).collect();
        family(name, help, MetricType::COUNTER, metrics)
    }

    fn gauge(&self, name: &str, help: &str, value: f64) -> MetricFamily {
        family(name, help, MetricType::GAUGE, vec![self.gauged(&[], value)])
    }

    fn gauges(&self, name: &str, help: &str, values: impl IntoIterator<Item = (Labels, f64)>) -> MetricFamily {
        let metrics = values.into_iter().map(|(labels, value)| self.gauged(&labels, value)).collect();
        family(name, help, MetricType::GAUGE, metrics)
    }

    fn histogram(&self, run: &Measurement) -> MetricFamily {
        let latency = run.total.latency();
        let buckets = buckets::cumulative(&latency).map(|(bound, count)| {
            let mut bucket = Bucket::default();
            bucket.set_upper_bound(bound);
            bucket.set_cumulative_count(count);
            bucket
        });
        let mut histogram = Histogram::default();
        histogram.set_bucket(buckets.collect());
        histogram.set_sample_count(latency.count());
        histogram.set_sample_sum(latency.sum() / 1e6);
        let mut metric = Metric::from_label(self.labels(&[]));
        metric.set_histogram(histogram);
        let help = "Time from when a request was due to its last byte; timeouts and unfinished requests at their age.";
        family("torr_latency_seconds", help, MetricType::HISTOGRAM, vec![metric])
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
