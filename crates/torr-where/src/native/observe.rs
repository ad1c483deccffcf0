//! Observes a native process for a while: rounds of what all threads wait in, samples of those that compute, and the names of all.

use super::cpu::{CpuSampler, RawCpuSample};
use super::go::{Goroutines, RawGoroutine};
use super::process::NativeProcess;
use super::threads::RawSample;
use crate::pace::Pace;
use crate::place::round::{CpuSeries, Round};
use crate::stack::{StackSample, WaitKind};
use crate::unseen::{Remedy, Runtime, Unseen, UnseenReason};
use rustix::time::{ClockId, clock_gettime};
use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

/// The time between two rounds.
const INTERVAL: Duration = Duration::from_millis(50);
/// The share of a CPU that rounds may take.
const COST: f64 = 0.04;
/// The longest pause after a round, whatever it cost: the first one reads the files of names, and a lock is known by many rounds only.
const LONGEST: Duration = Duration::from_millis(250);
/// The time between two looks for threads that compute.
const REFRESH: Duration = Duration::from_millis(300);
/// The most samples that are kept.
const SAMPLES: usize = 400_000;
/// The share of own frames without a name from which a program counts as stripped.
const STRIPPED: f64 = 0.5;

/// All threads or goroutines at one time, without names.
#[derive(Debug)]
enum RawRound {
    Threads(Vec<RawSample>),
    Goroutines(Vec<RawGoroutine>),
}

/// What was observed of a process.
#[derive(Debug, Clone, Default)]
pub struct Observed {
    /// The process.
    pub process: i32,
    /// Whether it is a Go program.
    pub is_go: bool,
    /// All threads at one time, again and again.
    pub rounds: Vec<Round>,
    /// The samples of threads that computed.
    pub cpu: CpuSeries,
    /// The nanoseconds for which each thread computed or was ready to.
    pub used: BTreeMap<u64, u64>,
    /// The share of the CPU time that `cpu` shows.
    pub visible: f64,
    /// How long the process was observed.
    pub time: Duration,
    /// The peers of sockets that threads waited for, by inode.
    pub peers: HashMap<u64, String>,
    /// What was not visible.
    pub unseen: Vec<Unseen>,
}

/// Observes a process for a while, or until `stop` is set.
pub fn observe(process: i32, time: Duration, stop: &AtomicBool) -> Observed {
    let mut native = match NativeProcess::open(process) {
        Ok(native) => native,
        Err(unseen) => return Observed { process, unseen: vec![unseen], visible: 1.0, ..Observed::default() },
    };
    let mut sampler = CpuSampler::of(process);
    let mut unseen = Vec::new();
    let mut permitted = true;
    // Threads of a Go program wait for goroutines: without these there is no telling what waits.
    let mut goroutines = native.is_go().then(|| Goroutines::of(&mut native)).transpose().unwrap_or_else(|reason| {
        unseen.push(reason);
        None
    });
    let (mut raw, mut computing): (Vec<(u64, RawRound)>, Vec<RawCpuSample>) = (Vec::new(), Vec::new());
    let (began, pace, kernel_before) = (Instant::now(), Pace::new(time, stop), kernel_share(process));
    let mut refreshed: Option<Instant> = None;
    let mut kept = 0;
    while !pace.is_over() {
        let (begun, cost) = (Instant::now(), computed());
        if permitted && refreshed.is_none_or(|at| at.elapsed() >= REFRESH) {
            refreshed = Some(begun);
            if let Err(reason) = sampler.refresh(&native) {
                unseen.push(reason);
                permitted = false;
            }
        }
        let now = monotonic();
        match native.check_alive().and_then(|()| if native.is_go() { Ok(Vec::new()) } else { native.sample_raw() }) {
            Ok(samples) => {
                let round = match &mut goroutines {
                    Some(goroutines) => RawRound::Goroutines(goroutines.sample(&mut native)),
                    None => RawRound::Threads(samples),
                };
                kept += round.len();
                raw.push((now, round));
            }
            Err(reason) => {
                unseen.push(reason);
                break;
            }
        }
        let taken = sampler.take(&mut native);
        kept += taken.len();
        computing.extend(taken);
        if kept > SAMPLES {
            break;
        }
        let cost = computed().saturating_sub(cost);
        let pause = INTERVAL.saturating_sub(begun.elapsed()).max(cost.mul_f64(1.0 / COST - 1.0).min(LONGEST));
        pace.sleep_until(Instant::now() + pause);
    }
    if permitted {
        let _ = sampler.refresh(&native);
        computing.extend(sampler.take(&mut native));
    }
    let visible = if sampler.with_kernel() { 1.0 } else { 1.0 - kernel_between(kernel_before, kernel_share(process)) };
    let used = sampler.totals().iter().map(|(thread, used)| (*thread as u64, *used)).collect();
    drop(sampler);
    let observed = Observed {
        process,
        is_go: native.is_go(),
        used,
        visible,
        time: began.elapsed(),
        unseen,
        ..Observed::default()
    };
    named(observed, &mut native, goroutines.as_ref(), &raw, computing)
}

