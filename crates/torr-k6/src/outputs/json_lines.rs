//! Samples as lines of JSON: a line for each metric before its first sample, and one for each sample.

use super::file::OutputFile;
use super::number::number;
use super::point::MetricFacts;
use super::time::rfc3339;
use crate::metrics::Sample;
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

    /// Writes a sample of a metric.
    pub fn write(&mut self, metric: &MetricFacts, sample: &Sample) -> io::Result<()> {
        let name = &*metric.name;
        if !self.seen.contains(name) {
            self.seen.insert(name.to_owned());
            let metric = json!({ "type": "Metric", "data": facts(metric), "metric": name });
            writeln!(self.file, "{metric}")?;
        }
        let (time, tags) = (rfc3339(sample.time, true), named(sample.tags.iter()));
        let mut data = json!({ "time": time, "value": number(sample.value), "tags": tags });
        let metadata = sample.tags.metadata();
        if let (false, Some(data)) = (metadata.is_empty(), data.as_object_mut()) {
            data.insert("metadata".to_owned(), named(pairs(metadata)));
        }
        writeln!(self.file, "{}", json!({ "metric": name, "type": "Point", "data": data }))
    }

    /// Closes the file.
    pub fn finish(self) -> io::Result<()> {
        self.file.finish()
    }
}

fn facts(metric: &MetricFacts) -> Value {
    let name = &*metric.name;
    let submetrics = metric.submetrics.iter().map(|part| {
        json!({ "name": format!("{name}{{{}}}", part.suffix), "suffix": part.suffix, "tags": named(pairs(&part.tags)) })
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

fn named<'p>(pairs: impl Iterator<Item = (&'p str, &'p str)>) -> Value {
    Value::Object(pairs.map(|(name, value)| (name.to_owned(), value.into())).collect::<Map<_, _>>())
}

fn pairs(pairs: &[(String, String)]) -> impl Iterator<Item = (&str, &str)> {
    pairs.iter().map(|(name, value)| (name.as_str(), value.as_str()))
}
