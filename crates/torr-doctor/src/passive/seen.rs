//! What several passive rules read of a run, and how they begin a verdict.

use crate::figures::Figures;
use crate::ladder::{Ladder, Rung};
use crate::thresholds::{FULL_THREAD, MACHINE_FULL, WORTH_TELLING};
use torr_gauge::host::Host;
use torr_gauge::{Confidence, Factor, RunResult, Verdict};
use torr_signals::Signals;

pub fn likely(factor: Factor, summary: impl Into<String>) -> Verdict {
    Verdict::new(factor, Confidence::Likely, summary)
}

pub fn undecided(summary: &str) -> Verdict {
    Verdict::new(Factor::Unknown, Confidence::Unknown, summary)
}

/// The other programs that used the server's machine, by name, as evidence.
pub fn others(run: &RunResult) -> Option<String> {
    let others = run.signals.as_ref()?.busiest_others(WORTH_TELLING)?;
    Some(format!("the busiest other programs here: {others}"))
}

/// Whether a thread of the server was full, or its machine was.
pub fn server_is_full(run: &RunResult) -> bool {
    a_thread_is_full(run) || run.host.as_ref().is_some_and(|host| host.cpu_share >= MACHINE_FULL)
}

/// Whether a thread of the server was full.
pub fn a_thread_is_full(run: &RunResult) -> bool {
    run.host.iter().flat_map(|host| &host.server_threads).any(|&share| share >= FULL_THREAD)
}

/// Returns the number of requests in service, if each took as long as the shortest (Little's law).
pub fn at_a_time(run: &RunResult) -> Option<f64> {
    Some(run.rps * run.latency_us?.min as f64 / 1e6)
}

/// The share of the machine's CPU that server and generator used together.
pub fn ours(run: &RunResult, host: &Host) -> f64 {
    (host.server_cores + generator_cores(run)) / host.cores as f64
}

pub fn generator_cores(run: &RunResult) -> f64 {
    run.generator.cpu_share * run.plan.threads as f64
}

/// Returns the figures of a single run: its signals, and a ladder with one rung.
pub fn figures(run: &RunResult) -> Figures {
    let rung = Rung { connections: run.plan.connections, rps: run.rps, median_s: 0.0 };
    let (connections, signals) = (run.plan.connections, run.signals.clone().map(Signals::without_steal));
    Figures { connections, signals, ladder: Ladder(vec![rung]), ..Figures::default() }
}
