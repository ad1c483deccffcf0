//! The points of a run's series.

use crate::fields::{field, has_streams, list, number, text};
use crate::plot::heat::Interval;
use crate::plot::percentiles::Counts;
use serde_json::Value;

/// A point of the series.
pub struct Point {
    /// The end of the interval in seconds.
    pub t: f64,
    /// The middle of the interval in seconds, where a plot has the point.
    pub middle: f64,
    /// Requests per second within the interval; of streams, events.
    pub per_s: f64,
    /// Failed requests of the interval.
    pub errors: f64,
    /// Percentiles in microseconds; of streams those of gaps.
    pub p50: Option<f64>,
    /// To a tenth of a decade.
    pub p90: Option<f64>,
    /// As `p50`.
    pub p99: Option<f64>,
    /// As `p90`.
    pub p99_9: Option<f64>,
    /// CPU time of the generator in cores.
    pub generator: Option<f64>,
    /// CPU time of the server in cores.
    pub server: Option<f64>,
    /// The used part of the server's machine.
    pub machine: Option<f64>,
    /// The stolen part of the server's machine.
    pub stolen: f64,
    /// Failed requests by kind.
    pub kinds: Vec<(String, f64)>,
    /// Open connections.
    pub connections: Option<f64>,
    /// The longest send lag in microseconds.
    pub lag: Option<f64>,
    /// How many requests took how long, and within which time.
    pub map: Option<Interval>,
}

/// Returns the points of a run.
pub fn points(value: &Value) -> Vec<Point> {
    let mut before = 0.0;
    let is_of_streams = has_streams(value);
    let point = |point: &Value| {
        let t = number(point, "t")?;
        let from = std::mem::replace(&mut before, t);
        let seconds = t - from;
        let requests = number(point, "requests")?;
        // A point without events has no field for them.
        let counted = if is_of_streams { number(point, "events").unwrap_or(0.0) } else { requests };
        let counts = text(point, "latency_histogram").and_then(Counts::parse);
        Some(Point {
            t,
            middle: t - seconds / 2.0,
            per_s: if seconds > 0.0 { counted / seconds } else { 0.0 },
            errors: number(point, "errors").unwrap_or(0.0),
            p50: number(point, "p50").filter(|time| *time > 0.0),
            p90: counts.as_ref().and_then(|counts| counts.percentile(0.9)),
            p99: number(point, "p99").filter(|time| *time > 0.0),
            p99_9: counts.as_ref().and_then(|counts| counts.percentile(0.999)),
            generator: number(point, "generator_cores"),
            server: number(point, "server_cores"),
            machine: number(point, "cpu_share"),
            stolen: number(point, "stolen_share").unwrap_or(0.0),
            kinds: kinds(point),
            connections: number(point, "connections"),
            lag: number(point, "send_lag_max_us"),
            map: counts.map(|counts| Interval { from, to: t, counts }),
        })
    };
    list(value, "series").iter().filter_map(point).collect()
}

/// Returns the errors of a point by kind.
fn kinds(point: &Value) -> Vec<(String, f64)> {
    let known = field(point, "errors_by_kind").and_then(Value::as_object);
    let kind = |(kind, count): (&String, &Value)| Some((kind.clone(), count.as_f64()?));
    known.into_iter().flatten().filter_map(kind).collect()
}
