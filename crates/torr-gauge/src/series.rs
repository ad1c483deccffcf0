//! The time series of a run, in bounded memory.

use crate::buckets::Buckets;
use crate::sessions::SessionsEnded;
use crate::{CpuUse, Latency};
use serde::{Deserialize, Serialize};

/// The limit of points, above which neighbours merge and the interval doubles.
const MAX_POINTS: usize = 1024;

/// One interval of the run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Point {
    /// The interval's end in seconds since the run began.
    pub t: f64,
    /// The number of responses completed in the interval.
    pub requests: u64,
    /// The number of failed requests, responses with a status of 400 or more included.
    pub errors: u64,
    /// The median response time in microseconds, to 1%.
    pub p50: Option<u64>,
    /// The 99th percentile in microseconds, to 1%.
    pub p99: Option<u64>,
    /// The number of sessions of virtual users that came to their end in the interval.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub sessions_finished: u64,
    /// The number of sessions that ended early in the interval.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub sessions_failed: u64,
    /// The response times in ten steps a decade: each is rounded down to 1, 1.25, 1.6, 2, 2.5, 3.2, 4, 5, 6.3 or 8 times a
    /// power of ten.
    #[serde(default, skip_serializing_if = "Buckets::is_empty")]
    pub latency_histogram: Buckets,
    /// The CPU time of the generator's process in cores.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub generator_cores: Option<f64>,
    /// The CPU time of the server's processes in cores, where they are visible.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server_cores: Option<f64>,
    /// The used share of the CPU time of the server's machine, 0 to 1, where visible.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_share: Option<f64>,
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// A series of intervals that halves its resolution when it is full.
#[derive(Debug, Default)]
pub struct Series {
    intervals: Vec<Interval>,
    /// The number of the caller's intervals in each interval of the series; 0 stands for 1.
    merged: usize,
    /// The number of the caller's intervals in the last one.
    in_last: usize,
}

#[derive(Debug, Default, Clone)]
struct Interval {
    end_s: f64,
    requests: u64,
    errors: u64,
    sessions: SessionsEnded,
    /// Response times in microseconds, rounded down by at most 1%, with their counts, in ascending order. They have 32 bits, since a
    /// long run keeps half a million of them: more than 71 minutes, or 4 billion responses, are the most that fits.
    latencies: Vec<(u32, u32)>,
    cpu: Option<CpuUse>,
}

/// The counts of an interval.
#[derive(Debug, Clone, Copy, Default)]
pub struct IntervalCounts {
    /// The number of responses completed in the interval.
    pub requests: u64,
    /// The number of failed requests.
    pub errors: u64,
    /// The sessions of virtual users that ended in the interval.
    pub sessions: SessionsEnded,
    /// The CPU time used in the interval, if it is known.
    pub cpu: Option<CpuUse>,
}

impl Series {
    /// Appends the interval that ended at `end_s` seconds.
    pub fn push(&mut self, end_s: f64, counts: IntervalCounts, latency: &Latency) {
        let IntervalCounts { requests, errors, sessions, cpu } = counts;
        self.append(Interval { end_s, requests, errors, sessions, latencies: in_steps(latency), cpu });
    }

    fn append(&mut self, interval: Interval) {
        let merged = self.merged.max(1);
        match self.intervals.last_mut() {
            Some(last) if self.in_last < merged => {
                last.merge(interval);
                self.in_last += 1;
            }
            _ => {
                if self.intervals.len() == MAX_POINTS {
                    self.halve();
                    return self.append(interval);
                }
                self.intervals.push(interval);
                self.in_last = 1;
            }
        }
    }

    fn halve(&mut self) {
        let pairs = self.intervals.chunks(2).map(|pair| {
            let mut both = pair[0].clone();
            pair[1..].iter().cloned().for_each(|second| both.merge(second));
            both
        });
        self.intervals = pairs.collect();
        self.in_last = 2 * self.merged.max(1);
        self.merged = 2 * self.merged.max(1);
    }

    /// Merges the last interval into the one before if it is shorter than `shortest_s` seconds.
    pub fn merge_short_last(&mut self, shortest_s: f64) {
        if let [.., before, last] = &self.intervals[..]
            && last.end_s - before.end_s < shortest_s
        {
            let last = self.intervals.pop().expect("the pattern has seen two");
            self.intervals.last_mut().expect("the pattern has seen two").merge(last);
        }
    }

    /// Returns the points for the result.
    pub fn points(&self) -> Vec<Point> {
        self.intervals.iter().map(Interval::point).collect()
    }
}

impl Interval {
    fn merge(&mut self, later: Self) {
        self.end_s = later.end_s;
        self.requests += later.requests;
        self.errors += later.errors;
        self.sessions.add(later.sessions);
        self.cpu = match (self.cpu, later.cpu) {
            (Some(mut both), Some(later)) => {
                both.add(&later);
                Some(both)
            }
            // What is known of a part stands for the whole.
            (known, None) | (None, known) => known,
        };
        self.latencies.extend(later.latencies);
        self.latencies.sort_unstable();
        self.latencies.dedup_by(|next, kept| {
            let same = next.0 == kept.0;
            if same {
                kept.1 = kept.1.saturating_add(next.1);
            }
            same
        });
        self.latencies.shrink_to_fit();
    }

