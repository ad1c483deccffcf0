//! Merges the samples of all threads into one result.

use crate::failed_response::FailedResponse;
use crate::failure::FailureKind;
use crate::generator::{Generator, ThreadCost, round3};
use crate::host::Host;
use crate::latency::Summary;
use crate::result::{Bytes, Cause, Check, Connections, Errors, Phases, PlanSummary, RunResult, SCHEMA, Tls, Warmup};
use crate::series::Series;
use crate::signals::Signals;
use crate::steal::StealMeter;
use crate::validity::{self, Unseen};
use crate::{Latency, Sample};
use std::collections::BTreeMap;
use std::time::Duration;

/// An interval that the end of the run cut to less than this share of its length tells no rate. What it holds belongs to
/// the interval before it.
const SLIVER: f64 = 0.1;

/// Takes the threads' samples in any order of threads, and each thread's in order.
#[derive(Debug)]
pub struct Collector {
    threads: Vec<ThreadTotals>,
    thread_rates: Latency,
    /// In which interval each thread ended that has ended.
    ended: Vec<u64>,
    interval: Duration,
    steal: StealMeter,
    total: Sample,
    warmup: Option<Sample>,
    series: Series,
    /// Intervals for which not all threads have reported yet: how many have, and what.
    open: BTreeMap<u64, (usize, Sample)>,
}

/// A run as it was measured: the result, and what it was made from.
#[derive(Debug)]
pub struct Measurement {
    /// What every output tells.
    pub result: RunResult,
    /// All threads' samples together.
    pub total: Sample,
    /// Each thread's own counts.
    pub threads: Vec<ThreadTotals>,
    /// What came about since the last progress: intervals that the end of the run cut short.
    pub rest: Option<Progress>,
    /// Answers per second of each thread in each whole interval; a histogram of numbers, not of times.
    pub thread_rates: Latency,
    /// The first answer, if the plan asked to keep it.
    pub first: Option<FirstResponse>,
}

/// What is told of the run's first answer: where all are alike, it stands for them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FirstResponse {
    /// Its status code.
    pub status: u16,
    /// Its header fields, as they came.
    pub headers: Vec<(String, Vec<u8>)>,
    /// Bytes of its body's content.
    pub body: u64,
}

impl FirstResponse {
    /// The value of a header field, as text.
    pub fn header(&self, name: &str) -> Option<String> {
        let (_, value) = self.headers.iter().find(|(n, _)| n.eq_ignore_ascii_case(name))?;
        Some(String::from_utf8_lossy(value).into_owned())
    }
}

/// What one thread did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ThreadTotals {
    /// Connections that were established.
    pub opened: u64,
    /// Requests that were answered in full.
    pub answered: u64,
    /// Of those, with a status of 400 or more.
    pub status_errors: u64,
    /// Requests that failed without a whole answer.
    pub failed: u64,
    /// Bytes received.
    pub received: u64,
    /// Of those, content of bodies.
    pub body: u64,
}

impl ThreadTotals {
    fn add(&mut self, sample: &Sample) {
        self.opened += sample.opened;
        self.answered += sample.answered.count();
        self.status_errors += sample.status.errors();
        self.failed += sample.failures.total();
        self.received += sample.received;
        self.body += sample.body;
    }
}

/// The run so far, for who watches it.
#[derive(Debug, Clone, PartialEq)]
pub struct Progress {
    /// Seconds since the run began.
    pub elapsed_s: f64,
    /// Responses completed so far, as the throughput counts them.
    pub requests: u64,
    /// Requests failed so far, likewise.
    pub errors: u64,
    /// Requests per second in the last interval.
    pub rps: f64,
    /// The 99th percentile in the last interval, in microseconds.
    pub p99_us: Option<u64>,
    /// The response times since the progress before this one: of the last interval, or of several that ended at once.
    pub latency: Latency,
}

impl Progress {
    /// Takes in what was told before it, so that nobody has to be told twice.
    fn after(mut self, earlier: &Self) -> Self {
        self.latency.add(&earlier.latency);
        self
    }
}

