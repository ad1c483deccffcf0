//! Samples as lines of JSON: a line for each metric before its first sample, and one for each sample.

use super::file::OutputFile;
use super::point::{MetricFacts, Point};
use super::time::rfc3339;
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;
use std::io::{self, Write};

/// Samples as lines of JSON.
#[derive(Debug)]
pub struct JsonLines {
    file: OutputFile,
    /// The metrics that have had their line.
    seen: BTreeSet<String>,
}

impl JsonLines {
    /// Returns the lines that go to a file.
    pub fn new(file: OutputFile) -> Self {
        Self { file, seen: BTreeSet::new() }
    }

    /// Writes a sample.
    pub fn write(&mut self, point: &Point) -> io::Result<()> {
        let name = &point.metric.name;
        if !self.seen.contains(name) {
            self.seen.insert(name.clone());
            let metric = json!({ "type": "Metric", "data": facts(&point.metric), "metric": name });
            writeln!(self.file, "{metric}")?;
        }
        let mut data =
            json!({ "time": rfc3339(point.time, true), "value": number(point.value), "tags": named(&point.tags.tags) });
        if let (false, Some(data)) = (point.tags.metadata.is_empty(), data.as_object_mut()) {
            data.insert("metadata".to_owned(), named(&point.tags.metadata));
        }
        writeln!(self.file, "{}", json!({ "metric": name, "type": "Point", "data": data }))
    }

    /// Closes the file.
    pub fn finish(self) -> io::Result<()> {
        self.file.finish()
    }
}

fn facts(metric: &MetricFacts) -> Value {
    let name = &metric.name;
    let submetrics = metric.submetrics.iter().map(|part| {
        json!({ "name": format!("{name}{{{}}}", part.suffix), "suffix": part.suffix, "tags": named(&part.tags) })
    });
    let submetrics: Vec<Value> = submetrics.collect();
    json!({
        "name": name,
        "type": metric.kind,
        "contains": metric.contains.name(),
        "thresholds": metric.thresholds,
        "submetrics": if submetrics.is_empty() { Value::Null } else { submetrics.into() },
    })
}

fn named(pairs: &[(String, String)]) -> Value {
    Value::Object(pairs.iter().map(|(name, value)| (name.clone(), value.clone().into())).collect::<Map<_, _>>())
}

fn number(value: f64) -> Value {
    // Below 2^53 every whole number is exact.
    if value.fract() == 0.0 && value.abs() < 9_007_199_254_740_992.0 { (value as i64).into() } else { value.into() }
}
