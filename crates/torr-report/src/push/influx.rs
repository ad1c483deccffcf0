//! The line protocol of InfluxDB: a line for each sample.

use crate::families::{self, Samples};
use std::fmt::Write as _;
use std::time::{SystemTime, UNIX_EPOCH};
use torr_gauge::collector::Measurement;
use torr_gauge::{Latency, RunResult};

/// Returns the figures of a run at a time.
pub(super) fn lines(run: &Measurement, now: SystemTime) -> String {
    let nanos = now.duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
    let mut lines = String::new();
    let mut line = |name: &str, own: &[(&'static str, String)], fields: &str| {
        lines.push_str(name);
        tags(&run.result, own, &mut lines);
        let _ = writeln!(lines, " {fields} {nanos}");
    };
    for family in families::of(run) {
        match &family.samples {
            Samples::Counters(all) => all.iter().for_each(|(own, n)| line(family.name, own, &format!("value={n}i"))),
            Samples::Gauges(all) => {
                all.iter().for_each(|(own, value)| line(family.name, own, &format!("value={value}")))
            }
            Samples::Times(all) => all.iter().for_each(|(own, latency)| line(family.name, own, &times(latency))),
        }
    }
    lines
}

fn times(latency: &Latency) -> String {
    let mut fields = format!("count={}i,sum={}", latency.count(), latency.sum() / 1e6);
    if let Some(summary) = latency.summary() {
        let named = [("p50", summary.p50), ("p90", summary.p90), ("p99", summary.p99), ("max", Some(summary.max))];
        for (name, us) in named {
            if let Some(us) = us {
                let _ = write!(fields, ",{name}={}", us as f64 / 1e6);
            }
        }
    }
    fields
}

/// Appends the tags, in the order of their names, which the database sorts by.
fn tags(run: &RunResult, own: &[(&'static str, String)], line: &mut String) {
    let shared = families::labels(run).into_iter();
    let mut all: Vec<_> = shared.chain(own.iter().map(|(name, value)| (*name, value.as_str()))).collect();
    all.sort_unstable();
    for (name, value) in all.into_iter().filter(|(_, value)| !value.is_empty()) {
        let _ = write!(line, ",{name}={}", escaped(value));
    }
}

/// Returns the value of a tag, which may have no line break and no backslash at its end.
fn escaped(value: &str) -> String {
    let mut text = String::with_capacity(value.len());
    for c in value.trim_end_matches('\\').chars() {
        match c {
            ',' | '=' | ' ' => text.extend(['\\', c]),
            c if c.is_control() => text.push('_'),
            c => text.push(c),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_tags_are_escaped() {
        for (value, line) in [("a b,c=d", "a\\ b\\,c\\=d"), ("x\ny", "x_y"), ("end\\", "end"), ("in\\side", "in\\side")]
        {
            assert_eq!(escaped(value), line);
        }
    }
}
