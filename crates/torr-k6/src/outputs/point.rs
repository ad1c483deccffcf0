//! A sample on its way to outputs.

use crate::summary::data::Contains;
use std::sync::Arc;
use std::time::SystemTime;

/// A sample on its way to outputs.
#[derive(Debug, Clone)]
pub struct Point {
    /// The metric.
    pub metric: Arc<MetricFacts>,
    /// When the sample was taken.
    pub time: SystemTime,
    /// The value.
    pub value: f64,
    /// The tags.
    pub tags: Arc<PointTags>,
}

/// The tags of samples.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PointTags {
    /// Tags, each with its name.
    pub tags: Vec<(String, String)>,
    /// Values that belong to a sample and do not make a series of their own.
    pub metadata: Vec<(String, String)>,
}

/// What outputs say of a metric.
#[derive(Debug, Clone)]
pub struct MetricFacts {
    /// The name.
    pub name: String,
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
