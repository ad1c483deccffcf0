//! The times at which the iterations of an arrival rate are due.

use crate::options::Stage;
use std::time::Duration;
use torr_net::Nanos;
use torr_net::clock::nanos;

/// When iterations are due, counted from the beginning of the scenario. Iterations are numbered from 0.
#[derive(Debug, Clone)]
pub(super) enum Schedule {
    /// A constant rate: iteration `n` is due at `n * unit / rate`.
    Constant {
        /// The time unit.
        unit: Nanos,
        /// The iterations in a time unit.
        rate: u64,
        /// The number of iterations.
        total: u64,
    },
    /// A rate that changes linearly: iteration `n` is due when the integral of the rate reaches `n + 1`.
    Ramping {
        /// The time unit.
        unit: Nanos,
        /// The stages.
        segments: Vec<Segment>,
        /// The number of iterations.
        total: u64,
    },
}

/// A stage of a rate.
#[derive(Debug, Clone, Copy)]
pub(super) struct Segment {
    begin: Nanos,
    duration: Nanos,
    from: u64,
    to: u64,
    /// Twice the integral of the rate up to the end of the stage, in iterations times nanoseconds of the time unit.
    doubled_end: u128,
    doubled_begin: u128,
}

impl Schedule {
    /// Returns the schedule of a constant rate.
    pub(super) fn constant(rate: u64, unit: Duration, duration: Duration) -> Self {
        let (unit, duration) = (nanos(unit), nanos(duration));
        let total = (u128::from(duration) * u128::from(rate)).div_ceil(u128::from(unit));
        Self::Constant { unit, rate, total: bounded(total) }
    }

    /// Returns the schedule of a rate that changes in stages.
    pub(super) fn ramping(start: u64, unit: Duration, stages: &[Stage]) -> Self {
        let unit = nanos(unit);
        let (mut begin, mut from, mut doubled) = (0, start, 0);
        let mut segments = Vec::with_capacity(stages.len());
        for stage in stages {
            let (duration, to) = (nanos(stage.duration), stage.target);
            let doubled_begin = doubled;
            doubled += u128::from(from + to) * u128::from(duration);
            segments.push(Segment { begin, duration, from, to, doubled_end: doubled, doubled_begin });
            begin += duration;
            from = to;
        }
        Self::Ramping { unit, segments, total: bounded(doubled / (2 * u128::from(unit))) }
    }

    /// Returns the number of iterations.
    pub(super) fn total(&self) -> u64 {
        match self {
            Self::Constant { total, .. } | Self::Ramping { total, .. } => *total,
        }
    }

    /// Returns when an iteration is due.
    pub(super) fn due(&self, iteration: u64) -> Nanos {
        match self {
            Self::Constant { unit, rate, .. } => {
                (u128::from(iteration) * u128::from(*unit) / u128::from(*rate)) as Nanos
            }
            Self::Ramping { unit, segments, .. } => {
                let doubled = (u128::from(iteration) + 1) * 2 * u128::from(*unit);
                let at = segments.partition_point(|segment| segment.doubled_end < doubled);
                segments.get(at).map_or(Nanos::MAX, |segment| segment.reaches(doubled))
            }
        }
    }

    /// Returns the first iteration from `from` on that is not due before a time; the number of iterations if there is none.
    pub(super) fn first_at(&self, from: u64, time: Nanos) -> u64 {
        let (mut low, mut high) = (from, self.total().max(from));
        while low < high {
            let middle = low + (high - low) / 2;
            if self.due(middle) < time { low = middle + 1 } else { high = middle }
        }
        low
    }
}

/// Returns a number of iterations, the largest one for what no run reaches.
fn bounded(iterations: u128) -> u64 {
    u64::try_from(iterations).unwrap_or(u64::MAX)
}

