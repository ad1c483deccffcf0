//! Follows processes and their threads: CPU time, what threads wait for, quotas, open files.

use super::cgroup::Mounts;
use super::holders::numbers;
use super::reading::{ProcessCounts, ThreadCounts};
use super::task::{self, Doing};
use rustix::time::{ClockId, clock_gettime};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// The most threads of a process that are counted separately.
const THREADS: usize = 512;
/// The most ended processes that are remembered.
const ENDED: usize = 64;

/// The processes that are followed.
#[derive(Debug)]
pub(super) struct Processes {
    followed: BTreeMap<i32, Followed>,
    /// The time at which the watch began, in the kernel's ticks since the machine started.
    began: u64,
}

#[derive(Debug)]
struct Followed {
    counts: ProcessCounts,
    /// The CPU time that it had used before it was followed.
    cpu_before_us: u64,
    threads: BTreeMap<i32, Thread>,
    ended: bool,
}

#[derive(Debug, Default)]
struct Thread {
    counts: ThreadCounts,
    before: Before,
}

/// The counts of a thread before it was followed.
#[derive(Debug, Default)]
struct Before {
    cpu_ns: u64,
    queued_ns: u64,
    waits: u64,
}

impl Processes {
    pub fn new() -> Self {
        let since_boot = clock_gettime(ClockId::Boottime);
        Self { followed: BTreeMap::new(), began: since_boot.tv_sec as u64 * procfs::ticks_per_second() }
    }

    /// Takes up these processes, as far as they are new, and the new threads of all. It is so many microseconds since the
    /// watcher began.
    pub fn follow(&mut self, pids: &BTreeSet<i32>, now_us: u64) {
        for &pid in pids {
            let Some(stat) = task::stat(&pid.to_string()) else { continue };
            if self.followed.get(&pid).is_some_and(|known| known.counts.started == stat.started) {
                continue;
            }
            // All that a process has done counts if it has come since.
            let is_new = stat.started > self.began;
            let (since_us, cpu_before_us) = if is_new { (0, 0) } else { (now_us, stat.cpu_us) };
            let counts =
                ProcessCounts { pid, started: stat.started, name: stat.name, since_us, ..ProcessCounts::default() };
            let mut followed = Followed { counts, cpu_before_us, threads: BTreeMap::new(), ended: false };
            followed.find_threads(is_new);
            self.followed.insert(pid, followed);
        }
        self.followed.values_mut().filter(|process| !process.ended).for_each(|process| process.find_threads(true));
    }

    /// Looks at what all threads do.
    pub fn sample(&mut self) {
        for process in self.followed.values_mut().filter(|process| !process.ended && process.has_other_threads()) {
            process.find_threads(true);
        }
        let processes = self.followed.values_mut().filter(|process| !process.ended);
        for (pid, thread) in processes.flat_map(|process| process.threads.values_mut().map(|t| (process.counts.pid, t)))
        {
            let counts = &mut thread.counts;
            let Some(doing) = task::doing(&format!("{pid}/task/{}", counts.tid)) else { continue };
            counts.samples += 1;
            match doing {
                Doing::Running => counts.running += 1,
                Doing::Waiting(Some(what)) => *counts.waiting.entry(what).or_default() += 1,
                Doing::Waiting(None) => {}
            }
        }
    }

    /// Reads the counters of all. Of processes that have ended, what was read last stays.
    pub fn refresh(&mut self) {
        let mounts = Mounts::here();
        self.followed.values_mut().filter(|process| !process.ended).for_each(|process| process.refresh(&mounts));
        let ended: Vec<_> = self.followed.iter().filter(|(_, process)| process.ended).map(|(&pid, _)| pid).collect();
        for pid in ended.iter().take(ended.len().saturating_sub(ENDED)) {
            self.followed.remove(pid);
        }
    }

    /// The counts of those among these that are or were followed.
    pub fn counts(&self, pids: &BTreeSet<i32>) -> Vec<ProcessCounts> {
        let counts = |process: &Followed| {
            let threads = process.threads.values().map(|thread| thread.counts.clone()).collect();
            ProcessCounts { threads, ..process.counts.clone() }
        };
        pids.iter().filter_map(|pid| self.followed.get(pid)).map(counts).collect()
    }

    /// Reads the CPU time of those among these that are or were followed. The counts have no threads.
    pub fn cpu_counts(&mut self, pids: &BTreeSet<i32>) -> Vec<ProcessCounts> {
        let counts = |pid| {
            let process = self.followed.get_mut(pid)?;
            process.refresh_cpu();
            Some(process.counts.clone())
        };
        pids.iter().filter_map(counts).collect()
    }

    /// Returns the ids of the followed processes: all that live, and some that have ended.
    pub fn pids(&self) -> BTreeSet<i32> {
        self.followed.keys().copied().collect()
    }
}

impl Followed {
    fn find_threads(&mut self, count_all: bool) {
        let pid = self.counts.pid;
        let mut tids = numbers(Path::new(&format!("/proc/{pid}/task")));
        self.counts.thread_count = tids.len();
        tids.truncate(THREADS);
        self.threads.retain(|tid, _| tids.contains(tid));
        for tid in tids.into_iter().filter(|tid| !self.threads.contains_key(tid)).collect::<Vec<_>>() {
            let mut thread = Thread::default();
            thread.counts.tid = tid;
            if !count_all {
                let path = thread.path(pid);
                let (cpu_ns, queued_ns) = task::scheduled(&path).unwrap_or_default();
                thread.before = Before { cpu_ns, queued_ns, waits: task::waits(&path).unwrap_or_default() };
            }
            self.threads.insert(tid, thread);
        }
    }