/// What the collector cannot know by itself.
#[derive(Debug, Default)]
pub struct RunFacts {
    /// The URL.
    pub target: String,
    /// What was asked for.
    pub plan: PlanSummary,
    /// When the run began.
    pub started_at: String,
    /// Whether it was ended early.
    pub interrupted: bool,
    /// How long it took.
    pub duration: Duration,
    /// Requests begun, counted where they began.
    pub asked: u64,
    /// Connections that were open already when the warm-up ended.
    pub carried: u64,
    /// The most connections at a time.
    pub peak: u64,
    /// The most source addresses that a thread used.
    pub sources: u64,
    /// What each thread used.
    pub threads: Vec<ThreadCost>,
    /// What is known of TLS, if it was spoken, beside the counts.
    pub tls: Option<Tls>,
    /// What the server's machine told, where it could be looked at.
    pub signals: Option<Signals>,
    /// The first answer, if the plan asked to keep it.
    pub first: Option<FirstResponse>,
    /// The first response with a status of 400 or more, if there was one.
    pub failed_response: Option<FailedResponse>,
    /// The names of the checks of each answer.
    pub checks: Vec<String>,
}

impl Collector {
    /// For so many threads that report once an interval, of a run that begins now.
    pub fn new(threads: usize, interval: Duration) -> Self {
        Self {
            threads: vec![ThreadTotals::default(); threads],
            thread_rates: Latency::default(),
            ended: Vec::new(),
            interval,
            steal: StealMeter::start(),
            total: Sample::default(),
            warmup: None,
            series: Series::default(),
            open: BTreeMap::new(),
        }
    }

    /// Takes a thread's sample of the interval of this number, from 0; `last` says that the thread has ended within it.
    /// Tells the progress when that was the last thread to report on an interval.
    pub fn take(&mut self, thread: usize, interval: u64, sample: &Sample, last: bool) -> Option<Progress> {
        self.threads[thread].add(sample);
        if !last {
            self.thread_rates.record_number((sample.completed() as f64 / self.interval.as_secs_f64()) as u64);
        }
        let (reported, merged) = self.open.entry(interval).or_default();
        merged.add(sample);
        if last {
            self.ended.push(interval);
        } else {
            *reported += 1;
        }
        // Who ended within an interval, or before it, reports no whole one.
        let whole = |interval: u64| self.threads.len() - self.ended.iter().filter(|&&ended| ended <= interval).count();
        let complete =
            self.open.iter().filter(|(interval, (reported, _))| (1..=*reported).contains(&whole(**interval)));
        let complete: Vec<_> = complete.map(|(&interval, _)| interval).collect();
        let close = |interval| self.close(interval, self.interval.as_secs_f64() * (interval + 1) as f64);
        complete.into_iter().filter_map(close).reduce(|earlier, later| later.after(&earlier))
    }

    /// Takes what a thread recorded of its warm-up.
    pub fn warmup(&mut self, sample: &Sample) {
        self.warmup.get_or_insert_default().add(sample);
    }

    /// Closes an interval that ended at `end_s`.
    fn close(&mut self, interval: u64, end_s: f64) -> Option<Progress> {
        let (_, sample) = self.open.remove(&interval)?;
        self.total.add(&sample);
        let (requests, errors) = (sample.completed(), sample.failed());
        let latency = sample.latency();
        self.series.push(round6(end_s), requests, errors, &latency);
        Some(Progress {
            elapsed_s: end_s,
            requests: self.total.completed(),
            errors: self.total.failed(),
            rps: requests as f64 / self.interval.as_secs_f64(),
            p99_us: latency.quantile(0.99),
            latency,
        })
    }