    fn point(&self) -> Point {
        let latencies = self.latencies.iter().map(|&(us, n)| (u64::from(us), u64::from(n)));
        let total: u64 = latencies.clone().map(|(_, n)| n).sum();
        let quantile = |share: f64| {
            let rank = (total as f64 * share).ceil() as u64;
            let mut seen = 0;
            let mut latencies = latencies.clone();
            latencies.find_map(|(us, n)| {
                seen += n;
                (seen >= rank.max(1)).then_some(us)
            })
        };
        Point {
            t: self.end_s,
            requests: self.requests,
            errors: self.errors,
            p50: quantile(0.5),
            p99: quantile(0.99),
            sessions_finished: self.sessions.finished,
            sessions_failed: self.sessions.failed,
            latency_histogram: Buckets::of_steps(latencies),
            generator_cores: self.cpu.and_then(|cpu| cpu.generator_cores()),
            server_cores: self.cpu.and_then(|cpu| cpu.server_cores()),
            cpu_share: self.cpu.and_then(|cpu| cpu.cpu_share()),
        }
    }
}

/// Returns the response times in 350 steps a decade, each at most 1% long. The ten steps a decade of results begin with one of these.
fn in_steps(latency: &Latency) -> Vec<(u32, u32)> {
    let mut steps: Vec<(u32, u32)> = Vec::new();
    for (us, n) in latency.counts() {
        let mut unit = 1;
        while us / unit >= 1000 {
            unit *= 10;
        }
        let step = match us / unit {
            0..200 => unit,
            200..500 => 2 * unit,
            _ => 5 * unit,
        };
        let least = fitting(us / step * step);
        match steps.last_mut() {
            Some(last) if last.0 == least => last.1 = last.1.saturating_add(fitting(n)),
            _ => steps.push((least, fitting(n))),
        }
    }
    steps.shrink_to_fit(); // kept to the end of the run
    steps
}

fn fitting(number: u64) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cpu_time_that_is_known_of_a_part_stands_for_the_whole() {
        let known = |generator_s| Some(CpuUse { seconds: 1.0, generator_s, server: None });
        for (earlier, later, expected) in [
            (known(0.5), None, Some(0.5)),
            (None, known(0.5), Some(0.5)),
            (known(0.5), known(0.1), Some(0.3)),
            (None, None, None),
        ] {
            let mut series = Series::default();
            series.push(1.0, IntervalCounts { cpu: earlier, ..IntervalCounts::default() }, &Latency::default());
            series.push(1.01, IntervalCounts { cpu: later, ..IntervalCounts::default() }, &Latency::default());
            series.merge_short_last(0.1);
            let points = series.points();
            assert_eq!((points.len(), points[0].generator_cores), (1, expected), "{earlier:?} and {later:?}");
        }
    }

    #[test]
    fn the_steps_of_an_interval_are_at_most_a_hundredth_of_the_time() {
        let mut all = Latency::default();
        for us in (1..5000).chain((5000..4_000_000).step_by(997)) {
            let mut latency = Latency::default();
            latency.record(us * 1000);
            all.record(us * 1000);
            let kept = latency.counts().next().map_or(0, |(us, _)| us);
            let [(least, 1)] = in_steps(&latency)[..] else { panic!("one response has one step") };
            let off = kept - u64::from(least);
            assert!(off * 100 <= kept, "{us} us: {least}");
        }
        let steps = in_steps(&all);
        assert!(steps.is_sorted() && steps.len() < 7 * 350, "{}", steps.len());
        let mut endless = Latency::default();
        endless.record_many(1, u64::from(u32::MAX) + 5);
        assert_eq!(in_steps(&endless), [(1, u32::MAX)]);
    }

    #[test]
    fn a_long_run_keeps_its_counts_in_fewer_points() {
        let mut series = Series::default();
        for second in 1..=5000u64 {
            let mut latency = Latency::default();
            (0..10).for_each(|_| latency.record(second * 1000));
            let sessions = SessionsEnded { finished: 2, failed: 3 };
            let cpu = Some(CpuUse { seconds: 1.0, generator_s: 0.25, server: None });
            series.push(second as f64, IntervalCounts { requests: 10, errors: 1, sessions, cpu }, &latency);
        }
        let points = series.points();
        assert!(points.len() <= MAX_POINTS && points.len() > MAX_POINTS / 2, "{}", points.len());
        assert_eq!(points.iter().map(|p| p.requests).sum::<u64>(), 50_000);
        assert_eq!(points.iter().map(|p| p.errors).sum::<u64>(), 5000);
        let sessions = points.iter().map(|p| (p.sessions_finished, p.sessions_failed));
        assert_eq!(sessions.fold((0, 0), |sum, p| (sum.0 + p.0, sum.1 + p.1)), (10_000, 15_000));
        assert_eq!(points.last().unwrap().t, 5000.0);
        assert_eq!(points[0].t, 8.0, "5,000 seconds in at most 1,024 points are 8 seconds a point");
        assert_eq!((points[0].p50, points[0].p99), (Some(4), Some(8)));
        assert!(points.iter().all(|point| point.generator_cores == Some(0.25) && point.server_cores.is_none()));
        // Eight seconds of 4,801 to 4,808 us fall into one step.
        let text = serde_json::to_value(&points[600].latency_histogram).unwrap();
        assert_eq!(text, "4000:80", "{:?}", points[600]);
        let (p50, truth) = (points[600].p50.unwrap() as f64, 4804.0);
        assert!((p50 - truth).abs() / truth < 0.01, "{p50} is not within 1% of {truth}");
    }
}
