//! The time series of a run, in bounded memory.

use crate::buckets::Buckets;
use crate::sessions::SessionsEnded;
use crate::step_counts::StepCounts;
use crate::{CpuUse, FailureKind, Latency, Sample};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

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
    /// The number of events of streams that were received in the interval.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub events: u64,
    /// The number of messages that the server of a WebSocket pushed in the interval, while no request was in flight.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub pushed: u64,
    /// The median response time in microseconds, to 1%; where responses are streams, the median gap between two events of one.
    pub p50: Option<u64>,
    /// The 99th percentile of the same times in microseconds, to 1%.
    pub p99: Option<u64>,
    /// The number of sessions of virtual users that came to their end in the interval.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub sessions_finished: u64,
    /// The number of sessions that ended early in the interval.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub sessions_failed: u64,
    /// These times in ten steps a decade: each is rounded down to 1, 1.25, 1.6, 2, 2.5, 3.2, 4, 5, 6.3 or 8 times a
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
    /// The part of it that the hypervisor has stolen, 0 to 1; absent if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stolen_share: Option<f64>,
    /// The errors by kind; empty without errors. Requests that began in the warm-up are in `errors` alone.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub errors_by_kind: BTreeMap<FailureKind, u64>,
    /// The number of open connections at the interval's end; of merged intervals the largest.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub connections: u64,
    /// The longest send lag in microseconds, in an open loop.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub send_lag_max_us: Option<u64>,
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// A series of intervals that halves its resolution when it is full.
#[derive(Debug, Default)]
pub struct Series {
    intervals: Vec<Interval>,
    /// The encoded response times of all intervals, one after the other. A vector for each interval would take several times as
    /// much, and the memory that merging frees would not be used again.
    encoded: Vec<u8>,
    /// The number of the caller's intervals in each interval of the series; 0 stands for 1.
    merged: usize,
    /// The number of the caller's intervals in the last one.
    in_last: usize,
}

#[derive(Debug, Clone, Copy)]
struct Interval {
    end_s: f64,
    counts: IntervalCounts,
    /// The number of bytes of its encoded response times.
    encoded: usize,
}

/// The counts of an interval.
#[derive(Debug, Clone, Copy, Default)]
pub struct IntervalCounts {
    /// The number of responses completed in the interval.
    pub requests: u64,
    /// The number of failed requests.
    pub errors: u64,
    /// The number of events of streams.
    pub events: u64,
    /// The number of messages that the server of a WebSocket pushed.
    pub pushed: u64,
    /// The sessions of virtual users that ended in the interval.
    pub sessions: SessionsEnded,
    /// The CPU time used in the interval, if it is known.
    pub cpu: Option<CpuUse>,
    /// The errors of each kind, in the order of [`FailureKind::ALL`].
    pub kinds: [u64; FailureKind::ALL.len()],
    /// The number of open connections at the end of the interval.
    pub connections: u64,
    /// The longest send lag in microseconds, if a request was scheduled.
    pub lag_us: Option<u64>,
}

impl IntervalCounts {
    /// Returns the counts of a sample, with the CPU time used.
    pub fn of(sample: &Sample, cpu: Option<CpuUse>) -> Self {
        let kind = |kind| match kind {
            FailureKind::Status => sample.status_errors(),
            other => sample.failures.of(other),
        };
        Self {
            requests: sample.completed(),
            errors: sample.failed(),
            events: sample.streams.as_deref().map_or(0, |streams| streams.events),
            pushed: sample.websocket.as_deref().map_or(0, |websocket| websocket.pushed),
            sessions: sample.sessions,
            cpu,
            kinds: FailureKind::ALL.map(kind),
            connections: sample.open,
            lag_us: sample.lag.longest(),
        }
    }
}

