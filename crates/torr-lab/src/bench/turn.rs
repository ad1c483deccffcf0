//! A turn of one version: a fixed rate, at which CPU time and response times are measured, then as much as it can take.

use super::instructions::Instructions;
use super::server::Server;
use crate::block::{InvalidReason, Turn};
use crate::metric::{Metric, Times};
use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use torr_doctor::Halt;
use torr_gauge::collector::Measurement;
use torr_gauge::result::validity::{Criterion, Finding};
use torr_gauge::{Latency, RunResult};
use torr_press::{Arrivals, Pace, Plan, Schedule};
use torr_signals::Signals;

/// The CPU time in seconds of a turn below which there is no figure per request.
const LEAST_CPU_S: f64 = 0.01;
/// The least distance in kernel ticks, of 10 ms each, between a process's CPU time and that of its threads from which
/// threads must have ended meanwhile.
const TICKS_S: f64 = 0.025;

/// The relative deviation from the fixed rate beyond which a turn is invalid. A short turn easily misses a few requests,
/// which changes neither CPU time per request nor response times.
const MISSED: f64 = 0.02;
/// The stolen share of the machine's CPU time from which a turn is invalid. A little of it falls on both versions alike, since
/// they take turns, and hardly changes CPU time per request.
const STOLEN: f64 = 0.05;

/// The lengths of a turn's parts.
#[derive(Debug, Clone, Copy, Default)]
pub struct Lengths {
    warmup: Duration,
    fixed: Duration,
    saturated: Duration,
}

impl Lengths {
    /// Returns the parts of a turn's load.
    pub fn of(load: Duration) -> Self {
        Self { warmup: load.mul_f64(0.1), fixed: load.mul_f64(0.55), saturated: load.mul_f64(0.35) }
    }
}

impl Lengths {
    /// Returns the length of all parts together.
    pub fn whole(self) -> Duration {
        self.warmup + self.fixed + self.saturated
    }
}

/// A turn, with its times.
pub struct Measured {
    /// The turn.
    pub turn: Turn,
    /// The response times at the fixed rate; the times to first events and the gaps of streams.
    pub times: BTreeMap<Times, Latency>,
}

/// Measures a turn of streams, with as many at a time as the plan's connections have. They have no rate: the number of streams is the load.
pub fn measure_streams(
    server: &Server,
    length: Duration,
    max_rate: Option<f64>,
    stop: &AtomicBool,
) -> Result<Measured, Halt> {
    let look = || server.watcher.as_ref().map(|watcher| watcher.reading());
    let before = look();
    let run = saturated(server, length, max_rate, stop)?;
    let seen = before.zip(look()).map(|(before, after)| Signals::between(&before, &after));
    let result = &run.result;
    let streams = run.total.streams.as_deref();
    let times = streams.map_or_else(BTreeMap::new, |streams| {
        [(Times::FirstEvents, streams.first_event.clone()), (Times::Gaps, streams.gaps.clone())].into()
    });
    let mut turn = Turn { invalid: invalid(result), ..Turn::default() };
    let mut put = |metric, value: Option<f64>| {
        if let Some(value) = value {
            turn.values.insert(metric, value);
        }
    };
    put(Metric::EventCpu, seen.as_ref().and_then(|seen| cpu_us(seen, result)));
    put(Metric::Events, result.streams.as_ref().map(|streams| streams.events_per_s));
    put(Metric::Memory, seen.as_ref().and_then(memory));
    put(Metric::Errors, Some(failed_share(result)));
    put_percentiles(&mut turn, &times);
    Ok(Measured { turn, times })
}

/// Adds the percentiles of times to a turn, those that are known.
fn put_percentiles(turn: &mut Turn, times: &BTreeMap<Times, Latency>) {
    for metric in Metric::ALL {
        let known = metric.percentile().and_then(|(of, share)| times.get(&of)?.quantile(share));
        if let Some(us) = known {
            turn.values.insert(metric, us as f64);
        }
    }
}

