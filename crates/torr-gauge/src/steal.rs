//! The share of this machine's CPU time that the hypervisor has stolen.

use procfs::CurrentSI;

/// A meter of stolen CPU time, which holds the counters at its start.
#[derive(Debug)]
pub struct StealMeter(Option<Ticks>);

/// The ticks of all CPUs since boot.
#[derive(Debug, Clone, Copy)]
struct Ticks {
    all: u64,
    stolen: u64,
}

impl StealMeter {
    /// Starts a measurement.
    pub fn start() -> Self {
        Self(Ticks::now())
    }

    /// Returns how large a share of all CPUs' time was stolen at least since the start, 0 to 1. `None` if the kernel does not report it.
    pub fn read(&self) -> Option<f64> {
        share(self.0?, Ticks::now()?)
    }
}

/// Returns the least stolen share between two readings. `None` if the counters have not moved, as in some containers.
fn share(then: Ticks, now: Ticks) -> Option<f64> {
    let all = now.all.checked_sub(then.all).filter(|&all| all > 0)?;
    // The kernel cuts off parts of ticks: of the first tick, nearly all may have been stolen before. A run of 20 ms has four.
    let stolen = now.stolen.saturating_sub(then.stolen).saturating_sub(1);
    Some(stolen as f64 / all as f64)
}

impl Ticks {
    fn now() -> Option<Self> {
        let cpu = procfs::KernelStats::current().ok()?.total;
        let stolen = cpu.steal?;
        let used = cpu.user + cpu.nice + cpu.system + cpu.irq.unwrap_or(0) + cpu.softirq.unwrap_or(0);
        Some(Self { all: used + cpu.idle + cpu.iowait.unwrap_or(0) + stolen, stolen })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steal_is_a_share_of_all_time_and_unknown_is_not_zero() {
        let ticks = |all, stolen| Ticks { all, stolen };
        assert_eq!(share(ticks(100, 10), ticks(200, 36)), Some(0.25));
        assert_eq!(share(ticks(100, 10), ticks(200, 10)), Some(0.0));
        assert_eq!(
            share(ticks(100, 10), ticks(104, 11)),
            Some(0.0),
            "a tick may have been stolen before, but for its last part"
        );
        assert_eq!(share(ticks(100, 10), ticks(100, 10)), None);
        assert_eq!(StealMeter(None).read(), None);
    }
}
