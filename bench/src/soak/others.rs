//! What the soak took of the machine, and what others did meanwhile: time-outs of a soak may be theirs.

use std::fs;
use std::time::Instant;

use serde::Serialize;

use super::trend::children;
use crate::cpu;

/// Ticks of the CPU's accounts in a second, as Linux gives them to programs on all architectures.
const TICKS: f64 = 100.0;

/// CPU seconds at the beginning.
pub struct Others {
    begin: Instant,
    machine: Machine,
    ours: f64,
}

/// Shares of the machine's CPU time.
#[derive(Clone, Copy, Serialize)]
pub struct Shares {
    /// Of the soak: loads, servers, database. CPU time of workers that a reload has replaced is their supervisor's.
    pub own: f64,
    /// Of interrupts of the kernel, most of which come from the soak's own packets.
    pub interrupts: f64,
    /// Of the hypervisor, for other machines.
    pub hypervisor: f64,
    /// Of all other programs.
    pub others: f64,
}

impl Others {
    /// Reads what was used so far.
    pub fn begin() -> Self {
        Self { begin: Instant::now(), machine: Machine::read(), ours: ours() }
    }

    /// Notes that a process is about to be killed: no account has the CPU time of its living children afterwards.
    pub fn before_killing(&mut self, pid: u32) {
        self.ours -= children(pid).into_iter().map(used_and_ended).sum::<f64>();
    }

    /// Returns the shares since the beginning.
    pub fn shares(&self) -> Shares {
        let all =
            self.begin.elapsed().as_secs_f64() * std::thread::available_parallelism().map_or(1.0, |n| n.get() as f64);
        let (now, then) = (Machine::read(), &self.machine);
        let own = ours() - self.ours;
        Shares {
            own: own / all,
            interrupts: (now.interrupts - then.interrupts) / all,
            hypervisor: (now.hypervisor - then.hypervisor) / all,
            // Accounts of processes and of CPUs differ by some ticks.
            others: ((now.programs - then.programs - own) / all).clamp(0.0, 1.0),
        }
    }
}

/// CPU seconds of the machine.
struct Machine {
    programs: f64,
    interrupts: f64,
    hypervisor: f64,
}

impl Machine {
    fn read() -> Self {
        let text = fs::read_to_string("/proc/stat").unwrap_or_default();
        let line = text.lines().next().unwrap_or_default();
        let ticks: Vec<f64> = line.split_whitespace().skip(1).filter_map(|ticks| ticks.parse().ok()).collect();
        // user, nice, system, idle, iowait, irq, softirq, steal; guests count as user already
        let sum = |fields: &[usize]| fields.iter().filter_map(|&at| ticks.get(at)).sum::<f64>() / TICKS;
        Self { programs: sum(&[0, 1, 2]), interrupts: sum(&[5, 6]), hypervisor: sum(&[7]) }
    }
}

/// CPU seconds of this program, of all that it started, and of children of these that have ended.
fn ours() -> f64 {
    used_and_ended(std::process::id())
}

fn used_and_ended(pid: u32) -> f64 {
    cpu::used(pid) + ended(pid)
}

/// CPU seconds of ended children, of a process and of its living descendants.
fn ended(pid: u32) -> f64 {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let fields = stat.rsplit_once(')').map_or("", |(_, fields)| fields);
    let of_children: f64 = fields.split_whitespace().skip(13).take(2).filter_map(|t| t.parse::<f64>().ok()).sum();
    of_children / TICKS + children(pid).into_iter().map(ended).sum::<f64>()
}