impl Series {
    /// Appends the interval that ended at `end_s` seconds.
    pub fn push(&mut self, end_s: f64, counts: IntervalCounts, latency: &Latency) {
        if self.intervals.len() == MAX_POINTS && self.in_last == self.merged.max(1) {
            self.halve();
        }
        let before = self.encoded.len();
        StepCounts::of(latency).encode(&mut self.encoded);
        let interval = Interval { end_s, counts, encoded: self.encoded.len() - before };
        if self.in_last < self.merged {
            self.merge_into_last(&interval);
            self.in_last += 1;
        } else {
            self.intervals.push(interval);
            self.in_last = 1;
        }
    }

    /// Merges intervals in pairs, within their buffer: the memory of a copy would stay with the process for the rest of the run.
    fn halve(&mut self) {
        let (mut read, mut written, mut kept) = (0, 0, 0);
        let mut encoded = Vec::new();
        for first in (0..self.intervals.len()).step_by(2) {
            let mut both = self.intervals[first];
            let mut steps = StepCounts::decode(&self.encoded[read..read + both.encoded]);
            read += both.encoded;
            if let Some(later) = self.intervals.get(first + 1) {
                steps.add(&StepCounts::decode(&self.encoded[read..read + later.encoded]));
                read += later.encoded;
                both.extend(later);
            }
            encoded.clear();
            steps.encode(&mut encoded);
            // A sum is never longer than its parts, which have been read.
            self.encoded[written..written + encoded.len()].copy_from_slice(&encoded);
            written += encoded.len();
            self.intervals[kept] = Interval { encoded: encoded.len(), ..both };
            kept += 1;
        }
        self.intervals.truncate(kept);
        self.encoded.truncate(written);
        self.merged = 2 * self.merged.max(1);
        self.in_last = self.merged;
    }

    /// Merges an interval into the last one. Its encoded response times are the last of all.
    fn merge_into_last(&mut self, later: &Interval) {
        let Some(both) = self.intervals.last_mut() else { return };
        let later_at = self.encoded.len() - later.encoded;
        let both_at = later_at - both.encoded;
        let mut steps = StepCounts::decode(&self.encoded[both_at..later_at]);
        steps.add(&StepCounts::decode(&self.encoded[later_at..]));
        self.encoded.truncate(both_at);
        steps.encode(&mut self.encoded);
        both.encoded = self.encoded.len() - both_at;
        both.extend(later);
    }

    /// Merges the last interval into the one before if it is shorter than `shortest_s` seconds.
    pub fn merge_short_last(&mut self, shortest_s: f64) {
        if let [.., before, last] = self.intervals[..]
            && last.end_s - before.end_s < shortest_s
        {
            self.intervals.pop();
            self.merge_into_last(&last);
        }
    }

    /// Returns the points for the result.
    pub fn points(&self) -> Vec<Point> {
        let mut encoded = &self.encoded[..];
        let point = |interval: &Interval| {
            let (own, later) = encoded.split_at(interval.encoded);
            encoded = later;
            interval.point(&StepCounts::decode(own))
        };
        self.intervals.iter().map(point).collect()
    }
}

impl IntervalCounts {
    fn add(&mut self, later: &Self) {
        self.requests += later.requests;
        self.errors += later.errors;
        self.events += later.events;
        self.pushed += later.pushed;
        self.sessions.add(later.sessions);
        self.kinds.iter_mut().zip(later.kinds).for_each(|(count, later)| *count += later);
        self.connections = self.connections.max(later.connections);
        self.lag_us = self.lag_us.max(later.lag_us);
        self.cpu = match (self.cpu, later.cpu) {
            (Some(mut both), Some(later)) => {
                both.add(&later);
                Some(both)
            }
            // What is known of a part stands for the whole.
            (known, None) | (None, known) => known,
        };
    }
}

impl Interval {
    fn extend(&mut self, later: &Self) {
        self.end_s = later.end_s;
        self.counts.add(&later.counts);
    }

