//! The weights of Java's samples: dumps tell where a thread is, and CPU times how much that counts.
//!
//! A thread that could compute does not always do so where CPUs are busy, and the kernel takes a CPU away most often in its own calls. So
//! samples in calls of the kernel share the system time of their threads, and all others the user time.

use super::dump::Thread;
use crate::stack::StackSample;
use std::collections::BTreeMap;
use std::time::Duration;

/// The packages whose native methods are calls of the kernel.
const KERNEL: [&str; 4] = ["sun.nio.", "java.net", "java.io", "jdk.internal.misc"];

/// Threads that do the same work: those of one pool.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Group(String);

impl Group {
    /// Returns the group of a thread, by its name without numbers.
    pub fn of(thread: &Thread) -> Self {
        Self(thread.name.chars().filter(|character| !character.is_ascii_digit()).collect())
    }
}

/// The CPU times of threads since the first dump.
#[derive(Debug, Default)]
pub struct CpuTimes {
    /// By the thread's number: its group, the milliseconds at the first and at the last dump.
    threads: BTreeMap<u64, (Group, f64, f64)>,
    /// By the thread's number, the user and the system time when the thread was seen first.
    before: BTreeMap<u64, (Duration, Duration)>,
}

impl CpuTimes {
    /// Adds a thread's CPU time of a dump, and returns how much it is since the dump before.
    pub fn add(&mut self, thread: u64, group: &Group, cpu_ms: f64, is_first_dump: bool) -> Option<f64> {
        // A thread that came later began without CPU time. Another thread may have got the number of one that ended.
        let begins = |is_first: bool| if is_first { cpu_ms } else { 0.0 };
        let known = self.threads.get(&thread).map(|(_, _, last)| *last).filter(|last| *last <= cpu_ms);
        let first = match self.threads.get(&thread).filter(|_| known.is_some()) {
            Some((_, first, _)) => *first,
            None => begins(is_first_dump),
        };
        self.threads.insert(thread, (group.clone(), first, cpu_ms));
        known.or((!is_first_dump).then_some(0.0)).map(|known| cpu_ms - known)
    }

    /// Notes a thread's user and system time, if the thread was not seen before.
    pub fn begin(&mut self, thread: u64, times: impl FnOnce() -> Option<(Duration, Duration)>) {
        if !self.before.contains_key(&thread) {
            self.before.extend(times().map(|times| (thread, times)));
        }
    }

    /// Returns the CPU time of all threads from the first to the last dump.
    pub fn all(&self) -> BTreeMap<u64, Duration> {
        let time = |first: f64, last: f64| Duration::from_secs_f64((last - first).clamp(0.0, 1e9) / 1e3);
        self.threads.iter().map(|(thread, (_, first, last))| (*thread, time(*first, *last))).collect()
    }

    /// Settles the weights of samples, each with its group: the mean is 1. `times` returns a thread's user and system time now.
    pub fn settle(&self, samples: &mut [(Group, StackSample)], times: impl Fn(u64) -> Option<(Duration, Duration)>) {
        let mut cpu: BTreeMap<&Group, f64> = BTreeMap::new();
        let mut modes: BTreeMap<&Group, [f64; 2]> = BTreeMap::new();
        for (thread, (group, first, last)) in &self.threads {
            *cpu.entry(group).or_default() += last - first;
            if let (Some((user, system)), Some((user_now, system_now))) = (self.before.get(thread), times(*thread)) {
                let modes = modes.entry(group).or_default();
                modes[0] += user_now.saturating_sub(*user).as_secs_f64();
                modes[1] += system_now.saturating_sub(*system).as_secs_f64();
            }
        }
        let mut counts: BTreeMap<Group, [f64; 2]> = BTreeMap::new();
        for (group, sample) in samples.iter() {
            counts.entry(group.clone()).or_default()[usize::from(is_of_kernel(sample))] += 1.0;
        }
        for (group, sample) in samples.iter_mut() {
            let (mode, cpu) = (usize::from(is_of_kernel(sample)), cpu.get(group).copied().unwrap_or(0.0));
            let counts = counts.get(group).copied().unwrap_or_default();
            let times = modes.get(group).copied().unwrap_or_default();
            let sum = times[0] + times[1];
            // Without samples of one kind, or without times, all of the group's time belongs to all of its samples.
            let is_split = counts[0] > 0.0 && counts[1] > 0.0 && sum > 0.0;
            sample.weight =
                if is_split { cpu * times[mode] / sum / counts[mode] } else { cpu / (counts[0] + counts[1]) };
        }
        let sum: f64 = samples.iter().map(|(_, sample)| sample.weight).sum();
        if sum > 0.0 {
            let factor = samples.len() as f64 / sum;
            samples.iter_mut().for_each(|(_, sample)| sample.weight *= factor);
        }
    }
}

