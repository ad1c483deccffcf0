//! The summary of a run, out of the metrics that its threads recorded.

use super::data::{Check, Group, Metric, Summary, SummaryOptions, Threshold, Values};
use crate::metrics::{Merged, MetricInfo, Registry, Sink, ThresholdOutcome, Thresholds};
use std::time::Duration;

/// The sub-metric that every summary has.
const EXPECTED: &str = "expected_response:true";

/// Returns the summary of a run that took so long, with setup and teardown. State, options and what `setup` returned are the caller's
/// to fill in; the statistics of trends are taken from the options.
pub fn collect(
    merged: &mut Merged,
    registry: &Registry,
    thresholds: &Thresholds,
    options: SummaryOptions,
    elapsed: Duration,
) -> Summary {
    let mut summary = Summary { options, ..Summary::default() };
    summary.state.duration_ms = elapsed.as_secs_f64() * 1_000.0;
    let stats = summary.options.trend_stats.clone();
    let judged = |name: &str| -> Vec<Threshold> {
        let of_metric = thresholds.by_metric().iter().filter(|of_metric| of_metric.name == name);
        of_metric.flat_map(|of_metric| &of_metric.thresholds).map(threshold).collect()
    };
    let is_judged = |name: &str| thresholds.by_metric().iter().any(|of_metric| of_metric.name == name);
    for metric in merged.metrics() {
        let name = metric.info.name.to_string();
        let is_shown = !metric.sink.is_empty()
            || is_judged(&name)
            || metric.sub_metrics.iter().any(|sub| is_judged(&sub_name(&name, &sub.selector.text)));
        if !is_shown {
            continue;
        }
        for sub in &mut metric.sub_metrics {
            let sub_name = sub_name(&name, &sub.selector.text);
            if is_judged(&sub_name) || (sub.selector.text == EXPECTED && !sub.sink.is_empty()) {
                let values = values(&mut sub.sink, &stats, elapsed);
                let thresholds = judged(&sub_name);
                summary.metrics.insert(sub_name, Metric { contains: metric.info.contains, values, thresholds });
            }
        }
        let values = values(&mut metric.sink, &stats, elapsed);
        summary
            .metrics
            .insert(name.clone(), Metric { contains: metric.info.contains, values, thresholds: judged(&name) });
    }
    for check in merged.checks() {
        let (passes, fails) = (check.passes, check.fails);
        summary.root.at(&check.key.group).count(&check.key.name, passes, fails);
        Check::count(&mut summary.checks, &check.key.name, passes, fails);
        let group = &*check.key.group;
        let part = match has_part(&check.key.scenario) {
            true => {
                let root = &mut summary.scenarios.entry(check.key.scenario.to_string()).or_default().root;
                root.count(&check.key.name, passes, fails);
                root
            }
            false => &mut summary.groups,
        };
        if is_group(group) {
            part.at(group).count(&check.key.name, passes, fails);
        }
    }
    by_scope(merged, registry, &stats, elapsed, &mut summary);
    summary
}

/// Adds the figures of groups and scenarios, where they were kept.
fn by_scope(merged: &Merged, registry: &Registry, stats: &[String], elapsed: Duration, summary: &mut Summary) {
    let mut whole = std::collections::BTreeMap::<(String, String, _), Sink>::new();
    for (scope, id, sink) in merged.scopes() {
        let mut add = |scenario: &str, group: &str| {
            let known = whole.entry((scenario.to_owned(), group.to_owned(), id));
            known.or_insert_with(|| Sink::new(registry.info(id).kind)).merge(sink.clone());
        };
        // A scenario's own figures are those of all its groups; a group's are its own.
        let scenario = if has_part(&scope.scenario) { &*scope.scenario } else { "" };
        if !scenario.is_empty() {
            add(scenario, "");
        }
        if is_group(&scope.group) {
            add(scenario, &scope.group);
        }
    }
    for ((scenario, group, id), mut sink) in whole {
        let MetricInfo { name, contains, .. } = registry.info(id);
        let metric = Metric { contains, values: values(&mut sink, stats, elapsed), thresholds: Vec::new() };
        let root: &mut Group = match scenario.as_str() {
            "" => &mut summary.groups,
            _ => &mut summary.scenarios.entry(scenario).or_default().root,
        };
        root.at(&group).metrics.insert(name.to_string(), metric);
    }
}

/// Returns whether the text of mode `full` has a part for a scenario, in which its groups are, too.
fn has_part(scenario: &str) -> bool {
    !matches!(scenario, "" | "default")
}

/// Returns whether a path is that of a group of the script.
fn is_group(path: &str) -> bool {
    !matches!(path, "" | "::setup" | "::teardown")
}

fn sub_name(name: &str, selector: &str) -> String {
    format!("{name}{{{selector}}}")
}

fn threshold(outcome: &ThresholdOutcome) -> Threshold {
    let expression = &outcome.expression;
    Threshold {
        source: expression.source.clone(),
        aggregate: expression.aggregate.to_string(),
        value: outcome.value,
        ok: outcome.is_ok,
    }
}

