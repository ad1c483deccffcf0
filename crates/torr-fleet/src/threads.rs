//! The merge of one agent's threads, interval by interval.

use std::collections::BTreeMap;
use torr_gauge::Sample;

/// The intervals of an agent that not all of its threads have reported.
#[derive(Debug)]
pub(crate) struct ThreadIntervals {
    threads: usize,
    /// The interval in which each thread ended that has ended.
    ended: Vec<u64>,
    open: BTreeMap<u64, OpenInterval>,
    /// The number of the next interval that nothing is known of.
    next: u64,
}

/// An interval that not all threads have reported.
#[derive(Debug, Default)]
struct OpenInterval {
    reported: usize,
    merged: Sample,
    /// The idle time of the thread that had the least: the agent is as busy as its busiest thread.
    least_idle: Option<u64>,
}

impl OpenInterval {
    fn add(&mut self, sample: &Sample, last: bool) {
        self.merged.add(sample);
        // A thread that ended within the interval was idle in less of it.
        if !last || self.least_idle.is_none() {
            self.least_idle = Some(self.least_idle.map_or(sample.idle, |least| least.min(sample.idle)));
        }
        self.reported += usize::from(!last);
    }

    fn sample(self) -> Sample {
        Sample { idle: self.least_idle.unwrap_or(0), ..self.merged }
    }
}

impl ThreadIntervals {
    pub fn new(threads: usize) -> Self {
        Self { threads, ended: Vec::new(), open: BTreeMap::new(), next: 0 }
    }

    /// Adds a thread's sample of an interval; `last` tells that the thread ended within it. Returns the intervals that are
    /// complete by it, with their numbers.
    pub fn take(&mut self, interval: u64, sample: &Sample, last: bool) -> Vec<(u64, Sample)> {
        self.next = self.next.max(interval + 1);
        self.open.entry(interval).or_default().add(sample, last);
        self.ended.extend(last.then_some(interval));
        let running = |number: u64| self.threads - self.ended.iter().filter(|&&ended| ended <= number).count();
        let is_complete =
            |(number, open): (&u64, &OpenInterval)| (1..=open.reported).contains(&running(*number)).then_some(*number);
        let complete: Vec<_> = self.open.iter().filter_map(is_complete).collect();
        complete.into_iter().filter_map(|number| Some((number, self.open.remove(&number)?.sample()))).collect()
    }

    /// Returns the intervals in which threads ended, at least one. The last one is the agent's last.
    pub fn finish(self) -> Vec<(u64, Sample)> {
        let mut rest: Vec<_> = self.open.into_iter().map(|(number, open)| (number, open.sample())).collect();
        if rest.last().is_none_or(|(number, _)| number + 1 < self.next) {
            rest.push((self.next, Sample::default()));
        }
        rest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(sent: u64) -> Sample {
        Sample { sent, ..Sample::default() }
    }

    fn numbers(intervals: &[(u64, Sample)]) -> Vec<(u64, u64)> {
        intervals.iter().map(|(number, sample)| (*number, sample.sent)).collect()
    }

    #[test]
    fn an_interval_is_complete_when_all_threads_have_reported_it() {
        let mut threads = ThreadIntervals::new(2);
        assert!(threads.take(0, &sample(1), false).is_empty());
        assert!(threads.take(1, &sample(2), false).is_empty());
        assert_eq!(numbers(&threads.take(0, &sample(10), false)), [(0, 11)]);
        // The other thread ends within interval 1, so the first one is all that runs.
        assert_eq!(numbers(&threads.take(1, &sample(20), true)), [(1, 22)]);
        assert!(threads.take(2, &sample(4), true).is_empty());
        assert_eq!(numbers(&threads.finish()), [(2, 4)]);
    }

    #[test]
    fn an_agent_is_as_busy_as_its_busiest_thread() {
        let idle = |idle| Sample { idle, ..Sample::default() };
        let mut threads = ThreadIntervals::new(2);
        threads.take(0, &idle(900), false);
        assert_eq!(threads.take(0, &idle(300), false)[0].1.idle, 300);
        threads.take(1, &idle(800), false);
        let complete = threads.take(1, &idle(10), true);
        assert_eq!(complete[0].1.idle, 800, "the other one ended early");
    }

    #[test]
    fn there_is_always_a_last_interval() {
        assert_eq!(numbers(&ThreadIntervals::new(2).finish()), [(0, 0)]);
        let mut threads = ThreadIntervals::new(1);
        threads.take(0, &sample(1), false);
        assert_eq!(numbers(&threads.finish()), [(1, 0)]);
    }
}
