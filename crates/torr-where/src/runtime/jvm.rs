//! The JVM, by its own diagnostic socket: thread dumps, which have locks, holders, classes and lines.
//!
//! A dump stops all threads for a short time, so dumps are made at most so often that they take 1.5% of the time. What a thread computes is
//! taken from the dumps too, and counts as much as the thread's own CPU time. How that divides among its stacks is corrected by the kernel's
//! samples, whose addresses are named by the JVM's map of compiled code at the end: a method that is compiled anew leaves its name to the
//! code that comes next at its address, but methods that are hot under load are compiled once for long.

mod attach;
mod code_weights;
mod compiled;
mod computing;
mod dump;
mod frames;
mod locks;
mod own;
mod waits;
mod weights;

use super::kernel_wait::KernelThreads;
use super::process;
use super::reading::Reading;
use crate::pace::{Pace, next};
use crate::stack::StackSample;
use crate::unseen::{Remedy, Runtime, Unseen, UnseenReason};
use attach::Attached;
use compiled::CompiledCode;
use computing::Computing;
use dump::Thread;
use frames::{Frames, of_jvm};
use std::collections::BTreeMap;
use std::io;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};
use weights::{CpuTimes, Group};

/// The time between two dumps.
const ROUND: Duration = Duration::from_millis(50);
/// The longest time between two dumps.
const LONGEST: Duration = Duration::from_millis(500);
/// The share of time in which a dump may stop all threads.
const STOPPED: f64 = 0.015;
/// The share of time that dumps may take until they arrive, which is long where CPUs are busy, while the threads go on.
const MOST: f64 = 0.25;
/// The thread that makes the dumps while the others are stopped.
const VM_THREAD: &str = "VM Thread";
/// The option of a JVM that takes no commands.
const DISABLED: &str = "-XX:+DisableAttachMechanism";

/// Samples a JVM.
pub fn observe(process: i32, time: Duration, stop: &AtomicBool) -> Result<Reading, Unseen> {
    let unseen = |why| process::unseen(process, Runtime::Jvm, why);
    if process::arguments(process).iter().any(|argument| argument == DISABLED) {
        let remedies = vec![Remedy::RuntimeOption("-XX:-DisableAttachMechanism".into())];
        return Err(Unseen { remedies, ..unseen(UnseenReason::Failed(format!("{DISABLED} is set"))) });
    }
    let attached = Attached::open(process, stop).map_err(|error| failure(process, &error))?;
    let mut jvm = Jvm {
        process,
        kernel: KernelThreads::of(process),
        numbers: BTreeMap::new(),
        frames: Frames::default(),
        times: CpuTimes::default(),
        cpu: vec![],
        computing: Computing::default(),
        has_carriers: false,
        stopped_ms: None,
    };
    let (pace, mut reading, mut last_error) = (Pace::new(time, stop), Reading::default(), None);
    while !pace.is_over() {
        let begun = Instant::now();
        match attached.command("threaddump", &[]) {
            Ok(text) => {
                let (arrived, threads) = (begun.elapsed(), dump::parse(&text));
                let pause = jvm.stopped(&threads).unwrap_or(arrived).div_f64(STOPPED);
                let due = next(begun, begun.elapsed(), ROUND.max(pause), MOST).min(begun + LONGEST);
                jvm.round(&threads, &mut reading);
                jvm.computing.take();
                pace.sleep_until(due);
            }
            Err(error) => {
                last_error = Some(error);
                break;
            }
        }
    }
    match last_error {
        Some(error) if reading.rounds.is_empty() => return Err(failure(process, &error)),
        _ => reading.unseen = jvm.has_carriers.then(|| unseen(UnseenReason::Tasks)),
    }
    jvm.settle(&attached, &mut reading);
    Ok(reading)
}

/// Returns why a JVM gave no dump.
fn failure(process: i32, error: &io::Error) -> Unseen {
    let message = match error.kind() {
        io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock => {
            "the JVM did not respond on its diagnostic socket".to_owned()
        }
        _ => format!("the JVM's diagnostic socket: {error}"),
    };
    let unseen = process::unseen(process, Runtime::Jvm, UnseenReason::Failed(message));
    match error.kind() {
        io::ErrorKind::PermissionDenied => Unseen { remedies: vec![Remedy::SameUser], ..unseen },
        _ => unseen,
    }
}

