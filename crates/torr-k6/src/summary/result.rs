//! The metrics and checks of a summary as Torr's results hold them.

use super::data::{Group, Summary};
use torr_gauge::result::script::{ScriptCheck, ScriptMetric, ScriptResult, ScriptThreshold};

/// Returns the metrics and checks of a summary.
pub fn result(summary: &Summary) -> ScriptResult {
    let metrics = summary.metrics.iter().map(|(name, metric)| {
        let threshold =
            |of: &super::data::Threshold| ScriptThreshold { expression: of.source.clone(), value: of.value, ok: of.ok };
        // JSON has no other numbers.
        let values = metric.values.named().into_iter().filter(|(_, value)| value.is_finite());
        let metric = ScriptMetric {
            kind: metric.values.kind().to_owned(),
            contains: metric.contains.name().to_owned(),
            values: values.map(|(name, value)| (name.to_owned(), value)).collect(),
            thresholds: metric.thresholds.iter().map(threshold).collect(),
        };
        (name.clone(), metric)
    });
    let mut checks = Vec::new();
    collect(&summary.root, &mut checks);
    ScriptResult { metrics: metrics.collect(), checks }
}

/// Appends the checks of a group and of the groups in it.
fn collect(group: &Group, checks: &mut Vec<ScriptCheck>) {
    checks.extend(group.checks.iter().map(|check| ScriptCheck {
        group: group.path.clone(),
        name: check.name.clone(),
        passes: check.passes,
        fails: check.fails,
    }));
    group.groups.iter().for_each(|group| collect(group, checks));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::Contains;
    use crate::summary::data::{Metric, Threshold, Values};

    #[test]
    fn metrics_have_their_thresholds_and_checks_their_groups() {
        let mut summary = Summary::default();
        summary.root.at("").count("is up", 3, 0);
        summary.root.at("::login::token").count("has a token", 1, 2);
        let threshold = Threshold { source: "p(95)<500".into(), aggregate: "p(95)".into(), value: 612.5, ok: false };
        let values = Values::Trend(vec![("avg".into(), 9.5), ("p(95)".into(), 612.5), ("max".into(), f64::NAN)]);
        let metric = Metric { contains: Contains::Time, values, thresholds: vec![threshold] };
        summary.metrics.insert("wait".into(), metric);
        let result = result(&summary);
        let wait = &result.metrics["wait"];
        assert_eq!((&*wait.kind, &*wait.contains, wait.values.len()), ("trend", "time", 2));
        assert_eq!(wait.thresholds, [ScriptThreshold { expression: "p(95)<500".into(), value: 612.5, ok: false }]);
        let checks: Vec<_> = result.checks.iter().map(|check| (&*check.group, &*check.name, check.fails)).collect();
        assert_eq!(checks, [("", "is up", 0), ("::login::token", "has a token", 2)]);
    }
}
