//! The merge of all threads' samples into one result.

mod first_response;
mod thread_totals;

pub use first_response::FirstResponse;
pub use thread_totals::ThreadTotals;

use crate::buckets::Buckets;
use crate::failed_response::FailedResponse;
use crate::failure::FailureKind;
use crate::generator::{Generator, ThreadCost, TimestampSource, round3};
use crate::host::Host;
use crate::latency::Summary;
use crate::result::{Bytes, Cause, Check, Connections, Errors, Phases, PlanSummary, RunResult, SCHEMA, Tls, Warmup};
use crate::series::{IntervalCounts, Series};
use crate::sessions::{SessionCounts, SessionFacts, SessionsEnded};
use crate::stalls::StallFinder;
use crate::steal::StealMeter;
use crate::steering::SteeringEvent;
use crate::streams::Streams;
use crate::validity::{self, UnreportedFacts};
use crate::{CpuUse, Latency, Sample};
use std::collections::BTreeMap;
use std::time::Duration;
use torr_signals::Signals;

/// The share of its length below which the run's last interval is merged into the one before: its rate would be noise.
const MIN_LAST_INTERVAL: f64 = 0.1;

/// A collector of samples, which arrive in any order of threads, and in order of time for each thread.
#[derive(Debug)]
pub struct Collector {
    threads: Vec<ThreadTotals>,
    thread_rates: Latency,
    /// The interval in which each finished thread ended.
    ended: Vec<u64>,
    interval: Duration,
    steal: StealMeter,
    total: Sample,
    warmup: Option<Sample>,
    series: Series,
    stalls: StallFinder,
    open: BTreeMap<u64, OpenInterval>,
    /// The sample of a closed interval, emptied, for the next one: allocated anew each second, its 1.7 MiB would cost page
    /// faults, and stay with the process or not as other allocations lie.
    spare: Option<Sample>,
}

/// An interval that not all threads have reported.
#[derive(Debug, Default)]
struct OpenInterval {
    /// The number of threads that have reported the whole interval.
    reported: usize,
    /// The merged samples of the threads that have reported the interval, and of threads that ended within it.
    merged: Sample,
    /// The shortest time in nanoseconds in which a thread waited for events.
    least_idle: Option<u64>,
    /// The CPU time used, if it is known.
    cpu: Option<CpuUse>,
}

/// The measurement of a run: the result, and the data that it was made from.
#[derive(Debug)]
pub struct Measurement {
    /// The result that every output shows.
    pub result: RunResult,
    /// The merged samples of all threads.
    pub total: Sample,
    /// The times to connect of the connections that were opened in the warm-up.
    pub warm_connects: Latency,
    /// The counts of each thread.
    pub threads: Vec<ThreadTotals>,
    /// The progress since the last one returned: intervals that the end of the run truncated.
    pub rest: Option<Progress>,
    /// The responses per second of each thread in each full interval; a histogram of rates, not of times.
    pub thread_rates: Latency,
    /// The first response, if the plan requests it.
    pub first: Option<FirstResponse>,
    /// The counts of sessions and entries, in a run with sessions. Entry `n` is `result.entries[n]`.
    pub sessions: Option<SessionCounts>,
}

/// The progress of a run, for live output.
#[derive(Debug, Clone, PartialEq)]
pub struct Progress {
    /// Seconds since the run began.
    pub elapsed_s: f64,
    /// The number of responses completed so far, as throughput counts them.
    pub requests: u64,
    /// The number of requests that have ended so far, with a response or without one.
    pub ended: u64,
    /// The number of requests failed so far.
    pub errors: u64,
    /// The number of sessions of virtual users that ended so far.
    pub sessions: SessionsEnded,
    /// The events of streams received so far.
    pub events: u64,
    /// The events per second in the last interval.
    pub events_per_s: f64,
    /// The responses per second in the last interval.
    pub rps: f64,
    /// The 99th percentile of `latency` in microseconds.
    pub p99_us: Option<u64>,
    /// The number of open connections at the end of the last interval.
    pub connections: u64,
    /// The share of the last interval in which the generator's busiest thread was not idle, 0 to 1; `None` if no thread was there for
    /// all of it.
    pub busy_share: Option<f64>,
    /// The CPU time used in the last interval, if it is known.
    pub cpu: Option<CpuUse>,
    /// The response times since the progress before: of the last interval, or of several that were completed at once.
    pub latency: Latency,
}

