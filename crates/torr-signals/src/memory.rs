//! The memory that this process can still take: that of the machine, as far as the limits of its cgroups allow.

use super::cgroup::{Mounts, Version, field, read};
use std::path::Path;

/// The files of a hierarchy: the limit, what is used, and the name of what the kernel gives up by itself in `memory.stat`.
const V1: (&str, &str, &str) = ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file");
const V2: (&str, &str, &str) = ("memory.max", "memory.current", "inactive_file");

/// Returns the number of bytes that this process can take without swapping; `None` if it is not visible.
pub fn available_memory() -> Option<u64> {
    let meminfo = std::fs::read_to_string("/proc/meminfo").ok()?;
    let cgroups = std::fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    available(&meminfo, &Mounts::here(), &cgroups)
}

fn available(meminfo: &str, mounts: &Mounts, cgroups: &str) -> Option<u64> {
    let of_machine = meminfo.lines().find_map(|line| {
        let kibibytes = line.strip_prefix("MemAvailable:")?.trim().strip_suffix("kB")?;
        kibibytes.trim().parse::<u64>().ok()?.checked_mul(1024)
    })?;
    let directories = mounts.of_memory(cgroups);
    let of_groups = directories.iter().filter_map(|(version, directory)| left(*version, directory));
    Some(of_groups.fold(of_machine, u64::min))
}

/// Returns the number of bytes that a cgroup's limit leaves; `None` without a limit.
fn left(version: Version, directory: &Path) -> Option<u64> {
    let (limit, used, given_up) = match version {
        Version::V1 => V1,
        Version::V2 => V2,
    };
    let number = |name: &str| read(directory, name)?.trim().parse::<u64>().ok();
    // It is "max" where there is none.
    let (limit, used) = (number(limit)?, number(used)?);
    let given_up = read(directory, "memory.stat").and_then(|stat| field(&stat, given_up)).unwrap_or(0);
    Some(limit.saturating_sub(used.saturating_sub(given_up)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    const MEMINFO: &str = "MemTotal:       1000 kB\nMemFree:         10 kB\nMemAvailable:    800 kB\n";

    fn group(directory: &Path, files: &[(&str, &str)]) {
        fs::create_dir_all(directory).expect("a fresh directory");
        files.iter().for_each(|(name, text)| fs::write(directory.join(name), text).expect("a fresh file"));
    }

    fn mounts(point: &Path, kind: &str, options: &str) -> Mounts {
        Mounts::of(&format!("31 22 0:26 / {} rw,relatime shared:9 - {kind} {kind} {options}\n", point.display()))
    }

    #[test]
    fn the_tightest_limit_counts() {
        let top = tempfile::tempdir().expect("a directory for cgroups");
        let stat = "anon 5\ninactive_file 1000\n";
        group(
            &top.path().join("a"),
            &[("memory.max", "300000\n"), ("memory.current", "101000"), ("memory.stat", stat)],
        );
        group(&top.path().join("a/b"), &[("memory.max", "max\n"), ("memory.current", "1")]);
        let version2 = mounts(top.path(), "cgroup2", "rw");
        assert_eq!(available(MEMINFO, &version2, "0::/a/b\n"), Some(200_000));
        assert_eq!(available(MEMINFO, &version2, "0::/\n"), Some(800 * 1024));
        assert_eq!(available("", &version2, "0::/a\n"), None);
        let limits = [("memory.limit_in_bytes", "5000"), ("memory.usage_in_bytes", "6000")];
        group(&top.path().join("docker"), &limits);
        let version1 = mounts(top.path(), "cgroup", "rw,memory");
        assert_eq!(available(MEMINFO, &version1, "4:memory:/docker\n3:cpu:/a\n"), Some(0));
        assert_eq!(available(MEMINFO, &version1, "3:cpu:/docker\n"), Some(800 * 1024));
    }

    #[test]
    fn this_machine_has_memory() {
        assert!(available_memory().is_some_and(|bytes| bytes > 1 << 20));
    }
}
