//! A rate over time, and when its n-th request is due.

use std::time::Duration;
use thiserror::Error;
use torr_gauge::limits::{LEAST_RATE, MOST_RATE};
use torr_net::Nanos;

/// Requests per second over the time of a run: straight lines from stage to stage.
#[derive(Debug, Clone, PartialEq)]
pub struct Schedule {
    stages: Vec<Stage>,
}

/// A stretch of time, in seconds and requests since the start.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Stage {
    begin_s: f64,
    length_s: f64,
    from: f64,
    to: f64,
    /// Requests due before it.
    before: f64,
}

/// A stretch of a schedule, in which the rate goes in a straight line.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Stretch {
    /// Seconds from the start of the schedule.
    pub begin_s: f64,
    /// The length in seconds, which may be infinite.
    pub length_s: f64,
    /// The rate at its beginning.
    pub from: f64,
    /// The rate at its end.
    pub to: f64,
}

/// The reason for which stages make no schedule.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ScheduleError {
    /// A number is no rate.
    #[error("a rate must be from 0.000001 to 1000000000 requests per second")]
    Rate,
    /// No stage has a rate above 0.
    #[error("at least one stage must have a rate above 0")]
    Nothing,
}

impl Schedule {
    /// Returns the schedule of a constant rate without end.
    ///
    /// # Errors
    /// [`ScheduleError::Rate`].
    pub fn constant(rate: f64) -> Result<Self, ScheduleError> {
        if !(LEAST_RATE..=MOST_RATE).contains(&rate) {
            return Err(ScheduleError::Rate);
        }
        Ok(Self { stages: vec![Stage { begin_s: 0.0, length_s: f64::INFINITY, from: rate, to: rate, before: 0.0 }] })
    }

    /// Returns the schedule of stages, each a length and a rate in requests per second. The rate goes in a straight line from
    /// the rate before (0 before the first stage) to the stage's own. With a length of 0 it jumps there.
    ///
    /// # Errors
    /// [`ScheduleError`].
    pub fn stages(stages: &[(Duration, f64)]) -> Result<Self, ScheduleError> {
        let (mut begin_s, mut from, mut before) = (0.0, 0.0, 0.0);
        let mut lines = Vec::new();
        for &(length, to) in stages {
            if to != 0.0 && !(LEAST_RATE..=MOST_RATE).contains(&to) {
                return Err(ScheduleError::Rate);
            }
            let length_s = length.as_secs_f64();
            if length_s > 0.0 {
                lines.push(Stage { begin_s, length_s, from, to, before });
            }
            begin_s += length_s;
            before += (from + to) / 2.0 * length_s;
            from = to;
        }
        if before <= 0.0 {
            return Err(ScheduleError::Nothing);
        }
        Ok(Self { stages: lines })
    }

    /// Returns the time in nanoseconds at which the request is due before which `n` others are. `None` if there are not so
    /// many.
    pub fn due(&self, n: f64) -> Option<Nanos> {
        // Sums that are not exact must not let a request fall between two stages.
        let begins = |stage: &Stage| stage.before <= n + 1e-6 + 1e-12 * n;
        let stage = self.stages.iter().rev().find(|stage| begins(stage) && stage.from.max(stage.to) > 0.0)?;
        let seconds = stage.seconds_to((n - stage.before).max(0.0))?;
        Some(((stage.begin_s + seconds) * 1e9).round() as Nanos)
    }

    /// Returns the number of requests that are due before a time, with the part of the next one.
    pub fn due_before(&self, at: Nanos) -> f64 {
        let at_s = at as f64 / 1e9;
        let Some(stage) = self.stages.iter().rev().find(|stage| stage.begin_s <= at_s) else { return 0.0 };
        let seconds = (at_s - stage.begin_s).min(stage.length_s);
        stage.before + (stage.from + stage.rate_after(seconds)) / 2.0 * seconds
    }

    /// Returns the rate, if it is constant.
    pub fn constant_rate(&self) -> Option<f64> {
        let first = self.stages.first()?.from;
        self.stages.iter().all(|stage| stage.from == first && stage.to == first).then_some(first)
    }

