//! Metrics of a test: registry, tags, samples, sinks, sub-metrics, thresholds.
//!
//! Each load thread has a [`Recorder`] without locks. Some times a second a recorder hands over what it has to the
//! [`Collector`], which has the metrics of the whole run, and by which [`Thresholds`] are evaluated.

mod buckets;
pub mod builtin;
mod checks;
mod collector;
mod current_tags;
mod iteration_info;
mod kind;
mod merged;
mod plan;
mod recent;
mod recorder;
mod registry;
mod samples;
mod selector;
mod sink;
mod tag_set;
mod threshold;
mod thresholds;
mod trend;

pub use checks::{CheckCount, CheckKey};
pub use collector::Collector;
pub use current_tags::CurrentTags;
pub use iteration_info::IterationInfo;
pub use kind::{Contains, MetricId, MetricKind};
pub use merged::{Merged, MergedMetric, Scope, SubMetric};
pub use plan::MetricsPlan;
pub use recorder::{Recorder, RequestFacts};
pub use registry::{MetricInfo, Registry};
pub use samples::{Sample, SampleSender};
pub use selector::{Selector, split_name};
pub use sink::{Gauge, Rate, Sink};
pub use tag_set::TagSet;
pub use threshold::{Aggregate, Comparison, ThresholdExpression};
pub use thresholds::{Evaluation, MetricThresholds, ThresholdOutcome, Thresholds};
pub use trend::TrendSink;