impl Progress {
    /// Adds the response times of an earlier progress that was not returned.
    fn after(mut self, earlier: &Self) -> Self {
        self.latency.add(&earlier.latency);
        self
    }
}

/// The facts of a run that the samples do not contain.
#[derive(Debug, Default)]
pub struct RunFacts {
    /// The URL.
    pub target: String,
    /// The plan of the run.
    pub plan: PlanSummary,
    /// The start of the run (RFC 3339, UTC).
    pub started_at: String,
    /// Whether the run was interrupted.
    pub interrupted: bool,
    /// The duration of the measured time.
    pub duration: Duration,
    /// The number of requests started, counted independently of the samples.
    pub started: u64,
    /// The number of connections that were open when the warm-up ended.
    pub carried: u64,
    /// The maximum number of concurrent connections; `None` if it is not known.
    pub peak: Option<u64>,
    /// The maximum number of source addresses of a thread; `None` if it is not known.
    pub sources: Option<u64>,
    /// The source of the times of responses.
    pub timestamps: TimestampSource,
    /// The resource use of each thread.
    pub threads: Vec<ThreadCost>,
    /// The parameters of TLS, if used, without the counts.
    pub tls: Option<Tls>,
    /// The signals of the server's machine, where visible.
    pub signals: Option<Signals>,
    /// The first response, if the plan requests it.
    pub first: Option<FirstResponse>,
    /// The first response with a status of 400 or more, if there was one.
    pub failed_response: Option<FailedResponse>,
    /// The names of the checks of each response.
    pub checks: Vec<String>,
    /// The operator's interventions during the run, in the order of time.
    pub steering: Vec<SteeringEvent>,
    /// The sessions of virtual users, in a run with sessions.
    pub sessions: Option<SessionFacts>,
}

