//! The server's processes, where they run on this machine: from port to sockets to processes to CPU time.

use crate::generator::round3;
use procfs::net::{TcpNetEntries, TcpNetEntry, UnixNetEntry};
use procfs::process::{FDTarget, Process, all_processes};
use procfs::{CurrentSI, FromBufReadSI};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::Path;
use std::time::{Duration, Instant};

/// The state of a listener in the kernel's tables.
const LISTEN: &str = "0A";

/// Watches the machine and, where they can be seen, the processes that listen on the target's port.
#[derive(Debug)]
pub struct Watch {
    pids: Vec<i32>,
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
        Self::of(listening_inodes(addresses))
    }

    /// The same for the processes behind a Unix socket.
    pub fn start_unix(path: &Path) -> Option<Self> {
        let path = path.canonicalize().ok()?;
        let bound = |entry: &UnixNetEntry| entry.path.as_ref().is_some_and(|other| *other == path);
        let sockets = procfs::net::unix().ok()?;
        // Accepted connections have the listener's path too, and its process.
        Self::of(sockets.into_iter().filter(bound).map(|entry| entry.inode).collect())
    }

    fn of(inodes: BTreeSet<u64>) -> Option<Self> {
        let pids = if inodes.is_empty() { vec![] } else { owners(&inodes) };
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
    fn take(pids: &[i32]) -> Self {
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

/// The listening sockets, by inode, that would take a connection to one of the addresses.
fn listening_inodes(addresses: &[SocketAddr]) -> BTreeSet<u64> {
    let takes = |entry: &TcpNetEntry| {
        let local = entry.local_address;
        addresses.iter().any(|a| a.port() == local.port() && (local.ip().is_unspecified() || local.ip() == a.ip()))
    };
    let tables = ["/proc/net/tcp", "/proc/net/tcp6"].map(listeners);
    tables.into_iter().flatten().filter(takes).map(|entry| entry.inode).collect()
}

/// The listeners of a table. The kernel lists them first, and there may be tens of thousands of others after them, which
/// it would cost it milliseconds to list.
fn listeners(table: &str) -> Vec<TcpNetEntry> {
    let Ok(file) = File::open(table) else { return vec![] };
    let is_listener = |line: &String| line.split_whitespace().nth(3) == Some(LISTEN);
    let mut lines = BufReader::new(file).lines().map_while(Result::ok);
    let heading: Vec<_> = lines.next().into_iter().collect();
    let text = heading.into_iter().chain(lines.take_while(is_listener)).collect::<Vec<_>>().join("\n");
    TcpNetEntries::from_buf_read(text.as_bytes(), procfs::current_system_info()).map_or(vec![], |entries| entries.0)
}

/// The processes that hold one of the sockets, this one left out.
fn owners(inodes: &BTreeSet<u64>) -> Vec<i32> {
    let holds = |process: &Process| {
        let mut descriptors = process.fd().into_iter().flatten().flatten();
        descriptors.any(|fd| matches!(fd.target, FDTarget::Socket(inode) if inodes.contains(&inode)))
    };
    let others = all_processes().into_iter().flatten().flatten();
    let mine = std::process::id() as i32;
    others.filter(|process| process.pid() != mine && holds(process)).map(|process| process.pid()).collect()
}
