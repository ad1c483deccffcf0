//! The thresholds of a run: read against the metrics that there are, evaluated while it goes on and at its end.

use super::kind::{MetricId, MetricKind};
use super::merged::Merged;
use super::plan::MetricsPlan;
use super::registry::Registry;
use super::selector::split_name;
use super::sink::Sink;
use super::threshold::ThresholdExpression;
use crate::options::{OptionError, ThresholdOption};
use std::collections::BTreeMap;
use std::time::Duration;

/// A threshold with the outcome of its latest evaluation.
#[derive(Debug, Clone, PartialEq)]
pub struct ThresholdOutcome {
    /// The expression.
    pub expression: ThresholdExpression,
    /// Whether the test stops when the expression does not hold.
    pub abort_on_fail: bool,
    /// The time from the start of the test before which the test does not stop.
    pub delay_abort: Duration,
    /// The figure at the latest evaluation.
    pub value: f64,
    /// Whether the expression held at the latest evaluation, as it does before the first.
    pub is_ok: bool,
}

/// The thresholds of a metric or sub-metric.
#[derive(Debug, Clone, PartialEq)]
pub struct MetricThresholds {
    /// The name, without blanks around its parts.
    pub name: String,
    /// The metric.
    pub metric: MetricId,
    /// The selector of the sub-metric, without braces.
    pub selector: Option<String>,
    /// The thresholds in the order of the script.
    pub thresholds: Vec<ThresholdOutcome>,
}

/// The outcome of an evaluation of all thresholds.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Evaluation {
    /// The names of the metrics with a threshold that does not hold, sorted.
    pub crossed: Vec<String>,
    /// Whether the test is to be stopped.
    pub aborts: bool,
}

/// The thresholds of a run.
#[derive(Debug, Clone, Default)]
pub struct Thresholds {
    by_metric: Vec<MetricThresholds>,
}

impl Thresholds {
    /// Reads the thresholds of a run.
    ///
    /// # Errors
    /// If an expression cannot be read, does not fit its metric, or there is no such metric.
    pub fn new(registry: &Registry, options: &BTreeMap<String, Vec<ThresholdOption>>) -> Result<Self, OptionError> {
        let read = |(name, options): (&String, &Vec<ThresholdOption>)| {
            let invalid = |message: String| OptionError::new(format!("thresholds.{name}"), message);
            let (metric_name, selector) = split_name(name).map_err(invalid)?;
            let metric =
                registry.find(metric_name).ok_or_else(|| invalid(format!("no metric named '{metric_name}'")))?;
            let kind = registry.info(metric).kind;
            let threshold = |option: &ThresholdOption| {
                let expression = ThresholdExpression::parse(&option.expression)?;
                if !expression.aggregate.fits(kind) {
                    let (aggregate, source) = (expression.aggregate, &option.expression);
                    let (kind, known) = (kind.name(), aggregates(kind));
                    return Err(format!("a {kind} has no '{aggregate}' in '{source}': use {known}"));
                }
                let (abort_on_fail, delay_abort) = (option.abort_on_fail, option.delay_abort);
                Ok(ThresholdOutcome { expression, abort_on_fail, delay_abort, value: 0.0, is_ok: true })
            };
            let thresholds = options.iter().map(threshold).collect::<Result<_, _>>().map_err(invalid)?;
            let selector = selector.map(|selector| selector.text);
            let name = match &selector {
                Some(selector) => format!("{metric_name}{{{selector}}}"),
                None => metric_name.to_owned(),
            };
            Ok(MetricThresholds { name, metric, selector, thresholds })
        };
        let mut by_metric = options.iter().map(read).collect::<Result<Vec<_>, OptionError>>()?;
        by_metric.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(Self { by_metric })
    }

    /// Returns the thresholds by metric, sorted by name.
    #[must_use]
    pub fn by_metric(&self) -> &[MetricThresholds] {
        &self.by_metric
    }

    /// Returns whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.by_metric.is_empty()
    }

    /// Returns the names of all metrics and sub-metrics with thresholds, which the plan of the metrics needs.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.by_metric.iter().map(|metric| metric.name.as_str())
    }

    /// Evaluates all thresholds. While the run goes on, metrics without samples are left out.
    pub fn evaluate(&mut self, plan: &MetricsPlan, merged: &mut Merged, elapsed: Duration, is_end: bool) -> Evaluation {
        let mut evaluation = Evaluation::default();
        for of_metric in &mut self.by_metric {
            let metric = merged.metric(plan, of_metric.metric);
            let Some(sink) = metric.values(of_metric.selector.as_deref()) else { continue };
            if sink.is_empty() && !is_end {
                continue;
            }
            for threshold in &mut of_metric.thresholds {
                threshold.value = threshold.expression.aggregate.of(sink, elapsed);
                let passes_empty = sink.is_empty() && matches!(sink, Sink::Rate(_));
                let (comparison, bound) = (threshold.expression.comparison, threshold.expression.bound);
                threshold.is_ok = passes_empty || comparison.holds(threshold.value, bound);
                evaluation.aborts |= !threshold.is_ok && threshold.abort_on_fail && elapsed >= threshold.delay_abort;
            }
            if of_metric.thresholds.iter().any(|threshold| !threshold.is_ok) {
                evaluation.crossed.push(of_metric.name.clone());
            }
        }
        // A sub-metric may have been named twice, with blanks and without.
        evaluation.crossed.dedup();
        evaluation
    }
}