impl Collector {
    /// Creates a collector for a run that starts now, with this number of threads that report once an interval.
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
            stalls: StallFinder::default(),
            open: BTreeMap::new(),
            spare: None,
        }
    }

    /// Adds a thread's sample of an interval, numbered from 0; `last` tells that the thread ended within the interval.
    /// Returns the progress if the sample completes an interval.
    pub fn take(&mut self, thread: usize, interval: u64, sample: &Sample, last: bool) -> Option<Progress> {
        self.threads[thread].add(sample);
        if !last {
            self.thread_rates.record_number((sample.completed() as f64 / self.interval.as_secs_f64()) as u64);
        }
        let open = self.open(interval);
        open.merged.add(sample);
        if last {
            self.ended.push(interval);
        } else {
            open.reported += 1;
            open.least_idle = Some(open.least_idle.unwrap_or(sample.idle).min(sample.idle));
        }
        // A thread that ended within or before an interval does not report it as a full one.
        let whole = |interval: u64| self.threads.len() - self.ended.iter().filter(|&&ended| ended <= interval).count();
        let complete = self.open.iter().filter(|(interval, open)| (1..=open.reported).contains(&whole(**interval)));
        let complete: Vec<_> = complete.map(|(&interval, _)| interval).collect();
        let close = |interval| self.close(interval, self.interval.as_secs_f64() * (interval + 1) as f64);
        complete.into_iter().filter_map(close).reduce(|earlier, later| later.after(&earlier))
    }

    /// Notes the CPU time used in an interval, before its last sample is added.
    pub fn cpu(&mut self, interval: u64, cpu: CpuUse) {
        self.open(interval).cpu = Some(cpu);
    }

    fn open(&mut self, interval: u64) -> &mut OpenInterval {
        let spare = &mut self.spare;
        self.open
            .entry(interval)
            .or_insert_with(|| OpenInterval { merged: spare.take().unwrap_or_default(), ..OpenInterval::default() })
    }

    /// Adds a thread's sample of its warm-up.
    pub fn warmup(&mut self, sample: &Sample) {
        self.warmup.get_or_insert_default().add(sample);
    }

    /// Adds an interval that ended at `end_s` to the total and the series.
    fn close(&mut self, interval: u64, end_s: f64) -> Option<Progress> {
        let OpenInterval { merged: sample, least_idle, cpu, .. } = self.open.remove(&interval)?;
        self.stalls.push(self.interval.as_secs_f64() * interval as f64, end_s, sample.activity);
        self.total.add(&sample);
        let counts = IntervalCounts::of(&sample, cpu);
        let (requests, events) = (counts.requests, counts.events);
        let streams = sample.streams.as_deref();
        // The length of a stream is by design: over time, the times between its events matter.
        let latency = streams.map_or_else(|| sample.latency(), |streams| streams.gaps.clone());
        self.series.push(round6(end_s), counts, &latency);
        let interval_s = self.interval.as_secs_f64();
        let connections = sample.open;
        self.spare = Some(sample.cleared());
        Some(Progress {
            elapsed_s: end_s,
            requests: self.total.completed(),
            ended: self.total.ended(),
            errors: self.total.failed(),
            sessions: self.total.sessions,
            events: self.total.streams.as_ref().map_or(0, |streams| streams.events),
            events_per_s: events as f64 / interval_s,
            rps: requests as f64 / interval_s,
            p99_us: latency.quantile(0.99),
            connections,
            busy_share: least_idle.map(|idle| (1.0 - idle as f64 / 1e9 / interval_s).clamp(0.0, 1.0)),
            cpu,
            latency,
        })
    }

    /// Returns the time that an interval lasts.
    pub fn interval(&self) -> Duration {
        self.interval
    }

    /// Returns the measurement, after the last samples of all threads.
    pub fn finish(mut self, facts: RunFacts) -> Measurement {
        // The open intervals are those that not all threads reached the end of.
        let duration_s = facts.duration.as_secs_f64();
        let open: Vec<_> = self.open.keys().copied().collect();
        let close = |interval| {
            let whole = self.interval.as_secs_f64() * (interval + 1) as f64;
            self.close(interval, whole.min(duration_s))
        };
        let rest = open.into_iter().filter_map(close).reduce(|earlier, later| later.after(&earlier));
        self.series.merge_short_last(MIN_LAST_INTERVAL * self.interval.as_secs_f64());
        let result = self.so_far(&facts);
        Measurement {
            result,
            total: self.total,
            warm_connects: self.warmup.map(|warmup| warmup.connect).unwrap_or_default(),
            threads: self.threads,
            rest,
            thread_rates: self.thread_rates,
            first: facts.first,
            sessions: facts.sessions.map(|sessions| sessions.counts),
        }
    }

    /// Returns the measurement of the intervals that are complete so far, whose result is `result`.
    pub fn measured_so_far(&self, result: RunResult) -> Measurement {
        let mut total = Sample::default();
        total.add(&self.total);
        Measurement {
            result,
            total,
            warm_connects: Latency::default(),
            threads: self.threads.clone(),
            rest: None,
            thread_rates: self.thread_rates.clone(),
            first: None,
            sessions: None,
        }
    }

    /// Returns the counts of each thread so far.
    pub fn threads(&self) -> &[ThreadTotals] {
        &self.threads
    }

    /// Returns the generator's threads as far as their samples tell: the time waited for events. Their CPU time is taken to
    /// be all of the other.
    pub fn threads_so_far(&self, elapsed: Duration) -> Vec<ThreadCost> {
        let cost = |thread: &ThreadTotals| {
            let idle = Duration::from_nanos(thread.idle).min(elapsed);
            ThreadCost { wall: elapsed, cpu: elapsed - idle, queued: None, idle }
        };
        self.threads.iter().map(cost).collect()
    }

    /// Returns the streams so far, in a run whose responses are such.
    fn streams(&self, facts: &RunFacts) -> Option<Streams> {
        let streams = self.total.streams.as_ref()?;
        // The threads' CPU time includes the warm-up.
        let before =
            self.warmup.as_ref().and_then(|warmup| warmup.streams.as_ref()).map_or(0, |streams| streams.events);
        Some(Streams {
            cpu_us_per_event: Generator::cpu_us_per_event(&facts.threads, streams.events + before),
            ..streams.summary(&self.total.answered, facts.duration.as_secs_f64())
        })
    }

    /// Returns the result of the intervals that are complete so far. `facts` are those that are known.
    pub fn so_far(&self, facts: &RunFacts) -> RunResult {
        let duration_s = facts.duration.as_secs_f64();
        let total = &self.total;
        let (requests, completed) = (total.answered.count(), total.completed());
        let mut first_byte = total.answered.clone();
        first_byte.subtract(&total.last_apart);
        first_byte.add(&total.first_apart);
        let shortest = total.answered.summary().map(|answered| answered.min);
        let latency = total.latency();
        // The age of an unfinished request may be near 0 and is not a minimum of response times.
        let latency_us = latency.summary().map(|s| Summary { min: shortest.unwrap_or(s.min), ..s });
        let of = |kind| total.failures.of(kind);
        let (status, grpc) = total.status.by_name(facts.plan.is_grpc());
        // The threads' CPU time includes the warm-up.
        let all_answered = requests + self.warmup.as_ref().map_or(0, |warmup| warmup.answered.count());
        let mut result = RunResult {
            schema: SCHEMA.into(),
            torr: env!("CARGO_PKG_VERSION").into(),
            target: facts.target.clone(),
            plan: facts.plan.clone(),
            started_at: facts.started_at.clone(),
            interrupted: facts.interrupted,
            started: facts.started,
            requests,
            rps: round3(completed as f64 / duration_s.max(f64::MIN_POSITIVE)),
            duration_s: round6(duration_s),
            status,
            grpc,
            bytes: Bytes { sent: total.sent, received: total.received, body: total.body },
            errors: Errors {
                connect: of(FailureKind::Connect),
                tls: of(FailureKind::Tls),
                timeout: of(FailureKind::Timeout),
                read: of(FailureKind::Read),
                write: of(FailureKind::Write),
                protocol: of(FailureKind::Protocol),
                status: total.status_errors(),
                ports: of(FailureKind::Ports),
                redirect: of(FailureKind::Redirect),
                abandoned: of(FailureKind::Abandoned),
            },
            causes: causes(&total.failures),
            error_times: total.error_times.spans(),
            failed_response: facts.failed_response.clone(),
            unfinished: total.unfinished,
            latency_us,
            latency_histogram: Buckets::of(&latency),
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
                idle_closes: total.idle_closes.any(),
            },
            sockets: total.sockets.summary(),
            tls: facts.tls.clone().map(|tls| Tls {
                full: total.full_handshakes,
                resumed: total.resumed_handshakes,
                early_data: tls.early_data.map(|_| total.early_handshakes),
                ..tls
            }),
            steering: facts.steering.clone(),
            generator: Generator {
                timestamps: facts.timestamps,
                ..Generator::of(&facts.threads, all_answered, &total.lag)
            },
            warmup: self.warmup.as_ref().map(|warmup| Warmup {
                requests: warmup.answered.count(),
                errors: warmup.failures.total() + warmup.status_errors(),
                p50: warmup.answered.quantile(0.5),
                carried: total.carried.answered,
                carried_errors: total.carried.response_errors,
                carried_received: total.carried.received,
            }),
            series: self.series.points(),
            stalls: self.stalls.found(),
            host: facts.signals.as_ref().and_then(Host::of),
            signals: facts.signals.clone(),
            machine: None,
            redirects_followed: total.redirects,
            checks: checks(&facts.checks, total),
            sessions: facts.sessions.as_ref().map(|sessions| sessions.summary(duration_s)),
            entries: facts.sessions.as_ref().map_or_else(Vec::new, |sessions| sessions.entries(duration_s)),
            streams: self.streams(facts),
            websocket: total.websocket.as_ref().map(|websocket| websocket.summary()),
            datagrams: total.datagrams.summary(facts.signals.as_ref().and_then(Signals::datagrams_dropped)),
            script: None,
            replay: None,
            fleet: None,
            thresholds: Vec::new(),
            validity: None,
            verdict: None,
        };
        let unreported = UnreportedFacts { sent: total.lag.count(), gaps: &total.gaps, steal: self.steal.read() };
        result.validity = Some(validity::judge(&result, &unreported));
        result
    }
}