/// Measures a turn.
pub fn measure(
    server: &Server,
    rate: f64,
    lengths: Lengths,
    max_rate: Option<f64>,
    stop: &AtomicBool,
) -> Result<Measured, Halt> {
    let schedule = Schedule::constant(rate.clamp(1e-3, 1e9)).expect("the rate is within its bounds");
    let plan = Plan {
        pace: Pace::Open(schedule, Arrivals::Constant),
        warmup: lengths.warmup,
        ..bounded(server, lengths.fixed)
    };
    let look = || server.watcher.as_ref().map(|watcher| watcher.reading());
    let before = look();
    let instructions = before.as_ref().and_then(Instructions::begin);
    let fixed = run(&plan, stop)?;
    let instructions = instructions.and_then(|counted| counted.per_response(&fixed.result));
    let seen = before.zip(look()).map(|(before, after)| Signals::between(&before, &after));
    let most = saturated(server, lengths.saturated, max_rate, stop)?;
    let latency = fixed.total.latency();
    let mut turn =
        Turn { invalid: invalid(&fixed.result), throughput_invalid: invalid(&most.result), ..Turn::default() };
    let mut put = |metric, value: Option<f64>| {
        if let Some(value) = value {
            turn.values.insert(metric, value);
        }
    };
    put(Metric::Cpu, seen.as_ref().and_then(|seen| cpu_at_rate(seen, &fixed.result)));
    put(Metric::Instructions, instructions.filter(|_| keeps_rate(&fixed.result)));
    put(Metric::Memory, seen.as_ref().and_then(memory));
    put(Metric::Throughput, Some(most.result.good_rps()));
    put(Metric::Errors, Some(failed_share(&fixed.result)));
    turn.mean_us = (latency.count() > 0).then(|| latency.sum() / latency.count() as f64);
    let times = [(Times::Responses, latency)].into();
    put_percentiles(&mut turn, &times);
    Ok(Measured { turn, times })
}

/// Loads a server as hard as the plan's connections do.
pub fn saturated(
    server: &Server,
    length: Duration,
    max_rate: Option<f64>,
    stop: &AtomicBool,
) -> Result<Measurement, Halt> {
    run(&Plan { pace: Pace::closed(max_rate), ..bounded(server, length) }, stop)
}

fn bounded(server: &Server, length: Duration) -> Plan {
    Plan { duration: Some(length), requests: None, watch_server: false, ..server.plan.clone() }
}

fn run(plan: &Plan, stop: &AtomicBool) -> Result<Measurement, Halt> {
    let measured = torr_press::run(plan, stop, |_| {})?;
    if measured.result.interrupted { Err(Halt::Interrupted) } else { Ok(measured) }
}

/// Returns why a run shows something else than the server.
pub fn invalid(run: &RunResult) -> Vec<InvalidReason> {
    let reason = |what: Criterion| match what {
        Criterion::Generator => Some(InvalidReason::GeneratorSaturated),
        Criterion::Steal => Some(InvalidReason::HypervisorSteal),
        Criterion::Rate => Some(InvalidReason::RateMissed),
        _ => None,
    };
    let findings = run.validity.iter().flat_map(|validity| &validity.findings);
    let is_spoilt = |finding: &&Finding| match finding.what {
        Criterion::Rate => finding.value.abs() > MISSED,
        Criterion::Steal => finding.value > STOLEN,
        _ => !finding.ok,
    };
    findings.filter(is_spoilt).filter_map(|finding| reason(finding.what)).collect()
}

/// Returns the share of requests that failed.
pub fn failed_share(run: &RunResult) -> f64 {
    let ended = run.requests + run.errors.unanswered();
    // Streams may be endless.
    let of = if run.streams.is_some() { run.started } else { ended };
    run.errors.total() as f64 / of.max(1) as f64
}

/// Returns the server's CPU time in microseconds for each response, those of the warm-up included, or for each event of streams. The events
/// of a warm-up are not known.
fn cpu_us(seen: &Signals, run: &RunResult) -> Option<f64> {
    let units = match (&run.streams, run.warmup) {
        (Some(_), Some(_)) => return None,
        (_, warmup) => run.units() + warmup.map_or(0, |warmup| warmup.requests.saturating_sub(warmup.carried)),
    };
    let processes: f64 = seen.processes.iter().map(|process| process.cores * seen.seconds).sum();
    let threads: f64 = seen.threads().map(|thread| thread.cores * seen.seconds).sum();
    // Threads are counted in nanoseconds and processes in ticks; but only processes count threads that have ended.
    let ticks = TICKS_S * seen.processes.len() as f64;
    let seconds = if (processes - threads).abs() <= ticks { threads } else { processes };
    (units > 0 && seconds >= LEAST_CPU_S).then(|| seconds * 1e6 / units as f64)
}

/// Returns whether a run kept its fixed rate, as a closed loop always does.
pub fn keeps_rate(run: &RunResult) -> bool {
    !invalid(run).contains(&InvalidReason::RateMissed)
}

/// Returns the server's CPU time in microseconds for each response. `None` if the fixed rate was not kept: CPU time per request depends on the
/// rate, and of requests that were sent late it is that of another load.
pub fn cpu_at_rate(seen: &Signals, run: &RunResult) -> Option<f64> {
    keeps_rate(run).then(|| cpu_us(seen, run)).flatten()
}

/// Returns the resident memory of the server's processes in bytes, where they run here.
fn memory(seen: &Signals) -> Option<f64> {
    let resident = |pid| procfs::process::Process::new(pid).ok()?.status().ok()?.vmrss;
    let kib: Option<u64> = seen.processes.iter().map(|process| resident(process.pid)).sum();
    kib.filter(|&kib| kib > 0).map(|kib| kib as f64 * 1024.0)
}
