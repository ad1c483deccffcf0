//! Requests on schedule, whatever the service does.

use super::logged::{LogTimes, LoggedArrivals};
use super::pacer::{Due, Pacer};
use super::schedule::Schedule;
use fastrand::Rng;
use std::time::Duration;
use torr_net::Nanos;
use torr_net::clock::nanos;

/// The ratio of a request's age to the largest difference in age of requests that are taken as one. The histogram of ages has
/// three significant digits.
const AGES_APART: Nanos = 1000;

/// The distribution of the times between requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Arrivals {
    /// The times are those of the schedule.
    #[default]
    Constant,
    /// The times are exponentially distributed, like those of many independent users.
    Poisson,
    /// The times have the ratios of those of a log, whose requests are sent.
    Logged,
}

impl Arrivals {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Constant, Self::Poisson, Self::Logged];
    /// Their names in settings.
    pub const NAMES: [&str; 3] = [Self::Constant.name(), Self::Poisson.name(), Self::Logged.name()];

    /// Returns the name of the distribution in settings.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Constant => "constant",
            Self::Poisson => "poisson",
            Self::Logged => "logged",
        }
    }
}

/// How the requests of a thread differ from the even times of the schedule.
#[derive(Debug)]
enum Spread {
    Even,
    Random(Rng),
    Logged(LoggedArrivals),
}

/// One thread's part of a schedule: every n-th request of it.
#[derive(Debug)]
pub struct OpenLoop {
    schedule: Schedule,
    /// Requests of the whole run, but for its warm-up.
    requests: u64,
    /// The number of this thread's next request after the warm-up, among those of all threads.
    measured: u64,
    warm_until: Nanos,
    deadline: Nanos,
    threads: u64,
    /// The number of this thread's next request, of all threads'.
    number: u64,
    /// The number of requests of all threads that are due before this thread's next one. Differs from `number` if arrivals
    /// vary.
    before: f64,
    /// The delay of the due times, as a part of the time between two of all threads' requests.
    phase: f64,
    spread: Spread,
    groups: Groups,
}

/// Requests that leave together, since they are due close together: at the end of one of the windows that time is cut into.
#[derive(Debug)]
struct Groups {
    /// The length of a window. 0 for requests that leave one by one.
    window: Nanos,
    /// The time by which the thread's windows begin before those of the first thread, so that threads take turns.
    phase: Nanos,
    /// The time at which the latest request was due by the schedule.
    last: Option<Nanos>,
}

impl Groups {
    fn new(window: Duration, (thread, threads): (u64, u64)) -> Self {
        let window = nanos(window);
        Self { window, phase: window * thread / threads.max(1), last: None }
    }

    /// Returns when a request leaves that is due at `due` by the schedule, and the one after it at `next`. One that is alone
    /// in its window leaves when it is due.
    #[inline]
    fn leaving(&self, due: Nanos, next: Option<Nanos>) -> Nanos {
        if self.window == 0 {
            return due;
        }
        let end = ((due + self.phase) / self.window + 1) * self.window - self.phase;
        let is_alone = next.is_none_or(|next| next >= end) && self.last.is_none_or(|last| last + self.window < end);
        if is_alone { due } else { end }
    }
}

impl OpenLoop {
    /// The part of thread `thread` of `threads`. `seed` decides the variation. Of constant arrivals, those that are due
    /// within the same `window` leave together, at its end.
    pub fn new(
        schedule: Schedule,
        (arrivals, window): (Arrivals, Duration),
        requests: Option<u64>,
        (warm_until, deadline): (Nanos, Nanos),
        (thread, threads): (u64, u64),
        seed: u64,
    ) -> Self {
        let is_random = arrivals == Arrivals::Poisson;
        let spread = if is_random { Spread::Random(Rng::with_seed(seed.wrapping_add(thread))) } else { Spread::Even };
        let requests = requests.unwrap_or(u64::MAX);
        let (number, measured, before) = (thread, thread, if is_random { 0.0 } else { thread as f64 });
        // What comes in bursts is to come as it does.
        let window = if arrivals == Arrivals::Constant { window } else { Duration::ZERO };
        let groups = Groups::new(window, (thread, threads));
        let phase = 0.0;
        let mut pacer =
            Self { schedule, requests, measured, warm_until, deadline, threads, number, before, phase, spread, groups };
        if is_random {
            pacer.advance();
        }
        pacer
    }