/// Returns whether a thread is in a call of the kernel.
pub fn is_of_kernel(sample: &StackSample) -> bool {
    let leaf = sample.stack.leaf();
    // Native methods have no file.
    leaf.is_some_and(|leaf| leaf.file.is_none() && KERNEL.iter().any(|package| leaf.module.starts_with(package)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stack::{Frame, Stack};
    use std::sync::Arc;

    fn sample(thread: u64, group: &str, is_of_kernel: bool) -> (Group, StackSample) {
        let (module, file) = if is_of_kernel { ("sun.nio.ch", None) } else { ("shop", Some("Orders.java".to_owned())) };
        let frame = Frame { module: module.into(), file, ..Frame::default() };
        let stack = Stack(vec![Arc::new(frame)]);
        let sample = StackSample { process: 1, thread, on_cpu: true, wait: None, holds: vec![], stack, weight: 1.0 };
        (Group(group.into()), sample)
    }

    fn weights(samples: &[(Group, StackSample)]) -> Vec<f64> {
        samples.iter().map(|(_, sample)| (sample.weight * 1e6).round() / 1e6).collect()
    }

    #[test]
    fn threads_of_a_pool_are_a_group() {
        let group = |name: &str| Group::of(&Thread { name: name.into(), ..Thread::default() });
        assert_eq!(group("pool-1-thread-7"), group("pool-1-thread-12"));
        assert_ne!(group("pool-1-thread-7"), group("main"));
    }

    #[test]
    fn a_groups_cpu_time_is_divided_among_its_samples() {
        let mut times = CpuTimes::default();
        let (pool, main) = (Group("pool".into()), Group("main".into()));
        assert_eq!((times.add(1, &pool, 100.0, true), times.add(2, &main, 500.0, true)), (None, None));
        assert_eq!((times.add(1, &pool, 190.0, false), times.add(2, &main, 510.0, false)), (Some(90.0), Some(10.0)));
        let mut samples =
            vec![sample(1, "pool", false), sample(1, "pool", false), sample(1, "pool", true), sample(2, "main", false)];
        times.settle(&mut samples, |_| None);
        assert_eq!(weights(&samples), [1.2, 1.2, 1.2, 0.4]);
    }

    #[test]
    fn calls_of_the_kernel_share_the_system_time() {
        let mut times = CpuTimes::default();
        let pool = Group("pool".into());
        times.add(1, &pool, 0.0, true);
        times.add(1, &pool, 100.0, false);
        times.begin(1, || Some((Duration::from_secs(1), Duration::from_secs(1))));
        let mut samples = vec![sample(1, "pool", false), sample(1, "pool", true), sample(1, "pool", true)];
        times.settle(&mut samples, |_| Some((Duration::from_secs(9), Duration::from_secs(3))));
        assert_eq!(weights(&samples), [2.4, 0.3, 0.3]);
    }

    #[test]
    fn a_number_that_another_thread_got_begins_anew() {
        let mut times = CpuTimes::default();
        let pool = Group("pool".into());
        times.add(1, &pool, 100.0, true);
        assert_eq!(times.add(1, &pool, 5.0, false), Some(5.0));
        assert_eq!(times.threads[&1], (pool, 0.0, 5.0));
        times.settle(&mut [], |_| None);
    }
}
