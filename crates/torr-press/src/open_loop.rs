//! Requests on schedule, whatever the service does.

use crate::pacer::{Due, Pacer};
use crate::schedule::Schedule;
use fastrand::Rng;
use torr_net::Nanos;

/// How the times between requests vary.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Arrivals {
    /// Not at all: as regular as the schedule.
    #[default]
    Constant,
    /// As those of many independent users do: exponentially.
    Poisson,
}

/// One thread's part of a schedule: every n-th request of it.
#[derive(Debug)]
pub struct OpenLoop {
    schedule: Schedule,
    /// Requests of the whole run, but for its warm-up.
    requests: u64,
    /// Of those, the number of this thread's next one.
    measured: u64,
    warm_until: Nanos,
    deadline: Nanos,
    threads: u64,
    /// The number of this thread's next request, of all threads'.
    number: u64,
    /// How many requests of all threads are due before it. Differs from its number if arrivals vary.
    before: f64,
    random: Option<Rng>,
}

impl OpenLoop {
    /// The part of thread `thread` of `threads`. `seed` decides the variation.
    pub fn new(
        schedule: Schedule,
        arrivals: Arrivals,
        requests: Option<u64>,
        (warm_until, deadline): (Nanos, Nanos),
        (thread, threads): (u64, u64),
        seed: u64,
    ) -> Self {
        let random = (arrivals == Arrivals::Poisson).then(|| Rng::with_seed(seed.wrapping_add(thread)));
        let requests = requests.unwrap_or(u64::MAX);
        let (number, before) = (thread, thread as f64);
        let measured = thread;
        let mut pacer = Self { schedule, requests, measured, warm_until, deadline, threads, number, before, random };
        if pacer.random.is_some() {
            pacer.before = 0.0;
            pacer.advance_randomly();
        }
        pacer
    }

    /// Many independent streams of exponential gaps make one such stream of their summed rate.
    fn advance_randomly(&mut self) {
        if let Some(random) = &mut self.random {
            self.before -= (1.0 - random.f64()).ln() * self.threads as f64;
        }
    }
}

impl Pacer for OpenLoop {
    fn next(&mut self, now: Nanos) -> Due {
        let counts = |due: Nanos| due >= self.warm_until;
        let is_left = |due: &Nanos| *due < self.deadline && !(counts(*due) && self.measured >= self.requests);
        let Some(due) = self.schedule.due(self.before).filter(is_left) else { return Due::Never };
        if due <= now {
            self.measured += if counts(due) { self.threads } else { 0 };
            self.number += self.threads;
            match self.random {
                None => self.before = self.number as f64,
                Some(_) => self.advance_randomly(),
            }
        }
        Due::At(due)
    }

    fn request_ended(&mut self, _now: Nanos) {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    const SECOND: Nanos = 1_000_000_000;

    /// All due times of all threads, in order.
    fn times(schedule: &Schedule, arrivals: Arrivals, requests: Option<u64>, deadline: Nanos) -> Vec<Nanos> {
        let mut times = Vec::new();
        for thread in 0..3 {
            let mut pacer = OpenLoop::new(schedule.clone(), arrivals, requests, (0, deadline), (thread, 3), 7);
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
    fn a_request_that_is_not_due_is_asked_for_again() {
        let schedule = Schedule::constant(10.0).unwrap();
        let mut pacer = OpenLoop::new(schedule.clone(), Arrivals::Constant, None, (0, Nanos::MAX), (1, 2), 0);
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
                let mut pacer = OpenLoop::new(schedule.clone(), arrivals, Some(100), times, (thread, 3), 7);
                while let Due::At(due) = pacer.next(Nanos::MAX) {
                    measured += u64::from(due >= SECOND);
                }
            }
            assert_eq!(measured, 100, "{arrivals:?}");
        }
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