    /// The result, once all threads have reported their last.
    pub fn finish(mut self, facts: RunFacts) -> Measurement {
        // The last intervals are those that not all threads lived to see whole.
        let duration_s = facts.duration.as_secs_f64();
        let open: Vec<_> = self.open.keys().copied().collect();
        let close = |interval| {
            let whole = self.interval.as_secs_f64() * (interval + 1) as f64;
            self.close(interval, whole.min(duration_s))
        };
        let rest = open.into_iter().filter_map(close).reduce(|earlier, later| later.after(&earlier));
        self.series.merge_sliver(SLIVER * self.interval.as_secs_f64());
        let total = self.total;
        let (requests, completed) = (total.answered.count(), total.completed());
        let mut first_byte = total.answered.clone();
        first_byte.subtract(&total.last_apart);
        first_byte.add(&total.first_apart);
        let shortest = total.answered.summary().map(|answered| answered.min);
        let latency = total.latency();
        // The age of an unfinished request may be anything from nothing up: it says nothing of the least.
        let latency_us = latency.summary().map(|s| Summary { min: shortest.unwrap_or(s.min), ..s });
        let of = |kind| total.failures.of(kind);
        // The threads' CPU time is that of the warm-up too.
        let all_answered = requests + self.warmup.as_ref().map_or(0, |warmup| warmup.answered.count());
        let mut result = RunResult {
            schema: SCHEMA.into(),
            torr: env!("CARGO_PKG_VERSION").into(),
            target: facts.target,
            plan: facts.plan,
            started_at: facts.started_at,
            interrupted: facts.interrupted,
            asked: facts.asked,
            requests,
            rps: round3(completed as f64 / duration_s.max(f64::MIN_POSITIVE)),
            duration_s: round6(duration_s),
            status: total.status.iter().collect(),
            bytes: Bytes { sent: total.sent, received: total.received, body: total.body },
            errors: Errors {
                connect: of(FailureKind::Connect),
                tls: of(FailureKind::Tls),
                timeout: of(FailureKind::Timeout),
                read: of(FailureKind::Read),
                write: of(FailureKind::Write),
                protocol: of(FailureKind::Protocol),
                status: total.status.errors(),
                ports: of(FailureKind::Ports),
            },
            causes: causes(&total.failures),
            error_times: total.error_times.spans(),
            failed_response: facts.failed_response,
            unfinished: total.unfinished,
            latency_us,
            phases_us: Phases {
                connect: total.connect.summary(),
                tls: total.tls.summary(),
                first_byte: first_byte.summary(),
            },
            connections: Connections {
                opened: total.opened,
                carried: facts.carried,
                peak: facts.peak,
                sources: facts.sources,
                closed_by_server: total.closed_by_server,
                requests_per_connection: round3(completed as f64 / (total.opened + facts.carried).max(1) as f64),
            },
            sockets: total.sockets.summary(),
            tls: facts.tls.map(|tls| Tls { full: total.full_handshakes, resumed: total.resumed_handshakes, ..tls }),
            generator: Generator::of(&facts.threads, all_answered, &total.lag),
            warmup: self.warmup.map(|warmup| Warmup {
                requests: warmup.answered.count(),
                errors: warmup.failures.total() + warmup.status.errors(),
                p50: warmup.answered.quantile(0.5),
                carried: total.carried.answered,
                carried_errors: total.carried.status_errors,
                carried_received: total.carried.received,
            }),
            series: self.series.points(),
            host: facts.signals.as_ref().and_then(Host::of),
            signals: facts.signals,
            redirects_followed: total.redirects,
            checks: checks(facts.checks, &total),
            thresholds: Vec::new(),
            validity: None,
            verdict: None,
        };
        let unseen = Unseen { sent: total.lag.count(), gaps: &total.gaps, steal: self.steal.read() };
        result.validity = Some(validity::judge(&result, &unseen));
        Measurement { result, total, threads: self.threads, rest, thread_rates: self.thread_rates, first: facts.first }
    }
}

fn round6(seconds: f64) -> f64 {
    (seconds * 1e6).round() / 1e6
}

fn checks(names: Vec<String>, total: &Sample) -> Vec<Check> {
    let answered = total.answered.count();
    let failed = |at: usize| total.failed_checks.get(at).copied().unwrap_or(0);
    let check = |(at, name)| Check { name, passed: answered - failed(at), failed: failed(at) };
    names.into_iter().enumerate().map(check).collect()
}

