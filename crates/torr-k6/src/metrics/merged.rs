//! The metrics of a whole run, or of the part that a thread has not handed over yet.

use super::checks::{CheckCount, Checks};
use super::kind::MetricId;
use super::plan::MetricsPlan;
use super::registry::MetricInfo;
use super::selector::Selector;
use super::sink::Sink;
use super::tag_set::TagSet;
use super::trend::TrendSink;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The part of a run that figures are kept of for a full summary: a scenario, and a group in it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Scope {
    /// The scenario, empty for none.
    pub scenario: Arc<str>,
    /// The path of the groups, empty for none.
    pub group: Arc<str>,
}

/// A metric with its values.
#[derive(Debug, Clone)]
pub struct MergedMetric {
    /// The metric.
    pub info: MetricInfo,
    /// The values of all samples.
    pub sink: Sink,
    /// The values of the sub-metrics.
    pub sub_metrics: Vec<SubMetric>,
}

/// The part of a metric's samples with certain tags.
#[derive(Debug, Clone)]
pub struct SubMetric {
    number: u32,
    /// The tags that the samples have.
    pub selector: Selector,
    /// The values.
    pub sink: Sink,
}

impl MergedMetric {
    fn new(plan: &MetricsPlan, id: MetricId) -> Self {
        let info = plan.registry().info(id);
        let sub = |(number, selector): (u32, &Selector)| SubMetric {
            number,
            selector: selector.clone(),
            sink: Sink::new(info.kind),
        };
        Self { sink: Sink::new(info.kind), sub_metrics: plan.selectors(id).map(sub).collect(), info }
    }

    #[inline]
    fn add(&mut self, value: f64, tags: &TagSet) {
        self.sink.add(value);
        for sub in &mut self.sub_metrics {
            if tags.is_matched(sub.number) {
                sub.sink.add(value);
            }
        }
    }

    fn merge(&mut self, other: &mut Self) {
        self.sink.merge(other.sink.take());
        for (own, other) in self.sub_metrics.iter_mut().zip(&mut other.sub_metrics) {
            own.sink.merge(other.sink.take());
        }
    }

    /// Returns the values of the metric or of the sub-metric with a selector; `None` if no such sub-metric is kept.
    pub fn values(&mut self, selector: Option<&str>) -> Option<&mut Sink> {
        match selector {
            None => Some(&mut self.sink),
            Some(text) => self.sub_metrics.iter_mut().find(|sub| sub.selector.text == text).map(|sub| &mut sub.sink),
        }
    }
}

/// The metrics of a run.
#[derive(Debug, Clone, Default)]
pub struct Merged {
    metrics: Vec<Option<Box<MergedMetric>>>,
    scopes: BTreeMap<Scope, Vec<Option<Box<Sink>>>>,
    checks: Checks,
    send_lag: TrendSink,
}

impl Merged {
    /// Returns the metric of a number, without samples if it had none.
    pub(super) fn metric(&mut self, plan: &MetricsPlan, id: MetricId) -> &mut MergedMetric {
        if id.index() >= self.metrics.len() {
            self.metrics.resize_with(id.index() + 1, || None);
        }
        self.metrics[id.index()].get_or_insert_with(|| Box::new(MergedMetric::new(plan, id)))
    }

    #[inline]
    pub(super) fn add(&mut self, plan: &MetricsPlan, id: MetricId, value: f64, tags: &TagSet) {
        self.metric(plan, id).add(value, tags);
        if plan.is_by_scope() {
            let tag = |name| tags.shared(name).cloned().unwrap_or_default();
            let scope = Scope { scenario: tag("scenario"), group: tag("group") };
            self.scoped(plan, scope, id).add(value);
        }
    }

    fn scoped(&mut self, plan: &MetricsPlan, scope: Scope, id: MetricId) -> &mut Sink {
        let sinks = self.scopes.entry(scope).or_default();
        if id.index() >= sinks.len() {
            sinks.resize_with(id.index() + 1, || None);
        }
        sinks[id.index()].get_or_insert_with(|| Box::new(Sink::new(plan.registry().info(id).kind)))
    }

    pub(super) fn checks_mut(&mut self) -> &mut Checks {
        &mut self.checks
    }

    pub(super) fn add_send_lag(&mut self, millis: f64) {
        self.send_lag.add(millis);
    }

    /// Adds all samples of a thread, which is left without samples.
    pub(super) fn merge(&mut self, plan: &MetricsPlan, other: &mut Self) {
        for (at, metric) in other.metrics.iter_mut().enumerate() {
            if let Some(metric) = metric {
                self.metric(plan, MetricId(at as u32)).merge(metric);
            }
        }
        for (scope, sinks) in &mut other.scopes {
            for (at, sink) in sinks.iter_mut().enumerate() {
                if let Some(sink) = sink {
                    self.scoped(plan, scope.clone(), MetricId(at as u32)).merge(sink.take());
                }
            }
        }
        self.checks.merge(&mut other.checks);
        self.send_lag.merge(std::mem::take(&mut other.send_lag));
    }

    /// Returns the metrics that had samples or are planned with sub-metrics, in the order of their numbers.
    pub fn metrics(&mut self) -> impl Iterator<Item = &mut MergedMetric> {
        self.metrics.iter_mut().flatten().map(|metric| &mut **metric)
    }

    /// Returns the values of each metric that had samples in a scenario and group, with the metric's number. There are none unless
    /// the plan keeps them.
    pub fn scopes(&self) -> impl Iterator<Item = (&Scope, MetricId, &Sink)> {
        self.scopes.iter().flat_map(|(scope, sinks)| {
            let numbered = sinks.iter().enumerate();
            numbered.filter_map(move |(at, sink)| Some((scope, MetricId(at as u32), sink.as_deref()?)))
        })
    }

    /// Returns the counts of checks, in the order in which the checks first ran.
    #[must_use]
    pub fn checks(&self) -> &[CheckCount] {
        self.checks.all()
    }

    /// Returns how late iterations of arrival rates began, in milliseconds after they were due.
    pub fn send_lag(&mut self) -> &mut TrendSink {
        &mut self.send_lag
    }
}
