//! What the soak took of the machine, and what others did meanwhile: time-outs of a soak may be theirs.

use std::fs;
use std::time::Instant;

use super::trend::children;
use crate::cpu;

/// Ticks of the CPU's accounts in a second, as Linux gives them to programs on all architectures.
const TICKS: f64 = 100.0;

/// CPU seconds at the beginning.
pub struct Others {
    begin: Instant,
    busy: f64,
    ours: f64,
}

impl Others {
    /// Reads what was used so far.
    pub fn begin() -> Self {
        Self { begin: Instant::now(), busy: busy(), ours: ours() }
    }

    /// Returns the shares of the machine's CPU time since the beginning: that of this program and of what it started, and that of
    /// other programs and the hypervisor. CPU time of workers that a reload has replaced is their supervisor's.
    pub fn shares(&self) -> (f64, f64) {
        let all =
            self.begin.elapsed().as_secs_f64() * std::thread::available_parallelism().map_or(1.0, |n| n.get() as f64);
        let ours = ours() - self.ours;
        (ours / all, ((busy() - self.busy - ours) / all).clamp(0.0, 1.0))
    }
}

/// CPU seconds in which any program ran, or the hypervisor had the CPU.
fn busy() -> f64 {
    let text = fs::read_to_string("/proc/stat").unwrap_or_default();
    let line = text.lines().next().unwrap_or_default();
    let ticks: Vec<f64> = line.split_whitespace().skip(1).filter_map(|ticks| ticks.parse().ok()).collect();
    let idle_and_guests = [3, 4, 8, 9]; // idle, iowait; guests count as user already
    let counts = ticks.iter().enumerate().filter(|(i, _)| !idle_and_guests.contains(i));
    counts.map(|(_, ticks)| ticks).sum::<f64>() / TICKS
}

/// CPU seconds of this program, of all that it started, and of children of these that have ended.
fn ours() -> f64 {
    cpu::used(std::process::id()) + ended(std::process::id())
}

/// CPU seconds of ended children, of a process and of its living descendants.
fn ended(pid: u32) -> f64 {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let fields = stat.rsplit_once(')').map_or("", |(_, fields)| fields);
    let of_children: f64 = fields.split_whitespace().skip(13).take(2).filter_map(|t| t.parse::<f64>().ok()).sum();
    of_children / TICKS + children(pid).into_iter().map(ended).sum::<f64>()
}
