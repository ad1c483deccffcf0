//! A whole run: threads, the collector they report to, and the result.

mod host_meter;
mod start;
pub(crate) mod state;
mod threads;

use crate::engine::FailedRequest;
use crate::failures;
use crate::pace::closed::Budget;
use crate::plan::Plan;
use crate::plan::servers::Servers;
use crate::request::sent_secrets;
use crate::work::users::Users;
use host_meter::HostMeter;
use start::Start;
use state::{Report, RunState};
use std::cell::{Cell, RefCell};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime};
use thiserror::Error;
use threads::{LoadThreads, Shared};
use torr_gauge::collector::{Collector, Measurement, Progress, RunFacts};
use torr_gauge::failed_response::FailedResponse;
use torr_gauge::fleet::Fleet;
use torr_gauge::generator::TimestampSource;
use torr_gauge::result::Tls;
use torr_gauge::sessions::{SessionCounts, SessionFacts};
use torr_gauge::{CpuUse, Failure, RunResult, Sample, Secrets};
use torr_net::{Clock, Nanos, clock, file_limit};
use torr_signals::{Signals, Watcher};

/// The reason for which a run has no result.
#[derive(Debug, Error)]
pub enum RunError {
    /// No connection was established. The failure has the side that is the cause.
    #[error("cannot connect to {target}: {}{}", .failure.what, remedy(.failure))]
    Unreachable {
        /// Host and port of the server that the last attempt was about, and the way to it.
        target: String,
        /// The failure of the last attempt.
        failure: Failure,
    },
    /// More connections than the limit of open files allows.
    #[error("{wanted} connections exceed the limit of open files ({fit} are possible): raise it with 'ulimit -n'")]
    Files {
        /// The number of connections that may be open at a time, by the plan.
        wanted: usize,
        /// The number of connections and of threads' pollers that the limit allows.
        fit: u64,
    },
    /// The system refused a thread or a poller.
    #[error("system error: {0}")]
    System(#[from] io::Error),
}

/// Returns what the user can do about a failure to connect, as an end of its line.
fn remedy(failure: &Failure) -> &'static str {
    if failures::is_refused(failure) { "; start the server or check the port" } else { "" }
}

/// An observation of a running load, for a caller that merges the samples of several runs.
#[derive(Debug)]
pub enum Observed<'s> {
    /// The load has begun in all threads, in the last one at this time of the run's clock. Reported before all samples.
    Began(Nanos),
    /// A thread's sample of the requests that were begun during the warm-up.
    Warmup(&'s Sample),
    /// The CPU time used in an interval, before the first sample of it.
    Cpu {
        /// The number of the interval.
        interval: u64,
        /// The CPU time.
        cpu: CpuUse,
        /// The signals of the server's machine since the beginning, where the plan has a steering and they are visible.
        signals: Option<Box<Signals>>,
    },
    /// A thread's sample of an interval, numbered from 0.
    Interval {
        /// The number of the thread.
        thread: usize,
        /// The number of the interval.
        interval: u64,
        /// The counts.
        sample: &'s Sample,
        /// Whether the thread ended within the interval.
        last: bool,
    },
}

/// The outcome of a run beside its samples.
#[derive(Debug)]
pub struct RunEnd {
    /// The facts that the samples do not contain.
    pub facts: RunFacts,
    /// Whether a thread was given up, so that the number of requests started is not known.
    pub given_up: bool,
}

/// Runs a plan. `watch` is called with the progress about once a second; `stop` ends the run early.
///
/// # Errors
/// [`RunError`]; whatever happens to single requests is in the result instead.
pub fn run(plan: &Plan, stop: &AtomicBool, mut watch: impl FnMut(Progress)) -> Result<Measurement, RunError> {
    run_watched(plan, stop, |progress, _| watch(progress))
}

/// Runs a plan as [`run`] does, and lets `watch` take the result of what is complete so far.
///
/// # Errors
/// [`RunError`].
pub fn run_watched(
    plan: &Plan,
    stop: &AtomicBool,
    mut watch: impl FnMut(Progress, &SoFar<'_>),
) -> Result<Measurement, RunError> {
    let mut collector = Collector::new(plan.thread_count(), plan.interval);
    let started_at = now_text(SystemTime::now());
    let mut seen = None;
    let end = observe(plan, None, stop, |observed| match observed {
        Observed::Began(_) => {}
        Observed::Warmup(sample) => collector.warmup(sample),
        Observed::Cpu { interval, cpu, signals } => {
            collector.cpu(interval, cpu);
            seen = signals;
        }
        Observed::Interval { thread, interval, sample, last } => {
            if let Some(progress) = collector.take(thread, interval, sample, last) {
                let elapsed = Duration::from_secs_f64(progress.elapsed_s);
                let (collector, signals) = (&collector, seen.as_deref());
                watch(progress, &SoFar { plan, collector, signals, started_at: &started_at, elapsed, fleet: None });
            }
        }
    })?;
    Ok(end.measured_by(collector))
}

/// A run that goes on, as far as it is complete.
#[derive(Debug)]
pub struct SoFar<'r> {
    plan: &'r Plan,
    collector: &'r Collector,
    signals: Option<&'r Signals>,
    started_at: &'r str,
    elapsed: Duration,
    fleet: Option<Fleet>,
}