/// A JVM and what is known of it.
struct Jvm {
    process: i32,
    kernel: KernelThreads,
    /// By the number in the process's PID namespace, a thread's number here.
    numbers: BTreeMap<i32, i32>,
    frames: Frames,
    times: CpuTimes,
    /// The samples of threads that computed, with their groups.
    cpu: Vec<(Group, StackSample)>,
    /// Where threads that compute Java's code are at any time.
    computing: Computing,
    has_carriers: bool,
    /// The CPU time of the thread that makes dumps, at the last dump.
    stopped_ms: Option<f64>,
}

impl Jvm {
    /// Returns for how long the dump before stopped the threads, at most: the CPU time of the thread that made it.
    fn stopped(&mut self, threads: &[Thread]) -> Option<Duration> {
        let now = threads.iter().find(|thread| thread.name == VM_THREAD)?.cpu_ms?;
        let before = self.stopped_ms.replace(now).unwrap_or(now);
        Some(Duration::from_secs_f64((now - before).max(0.0) / 1e3))
    }

    /// Adds the samples of a dump.
    fn round(&mut self, threads: &[Thread], reading: &mut Reading) {
        let is_first = reading.rounds.is_empty();
        if threads.iter().any(|thread| !self.numbers.contains_key(&thread.number)) {
            self.numbers = process::threads(self.process);
        }
        let mut round = vec![];
        for thread in threads {
            let Some(&number) = self.numbers.get(&thread.number) else { continue };
            let cpu_ms =
                thread.cpu_ms.or_else(|| Some(process::cpu_time(self.process, Some(number))?.as_secs_f64() * 1e3));
            let group = Group::of(thread);
            let since = self.times.add(number as u64, &group, cpu_ms.unwrap_or(0.0), is_first);
            self.times.begin(number as u64, || process::cpu_times(self.process, Some(number)));
            self.has_carriers |= thread.is_carrier && since.is_some_and(|ms| ms > 0.0);
            if thread.frames.is_empty() {
                if since.is_some_and(|ms| ms > 0.0) {
                    self.cpu.push((group, self.sample(number, of_jvm(thread))));
                }
                continue;
            }
            let is_native = thread.frames.first().is_some_and(|leaf| leaf.is_native);
            let doing = if is_native { self.kernel.doing(number) } else { None };
            let kernel = doing.map(|doing| self.kernel.wait(doing));
            let stack = self.frames.stack(thread);
            let wait = waits::of(thread, &stack, kernel);
            let holds = thread.holds.iter().map(waits::lock).collect();
            let sample = StackSample { on_cpu: wait.is_none(), wait, holds, ..self.sample(number, stack) };
            // RUNNABLE is what could compute. Its CPU time is the witness that it does.
            if sample.on_cpu && since.is_some_and(|ms| ms > 0.0) {
                self.computing.watch(number);
                self.cpu.push((group, sample.clone()));
            }
            round.push(sample);
        }
        reading.rounds.push(round);
    }

    /// Returns a sample of a thread that computes.
    fn sample(&self, number: i32, stack: crate::stack::Stack) -> StackSample {
        let (process, thread) = (self.process, number as u64);
        StackSample { process, thread, on_cpu: true, wait: None, holds: vec![], stack, weight: 1.0 }
    }

    /// Settles weights and locks, for which all dumps are needed.
    fn settle(mut self, attached: &Attached, reading: &mut Reading) {
        let times = |thread: u64| process::cpu_times(self.process, i32::try_from(thread).ok());
        self.times.settle(&mut self.cpu, times);
        let addresses = self.computing.addresses();
        let code = if addresses.is_empty() { None } else { CompiledCode::of(attached, self.process) };
        reading.at_safepoints = !code.is_some_and(|code| code_weights::settle(&mut self.cpu, &addresses, &code));
        reading.cpu = self.cpu.into_iter().map(|(_, sample)| sample).collect();
        reading.scale();
        reading.used = self.times.all();
        locks::settle(&mut reading.rounds);
    }
}
