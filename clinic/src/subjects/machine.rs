//! The machine that all subjects run on.

/// Returns the number of CPUs.
pub fn cpus() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}
