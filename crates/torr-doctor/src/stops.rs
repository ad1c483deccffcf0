//! Whether responses stop at the same point of each period, as the kernel makes a process stop that has used up its quota of CPU time.

use crate::thresholds::{SAMPLED_S, STOPPED_AT_LEAST, STOPS_ALIKE, STOPS_EVEN, STOPS_SILENT};
use serde::{Deserialize, Serialize};
use torr_gauge::series::Point;

/// The number of samples in a period: the kernel's default for quotas is 100 ms.
const PERIOD: usize = 10;
/// The least number of periods that show a pattern.
const PERIODS: usize = 5;

/// Stops within each period.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Stops {
    /// The period in seconds.
    pub period_s: f64,
    /// The time within each period in which no response came, in seconds.
    pub stopped_s: f64,
}

impl Stops {
    /// Returns the stops in a series that was sampled ten times a period. `None` if there are none, if the series is too short, or if
    /// periods differ: a quota gives each the same share.
    pub fn of(series: &[Point]) -> Option<Self> {
        let counts = counts(series)?;
        let periods: Vec<&[u64]> = counts.chunks_exact(PERIOD).collect();
        let sums: Vec<f64> = periods.iter().map(|period| period.iter().sum::<u64>() as f64).collect();
        let mean = sums.iter().sum::<f64>() / sums.len() as f64;
        let off = sums.iter().map(|sum| (sum - mean).abs()).sum::<f64>() / sums.len() as f64;
        if mean < 1.0 || off > STOPS_EVEN * mean {
            return None;
        }
        let folded: Vec<f64> =
            (0..PERIOD).map(|phase| periods.iter().map(|period| period[phase] as f64).sum()).collect();
        let usual = folded.iter().sum::<f64>() / PERIOD as f64;
        let silent: Vec<bool> = folded.iter().map(|count| *count <= STOPS_SILENT * usual).collect();
        let stopped = longest_around(&silent);
        (STOPPED_AT_LEAST..PERIOD)
            .contains(&stopped)
            .then_some(Self { period_s: PERIOD as f64 * SAMPLED_S, stopped_s: stopped as f64 * SAMPLED_S })
    }

    /// Returns whether these stops are about as long as others.
    pub fn is_like(&self, other: &Self) -> bool {
        (self.stopped_s - other.stopped_s).abs() <= STOPS_ALIKE * self.period_s
    }
}

/// Returns the responses by sample. `None` if samples are not of the length that stops show in, or too few.
fn counts(series: &[Point]) -> Option<Vec<u64>> {
    let last = series.last()?.t;
    let length = (last / SAMPLED_S).round() as usize;
    let is_fine = length >= PERIODS * PERIOD && series.len() * 2 > length && series.len() <= length + 1;
    if !is_fine {
        return None;
    }
    let mut counts = vec![0; length];
    for point in series {
        // A point is named by its end.
        let at = ((point.t / SAMPLED_S).round() as usize).clamp(1, length) - 1;
        counts[at] += point.requests;
    }
    Some(counts)
}

/// Returns the length of the longest run of true values in a circle.
fn longest_around(values: &[bool]) -> usize {
    let (mut longest, mut run) = (0, 0);
    for value in values.iter().chain(values) {
        run = if *value { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    longest.min(values.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// A series of samples of 10 ms with so many responses each.
    fn series(counts: impl Iterator<Item = u64>) -> Vec<Point> {
        let point = |(at, requests): (usize, u64)| {
            let point =
                json!({"t": (at + 1) as f64 * SAMPLED_S, "requests": requests, "errors": 0, "p50": null, "p99": null});
            serde_json::from_value(point).expect("it has the form of a point")
        };
        counts.enumerate().map(point).collect()
    }

    #[test]
    fn a_quota_stops_at_the_same_point_of_each_period() {
        // 40 ms of work from 30 ms after the run's begin on.
        let throttled = series((0..120).map(|at| if (3..7).contains(&(at % 10)) { 20 } else { 0 }));
        let stops = Stops::of(&throttled).expect("it stops");
        assert!((stops.period_s - 0.1).abs() < 1e-9 && (stops.stopped_s - 0.06).abs() < 1e-9, "{stops:?}");
        assert!(
            stops.is_like(&Stops { stopped_s: 0.05, ..stops }) && !stops.is_like(&Stops { stopped_s: 0.02, ..stops })
        );
    }

    #[test]
    fn other_patterns_are_no_quota() {
        for (what, counts) in [
            ("it never stops", series((0..120).map(|_| 5))),
            ("one response every 40 ms", series((0..120).map(|at| u64::from(at % 4 == 0)))),
            ("a burst each second", series((0..300).map(|at| if at % 100 < 10 { 50 } else { 0 }))),
            ("a single pause", series((0..120).map(|at| if (50..56).contains(&at) { 0 } else { 5 }))),
            ("periods of other lengths", series((0..130).map(|at| if at % 13 < 6 { 10 } else { 0 }))),
            ("too short", series((0..30).map(|at| if at % 10 < 4 { 20 } else { 0 }))),
        ] {
            assert_eq!(Stops::of(&counts), None, "{what}");
        }
        let seconds: Vec<_> = series((0..120).map(|_| 5)).into_iter().step_by(100).collect();
        assert_eq!(Stops::of(&seconds), None, "sampled too rarely");
    }
}