impl<'r> SoFar<'r> {
    /// Returns what is complete of a run whose samples another collector than that of [`run_watched`] has taken.
    pub fn new(plan: &'r Plan, collector: &'r Collector, started_at: &'r str, elapsed: Duration) -> Self {
        Self { plan, collector, signals: None, started_at, elapsed, fleet: None }
    }

    /// Adds the agents of the run, as far as they have come.
    pub fn with_fleet(self, fleet: Fleet) -> Self {
        Self { fleet: Some(fleet), ..self }
    }

    /// Returns the result as if the run had ended with its last complete interval. What only the end of a run tells is left
    /// out: sessions by entry, phases of TLS, and requests in flight. It takes some milliseconds.
    pub fn result(&self) -> RunResult {
        let servers = Servers::of(self.plan);
        let facts = RunFacts {
            duration: self.elapsed,
            threads: self.collector.threads_so_far(self.elapsed),
            signals: self.signals.filter(|_| servers.is_one()).cloned(),
            ..known_facts(self.plan, servers, self.started_at.to_owned())
        };
        let mut result = self.collector.so_far(&facts);
        result.recount_started();
        result.fleet.clone_from(&self.fleet);
        result
    }

    /// Returns the measurement, with what [`SoFar::result`] has.
    pub fn measurement(&self) -> Measurement {
        self.collector.measured_so_far(self.result())
    }
}

/// Returns the facts that are known while the run goes on.
fn known_facts(plan: &Plan, servers: Servers<'_>, started_at: String) -> RunFacts {
    RunFacts {
        target: plan.target.shown().into_owned(),
        plan: plan.summary(&servers.origins()),
        started_at,
        checks: plan.inspection.checks.iter().map(|check| check.name.clone()).collect(),
        steering: plan.steering.as_ref().map(|steering| steering.events()).unwrap_or_default(),
        ..RunFacts::default()
    }
}

/// Returns what is shown of a failed response, without the secrets of the requests.
fn shown(failed: &FailedRequest, plan: &Plan) -> FailedResponse {
    let of_requests = plan.work.secrets(&failed.response.haystack());
    let of_tunnel = plan.tunnel.as_deref().map(sent_secrets).unwrap_or_default();
    let secrets = Secrets::new(failed.secrets.iter().cloned().chain(of_requests).chain(of_tunnel));
    failed.response.shown(failed.at_s, &secrets)
}

fn now_text(time: SystemTime) -> String {
    humantime::format_rfc3339_millis(time).to_string()
}

impl RunEnd {
    /// Returns the measurement of the samples that a collector has taken.
    pub fn measured_by(self, collector: Collector) -> Measurement {
        let mut measured = collector.finish(self.facts);
        if self.given_up {
            // What a thread began after its last sample is not known.
            measured.result.recount_started();
        }
        measured
    }
}

