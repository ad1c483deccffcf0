//! The server's processes, where they run on this machine: from port to sockets to processes to CPU time.

use crate::generator::round3;
use crate::signals::holders::{self, Holders};
use procfs::CurrentSI;
use procfs::process::Process;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::path::Path;
use std::time::{Duration, Instant};

/// Watches the machine and, where they can be seen, the processes that listen on the target's port.
#[derive(Debug)]
pub struct Watch {
    pids: BTreeSet<i32>,
    begin: Reading,
}

#[derive(Debug)]
struct Reading {
    at: Instant,
    machine: Option<Machine>,
    /// CPU time of each thread, by process and thread.
    threads: BTreeMap<(i32, i32), Duration>,
}

/// All CPUs, and their ticks since the start of the machine.
#[derive(Debug, Clone, Copy)]
struct Machine {
    cores: usize,
    total: u64,
    idle: u64,
    /// `None` where the kernel does not tell.
    steal: Option<u64>,
}

/// What became of the machine's CPU time during a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Host {
    /// CPUs of the machine.
    pub cores: usize,
    /// Share of the machine's CPU time that was used, by anybody, 0 to 1.
    pub cpu_share: f64,
    /// Share that the hypervisor gave to others, 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub steal_share: Option<f64>,
    /// CPU time of the server in cores: 1.5 is one and a half CPUs.
    pub server_cores: f64,
    /// The server's processes, the busiest first.
    pub server: Vec<ServerProcess>,
    /// The busy share of each of the server's threads that used at least a hundredth of a CPU, 0 to 1, the busiest first.
    pub server_threads: Vec<f64>,
}

/// One process of the server.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ServerProcess {
    /// Its number.
    pub pid: i32,
    /// Its name.
    pub name: String,
    /// How many threads it had at the end of the run.
    pub threads: usize,
    /// CPU time used in cores.
    pub cores: f64,
}

impl Watch {
    /// Looks for the processes behind these addresses, all of which must be this machine's, and begins to watch.
    /// `None` if there are none, or they cannot be seen.
    pub fn start(addresses: &[SocketAddr]) -> Option<Self> {
        Self::of(&holders::listening(|local| addresses.iter().any(|&address| holders::takes(local, address))))
    }

    /// The same for the processes behind a Unix socket.
    pub fn start_unix(path: &Path) -> Option<Self> {
        Self::of(&holders::bound_to(path))
    }

    /// This process is left out.
    fn of(inodes: &BTreeSet<u64>) -> Option<Self> {
        if inodes.is_empty() {
            return None;
        }
        let mut pids = Holders::look().of(inodes);
        pids.remove(&(std::process::id() as i32));
        (!pids.is_empty()).then(|| Self { begin: Reading::take(&pids), pids })
    }

    /// What was used since the watch began.
    pub fn read(&self) -> Option<Host> {
        let end = Reading::take(&self.pids);
        let wall = (end.at - self.begin.at).as_secs_f64();
        let (now, then) = (end.machine?, self.begin.machine?);
        let ticks = (now.total - then.total).max(1) as f64;
        let used: BTreeMap<(i32, i32), f64> = end
            .threads
            .iter()
            .map(|(id, &cpu)| {
                // A thread that is new since the beginning has used all its time since.
                let before = self.begin.threads.get(id).copied().unwrap_or_default();
                (*id, cpu.saturating_sub(before).as_secs_f64() / wall)
            })
            .collect();
        let mut server: Vec<_> = self.pids.iter().filter_map(|&pid| process(pid, &used)).collect();
        server.sort_by(|a, b| b.cores.total_cmp(&a.cores));
        let mut server_threads: Vec<_> = used.values().copied().filter(|&share| share >= 0.01).map(round3).collect();
        server_threads.sort_by(|a, b| b.total_cmp(a));
        Some(Host {
            cores: now.cores,
            cpu_share: round3(1.0 - now.idle.saturating_sub(then.idle) as f64 / ticks),
            steal_share: now.steal.zip(then.steal).map(|(now, then)| round3(now.saturating_sub(then) as f64 / ticks)),
            server_cores: round3(used.values().sum()),
            server,
            server_threads,
        })
    }
}

impl Reading {
    fn take(pids: &BTreeSet<i32>) -> Self {
        let mut threads = BTreeMap::new();
        for &pid in pids {
            let tasks = Process::new(pid).and_then(|process| process.tasks());
            for task in tasks.into_iter().flatten().flatten() {
                if let Ok(stat) = task.schedstat() {
                    threads.insert((pid, task.tid), Duration::from_nanos(stat.sum_exec_runtime));
                }
            }
        }
        Self { at: Instant::now(), machine: machine(), threads }
    }
}

fn machine() -> Option<Machine> {
    let stats = procfs::KernelStats::current().ok()?;
    let (cpu, cores) = (stats.total, stats.cpu_time.len());
    let idle = cpu.idle + cpu.iowait.unwrap_or(0);
    let busy = cpu.user + cpu.nice + cpu.system + cpu.irq.unwrap_or(0) + cpu.softirq.unwrap_or(0);
    Some(Machine { cores, total: busy + idle + cpu.steal.unwrap_or(0), idle, steal: cpu.steal })
}

fn process(pid: i32, used: &BTreeMap<(i32, i32), f64>) -> Option<ServerProcess> {
    let name = Process::new(pid).and_then(|process| process.stat()).ok()?.comm;
    let shares: Vec<_> = used.range((pid, i32::MIN)..=(pid, i32::MAX)).map(|(_, share)| share).collect();
    Some(ServerProcess { pid, name, threads: shares.len(), cores: round3(shares.into_iter().sum()) })
}