impl RawRound {
    fn len(&self) -> usize {
        match self {
            Self::Threads(all) => all.len(),
            Self::Goroutines(all) => all.len(),
        }
    }
}

/// Names all that was sampled.
fn named(
    observed: Observed,
    native: &mut NativeProcess,
    goroutines: Option<&Goroutines>,
    raw: &[(u64, RawRound)],
    mut computing: Vec<RawCpuSample>,
) -> Observed {
    let mut rounds = Vec::with_capacity(raw.len());
    for (time, raw) in raw {
        let samples = match (raw, goroutines) {
            (RawRound::Goroutines(raw), Some(goroutines)) => goroutines.resolve(native, raw),
            (RawRound::Threads(raw), _) => native.resolve(raw),
            (RawRound::Goroutines(_), None) => Vec::new(),
        };
        rounds.push(Round { time: *time, samples });
    }
    computing.sort_unstable_by_key(|sample| sample.time);
    let sample = |one: RawCpuSample| {
        let sample = StackSample {
            process: observed.process,
            thread: one.thread as u64,
            on_cpu: true,
            wait: None,
            holds: Vec::new(),
            stack: native.name_stack(&one.addresses),
            weight: 1.0,
        };
        (one.time, sample)
    };
    let cpu = CpuSeries(computing.into_iter().map(sample).collect());
    let mut peers = HashMap::new();
    for sample in rounds.iter().flat_map(|round| &round.samples) {
        if let Some(WaitKind::Socket { inode, .. }) = sample.wait
            && let Some(peer) = native.peer(inode)
        {
            peers.entry(inode).or_insert_with(|| peer.to_owned());
        }
    }
    let mut unseen = observed.unseen.clone();
    unseen.extend(stripped(native, &rounds, &cpu));
    if native.complete_share() < 0.5 && !observed.is_go {
        unseen.push(native.unseen(UnseenReason::Unwinding, Vec::new()));
    }
    Observed { rounds, cpu, peers, unseen, ..observed }
}

/// Returns that a program has no names, if most of its own frames have none.
fn stripped(native: &NativeProcess, rounds: &[Round], cpu: &CpuSeries) -> Option<Unseen> {
    let waiting = rounds.iter().flat_map(|round| &round.samples);
    let all = waiting.chain(cpu.0.iter().map(|(_, sample)| sample));
    let own: Vec<bool> = all.filter_map(|sample| sample.stack.own()).map(|frame| frame.is_named).collect();
    let unnamed = own.iter().filter(|is_named| !**is_named).count();
    let program = native.program()?;
    if !program.is_readable() {
        return Some(native.unseen(UnseenReason::Files, vec![Remedy::Capability("CAP_SYS_PTRACE".to_owned())]));
    }
    (unnamed as f64 > STRIPPED * own.len() as f64).then(|| native.unseen(UnseenReason::Stripped, vec![Remedy::Symbols]))
}

impl Observed {
    /// Returns the runtime.
    pub fn runtime(&self) -> Runtime {
        if self.is_go { Runtime::Go } else { Runtime::Native }
    }
}

/// Returns the time on the clock that the kernel's samples have, in nanoseconds.
pub fn monotonic() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

/// Returns the CPU time of this thread.
fn computed() -> Duration {
    let used = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(used.tv_sec as u64, used.tv_nsec as u32)
}

/// Returns the time that a process spent in its own code and in the kernel, in ticks.
fn kernel_share(process: i32) -> (u64, u64) {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    let mut fields = stat.rsplit_once(") ").map_or("", |(_, rest)| rest).split(' ').skip(11);
    let mut next = || fields.next().and_then(|field| field.parse().ok()).unwrap_or(0);
    (next(), next())
}

/// Returns the kernel's share of the time between two readings.
fn kernel_between(before: (u64, u64), after: (u64, u64)) -> f64 {
    let (user, kernel) = (after.0.saturating_sub(before.0) as f64, after.1.saturating_sub(before.1) as f64);
    if user + kernel > 0.0 { kernel / (user + kernel) } else { 0.0 }
}
