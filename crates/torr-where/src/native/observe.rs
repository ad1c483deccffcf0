//! Observes a native process for a while: rounds of what all threads wait in, samples of those that compute, and the names of all.

use super::cpu::{CpuSampler, RawCpuSample};
use super::go::{Goroutines, RawGoroutine};
use super::process::NativeProcess;
use super::threads::RawSample;
use crate::pace::{Begun, Pace, budget};
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
/// The share of a CPU that rounds may take, at most.
const MOST: f64 = 0.04;
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

/// What is observed of a process. Each part costs the process and its machine time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Parts {
    /// What threads or goroutines wait for.
    pub waits: bool,
    /// What threads compute.
    pub computing: bool,
}

impl Parts {
    /// All parts.
    pub const ALL: Self = Self { waits: true, computing: true };
}

/// A native process that is observed: opened before a load, sampled during the load, named after the load.
#[derive(Debug)]
pub struct Observer {
    native: NativeProcess,
    sampler: Option<CpuSampler>,
    /// The goroutines of a Go program. Its threads wait for these: without them there is no telling what waits.
    goroutines: Option<Goroutines>,
    /// Whether waits are sampled.
    waits: bool,
    /// The share of a CPU that rounds may take.
    budget: f64,
    raw: Vec<(u64, RawRound)>,
    computing: Vec<RawCpuSample>,
    observed: Observed,
}

/// Observes all parts of a process for a while, or until `stop` is set.
pub fn observe(process: i32, time: Duration, stop: &AtomicBool) -> Observed {
    let mut observer = match Observer::open(process, Parts::ALL) {
        Ok(observer) => observer,
        Err(unseen) => return Observed::unseen(process, unseen),
    };
    observer.sample(time, stop);
    observer.named()
}

impl Observer {
    /// Opens a process: its code, its tables for unwinding, and where its goroutines are. That may take long of a large program.
    ///
    /// # Errors
    /// What is not visible, if the process's memory cannot be read at all.
    pub fn open(process: i32, parts: Parts) -> Result<Self, Unseen> {
        let mut native = NativeProcess::open(process)?;
        let mut observed = Observed { process, is_go: native.is_go(), visible: 1.0, ..Observed::default() };
        let goroutines = (native.is_go() && parts.waits).then(|| Goroutines::of(&mut native)).transpose();
        let goroutines = goroutines.unwrap_or_else(|reason| {
            observed.unseen.push(reason);
            None
        });
        let sampler = parts.computing.then(|| CpuSampler::of(process));
        let (raw, computing) = (Vec::new(), Vec::new());
        let (waits, budget) = (parts.waits, budget(1, MOST));
        Ok(Self { native, sampler, goroutines, waits, budget, raw, computing, observed })
    }

    /// Tells how many processes are observed at the same time, which share what sampling may cost.
    #[must_use]
    pub fn of_all(self, processes: usize) -> Self {
        Self { budget: budget(processes, MOST), ..self }
    }

    /// Samples the process for a while, or until `stop` is set.
    pub fn sample(&mut self, time: Duration, stop: &AtomicBool) {
        let process = self.observed.process;
        let (began, pace, kernel_before) = (Instant::now(), Pace::new(time, stop), kernel_share(process));
        let mut refreshed: Option<Instant> = None;
        while !pace.is_over() && !self.is_full() {
            let begun = Begun::now();
            if refreshed.is_none_or(|at| at.elapsed() >= REFRESH) {
                refreshed = Some(begun.at);
                self.refresh();
            }
            if let Err(reason) = self.round() {
                self.observed.unseen.push(reason);
                break;
            }
            self.take();
            pace.sleep_until(begun.next(INTERVAL, self.budget).min(Instant::now() + LONGEST));
        }
        self.refresh();
        self.take();
        if let Some(sampler) = self.sampler.take() {
            let hidden = || kernel_between(kernel_before, kernel_share(process));
            self.observed.visible = if sampler.with_kernel() { 1.0 } else { 1.0 - hidden() };
            self.observed.used = sampler.totals().iter().map(|(thread, used)| (*thread as u64, *used)).collect();
        }
        self.observed.time = began.elapsed();
    }

    /// Returns whether no more samples are kept.
    fn is_full(&self) -> bool {
        self.raw.iter().map(|(_, round)| round.len()).sum::<usize>() + self.computing.len() > SAMPLES
    }

    /// Gives events to threads that compute, if they are sampled. Where the kernel permits none, no thread is sampled from now on.
    fn refresh(&mut self) {
        let Some(sampler) = &mut self.sampler else { return };
        if let Err(reason) = sampler.refresh(&self.native) {
            self.observed.unseen.push(reason);
            self.sampler = None;
        }
    }

    /// Samples what all threads or goroutines do now.
    fn round(&mut self) -> Result<(), Unseen> {
        let now = monotonic();
        self.native.check_alive()?;
        if !self.waits {
            return Ok(());
        }
        let round = match &mut self.goroutines {
            Some(goroutines) => RawRound::Goroutines(goroutines.sample(&mut self.native)),
            None if self.native.is_go() => RawRound::Threads(Vec::new()),
            None => RawRound::Threads(self.native.sample_raw()?),
        };
        self.raw.push((now, round));
        Ok(())
    }

    /// Takes the samples of threads that computed.
    fn take(&mut self) {
        let taken = self.sampler.as_mut().map(|sampler| sampler.take(&mut self.native));
        self.computing.extend(taken.unwrap_or_default());
    }

    /// Names all that was sampled, which takes CPU time.
    pub fn named(mut self) -> Observed {
        let mut rounds = Vec::with_capacity(self.raw.len());
        for (time, raw) in &self.raw {
            let samples = match (raw, &self.goroutines) {
                (RawRound::Goroutines(raw), Some(goroutines)) => goroutines.resolve(&mut self.native, raw),
                (RawRound::Threads(raw), _) => self.native.resolve(raw),
                (RawRound::Goroutines(_), None) => Vec::new(),
            };
            rounds.push(Round { time: *time, samples });
        }
        self.computing.sort_unstable_by_key(|sample| sample.time);
        let (native, observed) = (&mut self.native, self.observed);
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
        let cpu = CpuSeries(self.computing.into_iter().map(sample).collect());
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
}

impl RawRound {
    fn len(&self) -> usize {
        match self {
            Self::Threads(all) => all.len(),
            Self::Goroutines(all) => all.len(),
        }
    }
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
    /// Returns what is observed of a process that is not visible.
    pub fn unseen(process: i32, unseen: Unseen) -> Self {
        Self { process, unseen: vec![unseen], visible: 1.0, ..Self::default() }
    }

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
