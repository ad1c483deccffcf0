//! Counts the CPU time of the programs on this machine that have no part in the run, by their names.

use super::holders::numbers;
use super::reading::ProgramCounts;
use super::task;
use rustix::time::{ClockId, clock_gettime};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::{Duration, Instant};

/// The number of programs in a reading, those that used most CPU time.
const PROGRAMS: usize = 32;
/// The least time between two looks at all processes, which cost some 10 us for each: experiments that follow each other share one.
const REST: Duration = Duration::from_millis(100);

/// All processes of this machine, as of the last look.
#[derive(Debug)]
pub(super) struct Others {
    /// The time at which the count began, in the kernel's ticks since the machine started.
    began: u64,
    known: BTreeMap<i32, Known>,
    /// The time at which all processes were read last.
    looked: Option<Instant>,
    /// The CPU time in microseconds of programs whose processes have ended, by the name of the process. Processes of the run are
    /// not counted.
    ended: BTreeMap<String, u64>,
}

#[derive(Debug)]
struct Known {
    started: u64,
    name: String,
    /// CPU time used before this began, and up to now, in microseconds.
    before_us: u64,
    cpu_us: u64,
}

impl Others {
    pub fn new() -> Self {
        let since_boot = clock_gettime(ClockId::Boottime);
        let began = since_boot.tv_sec as u64 * procfs::ticks_per_second();
        Self { began, known: BTreeMap::new(), looked: None, ended: BTreeMap::new() }
    }

    /// Reads the CPU time of all processes, unless that was done a moment ago. Those among `mine`, which have a part in the run, are not counted once they have ended.
    pub fn look(&mut self, mine: &BTreeSet<i32>) {
        if self.looked.is_some_and(|looked| looked.elapsed() < REST) {
            return;
        }
        self.looked = Some(Instant::now());
        let mut before = std::mem::take(&mut self.known);
        for pid in numbers(Path::new("/proc")) {
            let Some(stat) = task::stat(&pid.to_string()) else { continue };
            let same = before.remove(&pid).filter(|known| known.started == stat.started);
            // All that a process has done counts if it has come since.
            let before_us =
                same.map_or(if stat.started > self.began { 0 } else { stat.cpu_us }, |known| known.before_us);
            let known = Known { started: stat.started, name: stat.name, before_us, cpu_us: stat.cpu_us };
            self.known.insert(pid, known);
        }
        for (_, known) in before.into_iter().filter(|(pid, _)| !mine.contains(pid)) {
            *self.ended.entry(known.name).or_default() += known.cpu_us.saturating_sub(known.before_us);
        }
    }

    /// Returns the CPU time by program, of all processes but `mine` since the count began: of the programs that used the most,
    /// in this order.
    pub fn counts(&self, mine: &BTreeSet<i32>) -> Vec<ProgramCounts> {
        let mut programs = self.ended.clone();
        for (_, known) in self.known.iter().filter(|(pid, _)| !mine.contains(pid)) {
            *programs.entry(known.name.clone()).or_default() += known.cpu_us.saturating_sub(known.before_us);
        }
        let used = programs.into_iter().filter(|&(_, cpu_us)| cpu_us > 0);
        let mut counts: Vec<_> = used.map(|(name, cpu_us)| ProgramCounts { name, cpu_us }).collect();
        counts.sort_by_key(|program| std::cmp::Reverse(program.cpu_us));
        counts.truncate(PROGRAMS);
        counts
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    #[test]
    fn a_program_that_uses_cpu_is_named_also_once_it_has_ended_unless_it_is_ours() {
        let mut others = Others::new();
        others.look(&BTreeSet::new());
        // A name that no other process of this machine has.
        let folder = tempfile::tempdir().expect("there is room for temporary files");
        let name = format!("burn{}", std::process::id());
        let path = folder.path().join(&name);
        std::os::unix::fs::symlink("/bin/sh", &path).expect("a link can be made");
        let mut burner = Command::new(path).args(["-c", "while :; do :; done"]).spawn().expect("a shell runs");
        let pid = burner.id() as i32;
        let used = |others: &mut Others, mine: &BTreeSet<i32>| {
            others.look(mine);
            others.counts(mine).into_iter().find(|program| program.name == name).map(|program| program.cpu_us)
        };
        let deadline = Instant::now() + Duration::from_secs(20);
        let mut seen = None;
        while seen.is_none() && Instant::now() < deadline {
            seen = used(&mut others, &BTreeSet::new());
            std::thread::yield_now();
        }
        let ours = others.counts(&BTreeSet::from([pid])).into_iter().any(|program| program.name == name);
        burner.kill().expect("it runs");
        burner.wait().expect("it was ours");
        assert!(seen.is_some_and(|us| us > 0), "{seen:?}");
        assert!(!ours, "what has a part in the run is no other program");
        others.looked = None;
        assert!(used(&mut others, &BTreeSet::new()) >= seen, "what it used stays once it has ended");
    }
}
