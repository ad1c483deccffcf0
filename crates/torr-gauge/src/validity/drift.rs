//! Drift of throughput and response time over a run, for which one figure cannot stand.

use super::trend::trend;
use crate::result::RunResult;
use crate::result::validity::{CHANCE, Caution, Finding};
use crate::series::Point;

/// The limit of the relative change of throughput or response time over a run.
const DRIFT: f64 = 0.1;
/// The change of the median in microseconds below which it is jitter, whatever its relative size.
const JITTER_US: f64 = 50.0;

/// Judges throughput over the run: of events, where responses are streams. `None` if the plan changes the load, or the run is too short.
pub(super) fn throughput(run: &RunResult) -> Option<Finding> {
    let counted = |point: &&Point| if run.streams.is_some() { point.events } else { point.requests };
    let rates: Vec<f64> = whole_points(run)?.iter().map(|point| counted(point) as f64).collect();
    let scheduled = run.plan.rate.is_some();
    finding(&rates, 0.0, |change| Caution::Throughput { change, scheduled })
}

/// Judges the median response time over the run. `None` as for [`throughput`], and where responses are streams, whose lengths are the
/// server's design.
pub(super) fn latency(run: &RunResult) -> Option<Finding> {
    if run.streams.is_some() {
        return None;
    }
    let medians: Vec<f64> = whole_points(run)?.iter().filter_map(|point| point.p50).map(|us| us as f64).collect();
    let scheduled = run.plan.rate.is_some();
    finding(&medians, JITTER_US, |change| Caution::Latency { change, scheduled })
}

fn finding(values: &[f64], least_change: f64, fact: impl Fn(f64) -> Caution) -> Option<Finding> {
    let trend = trend(values)?;
    let drifts = (trend.p < CHANCE || trend.step) && trend.drift.abs() > DRIFT && trend.change.abs() > least_change;
    Some(Finding { ok: !drifts, p: Some(trend.p), ..Finding::at_most(DRIFT, fact(trend.drift)) })
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