fn causes(failures: &crate::sample::Failures) -> Vec<Cause> {
    let cause =
        |(f, count): (&crate::Failure, u64)| Cause { kind: f.kind, side: f.side, what: f.what.clone().into(), count };
    let mut causes: Vec<_> = failures.causes().map(cause).collect();
    causes.sort_by_key(|cause| std::cmp::Reverse(cause.count));
    causes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(requests: u64) -> Sample {
        let mut sample = Sample::default();
        (0..requests).for_each(|_| sample.answered.record(1000));
        sample
    }

    #[test]
    fn intervals_that_end_at_once_are_told_together() {
        let mut collector = Collector::new(2, Duration::from_secs(1));
        assert!(collector.take(0, 0, &sample(1), false).is_none());
        assert!(collector.take(0, 1, &sample(2), false).is_none());
        // The other ended early, and says so late.
        let progress = collector.take(1, 0, &sample(4), true).expect("both intervals are complete");
        assert_eq!((progress.elapsed_s, progress.requests), (2.0, 7));
        assert_eq!((progress.rps, progress.latency.count()), (2.0, 7));
    }

    #[test]
    fn the_end_of_a_run_leaves_no_sliver_of_an_interval() {
        let finished = |duration_s: f64| {
            let mut collector = Collector::new(1, Duration::from_secs(1));
            collector.take(0, 0, &sample(100), false);
            collector.take(0, 1, &sample(36), true);
            let duration = Duration::from_secs_f64(duration_s);
            let run = collector.finish(RunFacts { duration, ..RunFacts::default() }).result;
            run.series.iter().map(|point| (point.t, point.requests)).collect::<Vec<_>>()
        };
        assert_eq!(finished(1.000_05), [(1.000_05, 136)]);
        assert_eq!(finished(1.3), [(1.0, 100), (1.3, 36)]);
        // A run that is shorter than a sliver is all that there is, and its length is told.
        let mut collector = Collector::new(1, Duration::from_secs(1));
        collector.take(0, 0, &sample(3), true);
        let run = collector.finish(RunFacts { duration: Duration::from_micros(40), ..RunFacts::default() }).result;
        assert_eq!(run.series.iter().map(|point| (point.t, point.requests)).collect::<Vec<_>>(), [(0.000_04, 3)]);
    }

    #[test]
    fn throughput_counts_what_was_carried_over_from_the_warm_up_and_latency_does_not() {
        let mut collector = Collector::new(1, Duration::from_secs(1));
        let mut warm = sample(30);
        warm.status.count(503);
        collector.warmup(&warm);
        let mut first = sample(90);
        first.received = 900;
        first.carried = crate::sample::Carried { answered: 10, status_errors: 1, failed: 2, received: 100 };
        collector.take(0, 0, &first, false);
        collector.take(0, 1, &sample(100), true);
        let cpu = Duration::from_millis(22);
        let threads = vec![ThreadCost { wall: Duration::from_secs(3), cpu, ..ThreadCost::default() }];
        let facts = RunFacts { duration: Duration::from_secs(2), threads, ..RunFacts::default() };
        let Measurement { result, .. } = collector.finish(facts);
        assert_eq!((result.requests, result.completed(), result.rps), (190, 200, 100.0));
        assert_eq!((result.good_rps(), result.received_per_s(), result.bytes.received), (99.5, 500.0, 900));
        let points: Vec<_> = result.series.iter().map(|point| (point.requests, point.errors)).collect();
        assert_eq!(points, [(100, 3), (100, 0)]);
        // Its CPU time is that of the whole run, and so are the requests that it is divided by.
        assert_eq!(result.generator.cpu_us_per_request, 100.0);
    }

    #[test]
    fn a_thread_that_ends_first_does_not_close_what_another_has_not_reported() {
        let mut collector = Collector::new(2, Duration::from_secs(1));
        assert!(collector.take(0, 0, &sample(1), false).is_none());
        assert!(collector.take(0, 1, &sample(2), true).is_none());
        let progress = collector.take(1, 0, &sample(4), false).expect("both have reported on it");
        assert_eq!((progress.elapsed_s, progress.requests), (1.0, 5));
        // The other goes on alone.
        assert_eq!(collector.take(1, 1, &sample(8), false).map(|progress| progress.requests), Some(15));
        assert!(collector.take(1, 2, &sample(16), true).is_none());
        collector.close(2, 2.5);
        let points: Vec<_> = collector.series.points().iter().map(|point| (point.t, point.requests)).collect();
        assert_eq!(points, [(1.0, 5), (2.0, 10), (2.5, 16)]);
    }
}