fn values(sink: &mut Sink, stats: &[String], elapsed: Duration) -> Values {
    match sink {
        Sink::Counter { sum, .. } => {
            let seconds = elapsed.as_secs_f64();
            Values::Counter { count: *sum, rate: if seconds > 0.0 { *sum / seconds } else { 0.0 } }
        }
        Sink::Gauge(gauge) => Values::Gauge { value: gauge.value, min: gauge.min, max: gauge.max },
        Sink::Rate(rate) => Values::Rate { rate: rate.share(), passes: rate.passes, fails: rate.total - rate.passes },
        Sink::Trend(trend) => {
            Values::Trend(stats.iter().map(|stat| (stat.clone(), trend.stat(stat).unwrap_or_default())).collect())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::json;
    use super::super::text::{Mode, text};
    use super::*;
    use crate::metrics::{Collector, MetricKind, MetricsPlan, Recorder, TagSet, builtin};
    use crate::options::ThresholdOption;
    use std::sync::Arc;

    #[test]
    fn metrics_thresholds_checks_and_parts_reach_the_summary() {
        let registry = Registry::default();
        let wait = registry.register("wait_time", MetricKind::Trend, true).expect("the name is new");
        registry.register("never", MetricKind::Counter, false).expect("the name is new");
        let of = |name: &str, expression: &str| {
            let expression = expression.to_owned();
            let option = ThresholdOption { expression, abort_on_fail: false, delay_abort: Duration::ZERO };
            (name.to_owned(), vec![option])
        };
        let options = [of("wait_time{ kind:a }", "p(95)<15"), of("checks", "rate>0.9")];
        let mut thresholds = Thresholds::new(&registry, &options.into()).expect("the thresholds are right");
        let names = thresholds.names().chain(["http_req_duration{expected_response:true}"]);
        let plan = MetricsPlan::new(&registry, names, true).expect("all are metrics");
        let collector = Collector::new(Arc::new(plan));
        let mut recorder = Recorder::new(&collector, None);
        let base = recorder.tag_set(&TagSet::default(), &[("scenario", "s"), ("group", "::shop")]);
        let tags = recorder.tag_set(&base, &[("kind", "a")]);
        recorder.add(wait, 10.0, &tags);
        recorder.add(wait, 30.0, &base);
        recorder.check("found", true, &base, "::shop", false);
        recorder.check("found", false, &base, "::shop", false);
        recorder.add(builtin::ITERATIONS, 1.0, &base);
        drop(recorder);
        let (mut merged, elapsed) = (collector.merged(), Duration::from_secs(2));
        thresholds.evaluate(collector.plan(), &mut merged, elapsed, true);
        let summary = collect(&mut merged, &registry, &thresholds, SummaryOptions::default(), elapsed);
        let names: Vec<_> = summary.metrics.keys().map(String::as_str).collect();
        assert_eq!(names, ["checks", "iterations", "wait_time", "wait_time{kind:a}"]);
        let part = &summary.metrics["wait_time{kind:a}"];
        assert!(part.thresholds[0].ok && part.thresholds[0].value == 10.0, "{part:?}");
        assert!(!summary.metrics["checks"].thresholds[0].ok);
        assert_eq!(summary.metrics["iterations"].values, Values::Counter { count: 1.0, rate: 0.5 });
        assert_eq!(summary.root.groups[0].checks[0].fails, 1);
        assert_eq!(summary.scenarios["s"].root.groups[0].checks[0].passes, 1);
        let full = text(&summary, Mode::Full);
        for part in ["\u{2588} SCENARIO: s", "\u{21b3} GROUP: shop", "wait_time", "\u{2717} found"] {
            assert!(full.contains(part), "{part}: {full}");
        }
        // The groups of a scenario are in its part.
        assert!(!full.contains("\u{2588} GROUP: shop"), "{full}");
        assert_eq!(summary.scenarios["s"].root.checks[0].fails, 1);
        assert!(!text(&summary, Mode::Compact).contains("SCENARIO"));
        assert!(json::argument(&summary).contains("\"wait_time{kind:a}\""));
    }

    #[test]
    fn a_threshold_shows_checks_that_there_were_not() {
        let registry = Registry::default();
        let option =
            ThresholdOption { expression: "rate>0.9".into(), abort_on_fail: false, delay_abort: Duration::ZERO };
        let options = [("checks".to_owned(), vec![option])];
        let mut thresholds = Thresholds::new(&registry, &options.into()).expect("the threshold is right");
        let collector =
            Collector::new(Arc::new(MetricsPlan::new(&registry, thresholds.names(), false).expect("it is one")));
        let (mut merged, elapsed) = (collector.merged(), Duration::from_secs(2));
        thresholds.evaluate(collector.plan(), &mut merged, elapsed, true);
        let with = collect(&mut merged, &registry, &thresholds, SummaryOptions::default(), elapsed);
        let shown = text(&with, Mode::Compact);
        assert!(shown.contains("checks_succeeded") && shown.contains("0 out of 0"), "{shown}");
        let none = collect(&mut merged, &registry, &Thresholds::default(), SummaryOptions::default(), elapsed);
        assert!(!text(&none, Mode::Compact).contains("checks_"));
    }
}
