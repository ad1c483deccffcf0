//! The samples of a run as the outputs of JSON and CSV have them: metrics and tags, without times.

use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs::File;
use std::path::Path;

/// Metrics that are recorded once a second: whether a run lasts that long is a matter of luck.
const BY_THE_SECOND: [&str; 2] = ["vus", "vus_max"];
/// The columns of a table that depend on time: timestamp and value.
const OF_TIME: [usize; 2] = [1, 2];

/// What two files have of the samples of a run.
#[derive(Debug, Default)]
pub struct Samples {
    /// The metrics with what is said of them.
    metrics: BTreeSet<String>,
    /// The samples by metric and tags: how many there are, and of a counter what they sum up to.
    points: BTreeMap<String, f64>,
    /// The first line of the table.
    header: Vec<String>,
    /// The lines of the table without what depends on time, with how many of each there are.
    rows: BTreeMap<Vec<String>, usize>,
}

impl Samples {
    /// Reads both files, as far as there are any. The end of a run that was cut off may be missing.
    pub fn read(lines: &Path, table: &Path) -> Self {
        let mut samples = Self::default();
        let mut counters = BTreeSet::new();
        for line in std::fs::read_to_string(lines).unwrap_or_default().lines() {
            let Ok(line) = serde_json::from_str::<Value>(line) else { continue };
            let (metric, data) = (line["metric"].as_str().unwrap_or_default(), &line["data"]);
            if BY_THE_SECOND.contains(&metric) {
                continue;
            }
            if line["type"] == "Metric" {
                if data["type"] == "counter" && !metric.starts_with("data_") {
                    counters.insert(metric.to_owned());
                }
                samples.metrics.insert(described(metric, data));
                continue;
            }
            let value = if counters.contains(metric) { data["value"].as_f64().unwrap_or_default() } else { 1.0 };
            *samples
                .points
                .entry(format!("{metric} {} {}", sorted(&data["tags"]), sorted(&data["metadata"])))
                .or_default() += value;
        }
        if let Ok(file) = File::open(table) {
            let mut reader = csv::Reader::from_reader(file);
            samples.header = reader.headers().map(texts).unwrap_or_default();
            let extra = samples.header.iter().position(|name| name == "extra_tags");
            for record in reader.records().map_while(Result::ok).filter(|row| !BY_THE_SECOND.contains(&&row[0])) {
                let mut row = texts(&record);
                // k6 has these in any order.
                if let Some(tags) = extra.and_then(|at| row.get_mut(at)) {
                    let mut pairs: Vec<_> = tags.split('&').collect();
                    pairs.sort_unstable();
                    *tags = pairs.join("&");
                }
                let row = row.into_iter().enumerate().filter(|(at, _)| !OF_TIME.contains(at)).map(|(_, text)| text);
                *samples.rows.entry(row.collect()).or_default() += 1;
            }
        }
        samples
    }

    /// Returns the metrics and samples as text. Where counts depend on time there are none.
    pub fn points(&self, is_timed: bool) -> String {
        let mut text: String = self.metrics.iter().map(|metric| format!("{metric}\n")).collect();
        for (point, count) in &self.points {
            let count = if is_timed { String::new() } else { format!("{count} ") };
            let _ = writeln!(text, "{count}{point}");
        }
        text
    }

    /// Returns the table as text. Where counts depend on time there are none.
    pub fn table(&self, is_timed: bool) -> String {
        let mut text = self.header.join(",");
        for (row, count) in &self.rows {
            let count = if is_timed { String::new() } else { format!("{count} ") };
            let _ = write!(text, "\n{count}{}", row.join(","));
        }
        text
    }
}

fn texts(record: &csv::StringRecord) -> Vec<String> {
    record.iter().map(str::to_owned).collect()
}

/// Returns what is said of a metric before its first sample. k6 has its sub-metrics in any order.
fn described(metric: &str, data: &Value) -> String {
    let parts = data["submetrics"].as_array();
    let parts: BTreeSet<_> =
        parts.into_iter().flatten().map(|part| format!("{} {}", part["name"], sorted(&part["tags"]))).collect();
    format!("{metric}: {} {} {} {parts:?}", data["type"], data["contains"], data["thresholds"])
}

/// Returns the entries of an object by their names.
fn sorted(object: &Value) -> String {
    let entries: BTreeMap<_, _> = object.as_object().into_iter().flatten().collect();
    format!("{entries:?}")
}
