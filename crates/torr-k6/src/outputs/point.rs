//! A sample as outputs see it, with what is known of its metric.

use crate::metrics::{Contains, MetricId, MetricsPlan, Sample, Thresholds};
use std::collections::HashMap;
use std::sync::Arc;

/// What outputs say of a metric.
#[derive(Debug, Clone)]
pub struct MetricFacts {
    /// The name.
    pub name: Arc<str>,
    /// The type: `counter`, `gauge`, `rate` or `trend`.
    pub kind: &'static str,
    /// The unit of the values.
    pub contains: Contains,
    /// The expressions of the metric's thresholds.
    pub thresholds: Vec<String>,
    /// The metric's parts that have figures of their own.
    pub submetrics: Vec<Submetric>,
}

/// A part of a metric that has figures of its own.
#[derive(Debug, Clone)]
pub struct Submetric {
    /// The selector as the script has it, such as `status:200`.
    pub suffix: String,
    /// The tags that the selector asks for.
    pub tags: Vec<(String, String)>,
}

/// The metrics of a run as outputs know them.
#[derive(Debug)]
pub struct KnownMetrics {
    plan: Arc<MetricsPlan>,
    thresholds: HashMap<MetricId, Vec<String>>,
    known: HashMap<MetricId, MetricFacts>,
}

impl KnownMetrics {
    /// Returns the metrics of a plan, with the thresholds of the run.
    pub fn new(plan: Arc<MetricsPlan>, thresholds: &Thresholds) -> Self {
        let whole = thresholds.by_metric().iter().filter(|metric| metric.selector.is_none());
        let sources = whole.map(|metric| {
            let sources = metric.thresholds.iter().map(|threshold| threshold.expression.source.clone());
            (metric.metric, sources.collect())
        });
        Self { plan, thresholds: sources.collect(), known: HashMap::new() }
    }

    /// Returns the metric of a sample.
    pub fn of(&mut self, sample: &Sample) -> &MetricFacts {
        let Self { plan, thresholds, known } = self;
        known.entry(sample.metric).or_insert_with(|| {
            let info = plan.registry().info(sample.metric);
            let part = |(_, selector): (u32, &crate::metrics::Selector)| Submetric {
                suffix: selector.text.clone(),
                tags: selector.tags.clone(),
            };
            MetricFacts {
                name: info.name,
                kind: info.kind.name(),
                contains: info.contains,
                thresholds: thresholds.get(&sample.metric).cloned().unwrap_or_default(),
                submetrics: plan.selectors(sample.metric).map(part).collect(),
            }
        })
    }
}