    /// Returns the part with each request due later by a part of the time between two of all threads' requests. Random
    /// arrivals need no such turns.
    #[must_use]
    pub fn later_by(mut self, phase: f64) -> Self {
        self.phase = if matches!(self.spread, Spread::Even) { phase } else { 0.0 };
        self
    }

    /// Returns the part with the bursts of a log, from its request `first` on, at the rates of the schedule.
    #[must_use]
    pub fn in_bursts(mut self, times: LogTimes, first: u64) -> Self {
        let warming = self.schedule.due_before(self.warm_until).ceil() as u64;
        let by_time = self.schedule.due_before(self.deadline).ceil() as u64;
        let by_time = (self.deadline < Nanos::MAX).then(|| by_time.saturating_sub(warming));
        let by_number = (self.requests < u64::MAX).then_some(self.requests);
        let measured = by_time.into_iter().chain(by_number).min();
        let arrivals = LoggedArrivals::new(times, first, warming, measured);
        self.before = arrivals.before(self.number);
        self.spread = Spread::Logged(arrivals);
        self.phase = 0.0;
        self
    }

    /// Multiplies the rate between two times by a factor, which may be 0. Both times are later than all due times so far.
    pub(crate) fn change_rate(&mut self, from: Nanos, until: Nanos, factor: f64) {
        self.schedule = self.schedule.scaled_within(from, until, factor);
    }

    /// Finds the place of the thread's next request in the schedule.
    #[inline]
    fn advance(&mut self) {
        match &mut self.spread {
            Spread::Even => self.before = self.number as f64,
            // Many independent streams of exponential gaps make one such stream of their summed rate.
            Spread::Random(random) => self.before -= (1.0 - random.f64()).ln() * self.threads as f64,
            Spread::Logged(arrivals) => self.before = arrivals.before(self.number),
        }
    }
}

impl Pacer for OpenLoop {
    fn next(&mut self, now: Nanos) -> Due {
        let counts = |due: Nanos| due >= self.warm_until;
        let is_left = |due: &Nanos| *due < self.deadline && !(counts(*due) && self.measured >= self.requests);
        let due = self.schedule.due(self.before + self.phase);
        let Some(scheduled) = due.filter(is_left) else {
            let is_spent = due.is_some_and(|due| due < self.deadline);
            return if is_spent || self.deadline == Nanos::MAX { Due::Never } else { Due::Later(self.deadline) };
        };
        let next = || self.schedule.due((self.number + self.threads) as f64 + self.phase);
        let leaving = self.groups.leaving(scheduled, if self.groups.window > 0 { next() } else { None });
        // What is due before the end of the run is sent before it.
        let due = if is_left(&leaving) { leaving } else { scheduled };
        if due <= now {
            self.groups.last = Some(scheduled);
            self.measured += if counts(due) { self.threads } else { 0 };
            self.number += self.threads;
            self.advance();
        }
        Due::At(due)
    }

    fn take_overdue(&mut self, now: Nanos) -> Option<(Nanos, u64)> {
        let due = match self.next(now) {
            Due::At(due) if due <= now => due,
            _ => return None,
        };
        let counts = due >= self.warm_until;
        let end = if counts { self.deadline } else { self.warm_until };
        // One that is due later may leave after `now`, or count as measured, and is taken alone.
        let last = now.min(end.saturating_sub(1)).saturating_sub(self.groups.window);
        let until = last.min(due + (now - due) / AGES_APART);
        let place = self.schedule.due_before(until) - self.phase;
        let others = match &self.spread {
            Spread::Logged(arrivals) => arrivals.until(place) as f64 - 1.0 - self.number as f64,
            Spread::Even | Spread::Random(_) => place - self.before,
        };
        let mut others = (others / self.threads as f64).max(0.0) as u64;
        if counts {
            others = others.min(self.requests.saturating_sub(self.measured).div_ceil(self.threads));
            self.measured += others * self.threads;
        }
        self.number += others * self.threads;
        match self.spread {
            // Of many random times between requests the sum is near its mean.
            Spread::Random(_) => self.before += (others * self.threads) as f64,
            Spread::Even | Spread::Logged(_) => self.advance(),
        }
        Some((due, 1 + others))
    }

