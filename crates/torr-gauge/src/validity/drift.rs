//! Drift of throughput and response time over a run, for which one figure cannot stand.

use super::trend::trend;
use crate::numbers::{percent, times};
use crate::result::RunResult;
use crate::result::validity::{CHANCE, Criterion, Finding, round4};
use crate::series::Point;

/// The limit of the relative change of throughput or response time over a run.
const DRIFT: f64 = 0.1;
/// The change of the median in microseconds below which it is jitter, whatever its relative size.
const JITTER_US: f64 = 50.0;

/// Judges throughput over the run. `None` if the plan changes the load, or the run is too short.
pub(super) fn throughput(run: &RunResult) -> Option<Finding> {
    let points = whole_points(run)?;
    let rates: Vec<f64> = points.iter().map(|point| point.requests as f64).collect();
    let advice = match run.plan.rate {
        None => "no single figure describes this run: find out what changed, or run longer",
        Some(_) => "the scheduled rate was constant: check whether requests failed or queued",
    };
    finding(Criterion::Throughput, "throughput", &rates, 0.0, advice)
}

/// Judges the median response time over the run. `None` as for [`throughput`].
pub(super) fn latency(run: &RunResult) -> Option<Finding> {
    let points = whole_points(run)?;
    let medians: Vec<f64> = points.iter().filter_map(|point| point.p50).map(|us| us as f64).collect();
    let advice = match run.plan.rate {
        None => "no single figure describes this run: find out what changed, or run longer",
        Some(_) => "if it rises throughout, the service handles less than this rate and requests queue: lower the rate",
    };
    finding(Criterion::Latency, "the median response time", &medians, JITTER_US, advice)
}

fn finding(what: Criterion, name: &str, values: &[f64], least_change: f64, advice: &str) -> Option<Finding> {
    let trend = trend(values)?;
    let change = match trend.drift {
        drift if drift < 0.0 => format!("fell by {}", percent(-drift)),
        drift if drift < 1.0 => format!("rose by {}", percent(drift)),
        drift => format!("rose {}", times(1.0 + drift)),
    };
    let note = format!("{name} {change} from the first third of the run to the last");
    let drifts = (trend.p < CHANCE || trend.step) && trend.drift.abs() > DRIFT && trend.change.abs() > least_change;
    let finding =
        Finding { what, ok: !drifts, value: round4(trend.drift), limit: DRIFT, p: Some(trend.p), note, advice: None };
    Some(finding.or(advice))
}

/// Returns the intervals of full length: the end of the run may have truncated the last one. `None` if the plan changes the
/// load.
fn whole_points(run: &RunResult) -> Option<Vec<&Point>> {
    if !run.plan.is_steady() {
        return None;
    }
    let length = run.series.first()?.t;
    let begins = std::iter::once(0.0).chain(run.series.iter().map(|point| point.t));
    let whole = begins.zip(&run.series).filter(|(begin, point)| point.t - begin > 0.99 * length);
    Some(whole.map(|(_, point)| point).collect())
}
