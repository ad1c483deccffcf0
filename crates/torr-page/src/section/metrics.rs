//! The metrics of comparisons and histories in words.

use torr_report::human::{bytes, count, micros, percent, rate};

/// Returns the name of a metric of comparisons and histories.
pub fn name_of(metric: &str) -> &str {
    match metric {
        "cpu" => "CPU time per response",
        "event_cpu" => "CPU time per event",
        "instructions" => "Instructions per response",
        "p50" => "Median response time",
        "p90" => "90th percentile",
        "p99" => "99th percentile",
        "p99_9" => "99.9th percentile",
        "throughput" => "Throughput",
        "events" => "Events per second",
        "first_event_p50" => "Median time to the first event",
        "first_event_p99" => "99th percentile of times to the first event",
        "gap_p50" => "Median gap between events",
        "gap_p99" => "99th percentile of gaps",
        "errors" => "Share of errors",
        "memory" => "Memory",
        other => other,
    }
}

/// Returns a figure of a metric with its unit.
pub fn shown(metric: &str, figure: f64) -> String {
    match metric {
        "throughput" | "events" => format!("{}/s", rate(figure)),
        "errors" => percent(figure),
        "memory" => bytes(figure),
        "instructions" => count(figure.round() as u64),
        // Whole microseconds would hide what is compared.
        "cpu" | "event_cpu" if figure < 100.0 => format!("{figure:.2} us"),
        _ => micros(figure),
    }
}
