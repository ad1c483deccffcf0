//! Figures of metrics with their units.

use torr_lab::metric::Metric;
use torr_report::human::{bytes, count, difference, micros, per_second};

/// Returns a figure of a metric of comparisons and histories as text.
pub fn shown(metric: Metric, value: f64) -> String {
    match metric {
        Metric::Throughput | Metric::Events => per_second(value),
        Metric::Errors => difference(value),
        Metric::Memory => bytes(value),
        Metric::Instructions => count(value.round() as u64),
        // Whole microseconds would hide what is compared.
        Metric::Cpu | Metric::EventCpu if value < 100.0 => format!("{value:.2} us"),
        _ => micros(value),
    }
}
