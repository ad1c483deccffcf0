//! The CPU time of a process's threads, sampled: which threads are worth an event, and what their samples show.

use super::perf_event::{CpuSample, Sampling, ThreadEvent};
use super::process::NativeProcess;
use super::unwind::{Addresses, Registers};
use crate::unseen::{Remedy, Unseen, UnseenReason};
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::num::NonZeroU32;

/// Samples per second of CPU time: no divisor of the periods that programs have.
pub const RATE: NonZeroU32 = NonZeroU32::new(199).expect("the rate is not zero");
/// The bytes of a stack that a sample copies.
const STACK: u32 = 24 << 10;
/// The pages of the ring of a thread that computes much, and of one that computes little.
const PAGES: [usize; 2] = [128, 32];
/// The most threads with an event.
const EVENTS: usize = 128;

/// A sample of a computing thread with its time, without names.
#[derive(Debug, Clone, PartialEq)]
pub struct RawCpuSample {
    /// The time on the monotonic clock, in nanoseconds.
    pub time: u64,
    /// The thread.
    pub thread: i32,
    /// The stack. Empty where the program's registers are not known.
    pub addresses: Addresses,
}

/// The events of a process's threads.
#[derive(Debug)]
pub struct CpuSampler {
    process: i32,
    events: BTreeMap<i32, ThreadEvent>,
    with_kernel: bool,
    /// The demand of threads for CPU time in nanoseconds when it was read last.
    used: BTreeMap<i32, u64>,
    /// The demand of each thread for CPU time since the begin.
    total: BTreeMap<i32, u64>,
}

impl CpuSampler {
    /// Returns a sampler without events.
    pub fn of(process: i32) -> Self {
        Self { process, events: BTreeMap::new(), with_kernel: true, used: BTreeMap::new(), total: BTreeMap::new() }
    }

    /// Gives events to threads that compute, and takes them from threads that have ended.
    ///
    /// # Errors
    /// What is not visible if the kernel permits no event at all.
    pub fn refresh(&mut self, process: &NativeProcess) -> Result<(), Unseen> {
        let mut by_use = Vec::new();
        for thread in process.threads() {
            let Some(now) = cpu_demand(self.process, thread) else { continue };
            let before = self.used.insert(thread, now);
            let spent = before.map_or(0, |before| now.saturating_sub(before));
            *self.total.entry(thread).or_default() += spent;
            by_use.push((spent, thread));
        }
        let known: std::collections::BTreeSet<i32> = by_use.iter().map(|&(_, thread)| thread).collect();
        self.events.retain(|thread, _| known.contains(thread));
        by_use.sort_unstable_by(|a, b| b.cmp(a));
        for (order, &(_, thread)) in by_use.iter().take(EVENTS).enumerate() {
            if self.events.contains_key(&thread) || self.events.len() >= EVENTS {
                continue;
            }
            match self.open(thread, PAGES[usize::from(order >= 16)]) {
                Ok(event) => drop(self.events.insert(thread, event)),
                // No more memory for rings: the busiest threads have theirs.
                Err(_) if !self.events.is_empty() => break,
                Err(error) if matches!(error.raw_os_error(), Some(libc::EPERM | libc::EACCES)) => {
                    let paranoid = fs::read_to_string("/proc/sys/kernel/perf_event_paranoid").unwrap_or_default();
                    let mut remedies = Vec::new();
                    if paranoid.trim().parse::<i64>().is_ok_and(|level| level > 2) {
                        remedies.push(Remedy::Sysctl { name: "kernel.perf_event_paranoid".to_owned(), value: 2 });
                    }
                    remedies.push(Remedy::Capability("CAP_PERFMON".to_owned()));
                    return Err(process.unseen(UnseenReason::PerformanceEvents, remedies));
                }
                Err(error) if error.raw_os_error() == Some(libc::ESRCH) => {}
                Err(error) => return Err(process.unseen(UnseenReason::Failed(error.to_string()), Vec::new())),
            }
        }
        Ok(())
    }

    /// Opens an event, without the kernel's time where that is not permitted.
    fn open(&mut self, thread: i32, pages: usize) -> io::Result<ThreadEvent> {
        let sampling = |with_kernel| Sampling { rate: RATE, stack: STACK, pages, with_kernel };
        if self.with_kernel {
            match ThreadEvent::of(thread, sampling(true)) {
                Err(error) if matches!(error.raw_os_error(), Some(libc::EPERM | libc::EACCES)) => {
                    self.with_kernel = false
                }
                outcome => return outcome,
            }
        }
        ThreadEvent::of(thread, sampling(false))
    }

    /// Takes all samples since the last call.
    pub fn take(&mut self, process: &mut NativeProcess) -> Vec<RawCpuSample> {
        let mut taken: Vec<CpuSample> = Vec::new();
        self.events.values_mut().for_each(|event| event.take(|sample| taken.push(sample)));
        let follow = |sample: CpuSample| {
            let follow = |[fp, sp, pc]: [u64; 3]| process.follow(Registers { pc, sp, fp: Some(fp) }, &sample.stack);
            let addresses = sample.registers.map(follow).unwrap_or_default();
            RawCpuSample { time: sample.time, thread: sample.thread, addresses }
        };
        taken.into_iter().map(follow).collect()
    }

    /// Returns how many samples were lost because rings were full.
    pub fn lost(&self) -> u64 {
        self.events.values().map(ThreadEvent::lost).sum()
    }

    /// Returns the nanoseconds for which each thread computed or was ready to, since the first refresh.
    pub fn totals(&self) -> &BTreeMap<i32, u64> {
        &self.total
    }

    /// Returns whether time in the kernel is in the samples.
    pub fn with_kernel(&self) -> bool {
        self.with_kernel
    }
}

/// Returns the nanoseconds for which a thread computed, or was ready to compute while other threads had the CPUs.
fn cpu_demand(process: i32, thread: i32) -> Option<u64> {
    let text = fs::read_to_string(format!("/proc/{process}/task/{thread}/schedstat")).ok()?;
    let mut numbers = text.split(' ').map(|number| number.parse::<u64>().ok());
    Some(numbers.next()??.saturating_add(numbers.next()??))
}