impl Segment {
    /// Returns the time at which twice the integral reaches a value that it has not before the stage, and has at its end.
    fn reaches(&self, doubled: u128) -> Nanos {
        // With t from the stage's begin: (to - from) / duration * t^2 + 2 * from * t = wanted. Of the two forms of the
        // solution this one does not subtract numbers of nearly the same size.
        let wanted = (doubled - self.doubled_begin) as f64;
        let change = (self.to as f64 - self.from as f64) / self.duration as f64;
        let twice = 2.0 * self.from as f64;
        let root = (twice * twice + 4.0 * change * wanted).max(0.0).sqrt();
        let time = 2.0 * wanted / (twice + root);
        self.begin + (time.round() as Nanos).min(self.duration)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Nanos = 1_000_000_000;

    fn stages(stages: &[(u64, u64)]) -> Vec<Stage> {
        stages.iter().map(|&(seconds, target)| Stage { duration: Duration::from_secs(seconds), target }).collect()
    }

    #[test]
    fn a_constant_rate_begins_at_once() {
        let schedule = Schedule::constant(10, Duration::from_secs(2), Duration::from_secs(4));
        assert_eq!((schedule.total(), schedule.due(0), schedule.due(19)), (20, 0, 19 * SECOND / 5));
        let uneven = Schedule::constant(3, Duration::from_secs(1), Duration::from_millis(1_100));
        assert_eq!((uneven.total(), uneven.due(3)), (4, SECOND));
    }

    #[test]
    fn the_highest_rates_for_the_longest_times_have_the_largest_number() {
        let (rate, unit, century) = (1_000_000_000, Duration::from_nanos(1), Duration::from_secs(100 * 365 * 86_400));
        let constant = Schedule::constant(rate, unit, century);
        let ramping = Schedule::ramping(rate, unit, &[Stage { duration: century, target: rate }]);
        assert_eq!((constant.total(), ramping.total()), (u64::MAX, u64::MAX));
        assert_eq!((constant.first_at(0, SECOND), ramping.due(rate - 1)), (SECOND * rate, 1));
    }

    #[test]
    fn a_ramping_rate_is_integrated() {
        let schedule = Schedule::ramping(0, Duration::from_secs(1), &stages(&[(10, 20)]));
        assert_eq!(schedule.total(), 100);
        for n in [1, 4, 25, 100] {
            let expected = ((n as f64).sqrt() * 1e9).round() as Nanos;
            assert!(schedule.due(n - 1).abs_diff(expected) <= 1, "{n}: {}", schedule.due(n - 1));
        }
        let flat = Schedule::ramping(10, Duration::from_secs(1), &stages(&[(2, 10), (0, 100), (1, 100), (2, 0)]));
        assert_eq!((flat.due(0), flat.due(19), flat.due(20)), (SECOND / 10, 2 * SECOND, 2 * SECOND + SECOND / 100));
        assert_eq!((flat.total(), flat.due(219)), (220, 5 * SECOND));
        assert!((0..219).all(|n| flat.due(n) <= flat.due(n + 1)));
    }

    #[test]
    fn a_rate_of_zero_has_nothing_due() {
        let schedule = Schedule::ramping(0, Duration::from_secs(1), &stages(&[(5, 0), (2, 2)]));
        assert_eq!((schedule.total(), schedule.due(1)), (2, 7 * SECOND));
        assert_eq!(Schedule::ramping(0, Duration::from_secs(1), &stages(&[(5, 0)])).total(), 0);
    }

    #[test]
    fn the_first_iteration_at_a_time() {
        let schedule = Schedule::constant(10, Duration::from_secs(1), Duration::from_secs(10));
        assert_eq!(schedule.first_at(0, 0), 0);
        assert_eq!(schedule.first_at(0, SECOND), 10);
        assert_eq!(schedule.first_at(0, SECOND + 1), 11);
        assert_eq!(schedule.first_at(50, SECOND), 50);
        assert_eq!(schedule.first_at(0, 100 * SECOND), 100);
    }
}