    fn point(&self, steps: &StepCounts) -> Point {
        let IntervalCounts { requests, errors, events, pushed, sessions, cpu, kinds, connections, lag_us } =
            self.counts;
        Point {
            t: self.end_s,
            requests,
            errors,
            events,
            pushed,
            p50: steps.quantile(0.5),
            p99: steps.quantile(0.99),
            sessions_finished: sessions.finished,
            sessions_failed: sessions.failed,
            latency_histogram: Buckets::of_steps(steps.iter()),
            generator_cores: cpu.and_then(|cpu| cpu.generator_cores()),
            server_cores: cpu.and_then(|cpu| cpu.server_cores()),
            cpu_share: cpu.and_then(|cpu| cpu.cpu_share()),
            stolen_share: cpu.and_then(|cpu| cpu.stolen_share()),
            errors_by_kind: FailureKind::ALL.into_iter().zip(kinds).filter(|(_, count)| *count > 0).collect(),
            connections,
            send_lag_max_us: lag_us,
        }
    }
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
    fn a_run_of_six_hours_needs_hardly_more_memory_than_one_of_half_an_hour() {
        let mut series = Series::default();
        let random = &mut fastrand::Rng::with_seed(1);
        let mut after_half_an_hour = 0;
        for second in 1..=21_600u32 {
            let mut latency = Latency::default();
            // Times from 100 us on, one of a hundred above 1 ms: a point has the more steps, the more of them it has.
            (0..400).for_each(|_| latency.record((100_000.0 * random.f64().max(1e-6).powf(-0.5)) as u64));
            series.push(second.into(), IntervalCounts::default(), &latency);
            if second == 1800 {
                after_half_an_hour = series.encoded.capacity();
            }
        }
        let six_hours = series.encoded.capacity();
        assert!(
            six_hours <= 2 * after_half_an_hour && six_hours <= 2 << 20,
            "{six_hours} bytes after {after_half_an_hour}"
        );
        let [points @ .., _] = &series.points()[..] else { panic!("there are points") };
        // The median is 141 us; each point has some thousand responses.
        assert!(points.iter().all(|point| point.p50.is_some_and(|us| (135..148).contains(&us))), "{points:?}");
    }

    #[test]
    fn a_long_run_keeps_its_counts_in_fewer_points() {
        let mut series = Series::default();
        for second in 1..=5000u64 {
            let mut latency = Latency::default();
            (0..10).for_each(|_| latency.record(second * 1000));
            let sessions = SessionsEnded { finished: 2, failed: 3 };
            let cpu = Some(CpuUse { seconds: 1.0, generator_s: 0.25, server: None });
            series.push(
                second as f64,
                IntervalCounts {
                    requests: 10,
                    errors: 1,
                    pushed: 2,
                    sessions,
                    cpu,
                    kinds: std::array::from_fn(|kind| u64::from(kind == 2)),
                    connections: second,
                    lag_us: Some(5001 - second),
                    ..IntervalCounts::default()
                },
                &latency,
            );
        }
        let points = series.points();
        assert!(points.len() <= MAX_POINTS && points.len() > MAX_POINTS / 2, "{}", points.len());
        assert_eq!(series.intervals.capacity(), MAX_POINTS, "the buffer is not copied into a larger one");
        assert_eq!(points.iter().map(|p| p.requests).sum::<u64>(), 50_000);
        assert_eq!(points.iter().map(|p| p.errors).sum::<u64>(), 5000);
        assert_eq!(points.iter().map(|p| p.pushed).sum::<u64>(), 10_000);
        let sessions = points.iter().map(|p| (p.sessions_finished, p.sessions_failed));
        assert_eq!(sessions.fold((0, 0), |sum, p| (sum.0 + p.0, sum.1 + p.1)), (10_000, 15_000));
        assert_eq!(points.last().unwrap().t, 5000.0);
        let timeouts = points.iter().map(|point| point.errors_by_kind[&FailureKind::Timeout]);
        assert_eq!(timeouts.sum::<u64>(), 5000);
        assert_eq!((points[0].connections, points[0].send_lag_max_us), (8, Some(5000)), "the largest of eight");
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
