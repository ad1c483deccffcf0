//! The description of a machine, which belongs to every figure measured there.

use procfs::Current;
use serde::{Deserialize, Serialize};

/// The properties of a machine that determine its speed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Machine {
    /// The model of the CPU.
    pub cpu: String,
    /// The number of CPUs that this process may use.
    pub cores: usize,
    /// The memory in GiB, rounded up.
    pub memory_gib: u64,
    /// The kernel and its release.
    pub kernel: String,
}

/// Returns how many CPUs this process may use.
pub fn cpus() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// Returns the name of this machine, up to 64 characters (Linux allows no more); `None` if it has none.
pub fn host_name() -> Option<String> {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").ok()?;
    Some(name.trim()).filter(|name| !name.is_empty() && *name != "(none)").map(|name| name.chars().take(64).collect())
}

impl Machine {
    /// Returns the description of this machine.
    pub fn this() -> Self {
        let unknown = || "unknown".to_owned();
        let cpu = procfs::CpuInfo::current().ok().and_then(|info| info.model_name(0).map(str::to_owned));
        let memory = procfs::Meminfo::current().map_or(0, |memory| memory.mem_total);
        let kernel = std::fs::read_to_string("/proc/sys/kernel/osrelease");
        Self {
            cpu: cpu.unwrap_or_else(unknown),
            cores: cpus(),
            memory_gib: memory.div_ceil(1 << 30),
            kernel: kernel.map_or_else(|_| unknown(), |release| format!("Linux {}", release.trim())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_machine_has_the_name_that_the_kernel_has() {
        let known = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
        assert_eq!(host_name().unwrap_or_default(), known.trim());
    }

    #[test]
    fn this_machine_has_a_cpu_and_memory() {
        let machine = Machine::this();
        assert!(machine.cores > 0 && machine.memory_gib > 0 && machine.kernel.starts_with("Linux "), "{machine:?}");
    }
}
