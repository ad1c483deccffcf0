//! What several passive rules read of a run, and how they begin a finding.

use crate::figures::Figures;
use crate::ladder::{Ladder, Rung};
use crate::thresholds::{FULL_THREAD, MACHINE_FULL};
use crate::witnesses;
use torr_gauge::host::Host;
use torr_gauge::verdict::{Fact, Finding, Headline};
use torr_gauge::{Confidence, Factor, RunResult};
use torr_signals::Signals;

pub fn likely(factor: Factor, headline: Headline) -> Finding {
    Finding::new(factor, Confidence::Likely, headline)
}

pub fn undecided(headline: Headline) -> Finding {
    Finding::new(Factor::Unknown, Confidence::Unknown, headline)
}

/// The other programs that used the server's machine, by name, as evidence.
pub fn other_programs(run: &RunResult) -> Option<Fact> {
    witnesses::other_programs(run.signals.as_ref()?)
}

/// How busy the generator's busiest thread was, as evidence.
pub fn busy_generator(run: &RunResult) -> Option<Fact> {
    run.generator.busy_share.map(|share| Fact::GeneratorBusy { share, cores: None })
}

/// The CPU of the server's machine that all programs used, as evidence.
pub fn machine_cpu(host: &Host) -> Fact {
    Fact::MachineCpu { share: host.cpu_share, cores: Some(host.cores) }
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

/// The share of the machine's CPU that server and generator used together. `None` if the generator's is not known.
pub fn ours(run: &RunResult, host: &Host) -> Option<f64> {
    Some((host.server_cores + run.generator_cores()?) / host.cores as f64)
}

/// Returns the figures of a single run: its signals, and a ladder with one rung.
pub fn figures(run: &RunResult) -> Figures {
    let rung = Rung { connections: run.plan.connections, rps: run.rps, median_s: 0.0 };
    let (connections, signals) = (run.plan.connections, run.signals.clone().map(Signals::without_steal));
    Figures { connections, signals, ladder: Ladder(vec![rung]), ..Figures::default() }
}