    fn request_ended(&mut self, _now: Nanos) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Nanos = 1_000_000_000;
    const WINDOW: Duration = Duration::from_micros(150);

    /// All due times of all threads, in order.
    fn times(schedule: &Schedule, arrivals: Arrivals, requests: Option<u64>, deadline: Nanos) -> Vec<Nanos> {
        let mut times = Vec::new();
        for thread in 0..3 {
            let mut pacer =
                OpenLoop::new(schedule.clone(), (arrivals, Duration::ZERO), requests, (0, deadline), (thread, 3), 7);
            while let Due::At(due) = pacer.next(Nanos::MAX) {
                times.push(due);
            }
        }
        times.sort_unstable();
        times
    }

    #[test]
    fn threads_together_keep_the_schedule_exactly() {
        let schedule = Schedule::constant(1000.0).unwrap();
        let all = times(&schedule, Arrivals::Constant, None, 2 * SECOND);
        assert_eq!(all.len(), 2000);
        let late = all.iter().zip(0..).find(|&(&due, n)| due != n * 1_000_000);
        assert_eq!(late, None, "a request is not due at its time");
        assert_eq!(times(&schedule, Arrivals::Constant, Some(100), 2 * SECOND).len(), 100);
    }

    #[test]
    fn a_run_goes_on_after_its_last_request_until_its_time_is_up_unless_a_number_ends_it() {
        let after_the_last = |rate, requests, deadline| {
            let schedule = Schedule::constant(rate).unwrap();
            let mut pacer = OpenLoop::new(schedule, (Arrivals::Constant, WINDOW), requests, (0, deadline), (0, 1), 7);
            while matches!(pacer.next(Nanos::MAX), Due::At(_)) {}
            pacer.next(SECOND)
        };
        assert_eq!(after_the_last(0.1, None, 2 * SECOND), Due::Later(2 * SECOND));
        assert_eq!(after_the_last(1.0, None, 4 * SECOND), Due::Later(4 * SECOND));
        assert_eq!(after_the_last(1.0, Some(3), 4 * SECOND), Due::Never);
        assert_eq!(after_the_last(1.0, Some(4), Nanos::MAX), Due::Never);
        let stages =
            Schedule::stages(&[(Duration::from_secs(1), 10.0), (Duration::ZERO, 0.0), (Duration::from_secs(3), 0.0)]);
        let (schedule, arrivals) = (stages.unwrap(), (Arrivals::Constant, WINDOW));
        let mut pacer = OpenLoop::new(schedule, arrivals, None, (0, 4 * SECOND), (0, 1), 7);
        while matches!(pacer.next(Nanos::MAX), Due::At(_)) {}
        assert_eq!(pacer.next(SECOND), Due::Later(4 * SECOND), "a stage of silence is part of the run");
    }

    #[test]
    fn generators_that_take_turns_send_as_many_requests_as_one() {
        let part = Schedule::constant(1000.0).unwrap().scaled(1.0 / 3.0);
        let mut all = Vec::new();
        for number in 0..3 {
            let pacer = OpenLoop::new(part.clone(), (Arrivals::Constant, Duration::ZERO), None, (0, SECOND), (0, 1), 7);
            let mut pacer = pacer.later_by(f64::from(number) / 3.0);
            while let Due::At(due) = pacer.next(Nanos::MAX) {
                all.push(due);
            }
        }
        all.sort_unstable();
        assert_eq!(all.len(), 1000);
        let late = all.iter().zip(0..).find(|&(&due, n)| due.abs_diff(n * 1_000_000) > 2);
        assert_eq!(late, None, "a request is not due at its time");
    }

    /// All that is overdue, as groups of time and number.
    fn overdue(pacer: &mut OpenLoop, now: Nanos) -> Vec<(Nanos, u64)> {
        std::iter::from_fn(|| pacer.take_overdue(now)).collect()
    }