fn aggregates(kind: MetricKind) -> &'static str {
    match kind {
        MetricKind::Counter => "count or rate",
        MetricKind::Gauge => "value",
        MetricKind::Rate => "rate",
        MetricKind::Trend => "avg, min, med, max or p(N)",
    }
}

#[cfg(test)]
mod tests {
    use super::super::builtin;
    use super::super::collector::Collector;
    use super::super::recorder::Recorder;
    use super::super::tag_set::TagSet;
    use super::*;
    use std::sync::Arc;

    fn options(thresholds: &[(&str, &str)]) -> BTreeMap<String, Vec<ThresholdOption>> {
        let mut options = BTreeMap::<_, Vec<_>>::new();
        for (name, expression) in thresholds {
            let (abort_on_fail, delay_abort) = (name.starts_with("iterations"), Duration::from_secs(10));
            let option = ThresholdOption { expression: (*expression).to_owned(), abort_on_fail, delay_abort };
            options.entry((*name).to_owned()).or_default().push(option);
        }
        options
    }

    fn collector(registry: &Registry, thresholds: &Thresholds) -> Collector {
        Collector::new(Arc::new(MetricsPlan::new(registry, thresholds.names(), false).expect("all are metrics")))
    }

    fn evaluate(thresholds: &mut Thresholds, collector: &Collector, seconds: u64, is_end: bool) -> Evaluation {
        let elapsed = Duration::from_secs(seconds);
        thresholds.evaluate(collector.plan(), &mut collector.merged(), elapsed, is_end)
    }

    #[test]
    fn expressions_must_fit_their_metric() {
        let registry = Registry::default();
        for (name, expression) in [
            ("checks", "count>1"),
            ("http_reqs", "p(95)<1"),
            ("http_req_duration", "rate<1"),
            ("http_req_duration", "count>1"),
            ("vus", "max<1"),
            ("nope", "rate<1"),
            ("http_reqs{a:1", "count>1"),
            ("http_reqs{}", "count>1"),
            ("checks", "rate"),
        ] {
            let error = Thresholds::new(&registry, &options(&[(name, expression)])).expect_err(name).to_string();
            assert!(error.contains(&format!("'thresholds.{name}'")) && !error.contains('\n'), "{error}");
        }
    }

    #[test]
    fn metrics_without_samples_count_at_the_end_only() {
        let registry = Registry::default();
        let mut thresholds = Thresholds::new(
            &registry,
            &options(&[
                ("checks", "rate>0.9"),
                ("http_reqs", "count>0"),
                ("http_req_duration", "p(95)<500"),
                ("http_req_duration{a:1}", "avg>1"),
                ("vus", "value>0"),
            ]),
        )
        .expect("the thresholds make sense");
        let collector = collector(&registry, &thresholds);
        assert_eq!(evaluate(&mut thresholds, &collector, 2, false), Evaluation::default());
        let end = evaluate(&mut thresholds, &collector, 2, true);
        assert_eq!(end.crossed, ["http_req_duration{a:1}", "http_reqs", "vus"]);
    }

    #[test]
    fn figures_are_compared_by_kind() {
        let registry = Registry::default();
        let mut thresholds = Thresholds::new(
            &registry,
            &options(&[
                ("checks", "rate>=0.5"),
                ("checks", "rate>0.5"),
                ("http_reqs", "rate==0.4"),
                ("http_reqs{status:200}", "count===1"),
                ("http_req_duration", "p(50)==15"),
                ("http_req_duration", "max!=20"),
                ("vus", "value<=3"),
            ]),
        )
        .expect("the thresholds make sense");
        let collector = collector(&registry, &thresholds);
        let mut recorder = Recorder::new(&collector, None);
        for (status, value) in [("200", 10.0), ("404", 20.0)] {
            let tags = recorder.tag_set(&TagSet::default(), &[("status", status)]);
            recorder.add(builtin::HTTP_REQS, 1.0, &tags);
            recorder.add(builtin::HTTP_REQ_DURATION, value, &tags);
            recorder.add(builtin::CHECKS, f64::from(u8::from(status == "200")), &tags);
        }
        recorder.add(builtin::VUS, 5.0, &TagSet::default());
        recorder.add(builtin::VUS, 3.0, &TagSet::default());
        recorder.hand_over();
        let end = evaluate(&mut thresholds, &collector, 5, true);
        assert_eq!(end.crossed, ["checks", "http_req_duration"]);
        let outcomes = thresholds.by_metric()[0].thresholds.iter().map(|threshold| threshold.is_ok);
        assert_eq!(outcomes.collect::<Vec<_>>(), [true, false]);
    }

    #[test]
    fn a_test_stops_after_the_delay_only() {
        let registry = Registry::default();
        let mut thresholds =
            Thresholds::new(&registry, &options(&[("iterations", "count<1")])).expect("the threshold makes sense");
        let collector = collector(&registry, &thresholds);
        let mut recorder = Recorder::new(&collector, None);
        recorder.add(builtin::ITERATIONS, 1.0, &TagSet::default());
        recorder.hand_over();
        assert!(!evaluate(&mut thresholds, &collector, 9, false).aborts);
        assert!(evaluate(&mut thresholds, &collector, 10, false).aborts);
    }
}
