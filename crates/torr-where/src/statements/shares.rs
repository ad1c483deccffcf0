//! Shares of a database's time with their intervals.

use super::tally::Tally;
use torr_gauge::verdict::Estimate;

/// The standard errors to both sides within which 95% of the estimates are.
const Z: f64 = 1.96;

/// The fewest calls whose times say something about their mean.
const CALLS: f64 = 10.0;

/// Returns the share that a statement has of the time of all, whose calls come in groups of this size.
///
/// Calls of one request are alike, so that the number of requests decides how sure the share is.
pub(super) fn of_times(own: &Tally, all: &Tally, group: f64) -> Estimate {
    if all.time <= 0.0 {
        return Estimate::default();
    }
    let value = own.time / all.time;
    let others = (all.time - own.time).max(0.0);
    let others_squared = (all.time_squared - own.time_squared).max(0.0);
    let variance = (others * others * own.time_squared + own.time * own.time * others_squared) / all.time.powi(4);
    let error = Z * (variance * group.max(1.0)).sqrt();
    #[expect(clippy::cast_precision_loss, reason = "a number of calls is exact enough")]
    let is_rare = (own.calls as f64) < CALLS;
    let low = if is_rare { 0.0 } else { (value - error).max(0.0) };
    Estimate { low, value, high: (value + error).min(1.0) }
}

/// Returns a share that was seen in this many of `samples` independent samples (Wilson's interval).
pub(super) fn of_samples(share: f64, samples: f64) -> Estimate {
    if samples <= 0.0 {
        return Estimate { low: 0.0, value: share, high: 1.0 };
    }
    let square = Z * Z / samples;
    let middle = (share + square / 2.0) / (1.0 + square);
    let half = Z / (1.0 + square) * (share * (1.0 - share) / samples + square / (4.0 * samples)).sqrt();
    Estimate { low: (middle - half).max(0.0), value: share, high: (middle + half).min(1.0) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tally(calls: u64, each: f64) -> Tally {
        #[expect(clippy::cast_precision_loss, reason = "few calls")]
        let number = calls as f64;
        Tally { calls, time: number * each, time_squared: number * each * each, ..Tally::default() }
    }

    #[test]
    fn more_calls_make_a_share_surer() {
        let share = |calls: u64, group: f64| {
            let mut all = tally(calls, 30.0);
            all.add(&tally(calls, 10.0));
            of_times(&tally(calls, 30.0), &all, group)
        };
        let (few, many, grouped) = (share(20, 1.0), share(2000, 1.0), share(2000, 100.0));
        assert!([few, many, grouped].iter().all(|share| (share.value - 0.75).abs() < 1e-9));
        assert!(few.low < many.low && many.low > 0.73 && (grouped.low - few.low).abs() < 1e-9, "{few:?} {many:?}");
        assert!(share(9, 1.0).low.abs() < f64::EPSILON);
    }

    #[test]
    fn samples_have_wilsons_interval() {
        let share = of_samples(0.5, 100.0);
        assert!((share.low - 0.4038).abs() < 1e-3 && (share.high - 0.5962).abs() < 1e-3, "{share:?}");
        assert!(of_samples(1.0, 10.0).low < 0.8);
    }
}