    #[test]
    fn what_is_overdue_is_counted_exactly_and_by_arithmetic_whatever_the_rate() {
        for (rate, window, warm_until, requests) in [
            (1000.0, Duration::ZERO, 0, None),
            (1e5, WINDOW, 0, None),
            (1e5, WINDOW, SECOND, None),
            (1e5, Duration::ZERO, SECOND, Some(10_001)),
            (99_999.0, WINDOW, 0, Some(123_456)),
        ] {
            for part in [(0, 1), (0, 3), (2, 3)] {
                let schedule = Schedule::constant(rate).unwrap();
                let times = (warm_until, 3 * SECOND);
                let new = || OpenLoop::new(schedule.clone(), (Arrivals::Constant, window), requests, times, part, 7);
                let (mut grouped, mut single) = (new(), new());
                let groups = overdue(&mut grouped, 3 * SECOND);
                let mut ages = [0_u64; 4];
                let mut measured = 0;
                while let Due::At(due) = single.next(3 * SECOND) {
                    ages[0] += 1;
                    ages[1] += 3 * SECOND - due;
                    measured += u64::from(due >= warm_until);
                }
                for &(due, count) in &groups {
                    ages[2] += count;
                    ages[3] += (3 * SECOND - due) * count;
                }
                let what = format!("{rate}/s, warm until {warm_until}, {requests:?} requests, part {part:?}");
                assert_eq!(ages[0], ages[2], "{what}");
                let counted: u64 = groups.iter().filter(|(due, _)| *due >= warm_until).map(|group| group.1).sum();
                assert_eq!(measured, counted, "{what}");
                assert!((ages[1] as f64 / ages[3] as f64 - 1.0).abs() < 0.002, "{what}: {ages:?}");
            }
        }
        for arrivals in [Arrivals::Constant, Arrivals::Poisson] {
            let schedule = Schedule::constant(1e9).unwrap();
            let times = (0, 3600 * SECOND);
            let mut pacer = OpenLoop::new(schedule, (arrivals, Duration::ZERO), None, times, (0, 1), 7);
            let groups = overdue(&mut pacer, 3600 * SECOND);
            let all: u64 = groups.iter().map(|group| group.1).sum();
            assert!(all.abs_diff(3600 * SECOND) < 1_000_000, "{arrivals:?}: {all}");
            assert!(groups.len() < 100_000, "{arrivals:?}: {} groups", groups.len());
        }
    }

    #[test]
    fn logged_arrivals_have_the_rate_of_the_schedule_for_all_threads_together() {
        // Four requests at once, then a silence of 30 ms.
        let log = LogTimes::new((0..4000).map(|number| number / 4 * 30_000_000)).expect("they differ");
        for (warmup, requests) in [(0, None), (1, None), (1, Some(1500))] {
            let schedule = Schedule::constant(1000.0).unwrap().after(Duration::from_secs(warmup));
            let times = (warmup * SECOND, (warmup + 2) * SECOND);
            let new = |thread| {
                let arrivals = (Arrivals::Logged, WINDOW);
                OpenLoop::new(schedule.clone(), arrivals, requests, times, (thread, 3), 7).in_bursts(log.clone(), 2)
            };
            let mut all = Vec::new();
            for mut pacer in (0..3).map(new) {
                all.extend(std::iter::from_fn(|| match pacer.next(Nanos::MAX) {
                    Due::At(due) => Some(due),
                    _ => None,
                }));
            }
            all.sort_unstable();
            let measured = all.iter().filter(|due| **due >= warmup * SECOND).count() as u64;
            assert_eq!(measured, requests.unwrap_or(2000), "warm-up {warmup} s");
            let (mut bursts, mut rest) = (0, &all[2..]);
            while let Some(due) = rest.first() {
                let together = rest.iter().take_while(|other| other.abs_diff(*due) < 1000).count();
                bursts += usize::from(together == 4);
                rest = &rest[together..];
            }
            assert!(bursts + 2 >= all.len() / 4, "{bursts} bursts of {} requests", all.len());
            // What is overdue is the same number.
            let counted: u64 = (0..3).map(new).map(|mut pacer| sum(&overdue(&mut pacer, 9 * SECOND))).sum();
            assert_eq!(counted, all.len() as u64, "{requests:?}, warm-up {warmup} s");
        }
    }

