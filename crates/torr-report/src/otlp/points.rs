//! Data points of one run, whose attributes and times they share, and metrics of them.

use crate::buckets;
use crate::exponential::Exponential;
use opentelemetry_proto::tonic::common::v1::{AnyValue, KeyValue, any_value};
use opentelemetry_proto::tonic::metrics::v1::exponential_histogram_data_point::Buckets;
use opentelemetry_proto::tonic::metrics::v1::{
    AggregationTemporality, ExponentialHistogram, ExponentialHistogramDataPoint, Gauge, Histogram, HistogramDataPoint,
    Metric, NumberDataPoint, Sum, metric, number_data_point,
};
use std::time::{Duration, UNIX_EPOCH};
use torr_gauge::{Latency, RunResult};

/// The attributes and times that all points share. Each point covers the whole run.
pub(super) struct Points {
    start: u64,
    end: u64,
    attributes: Vec<KeyValue>,
    /// Whether histograms are exponential.
    is_exponential: bool,
}

/// Times for a point of a histogram.
pub(super) struct Times {
    attributes: Vec<KeyValue>,
    latency: Latency,
    min: Option<u64>,
}

impl Points {
    pub fn new(run: &RunResult, is_exponential: bool) -> Self {
        let started = humantime::parse_rfc3339(&run.started_at).ok();
        let start = started.and_then(|at| at.duration_since(UNIX_EPOCH).ok()).unwrap_or_default();
        let end = start + Duration::from_secs_f64(run.duration_s);
        Self {
            start: start.as_nanos() as u64,
            end: end.as_nanos() as u64,
            attributes: vec![text("url.full", &run.target), text("http.request.method", &run.plan.method)],
            is_exponential,
        }
    }

    fn point(&self, value: number_data_point::Value, more: Vec<KeyValue>) -> NumberDataPoint {
        NumberDataPoint {
            attributes: self.attributes(more),
            start_time_unix_nano: self.start,
            time_unix_nano: self.end,
            value: Some(value),
            ..NumberDataPoint::default()
        }
    }

    pub fn count(&self, n: u64, more: Vec<KeyValue>) -> NumberDataPoint {
        self.point(number_data_point::Value::AsInt(n as i64), more)
    }

    pub fn value(&self, value: f64) -> NumberDataPoint {
        self.point(number_data_point::Value::AsDouble(value), Vec::new())
    }

    /// Returns times for a point of a histogram. `min` is the shortest in microseconds, where the histogram's own is none of responses.
    pub fn times(&self, latency: &Latency, min: Option<u64>, more: Vec<KeyValue>) -> Times {
        Times { attributes: self.attributes(more), latency: latency.clone(), min }
    }

    /// Returns a cumulative histogram in seconds.
    pub fn histogram(&self, name: &str, description: &str, times: Vec<Times>) -> Metric {
        let aggregation_temporality = AggregationTemporality::Cumulative.into();
        let data = match self.is_exponential {
            true => {
                let data_points = times.into_iter().map(|times| self.exponential(times)).collect();
                metric::Data::ExponentialHistogram(ExponentialHistogram { data_points, aggregation_temporality })
            }
            false => {
                let data_points = times.into_iter().map(|times| self.explicit(times)).collect();
                metric::Data::Histogram(Histogram { data_points, aggregation_temporality })
            }
        };
        Metric {
            name: name.into(),
            unit: "s".into(),
            description: description.into(),
            data: Some(data),
            ..Metric::default()
        }
    }

    fn explicit(&self, Times { attributes, latency, min }: Times) -> HistogramDataPoint {
        let (bounds, up_to): (Vec<f64>, Vec<u64>) = buckets::cumulative(&latency).unzip();
        // Counts per bucket, with one more bucket above the last bound.
        let ends = up_to.iter().copied().chain([latency.count()]);
        let begins = std::iter::once(0).chain(up_to.iter().copied());
        let (min, max) = bounds_s(&latency, min);
        HistogramDataPoint {
            attributes,
            start_time_unix_nano: self.start,
            time_unix_nano: self.end,
            count: latency.count(),
            sum: Some(latency.sum() / 1e6),
            bucket_counts: ends.zip(begins).map(|(end, begin)| end - begin).collect(),
            explicit_bounds: bounds,
            min,
            max,
            ..HistogramDataPoint::default()
        }
    }

    fn exponential(&self, Times { attributes, latency, min }: Times) -> ExponentialHistogramDataPoint {
        let Exponential { scale, first, counts } = Exponential::of(&latency);
        let (min, max) = bounds_s(&latency, min);
        ExponentialHistogramDataPoint {
            attributes,
            start_time_unix_nano: self.start,
            time_unix_nano: self.end,
            count: latency.count(),
            sum: Some(latency.sum() / 1e6),
            scale,
            positive: Some(Buckets { offset: first, bucket_counts: counts }),
            min,
            max,
            ..ExponentialHistogramDataPoint::default()
        }
    }

    fn attributes(&self, more: Vec<KeyValue>) -> Vec<KeyValue> {
        self.attributes.iter().cloned().chain(more).collect()
    }
}

/// Returns the shortest and the longest time in seconds.
fn bounds_s(latency: &Latency, min: Option<u64>) -> (Option<f64>, Option<f64>) {
    let summary = latency.summary();
    let seconds = |us: u64| us as f64 / 1e6;
    (min.or(summary.map(|s| s.min)).map(seconds), summary.map(|s| seconds(s.max)))
}

pub(super) fn sum(name: &str, unit: &str, description: &str, data_points: Vec<NumberDataPoint>) -> Metric {
    let aggregation_temporality = AggregationTemporality::Cumulative.into();
    Metric {
        name: name.into(),
        unit: unit.into(),
        description: description.into(),
        data: Some(metric::Data::Sum(Sum { data_points, aggregation_temporality, is_monotonic: true })),
        ..Metric::default()
    }
}

pub(super) fn gauge(name: &str, unit: &str, description: &str, point: NumberDataPoint) -> Metric {
    Metric {
        name: name.into(),
        unit: unit.into(),
        description: description.into(),
        data: Some(metric::Data::Gauge(Gauge { data_points: vec![point] })),
        ..Metric::default()
    }
}

pub(super) fn text(key: &str, value: &str) -> KeyValue {
    attribute(key, any_value::Value::StringValue(value.into()))
}

pub(super) fn number(key: &str, value: i64) -> KeyValue {
    attribute(key, any_value::Value::IntValue(value))
}

fn attribute(key: &str, value: any_value::Value) -> KeyValue {
    KeyValue { key: key.into(), value: Some(AnyValue { value: Some(value) }), ..KeyValue::default() }
}
