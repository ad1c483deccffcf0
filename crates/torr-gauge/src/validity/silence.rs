//! A time without any response or event between or after busy ones: the service hung, crashed or was restarted.

use crate::result::RunResult;
use crate::result::validity::{Caution, Finding};
use crate::series::Point;

/// The limit of a silence in seconds. Shorter ones show in the slowest responses.
const SILENCE_S: f64 = 0.9;
/// The number of responses in a usual interval from which on an interval without any is no chance: one in e^20.
const USUAL: u64 = 20;
/// The multiple of the usual 99th percentile of the response time up to which a silence is one of slow responses.
const SLOW: f64 = 3.0;

/// Judges the longest time without a response after the first one. `None` if the plan or its operator changes the load, or
/// responses are too few.
pub(super) fn silence(run: &RunResult) -> Option<Finding> {
    if !run.plan.is_steady() || !run.steering.is_empty() {
        return None;
    }
    let mut counts: Vec<_> = run.series.iter().map(heard).filter(|count| *count > 0).collect();
    counts.sort_unstable();
    let usual = *counts.get(counts.len() / 2)?;
    if usual < USUAL {
        return None;
    }
    // That of the whole run would be the length of the silence itself in an open loop, whose delayed requests count from when
    // they were due.
    let mut slowest: Vec<_> = run.series.iter().filter_map(|point| point.p99).collect();
    slowest.sort_unstable();
    let slow_s = *slowest.get(slowest.len() / 2)? as f64 / 1e6;
    let (from_s, to_s) = longest_silence(&run.series).unwrap_or_default();
    Some(Finding::at_most(SILENCE_S.max(SLOW * slow_s), Caution::Silence { from_s, to_s }))
}

/// Returns the number of responses and events of streams in an interval.
fn heard(point: &Point) -> u64 {
    point.requests + point.events
}

/// Returns begin and end of the longest time without a response or an event after the first one, in seconds. `None` if each interval has one.
pub fn longest_silence(series: &[Point]) -> Option<(f64, f64)> {
    let (mut longest, mut spoke_at) = ((0.0, 0.0), None);
    for point in series {
        if heard(point) > 0 {
            spoke_at = Some(point.t);
        } else if let Some(from) = spoke_at.filter(|from| point.t - from > longest.1 - longest.0) {
            longest = (from, point.t);
        }
    }
    (longest.1 > longest.0).then_some(longest)
}
