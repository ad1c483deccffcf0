//! A whole run: threads, the collector they report to, and the result.

use crate::closed_loop::Budget;
use crate::coordinator::{Report, RunState};
use crate::plan::Plan;
use crate::threads::{LoadThreads, Shared};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime};
use thiserror::Error;
use torr_gauge::collector::{Collector, Measurement, Progress, RunFacts};
use torr_gauge::result::Tls;
use torr_gauge::sessions::{SessionCounts, SessionFacts};
use torr_gauge::signals::Watcher;
use torr_gauge::{Failure, Signals};
use torr_net::{Clock, file_limit};

/// The reason for which a run has no result.
#[derive(Debug, Error)]
pub enum RunError {
    /// Not one connection came about. The side is the failure's.
    #[error("{target} cannot be reached: {}", .failure.what)]
    Unreachable {
        /// Host and port.
        target: String,
        /// Why the last attempt failed.
        failure: Failure,
    },
    /// More connections than the limit of open files allows.
    #[error("{wanted} connections need more open files than the limit allows ({fit} fit): raise it with 'ulimit -n'")]
    Files {
        /// As planned.
        wanted: usize,
        /// As possible.
        fit: u64,
    },
    /// The system refused a thread or a poller.
    #[error("the system refused: {0}")]
    System(#[from] io::Error),
}

/// Runs a plan. `watch` is called with the progress about once a second; `stop` ends the run early.
///
/// # Errors
/// [`RunError`]; whatever happens to single requests is in the result instead.
pub fn run(plan: &Plan, stop: &AtomicBool, mut watch: impl FnMut(Progress)) -> Result<Measurement, RunError> {
    // Each thread has a poller of its own.
    let files = (plan.connections + plan.thread_count()) as u64;
    let fit = file_limit::raise_for_connections(files);
    if fit < files {
        return Err(RunError::Files { wanted: plan.connections, fit });
    }
    // Gently, since it takes of the generator's CPU.
    let watcher = if plan.watch_server { plan.watcher().map(Watcher::low_overhead) } else { None };
    let before = watcher.as_ref().map(Watcher::reading);
    let threads = plan.thread_count();
    let budget = Budget::new(plan.requests, plan.connections * usize::from(plan.depth), threads);
    let mut collector = Collector::new(threads, plan.interval);
    let (started_at, time) = (SystemTime::now(), Clock::start());
    let shared = Arc::new(Shared { plan: plan.clone(), budget, state: RunState::new(plan), time });
    let threads = LoadThreads::start(&shared)?;
    let (ended, given_up) = threads.wait(stop, |report| match report {
        Report::Warmup(sample) => collector.warmup(&sample),
        Report::Sample { thread, interval, sample, last } => {
            let progress = collector.take(thread, interval, &sample, last);
            shared.state.recycle(sample);
            if let Some(progress) = progress {
                watch(progress);
            }
        }
    })?;

    if let Some(failure) = shared.state.take_connect_failure() {
        return Err(RunError::Unreachable { target: plan.reached_by(), failure });
    }
    let after = watcher.as_ref().map(Watcher::reading);
    let signals = before.zip(after).map(|(before, after)| Signals::between(&before, &after));
    // Without a thread that ended the run is over when it should have been.
    let duration = ended.iter().map(|(e, _)| e.at).max().unwrap_or_else(|| time.now().min(plan.deadline()));
    let mut measured = collector.finish(RunFacts {
        target: plan.target.url.clone(),
        plan: plan.summary(),
        started_at: humantime::format_rfc3339_millis(started_at).to_string(),
        interrupted: stop.load(Ordering::Relaxed),
        duration: Duration::from_nanos(duration),
        asked: ended.iter().map(|(e, _)| e.begun).sum(),
        carried: ended.iter().map(|(e, _)| e.carried).sum(),
        peak: ended.iter().map(|(e, _)| e.peak).sum(),
        sources: ended.iter().map(|(e, _)| e.sources).max().unwrap_or(0) as u64,
        threads: ended.iter().map(|(_, used)| *used).collect(),
        tls: ended.iter().find_map(|(e, _)| e.secured.clone()).map(|secured| Tls {
            version: secured.version,
            cipher: secured.cipher,
            group: secured.group,
            key: secured.key.map(str::to_owned),
            ..Tls::default()
        }),
        sessions: plan.users.as_ref().filter(|users| users.has_sessions()).map(|users| {
            let (users_at_a_time, entries) = (plan.connections as u64, users.entries());
            let mut counts = SessionCounts::new(&entries);
            ended.iter().filter_map(|(e, _)| e.sessions.as_ref()).for_each(|of_thread| counts.merge(of_thread));
            SessionFacts { users: users_at_a_time, entries, counts }
        }),
        signals,
        first: ended.iter().find_map(|(e, _)| e.first.clone()),
        failed_response: ended
            .iter()
            .filter_map(|(e, _)| e.failed_response.clone())
            .min_by(|one, other| one.at_s.total_cmp(&other.at_s)),
        checks: plan.inspection.checks.iter().map(|check| check.name.clone()).collect(),
    });
    if given_up {
        // What a thread began after its last sample is not known.
        let result = &mut measured.result;
        result.asked = result.requests + result.errors.unanswered() + result.unfinished;
    }
    Ok(measured)
}