    /// Whether it has more or fewer threads than when they were counted last. The folder of its threads has a link for each, and two
    /// more, which is cheaper to ask for than to read it.
    fn has_other_threads(&self) -> bool {
        let folder = rustix::fs::stat(format!("/proc/{}/task", self.counts.pid));
        // The type of the field differs between architectures.
        let links = folder.ok().and_then(|folder| usize::try_from(folder.st_nlink).ok());
        links.is_some_and(|links| links != self.counts.thread_count + 2)
    }

    /// Reads the name and the CPU time, or notes that the process has ended.
    fn refresh_cpu(&mut self) {
        let counts = &mut self.counts;
        if self.ended {
            return;
        }
        let stat = task::stat(&counts.pid.to_string());
        match stat.filter(|stat| stat.started == counts.started && stat.state != b'Z') {
            Some(stat) => {
                // A process takes another name when it becomes another program.
                counts.name = stat.name;
                counts.cpu_us = stat.cpu_us.saturating_sub(self.cpu_before_us).max(counts.cpu_us);
            }
            None => {
                self.ended = true;
                counts.thread_count = 0;
            }
        }
    }

    fn refresh(&mut self, mounts: &Mounts) {
        self.refresh_cpu();
        if self.ended {
            return;
        }
        let counts = &mut self.counts;
        let pid = counts.pid;
        counts.allowed_cores = task::allowed_cores(self.threads.keys().copied());
        counts.open_files = task::open_files(pid);
        counts.file_limit = task::file_limit(pid);
        counts.quota = mounts.quota(pid);
        self.threads.values_mut().for_each(|thread| thread.refresh(pid));
    }
}

impl Thread {
    fn path(&self, pid: i32) -> String {
        format!("{pid}/task/{}", self.counts.tid)
    }

    fn refresh(&mut self, pid: i32) {
        let path = self.path(pid);
        let Some(stat) = task::stat(&path) else { return };
        let counts = &mut self.counts;
        counts.name = stat.name;
        match task::scheduled(&path) {
            Some((cpu_ns, queued_ns)) => {
                counts.cpu_ns = cpu_ns.saturating_sub(self.before.cpu_ns).max(counts.cpu_ns);
                counts.queued_ns = Some(queued_ns.saturating_sub(self.before.queued_ns));
            }
            None => counts.cpu_ns = (stat.cpu_us * 1000).saturating_sub(self.before.cpu_ns),
        }
        counts.waits = task::waits(&path).map(|waits| waits.saturating_sub(self.before.waits));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::{Command, Stdio};
    use std::sync::mpsc;

    #[test]
    fn cpu_time_alone_is_that_of_a_whole_look() {
        // It ends when its input does, also where this test fails.
        let mut child = Command::new("cat").stdin(Stdio::piped()).spawn().expect("cat is there");
        let me = std::process::id() as i32;
        let both = BTreeSet::from([me, child.id() as i32]);
        let mut processes = Processes::new();
        processes.follow(&both, 0);
        let before = processes.cpu_counts(&both);
        assert!(
            before.len() == 2 && before.iter().all(|counts| counts.threads.is_empty() && counts.open_files.is_none())
        );
        let cpu_us =
            |counts: &[ProcessCounts]| counts.iter().find(|counts| counts.pid == me).map(|counts| counts.cpu_us);
        let begin = std::time::Instant::now();
        while cpu_us(&processes.cpu_counts(&both)) == cpu_us(&before) {
            assert!(begin.elapsed() < std::time::Duration::from_secs(60), "this loop takes no CPU time");
        }
        let alone = cpu_us(&processes.cpu_counts(&both));
        drop(child.stdin.take());
        child.wait().expect("it has ended");
        let counts = processes.cpu_counts(&both);
        assert_eq!(counts.iter().filter(|counts| counts.thread_count == 0).count(), 1, "one has ended: {counts:?}");
        processes.refresh();
        assert!(cpu_us(&processes.counts(&both)) >= alone, "a look goes on from there");
    }

    /// In a process of its own: a thread of another test that ends meanwhile would hide that there is one more.
    #[test]
    fn a_thread_that_comes_is_sampled_at_once() {
        if !torr_test_support::has_own_process("processes::tests::a_thread_that_comes_is_sampled_at_once") {
            return;
        }
        let me = BTreeSet::from([std::process::id() as i32]);
        let mut processes = Processes::new();
        processes.follow(&me, 0);
        let ((is_there, there), (end, ended)) = (mpsc::channel(), mpsc::channel::<()>());
        let late = std::thread::Builder::new().name("late".into()).spawn(move || {
            is_there.send(()).expect("the test waits for it");
            ended.recv()
        });
        there.recv().expect("it has begun");
        processes.sample();
        processes.refresh();
        let counts = processes.counts(&me);
        let found = counts[0].threads.iter().find(|thread| thread.name == "late").map(|thread| thread.samples);
        assert_eq!(found, Some(1));
        end.send(()).expect("it waits for it");
        late.expect("it was started").join().expect("it does not panic").expect("it was told to end");
    }
}