fn round6(seconds: f64) -> f64 {
    (seconds * 1e6).round() / 1e6
}

fn checks(names: &[String], total: &Sample) -> Vec<Check> {
    let answered = total.answered.count();
    let failed = |at: usize| total.failed_checks.get(at).copied().unwrap_or(0);
    let check = |(at, name): (usize, &String)| Check {
        name: name.clone(),
        passed: answered.saturating_sub(failed(at)),
        failed: failed(at),
    };
    names.iter().enumerate().map(check).collect()
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
    use crate::result::GRPC;

    #[test]
    fn calls_of_grpc_are_counted_by_name_and_by_the_status_of_http() {
        let mut sample = Sample::default();
        [200, 200, 614, 614, 614, 602, 503].into_iter().for_each(|status| sample.status.count(status));
        sample.error_times.record(crate::error_times::ErrorClass::Status(614), 0);
        let plan = PlanSummary { protocol: GRPC.into(), ..PlanSummary::default() };
        let mut collector = Collector::new(1, Duration::from_secs(1));
        collector.take(0, 0, &sample, true);
        let run = collector.finish(RunFacts { plan, duration: Duration::from_secs(1), ..RunFacts::default() }).result;
        assert_eq!(run.status.into_iter().collect::<Vec<_>>(), [(200, 6), (503, 1)]);
        let calls: Vec<_> = run.grpc.iter().map(|(name, count)| (name.as_str(), *count)).collect();
        assert_eq!(calls, [("OK", 2), ("UNAVAILABLE", 3), ("UNKNOWN", 1)]);
        assert_eq!((run.errors.status, run.error_times[0].grpc.as_deref()), (5, Some("UNAVAILABLE")));
        assert_eq!(run.error_times[0].status, None);
    }

    fn sample(requests: u64) -> Sample {
        let mut sample = Sample::default();
        (0..requests).for_each(|_| sample.answered.record(1000));
        sample
    }

    #[test]
    fn intervals_that_are_completed_at_once_are_one_progress() {
        let mut collector = Collector::new(2, Duration::from_secs(1));
        assert!(collector.take(0, 0, &sample(1), false).is_none());
        assert!(collector.take(0, 1, &sample(2), false).is_none());
        // The other thread ended early, and its sample arrives late.
        let progress = collector.take(1, 0, &sample(4), true).expect("both intervals are complete");
        assert_eq!((progress.elapsed_s, progress.requests), (2.0, 7));
        assert_eq!((progress.rps, progress.latency.count()), (2.0, 7));
    }

    #[test]
    fn the_sample_of_a_closed_interval_is_filled_again() {
        let mut collector = Collector::new(2, Duration::from_secs(1));
        for interval in 0..10 {
            assert!(collector.take(0, interval, &sample(interval + 1), false).is_none());
            assert!(collector.spare.is_none(), "it is in use");
            let progress = collector.take(1, interval, &sample(2), false).expect("both threads have reported");
            assert_eq!(progress.latency.count(), interval + 3);
            assert_eq!((collector.open.len(), collector.spare.is_some()), (0, true));
        }
    }

    #[test]
    fn a_short_last_interval_is_merged() {
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
        // A run that is shorter than a sliver is kept whole, with its length.
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
        first.carried = crate::sample::Carried { answered: 10, response_errors: 1, failed: 2, received: 100 };
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
        assert_eq!(result.generator.cpu_us_per_request, Some(100.0));
    }

    #[test]
    fn a_status_that_an_entry_expects_is_no_error() {
        let mut collector = Collector::new(1, Duration::from_secs(1));
        let mut sample = sample(3);
        [404, 404, 500].into_iter().for_each(|status| sample.status.count(status));
        sample.expected_statuses = 2;
        let progress = collector.take(0, 0, &sample, false).expect("the interval is complete");
        let run = collector.finish(RunFacts { duration: Duration::from_secs(1), ..RunFacts::default() }).result;
        assert_eq!((progress.errors, run.errors.status, run.series[0].errors), (1, 1, 1));
        assert_eq!((run.status[&404], run.good_rps()), (2, 2.0), "they are responses with this status all the same");
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
