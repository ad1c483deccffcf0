//! `CPython` 3.8 to 3.14: stacks by `py-spy`, from the interpreter's structures in the process's memory. The process is never stopped.
//!
//! Two rates: the thread that holds the GIL 199 times a second, which is where the CPU time of Python code goes, and all threads 20 times
//! a second for what they wait for.

mod frames;
mod threads;
mod waits;
mod weights;

use super::kernel_wait::{KernelThreads, KernelWait};
use super::process;
use super::reading::Reading;
use crate::native::memory::Memory;
use crate::native::syscall::Doing;
use crate::pace::{Begun, Pace, budget};
use crate::stack::{LockId, StackSample, WaitKind};
use crate::unseen::{Runtime, Unseen, UnseenReason};
use frames::Frames;
use py_spy::config::LockingStrategy;
use py_spy::{Config, PythonSpy, StackTrace};
use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};
use threads::ThreadNumbers;

/// The time between two samples of the thread that holds the GIL.
const CPU: Duration = Duration::from_micros(5025);
/// The time between two rounds of all threads.
const ROUND: Duration = Duration::from_millis(50);
/// The share of time that readings may take, of each of the two.
const MOST: f64 = 0.05;
/// The share of time that rounds may take while the process hardly computes: its threads wait, and a lock or a pool is known by many
/// rounds only.
const MOST_BESIDE_WAITS: f64 = 0.2;
/// The CPU in cores below which a process hardly computes.
const HARDLY: f64 = 0.5;
/// How often the reader looks for the interpreter: its structures change while they are read.
const TRIES: u64 = 5;

/// Opens a process of `CPython`: its interpreter's structures are looked for in its memory and its files, which takes CPU time.
pub fn open(process: i32) -> Result<Python, Unseen> {
    let unseen = |why| process::unseen(process, Runtime::Python, why);
    process::check_memory(process).map_err(|error| unseen(process::reason(process, &error)))?;
    let config = Config {
        blocking: LockingStrategy::NonBlocking,
        collect_thread_names: false,
        full_filenames: true,
        include_idle: true,
        ..Config::default()
    };
    let spy = PythonSpy::retry_new(process, &config, TRIES)
        .map_err(|error| unseen(failure(process, &format!("{error:#}"))))?;
    if !is_known(&spy) {
        let found = format!("{}.{}, free-threaded", spy.version.major, spy.version.minor);
        return Err(unseen(UnseenReason::Version(found)));
    }
    Ok(Python {
        process,
        memory: Memory::of(process),
        threads: KernelThreads::of(process),
        spy,
        frames: Frames::default(),
        numbers: ThreadNumbers::default(),
    })
}

/// Returns why the reader found no interpreter.
fn failure(process: i32, message: &str) -> UnseenReason {
    const UNSUPPORTED: &str = "Unsupported version of Python: ";
    if !std::path::Path::new(&format!("/proc/{process}")).exists() {
        return UnseenReason::Ended;
    }
    match message.split_once(UNSUPPORTED) {
        Some((_, version)) => UnseenReason::Version(version.split([' ', ':']).next().unwrap_or_default().to_owned()),
        None => UnseenReason::Failed(message.lines().next().unwrap_or_default().to_owned()),
    }
}

/// Returns whether the reader knows the interpreter's structures: those of a build without GIL differ.
fn is_known(spy: &PythonSpy) -> bool {
    let free_threaded = |path: &str| {
        let file = path.rsplit('/').next().unwrap_or_default();
        let version = file.trim_start_matches("lib").strip_prefix("python");
        let version = version.map(|rest| rest.split(".so").next().unwrap_or(rest));
        version.is_some_and(|rest| rest.ends_with('t'))
    };
    let maps = std::fs::read_to_string(format!("/proc/{}/maps", spy.pid)).unwrap_or_default();
    !maps.lines().any(|line| line.find('/').is_some_and(|at| free_threaded(line[at..].trim_end())))
}

/// Returns whether a thread did one thing all the while. A thread that waits for the GIL does so in many short waits at one futex.
fn is_one_wait(before: Doing, after: Doing) -> bool {
    match (before, after) {
        (Doing::Waits(before), Doing::Waits(after)) if before.number == libc::SYS_futex => {
            (before.number, before.arguments[0], before.sp) == (after.number, after.arguments[0], after.sp)
        }
        _ => before == after,
    }
}

/// A process of `CPython` and what is known of it.
pub struct Python {
    process: i32,
    memory: Memory,
    threads: KernelThreads,
    spy: PythonSpy,
    frames: Frames,
    numbers: ThreadNumbers,
}

impl Python {
    /// Samples the process, one of so many, for a while, or until `stop` is set.
    pub fn sample_for(&mut self, time: Duration, processes: usize, stop: &AtomicBool) -> Result<Reading, Unseen> {
        self.run(&Pace::new(time, stop), processes).map_err(|why| process::unseen(self.process, Runtime::Python, why))
    }