    fn sum(groups: &[(Nanos, u64)]) -> u64 {
        groups.iter().map(|group| group.1).sum()
    }

    #[test]
    fn a_request_that_is_not_due_is_polled_again() {
        let schedule = Schedule::constant(10.0).unwrap();
        let mut pacer =
            OpenLoop::new(schedule.clone(), (Arrivals::Constant, Duration::ZERO), None, (0, Nanos::MAX), (1, 2), 0);
        assert_eq!((pacer.next(0), pacer.next(0)), (Due::At(SECOND / 10), Due::At(SECOND / 10)));
        assert_eq!(pacer.next(SECOND / 10), Due::At(SECOND / 10), "it is begun");
        assert_eq!(pacer.next(SECOND / 10), Due::At(SECOND * 3 / 10));
    }

    #[test]
    fn a_warm_up_costs_nothing_of_the_budget_however_many_requests_it_has() {
        for arrivals in [Arrivals::Constant, Arrivals::Poisson] {
            let schedule = Schedule::constant(1000.0).unwrap().after(Duration::from_secs(1));
            let mut measured = 0;
            for thread in 0..3 {
                let times = (SECOND, Nanos::MAX);
                let mut pacer = OpenLoop::new(schedule.clone(), (arrivals, WINDOW), Some(100), times, (thread, 3), 7);
                while let Due::At(due) = pacer.next(Nanos::MAX) {
                    measured += u64::from(due >= SECOND);
                }
            }
            assert_eq!(measured, 100, "{arrivals:?}");
        }
    }

    /// The times at which the requests of one of `threads` threads leave.
    fn leaving(rate: f64, (thread, threads): (u64, u64), deadline: Nanos) -> Vec<Nanos> {
        let schedule = Schedule::constant(rate).unwrap();
        let arrivals = (Arrivals::Constant, WINDOW);
        let mut pacer = OpenLoop::new(schedule, arrivals, None, (0, deadline), (thread, threads), 0);
        std::iter::from_fn(|| match pacer.next(Nanos::MAX) {
            Due::At(due) => Some(due),
            _ => None,
        })
        .collect()
    }

    #[test]
    fn requests_that_are_due_close_together_leave_together_and_never_early() {
        // Due each 50 us, in windows of 150: three at a time.
        let times = leaving(20_000.0, (0, 1), SECOND);
        assert_eq!(times.len(), 20_000, "none is lost at the end");
        assert_eq!(times[..7], [150_000, 150_000, 150_000, 300_000, 300_000, 300_000, 450_000]);
        for (due, leaves) in times.iter().enumerate().map(|(n, leaves)| (n as Nanos * 50_000, *leaves)) {
            assert!((due..=due + 150_000).contains(&leaves) && leaves < SECOND, "due at {due}, but sent at {leaves}");
        }
        // The other thread's windows end between those of the first.
        assert_eq!(leaving(40_000.0, (1, 2), SECOND)[..4], [25_000, 225_000, 225_000, 225_000]);
    }

    #[test]
    fn a_request_that_is_alone_in_its_window_leaves_when_it_is_due() {
        let times = leaving(5000.0, (0, 1), SECOND);
        assert!(times.iter().enumerate().all(|(n, leaves)| *leaves == n as Nanos * 200_000), "{:?}", &times[..9]);
        assert_eq!(leaving(10_000.0, (0, 1), SECOND)[..5], [150_000, 150_000, 200_000, 450_000, 450_000]);
    }

    #[test]
    fn random_arrivals_have_the_rate_and_the_variation_of_a_poisson_process() {
        let schedule = Schedule::constant(10_000.0).unwrap();
        let all = times(&schedule, Arrivals::Poisson, None, 10 * SECOND);
        let expected = 100_000.0_f64;
        assert!((all.len() as f64 - expected).abs() < 5.0 * expected.sqrt(), "{} requests", all.len());
        let gaps: Vec<f64> = all.windows(2).map(|pair| (pair[1] - pair[0]) as f64).collect();
        let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
        let variance = gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>() / gaps.len() as f64;
        let variation = variance.sqrt() / mean;
        assert!((variation - 1.0).abs() < 0.02, "an exponential distribution's variation is 1, not {variation}");
    }
}
