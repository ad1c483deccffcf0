//! The process of a test with all its descendants: their CPU time, and their waits for a CPU.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A reading of the process and of its descendants.
#[derive(Debug, Clone, Default)]
pub struct OwnProcesses {
    cpu_ticks: u64,
    /// The time in nanoseconds that each thread has waited for a CPU since its start, by the number of the thread.
    waited_ns: HashMap<u32, u64>,
}

impl OwnProcesses {
    /// Reads the counters of all of them. What ends meanwhile is passed over: its parent has its CPU time.
    pub fn now() -> Self {
        let stats: HashMap<u32, Stat> =
            numbers(Path::new("/proc")).filter_map(|pid| Some((pid, Stat::of(pid)?))).collect();
        let mut children: HashMap<u32, Vec<u32>> = HashMap::new();
        stats.iter().for_each(|(pid, stat)| children.entry(stat.parent).or_default().push(*pid));
        let (mut all, mut left) = (Self::default(), vec![std::process::id()]);
        while let Some(pid) = left.pop() {
            all.cpu_ticks += stats.get(&pid).map_or(0, |stat| stat.cpu_ticks);
            all.add_waits(&PathBuf::from(format!("/proc/{pid}/task")));
            left.extend(children.get(&pid).into_iter().flatten());
        }
        all
    }

    /// Returns the CPU time of all of them, in ticks; that of descendants that were waited for is part of it.
    pub fn cpu_ticks(&self) -> u64 {
        self.cpu_ticks
    }

    /// Returns the time for which threads waited for a CPU since an earlier reading.
    pub fn waited_since(&self, before: &Self) -> Duration {
        let since =
            |(thread, now): (&u32, &u64)| now.saturating_sub(before.waited_ns.get(thread).copied().unwrap_or(0));
        Duration::from_nanos(self.waited_ns.iter().map(since).sum())
    }

    fn add_waits(&mut self, tasks: &Path) {
        for thread in numbers(tasks) {
            let schedstat = std::fs::read_to_string(tasks.join(format!("{thread}/schedstat"))).unwrap_or_default();
            let waited = schedstat.split_whitespace().nth(1).and_then(|ns| ns.parse().ok());
            self.waited_ns.extend(waited.map(|ns| (thread, ns)));
        }
    }
}

/// Returns the entries of a folder that are numbers.
fn numbers(folder: &Path) -> impl Iterator<Item = u32> {
    let entries = folder.read_dir().into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

/// What the kernel tells of a process.
struct Stat {
    parent: u32,
    /// The CPU time of the process and of its children that were waited for.
    cpu_ticks: u64,
}

impl Stat {
    fn of(pid: u32) -> Option<Self> {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        // A name in parentheses, which may have blanks, is the second field of the line; the parent is the fourth.
        let fields: Vec<&str> = stat.rsplit_once(") ")?.1.split_whitespace().collect();
        let cpu_ticks = fields.get(11..15)?.iter().map(|field| field.parse::<u64>().ok()).sum::<Option<u64>>()?;
        Some(Self { parent: fields.get(1)?.parse().ok()?, cpu_ticks })
    }
}
