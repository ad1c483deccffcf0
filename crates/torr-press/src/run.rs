//! A whole run: threads, the collector they report to, and the result.

use crate::any_pacer::AnyPacer;
use crate::closed_loop::Budget;
use crate::coordinator::{Report, RunState, ThreadCoordinator};
use crate::engine::{Engine, ThreadResult};
use crate::http1::Http1;
use crate::http2::Http2;
use crate::inspect::Inspector;
use crate::keeper::Keeper;
use crate::plan::Plan;
use crate::protocol::Protocol;
use crate::source::{CurrentUser, Source};
use crate::tls::OverTls;
use crate::users::ThreadPart;
use std::io;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, SystemTime};
use thiserror::Error;
use torr_gauge::collector::{Collector, Measurement, Progress, RunFacts};
use torr_gauge::generator::{ThreadCost, ThreadMeter};
use torr_gauge::result::Tls;
use torr_gauge::sessions::{SessionCounts, SessionFacts};
use torr_gauge::signals::Watcher;
use torr_gauge::{Failure, Signals};
use torr_net::tls::TlsConfig;
use torr_net::{Clock, clock, file_limit};

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
    let state = RunState::new(plan, stop);
    let (sender, reports) = mpsc::channel();
    let mut collector = Collector::new(threads, plan.interval);
    let (started_at, time) = (SystemTime::now(), Clock::start());

    let ended = thread::scope(|scope| {
        let spawn = |number: usize| {
            let coordinator = ThreadCoordinator { number, state: &state, reports: sender.clone() };
            let budget = &budget;
            let run = move || press(plan, number, budget, &coordinator, time);
            thread::Builder::new().name(format!("press-{number}")).spawn_scoped(scope, run)
        };
        let handles: Vec<_> = (0..threads).map(spawn).collect::<io::Result<_>>().inspect_err(|_| {
            // Those that did start would go on for the whole run.
            state.abort();
        })?;
        drop(sender);
        for report in reports {
            match report {
                Report::Warmup(sample) => collector.warmup(&sample),
                Report::Sample { thread, interval, sample, last } => {
                    let progress = collector.take(thread, interval, &sample, last);
                    state.recycle(sample);
                    if let Some(progress) = progress {
                        watch(progress);
                    }
                }
            }
        }
        let join = |handle: thread::ScopedJoinHandle<'_, _>| {
            handle.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        };
        handles.into_iter().map(join).collect::<io::Result<Vec<(ThreadResult, ThreadCost)>>>()
    })?;

    if let Some(failure) = state.take_connect_failure() {
        return Err(RunError::Unreachable { target: plan.reached_by(), failure });
    }
    let after = watcher.as_ref().map(Watcher::reading);
    let signals = before.zip(after).map(|(before, after)| Signals::between(&before, &after));
    let duration = ended.iter().map(|(e, _)| e.at).max().unwrap_or(0);
    Ok(collector.finish(RunFacts {
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
    }))
}

/// Runs the part of one thread.
fn press(
    plan: &Plan,
    number: usize,
    budget: &Budget,
    coordinator: &ThreadCoordinator<'_>,
    time: Clock,
) -> io::Result<(ThreadResult, ThreadCost)> {
    // TLS sessions are kept by thread, so that threads do not meet over them.
    let tls = plan.protocol.tls.as_ref().map(TlsConfig::client);
    let inspected = || Http1::inspected_by(Inspector::new(&plan.inspection, &plan.target));
    let http2 = || Http2::inspected_by(&plan.inspection, &plan.target);
    let keeping = || Http1::inspected_by(Keeper::default());
    match (plan.protocol.http2, tls, plan.inspection.is_needed()) {
        (false, None, _) if plan.users.is_some() => press_by(plan, number, budget, coordinator, time, keeping),
        (false, Some(tls), _) if plan.users.is_some() => {
            press_by(plan, number, budget, coordinator, time, || OverTls::new(&tls, keeping()))
        }
        (false, None, false) => press_by(plan, number, budget, coordinator, time, Http1::<()>::default),
        (false, None, true) => press_by(plan, number, budget, coordinator, time, inspected),
        (false, Some(tls), false) => {
            press_by(plan, number, budget, coordinator, time, || OverTls::new(&tls, Http1::<()>::default()))
        }
        (false, Some(tls), true) => {
            press_by(plan, number, budget, coordinator, time, || OverTls::new(&tls, inspected()))
        }
        (true, None, _) => press_by(plan, number, budget, coordinator, time, http2),
        (true, Some(tls), _) => press_by(plan, number, budget, coordinator, time, || OverTls::new(&tls, http2())),
    }
}

/// Runs the part of one thread in one protocol.
fn press_by<S: Protocol>(
    plan: &Plan,
    number: usize,
    budget: &Budget,
    coordinator: &ThreadCoordinator<'_>,
    time: Clock,
    session: impl Fn() -> S,
) -> io::Result<(ThreadResult, ThreadCost)> {
    let meter = ThreadMeter::start();
    let threads = plan.thread_count();
    let numbers = share(plan.connections, threads, number);
    let source = match &plan.users {
        Some(users) => {
            let part = ThreadPart { thread: number, threads, users: numbers.clone(), keep_alive: plan.keep_alive };
            Source::Users(CurrentUser { all: users.thread(part), current: 0 })
        }
        None => Source::Requests(plan.request.cursor(number, threads)),
    };
    let pacer = AnyPacer::new(plan, number, budget, &numbers);
    if plan.is_scheduled() || plan.max_rate.is_some() {
        clock::minimise_timer_slack();
    }
    let ended = Engine::new(plan, numbers, session, pacer, source, coordinator, time)?.run()?;
    let used = meter.read(ended.idle);
    Ok((ended, used))
}

/// Returns the numbers of one thread's connections. The shares of threads differ by at most one.
fn share(connections: usize, threads: usize, number: usize) -> Range<usize> {
    let begin = |n: usize| n * (connections / threads) + n.min(connections % threads);
    begin(number)..begin(number + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_connection_is_lost_or_shared_between_threads() {
        for (connections, threads) in [(10, 3), (1, 1), (7, 7), (1000, 16)] {
            let shares: Vec<_> = (0..threads).flat_map(|n| share(connections, threads, n)).collect();
            assert_eq!(shares, (0..connections).collect::<Vec<_>>());
        }
    }
}