/// Runs a plan, and passes on each sample to `watch`. The load begins at the epoch of the clock `time`, up to which all is prepared, or
/// as soon as every thread is ready if there is none. `stop` ends the run early.
///
/// # Errors
/// Returns the errors of [`run`].
pub fn observe(
    plan: &Plan,
    time: Option<Clock>,
    stop: &AtomicBool,
    mut watch: impl FnMut(Observed<'_>),
) -> Result<RunEnd, RunError> {
    // Each thread has a poller of its own, and an event that wakes it where users may park.
    let may_park = plan.work.users().is_some_and(Users::may_park);
    let files = (plan.most_connections() + plan.thread_count() * (1 + usize::from(may_park))) as u64;
    let fit = file_limit::raise_for_connections(files);
    if fit < files {
        return Err(RunError::Files { wanted: plan.most_connections(), fit });
    }
    // Gently, since it takes of the generator's CPU.
    let watcher = if plan.watch_server { plan.watcher().map(Watcher::low_overhead) } else { None };
    let meter = RefCell::new(HostMeter::start(watcher));
    let threads = plan.thread_count();
    let budget = Budget::new(plan.requests, plan.connections * usize::from(plan.depth), threads);
    let is_ended = || plan.steering.as_ref().is_some_and(|steering| steering.ends_now());
    let start = Start::new(plan.thread_count(), time);
    let shared = Arc::new(Shared { plan: plan.clone(), budget, state: RunState::new(plan), start });
    let threads = LoadThreads::start(&shared)?;
    let time = shared.clock(|| stop.load(Ordering::Relaxed));
    let started_at = SystemTime::now() + time.until_epoch();
    if let Some(steering) = &plan.steering {
        steering.begin(time);
    }
    let warm_until = clock::nanos(plan.warmup);
    let in_warmup = Cell::new(warm_until > 0);
    let is_stopped = || {
        if in_warmup.get() && time.now() >= warm_until {
            in_warmup.set(false);
            meter.borrow_mut().restart();
        }
        stop.load(Ordering::Relaxed) || is_ended()
    };
    let mut is_begun = false;
    let (ended, given_up) = threads.wait(time, is_stopped, |report| {
        if !std::mem::replace(&mut is_begun, true) {
            watch(Observed::Began(shared.state.began()));
        }
        let (thread, interval, sample, last) = match report {
            Report::Warmup(sample) => return watch(Observed::Warmup(&sample)),
            Report::Sample { thread, interval, sample, last } => (thread, interval, sample, last),
            Report::HeldUp { thread, interval, open } => {
                (thread, interval, Sample { open, ..shared.state.spare_sample() }, false)
            }
        };
        let cpu = meter.borrow_mut().read(interval);
        if let Some(mut cpu) = cpu {
            let is_one = Servers::of(plan).is_one();
            if !is_one {
                // Of several servers only one was watched.
                cpu.server = None;
            }
            let shown = plan.steering.as_ref().filter(|_| is_one);
            let signals = shown.and_then(|_| meter.borrow().signals()).map(Box::new);
            watch(Observed::Cpu { interval, cpu, signals });
        }
        watch(Observed::Interval { thread, interval, sample: &sample, last });
        shared.state.recycle(sample);
    })?;

    let servers = Servers::of(plan);
    if let Some((server, failure)) = shared.state.take_connect_failure() {
        return Err(RunError::Unreachable { target: servers.reached_by(server), failure });
    }
    // Of several servers only one was watched.
    let is_watched = servers.is_one();
    let signals = meter.into_inner().signals().filter(|_| is_watched);
    // Without a thread that ended the run is over when it should have been.
    let duration = ended.iter().map(|(e, _)| e.at).max().unwrap_or_else(|| time.now().min(plan.deadline()));
    let facts = RunFacts {
        interrupted: stop.load(Ordering::Relaxed),
        duration: Duration::from_nanos(duration),
        started: ended.iter().map(|(e, _)| e.begun).sum(),
        carried: ended.iter().map(|(e, _)| e.carried).sum(),
        peak: Some(ended.iter().map(|(e, _)| e.peak).sum()),
        sources: Some(ended.iter().map(|(e, _)| e.sources).max().unwrap_or(0) as u64),
        timestamps: match ended.iter().all(|(e, _)| e.timestamped) {
            true => TimestampSource::Kernel,
            false => TimestampSource::User,
        },
        threads: ended.iter().map(|(_, used)| *used).collect(),
        tls: ended.iter().find_map(|(e, _)| e.secured.clone()).map(|secured| Tls {
            version: secured.version,
            cipher: secured.cipher,
            group: secured.group,
            key: secured.key.map(str::to_owned),
            early_data: plan.protocol.tries_early_data().then_some(0),
            ..Tls::default()
        }),
        sessions: plan.work.users().filter(|users| users.has_sessions()).map(|users| {
            let (users_at_a_time, entries) = (plan.connections as u64, users.entries());
            let mut counts = SessionCounts::new(&entries);
            ended.iter().filter_map(|(e, _)| e.sessions.as_ref()).for_each(|of_thread| counts.merge(of_thread));
            SessionFacts { users: users_at_a_time, entries, origins: servers.origins(), counts }
        }),
        signals,
        first: ended.iter().find_map(|(e, _)| e.first.clone()),
        failed_response: ended
            .iter()
            .filter_map(|(e, _)| e.failed_response.as_ref())
            .min_by(|one, other| one.at_s.total_cmp(&other.at_s))
            .map(|failed| shown(failed, plan)),
        ..known_facts(plan, servers, now_text(started_at))
    };
    Ok(RunEnd { facts, given_up })
}