    /// Returns the rate at a time; 0 after the end of the schedule.
    pub fn rate_at(&self, at: Nanos) -> f64 {
        let at_s = at as f64 / 1e9;
        let stage = self.stages.iter().find(|stage| at_s < stage.begin_s + stage.length_s);
        stage.map_or(0.0, |stage| stage.rate_after(at_s - stage.begin_s))
    }

    /// Returns the stretches of the schedule in the order of time.
    pub fn stretches(&self) -> impl Iterator<Item = Stretch> {
        self.stages.iter().map(|&Stage { begin_s, length_s, from, to, .. }| Stretch { begin_s, length_s, from, to })
    }

    /// Returns the highest rate.
    pub fn peak(&self) -> f64 {
        self.stages.iter().map(|stage| stage.from.max(stage.to)).fold(0.0, f64::max)
    }

    /// Returns the schedule behind a warm-up, during which the rate is that at the end of its first stage.
    pub fn after(&self, warmup: Duration) -> Self {
        let (shift_s, rate) = (warmup.as_secs_f64(), self.stages.first().map_or(0.0, |stage| stage.to));
        if shift_s == 0.0 {
            return self.clone();
        }
        let shifted =
            |stage: &Stage| Stage { begin_s: stage.begin_s + shift_s, before: stage.before + rate * shift_s, ..*stage };
        let warm = Stage { begin_s: 0.0, length_s: shift_s, from: rate, to: rate, before: 0.0 };
        Self { stages: std::iter::once(warm).chain(self.stages.iter().map(shifted)).collect() }
    }

    /// Returns a schedule whose rates are multiplied by a factor above 0.
    #[must_use]
    pub fn scaled(&self, factor: f64) -> Self {
        let scaled = |stage: &Stage| Stage {
            from: stage.from * factor,
            to: stage.to * factor,
            before: stage.before * factor,
            ..*stage
        };
        Self { stages: self.stages.iter().map(scaled).collect() }
    }

    /// Returns the schedule with the rates between two times multiplied by a factor of at least 0.
    #[must_use]
    pub(crate) fn scaled_within(&self, from: Nanos, until: Nanos, factor: f64) -> Self {
        let times = [from as f64 / 1e9, if until == Nanos::MAX { f64::INFINITY } else { until as f64 / 1e9 }];
        let mut stages: Vec<Stage> = Vec::new();
        let mut before = 0.0;
        for stage in &self.stages {
            let end_s = stage.begin_s + stage.length_s;
            let cuts = times.into_iter().filter(|at_s| *at_s > stage.begin_s && *at_s < end_s);
            let begins: Vec<f64> = std::iter::once(stage.begin_s).chain(cuts).collect();
            for (number, &begin_s) in begins.iter().enumerate() {
                let piece_end_s = begins.get(number + 1).copied().unwrap_or(end_s);
                let length_s = piece_end_s - begin_s;
                let factor = if begin_s >= times[0] && begin_s < times[1] { factor } else { 1.0 };
                let rate = |at_s: f64| factor * stage.rate_after(at_s - stage.begin_s);
                let (from, to) = (rate(begin_s), rate(piece_end_s));
                // A time in nanoseconds may lie a rounding error before the stage that begins at it.
                if length_s > 0.0 {
                    stages.push(Stage { begin_s, length_s, from, to, before });
                }
                before += if length_s.is_finite() { (from + to) / 2.0 * length_s } else { 0.0 };
            }
        }
        Self { stages }
    }

    /// Returns the length of the schedule; `None` if it has no end.
    pub fn length(&self) -> Option<Duration> {
        let last = self.stages.last()?;
        Duration::try_from_secs_f64(last.begin_s + last.length_s).ok()
    }
}

impl Stage {
    /// Returns the rate so many seconds after its beginning.
    fn rate_after(&self, seconds: f64) -> f64 {
        if self.length_s.is_finite() { self.from + (self.to - self.from) * seconds / self.length_s } else { self.from }
    }

