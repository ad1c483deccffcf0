//! How much of this machine's CPU time the hypervisor gave to others.

use procfs::CurrentSI;

/// Reads the machine's counters when it is made, and again when asked.
#[derive(Debug)]
pub struct StealMeter(Option<Ticks>);

/// Ticks of all CPUs since the start of the machine.
#[derive(Debug, Clone, Copy)]
struct Ticks {
    all: u64,
    stolen: u64,
}

impl StealMeter {
    /// Begins to measure.
    pub fn start() -> Self {
        Self(Ticks::now())
    }

    /// The share of all CPUs' time that was stolen since, 0 to 1. `None` where the kernel does not tell.
    pub fn read(&self) -> Option<f64> {
        share(self.0?, Ticks::now()?)
    }
}

/// Counters that do not move tell nothing: some containers show such.
fn share(then: Ticks, now: Ticks) -> Option<f64> {
    let all = now.all.checked_sub(then.all).filter(|&all| all > 0)?;
    Some(now.stolen.saturating_sub(then.stolen) as f64 / all as f64)
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
    fn what_is_stolen_is_a_share_of_all_time_and_unknown_is_not_nothing() {
        let ticks = |all, stolen| Ticks { all, stolen };
        assert_eq!(share(ticks(100, 10), ticks(200, 35)), Some(0.25));
        assert_eq!(share(ticks(100, 10), ticks(200, 10)), Some(0.0));
        assert_eq!(share(ticks(100, 10), ticks(100, 10)), None);
        assert_eq!(StealMeter(None).read(), None);
    }
}