    /// Samples until the end of the pace.
    fn run(&mut self, pace: &Pace<'_>, processes: usize) -> Result<Reading, UnseenReason> {
        let (mut reading, mut last_error) = (Reading::default(), None);
        let (mut cpu_due, mut round_due) = (Instant::now(), Instant::now());
        let (process, begun, mut looks) = (self.process, Instant::now(), 0_u32);
        let before = process::cpu_time(process, None);
        let used = || Some(process::cpu_time(process, None)?.saturating_sub(before?));
        let busy = budget(processes, MOST);
        while !pace.is_over() {
            let now = Begun::now();
            let result = if round_due <= now.at {
                let result = self.round(&mut reading);
                let hardly_computes = used().is_some_and(|used| used <= begun.elapsed().mul_f64(HARDLY));
                let most = if hardly_computes { MOST_BESIDE_WAITS / processes.max(1) as f64 } else { busy };
                round_due = now.next(ROUND, most);
                result
            } else {
                let result = self.holder(&mut reading);
                looks += u32::from(result.is_ok());
                cpu_due = now.next(CPU, busy);
                result
            };
            if let Err(error) = result {
                last_error = Some(error);
            }
            pace.sleep_until(cpu_due.min(round_due));
        }
        match (last_error, used()) {
            // Some readings fail, as the structures change meanwhile. Without any that succeeds nothing was seen.
            (Some(error), _) if reading.rounds.is_empty() => return Err(failure(self.process, &error)),
            (_, Some(used)) if looks > 0 => {
                let interval = begun.elapsed() / looks;
                weights::settle(&mut reading.cpu, used.div_duration_f64(interval));
                for sample in &reading.cpu {
                    *reading.used.entry(sample.thread).or_default() += interval.mul_f64(sample.weight);
                }
                reading.scale();
            }
            _ => {}
        }
        Ok(reading)
    }

    /// Samples the thread that holds the GIL.
    fn holder(&mut self, reading: &mut Reading) -> Result<(), String> {
        self.spy.config.gil_only = true;
        let traces = self.spy.get_stack_traces().map_err(|error| format!("{error:#}"))?;
        let Some(trace) = traces.into_iter().find(|trace| trace.owns_gil && !trace.frames.is_empty()) else {
            return Ok(());
        };
        let Some(thread) = self.numbers.of(&trace, self.process, self.memory) else { return Ok(()) };
        // A holder that waits keeps all others from computing, but takes no CPU time.
        if self.threads.doing(thread) == Some(Doing::Runs) {
            let sample = self.sample(&trace, thread, Doing::Runs);
            reading.cpu.push(sample);
        }
        Ok(())
    }

    /// Samples all threads.
    fn round(&mut self, reading: &mut Reading) -> Result<(), String> {
        self.spy.config.gil_only = false;
        self.numbers.refresh(self.process);
        let threads = self.numbers.threads();
        let before: BTreeMap<_, _> = threads.filter_map(|thread| Some((thread, self.threads.doing(thread)?))).collect();
        let traces = self.spy.get_stack_traces().map_err(|error| format!("{error:#}"))?;
        self.numbers.learn(&traces, self.memory);
        let mut round = vec![];
        for trace in traces.iter().filter(|trace| !trace.frames.is_empty()) {
            let Some(thread) = self.numbers.of(trace, self.process, self.memory) else { continue };
            let Some(&doing) = before.get(&thread) else { continue };
            // Otherwise the stack may be one of before or of after the wait.
            if !self.threads.doing(thread).is_some_and(|after| is_one_wait(doing, after)) {
                continue;
            }
            let sample = self.sample(trace, thread, doing);
            if sample.on_cpu && !trace.owns_gil {
                // Code of extensions and of the kernel that computes without the GIL: the samples of the holder do not have it.
                reading.cpu.push(sample.clone());
            }
            round.push(sample);
        }
        reading.rounds.push(round);
        Ok(())
    }

    /// Returns a thread's trace as a sample.
    fn sample(&mut self, trace: &StackTrace, thread: i32, doing: Doing) -> StackSample {
        let stack = self.frames.stack(trace);
        let gil = LockId { address: self.spy.addresses.threadstate_address as u64, name: Some("GIL".into()) };
        let wait = match self.threads.wait(doing) {
            KernelWait::Running => None,
            KernelWait::Wait(wait) => Some(wait),
            KernelWait::Futex { address, .. } if waits::is_gil(self.spy.version.minor, gil.address, address) => {
                Some(WaitKind::Lock(gil.clone()))
            }
            KernelWait::Futex { address, stack: pointer } => {
                let lock = waits::lock_address(self.memory, address, pointer);
                Some(waits::of_lock(lock, &stack))
            }
        };
        let holds = if trace.owns_gil { vec![gil] } else { vec![] };
        let (thread, on_cpu) = (thread as u64, wait.is_none());
        StackSample { process: self.process, thread, on_cpu, wait, holds, stack, weight: 1.0 }
    }
}