    /// After how many seconds so many of its requests are due: the root of `from t + (to - from) t^2 / (2 length) = n`,
    /// in the form that loses no digits where the line is nearly level.
    fn seconds_to(&self, n: f64) -> Option<f64> {
        let slope = if self.length_s.is_finite() { (self.to - self.from) / self.length_s } else { 0.0 };
        let under_root = self.from * self.from + 2.0 * slope * n;
        let denominator = self.from + under_root.max(0.0).sqrt();
        let seconds = if n == 0.0 { 0.0 } else { 2.0 * n / denominator };
        (under_root >= 0.0 && seconds.is_finite() && seconds < self.length_s).then_some(seconds)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(schedule: &Schedule, n: u64) -> Option<u64> {
        schedule.due(n as f64).map(|due| (due as f64 / 1e6).round() as u64)
    }

    #[test]
    fn a_constant_rate_never_drifts() {
        let schedule = Schedule::constant(3.0).unwrap();
        assert_eq!([0, 1, 2, 3].map(|n| ms(&schedule, n)), [Some(0), Some(333), Some(667), Some(1000)]);
        assert_eq!(ms(&schedule, 3_000_000_000), Some(1_000_000_000_000));
        assert_eq!((schedule.length(), schedule.constant_rate()), (None, Some(3.0)));
    }

    #[test]
    fn ramps_are_straight_lines_and_end() {
        let s = Duration::from_secs;
        let schedule = Schedule::stages(&[(s(10), 100.0), (s(10), 100.0), (s(10), 0.0)]).unwrap();
        assert_eq!((schedule.length(), schedule.constant_rate()), (Some(s(30)), None));
        // A ramp from 0 has reached half of its time after a quarter of its 500 requests.
        assert_eq!([0, 125, 499].map(|n| ms(&schedule, n)), [Some(0), Some(5000), Some(9990)]);
        assert_eq!([500, 1000, 1499].map(|n| ms(&schedule, n)), [Some(10_000), Some(15_000), Some(19_990)]);
        assert_eq!([1500, 1875, 1999].map(|n| ms(&schedule, n)), [Some(20_000), Some(25_000), Some(29_553)]);
        assert_eq!(ms(&schedule, 2000), None);
    }

    #[test]
    fn a_stage_without_length_is_a_jump_and_one_without_rate_a_pause() {
        let s = Duration::from_secs;
        let schedule =
            Schedule::stages(&[(s(0), 10.0), (s(1), 10.0), (s(0), 0.0), (s(5), 0.0), (s(0), 10.0), (s(1), 10.0)])
                .unwrap();
        assert_eq!([0, 9, 10, 19, 20].map(|n| ms(&schedule, n)), [Some(0), Some(900), Some(6000), Some(6900), None]);
        assert_eq!(schedule.length(), Some(s(7)));
    }

    #[test]
    fn requests_before_a_time_are_those_that_are_due_by_then() {
        let s = Duration::from_secs;
        let ramp = Schedule::stages(&[(s(10), 100.0), (s(5), 100.0), (s(0), 0.0), (s(5), 0.0)]).unwrap();
        let before = |seconds: u64| ramp.due_before(seconds * 1_000_000_000);
        assert_eq!([0, 5, 10, 12, 15, 18, 30].map(before), [0.0, 125.0, 500.0, 700.0, 1000.0, 1000.0, 1000.0]);
        assert_eq!(Schedule::constant(1e9).unwrap().due_before(3_000_000_000), 3e9);
    }

    #[test]
    fn rates_at_a_time() {
        let s = Duration::from_secs;
        let at = |seconds: u64| seconds * 1_000_000_000;
        let schedule = Schedule::stages(&[(s(10), 100.0), (s(10), 100.0)]).unwrap();
        assert_eq!([0, 5, 10, 15, 20].map(|t| schedule.rate_at(at(t))), [0.0, 50.0, 100.0, 100.0, 0.0]);
        assert_eq!(schedule.peak(), 100.0);
    }

    #[test]
    fn a_scaled_schedule_keeps_its_times() {
        let s = Duration::from_secs;
        let half = Schedule::stages(&[(s(10), 100.0), (s(10), 100.0)]).unwrap().scaled(0.5);
        assert_eq!((half.rate_at(5_000_000_000), half.peak(), half.length()), (25.0, 50.0, Some(s(20))));
        assert_eq!([0, 250, 749].map(|n| ms(&half, n)), [Some(0), Some(10_000), Some(19_980)]);
    }

    #[test]
    fn a_part_of_a_schedule_is_scaled() {
        let (s, at) = (Duration::from_secs, |seconds: u64| seconds * 1_000_000_000);
        let steady = Schedule::constant(10.0).unwrap();
        let silent = steady.scaled_within(at(2), at(5), 0.0);
        assert_eq!([0, 19, 20, 30].map(|n| ms(&silent, n)), [Some(0), Some(1900), Some(5000), Some(6000)]);
        let doubled = silent.scaled_within(at(6), Nanos::MAX, 2.0);
        assert_eq!([30, 50].map(|n| ms(&doubled, n)), [Some(6000), Some(7000)]);
        assert_eq!(doubled.rate_at(at(100)), 20.0);
        // A ramp to 100 in 10 s, of which the second half is ten times as high.
        let ramp = Schedule::stages(&[(s(10), 100.0)]).unwrap().scaled_within(at(5), Nanos::MAX, 10.0);
        assert_eq!((ramp.rate_at(at(4)), ramp.rate_at(at(6)), ramp.length()), (40.0, 600.0, Some(s(10))));
        assert_eq!([125, 3875].map(|n| ms(&ramp, n)), [Some(5000), None]);
        assert_eq!(ramp.scaled_within(0, at(1), 1.0).due(2000.0), ramp.due(2000.0), "a factor of 1 changes nothing");
    }

    #[test]
    fn a_pause_without_length_changes_nothing_whatever_the_warm_up() {
        for warmup_ms in 1..3000 {
            let warm_until = warmup_ms * 1_000_000;
            let warm = Schedule::constant(100.0).unwrap().after(Duration::from_millis(warmup_ms));
            let steered = warm.scaled_within(warm_until, warm_until, 0.0);
            let steered = steered.scaled_within(warm_until + 500_000_000, Nanos::MAX, 1.0);
            for n in [1, 400, 1000] {
                let (due, expected) = (ms(&steered, n), ms(&warm, n));
                assert!(
                    due.zip(expected).is_some_and(|(due, expected)| due.abs_diff(expected) <= 1),
                    "{warmup_ms} ms: {due:?}"
                );
            }
        }
    }

    #[test]
    fn a_warm_up_goes_before() {
        let s = Duration::from_secs;
        let warm = Schedule::constant(10.0).unwrap().after(s(2));
        assert_eq!((ms(&warm, 20), ms(&warm, 21)), (Some(2000), Some(2100)));
        let warm = Schedule::stages(&[(s(10), 100.0)]).unwrap().after(s(1));
        assert_eq!((ms(&warm, 50), ms(&warm, 100), ms(&warm, 225)), (Some(500), Some(1000), Some(6000)));
        assert_eq!(warm.length(), Some(s(11)));
    }

    #[test]
    fn no_request_falls_between_stages_whose_sums_are_not_exact() {
        for (rate, warmup_ms) in [(100.0, 1100), (50.0, 2200), (333.3, 700), (1e6, 1100)] {
            let schedule = Schedule::constant(rate).unwrap().after(Duration::from_millis(warmup_ms));
            let n = (rate * warmup_ms as f64 / 1000.0).round() as u64;
            for n in n - 2..n + 3 {
                let (due, exact) = (schedule.due(n as f64).expect("it is due at some time"), n as f64 / rate * 1e9);
                assert!((due as f64 - exact).abs() < 1000.0, "{rate}/s after {warmup_ms} ms: {n} is due at {due}");
            }
        }
        let (s, jump) = (Duration::from_millis(1100), Duration::ZERO);
        let schedule = Schedule::stages(&[(jump, 100.0), (s, 100.0), (jump, 500.0), (s, 500.0)]).unwrap();
        assert!((0..660).all(|n| schedule.due(n as f64).is_some()));
    }

    #[test]
    fn what_is_no_rate_is_refused() {
        for rate in [0.0, -1.0, f64::NAN, f64::INFINITY, 2e9, 1e-300] {
            assert_eq!(Schedule::constant(rate), Err(ScheduleError::Rate), "{rate}");
        }
        assert_eq!(Schedule::stages(&[(Duration::from_secs(1), 0.0)]), Err(ScheduleError::Nothing));
        assert_eq!(Schedule::stages(&[]), Err(ScheduleError::Nothing));
    }
}
