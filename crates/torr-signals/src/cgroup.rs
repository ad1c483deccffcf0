//! The cgroup that a process is in and those above it: their CPU quotas, of which the tightest counts, and where they limit memory.

use super::reading::QuotaCounts;
use procfs::FromBufRead;
use procfs::ProcessCGroups;
use procfs::process::{MountInfo, MountInfos};
use std::path::{Path, PathBuf};

/// Returns the CPU quota of this process and its counts so far. `None` if there is none, or if it is not visible.
pub fn own_quota() -> Option<QuotaCounts> {
    Mounts::here().quota(std::process::id() as i32)
}

/// The mount points of the cgroup hierarchies.
#[derive(Debug)]
pub(super) struct Mounts {
    v1: Option<Mount>,
    /// The hierarchy of version 1 that limits memory.
    memory_v1: Option<Mount>,
    v2: Option<Mount>,
}

/// The version of a hierarchy of cgroups.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Version {
    V1,
    V2,
}

#[derive(Debug)]
struct Mount {
    point: PathBuf,
    /// The part of the hierarchy that can be seen there.
    root: PathBuf,
}

impl Mounts {
    pub fn here() -> Self {
        Self::of(&std::fs::read_to_string("/proc/self/mountinfo").unwrap_or_default())
    }

    pub(super) fn of(mountinfo: &str) -> Self {
        let mounts = MountInfos::from_buf_read(mountinfo.as_bytes()).map_or(vec![], |mounts| mounts.0);
        let mount = |kind: &dyn Fn(&MountInfo) -> bool| {
            let found = mounts.iter().find(|mount| kind(mount))?;
            Some(Mount { point: found.mount_point.clone(), root: (&found.root).into() })
        };
        Self {
            v1: mount(&|mount| mount.fs_type == "cgroup" && mount.super_options.contains_key("cpu")),
            memory_v1: mount(&|mount| mount.fs_type == "cgroup" && mount.super_options.contains_key("memory")),
            v2: mount(&|mount| mount.fs_type == "cgroup2"),
        }
    }

    /// Returns the quota of a process. `None` if it has none or it is unknown.
    pub fn quota(&self, pid: i32) -> Option<QuotaCounts> {
        self.tightest(&std::fs::read_to_string(format!("/proc/{pid}/cgroup")).ok()?)
    }

    fn tightest(&self, cgroups: &str) -> Option<QuotaCounts> {
        let groups = ProcessCGroups::from_buf_read(cgroups.as_bytes()).ok()?;
        let quotas = groups.0.iter().flat_map(|group| {
            let first = group.controllers.iter().any(|controller| controller == "cpu");
            let (mount, quota): (_, fn(&Path) -> Option<QuotaCounts>) = match group.hierarchy {
                0 => (self.v2.as_ref(), of_v2),
                _ if first => (self.v1.as_ref(), of_v1),
                _ => return vec![],
            };
            mount.map_or(vec![], |mount| mount.upwards(&group.pathname, quota))
        });
        quotas.min_by(|a, b| a.cores.total_cmp(&b.cores))
    }

    /// Returns the directories of the cgroups in which `cgroups`, the content of `/proc/PID/cgroup`, says that a process's memory is
    /// limited, and of those above them.
    pub(super) fn of_memory(&self, cgroups: &str) -> Vec<(Version, PathBuf)> {
        let Ok(groups) = ProcessCGroups::from_buf_read(cgroups.as_bytes()) else { return vec![] };
        let directories = groups.0.iter().flat_map(|group| {
            let limits = group.controllers.iter().any(|controller| controller == "memory");
            let (version, mount) = match group.hierarchy {
                0 => (Version::V2, self.v2.as_ref()),
                _ if limits => (Version::V1, self.memory_v1.as_ref()),
                _ => return vec![],
            };
            let levels = mount.map_or(vec![], |mount| mount.levels(&group.pathname));
            levels.into_iter().map(|level| (version, level.directory)).collect()
        });
        directories.collect()
    }
}

/// A cgroup of a hierarchy.
struct Level {
    /// The path within the hierarchy.
    cgroup: String,
    directory: PathBuf,
}

impl Mount {
    /// The quotas of a cgroup and those above it, as far as they can be seen.
    fn upwards(&self, group: &str, quota: fn(&Path) -> Option<QuotaCounts>) -> Vec<QuotaCounts> {
        let counted = |level: Level| Some(QuotaCounts { cgroup: level.cgroup, ..quota(&level.directory)? });
        self.levels(group).into_iter().filter_map(counted).collect()
    }

    /// Returns a cgroup and those above it, as far as they can be seen.
    fn levels(&self, group: &str) -> Vec<Level> {
        // The path begins with ".." if the process is outside of the part that this one sees.
        let inside = Path::new(group).strip_prefix(&self.root).ok();
        let Some(inside) = inside.filter(|path| !path.starts_with("..")) else { return vec![] };
        let level = |path: &Path| Level {
            cgroup: self.root.join(path).to_string_lossy().into_owned(),
            directory: self.point.join(path),
        };
        inside.ancestors().map(level).collect()
    }
}

fn of_v1(directory: &Path) -> Option<QuotaCounts> {
    let number = |name: &str| read(directory, name)?.trim().parse::<i64>().ok();
    let quota = number("cpu.cfs_quota_us").filter(|&quota| quota > 0)?;
    let period = number("cpu.cfs_period_us").filter(|&period| period > 0)?;
    let stat = read(directory, "cpu.stat")?;
    Some(QuotaCounts {
        // Present if the controllers `cpu` and `cpuacct` are mounted together, as is usual.
        used_us: number("cpuacct.usage").and_then(|nanoseconds| u64::try_from(nanoseconds / 1000).ok()),
        ..counts(quota as f64 / period as f64, &stat)?
    })
}

fn of_v2(directory: &Path) -> Option<QuotaCounts> {
    let limit = read(directory, "cpu.max")?;
    let (quota, period) = limit.trim().split_once(' ')?;
    // It is "max" where there is none.
    let cores = quota.parse::<f64>().ok()? / period.parse::<f64>().ok()?;
    let stat = read(directory, "cpu.stat")?;
    Some(QuotaCounts { used_us: field(&stat, "usage_usec"), ..counts(cores, &stat)? })
}

fn counts(cores: f64, stat: &str) -> Option<QuotaCounts> {
    let (periods, throttled_periods) = (field(stat, "nr_periods")?, field(stat, "nr_throttled")?);
    Some(QuotaCounts { cores, periods, throttled_periods, ..QuotaCounts::default() })
}

pub(super) fn field(stat: &str, name: &str) -> Option<u64> {
    stat.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' ')?.trim().parse().ok())
}

pub(super) fn read(directory: &Path, name: &str) -> Option<String> {
    std::fs::read_to_string(directory.join(name)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::time::{Duration, Instant};
    use torr_test_support::required::cannot_run;

    /// Makes a cgroup's directory with these files in it.
    fn group(directory: &Path, files: &[(&str, &str)]) {
        fs::create_dir_all(directory).expect("a fresh directory");
        files.iter().for_each(|(name, text)| fs::write(directory.join(name), text).expect("a fresh file"));
    }

    /// A line of `mountinfo`.
    fn line(root: &str, point: &Path, kind: &str, options: &str) -> String {
        format!("31 22 0:26 {root} {} rw,relatime shared:9 - {kind} {kind} {options}\n", point.display())
    }

    #[test]
    fn the_tightest_quota_of_version_2_counts_wherever_it_stands() {
        let top = tempfile::tempdir().expect("a directory for cgroups");
        let stat = "usage_usec 5000000\nuser_usec 1\nsystem_usec 2\nnr_periods 40\nnr_throttled 30\nthrottled_usec 9\n";
        group(top.path(), &[("cpu.stat", "usage_usec 77\n")]);
        group(&top.path().join("a"), &[("cpu.max", "150000 100000\n"), ("cpu.stat", stat)]);
        group(&top.path().join("a/b"), &[("cpu.max", "200000 100000\n"), ("cpu.stat", stat)]);
        group(&top.path().join("a/b/c"), &[("cpu.max", "max 100000\n"), ("cpu.stat", stat)]);
        let mounts = Mounts::of(&line("/", top.path(), "cgroup2", "rw,nsdelegate"));
        let found = mounts.tightest("0::/a/b/c\n").expect("there are two");
        let wanted = QuotaCounts {
            cgroup: "/a".into(),
            cores: 1.5,
            used_us: Some(5_000_000),
            periods: 40,
            throttled_periods: 30,
        };
        assert_eq!(found, wanted);
        assert_eq!(mounts.tightest("0::/\n"), None);
        // One that is outside of what can be seen here.
        assert_eq!(mounts.tightest("0::/../a\n"), None);
    }

    #[test]
    fn a_quota_of_version_1_is_found_below_the_part_that_is_mounted() {
        let top = tempfile::tempdir().expect("a directory for cgroups");
        let stat = "nr_periods 12\nnr_throttled 3\nthrottled_time 888\n";
        let none = [("cpu.cfs_quota_us", "-1\n"), ("cpu.cfs_period_us", "100000\n"), ("cpu.stat", stat)];
        let some = [("cpu.cfs_quota_us", "25000\n"), ("cpu.cfs_period_us", "50000\n"), ("cpu.stat", stat)];
        group(top.path(), &none);
        group(&top.path().join("web"), &[&some[..], &[("cpuacct.usage", "7000000\n")]].concat());
        let other = line("/", Path::new("/nowhere"), "cgroup", "rw,memory");
        let mounts = Mounts::of(&(other + &line("/docker/1f", top.path(), "cgroup", "rw,cpu,cpuacct")));
        let found = mounts.tightest("5:memory:/x\n4:cpu,cpuacct:/docker/1f/web\n0::/\n").expect("there is one");
        let wanted = QuotaCounts {
            cgroup: "/docker/1f/web".into(),
            cores: 0.5,
            used_us: Some(7000),
            periods: 12,
            throttled_periods: 3,
        };
        assert_eq!(found, wanted);
        assert_eq!(mounts.tightest("4:cpu,cpuacct:/docker/1f\n"), None);
        assert_eq!(mounts.tightest("4:cpu,cpuacct:/docker/2e/web\n"), None);
    }

    /// A cgroup with a quota of a fifth of a CPU and a process in it that wants a whole one. Both end with it.
    struct Throttled {
        directory: PathBuf,
        process: std::process::Child,
    }

    impl Throttled {
        /// Returns `None` where cgroups cannot be made, as on most machines without root's rights.
        fn new() -> Option<Self> {
            let mounts = Mounts::here();
            let (mount, files) = match (mounts.v1, mounts.v2) {
                (Some(mount), _) => (mount, [("cpu.cfs_period_us", "10000"), ("cpu.cfs_quota_us", "2000")]),
                (None, Some(mount)) => (mount, [("cpu.max", "2000 10000"), ("cpu.max", "2000 10000")]),
                (None, None) => return None,
            };
            let directory = mount.point.join(format!("torr-test-{}", std::process::id()));
            fs::create_dir(&directory).ok()?;
            let limited = files.iter().all(|(name, text)| fs::write(directory.join(name), text).is_ok());
            let process = std::process::Command::new("sh").args(["-c", "while :; do :; done"]).spawn().ok();
            let (true, Some(process)) = (limited, process) else {
                let _ = fs::remove_dir(&directory);
                return None;
            };
            let throttled = Self { directory, process };
            let joined = fs::write(throttled.directory.join("cgroup.procs"), throttled.process.id().to_string());
            joined.ok().map(|()| throttled)
        }
    }

    impl Drop for Throttled {
        fn drop(&mut self) {
            let _ = self.process.kill();
            let _ = self.process.wait();
            let _ = fs::remove_dir(&self.directory);
        }
    }

    #[test]
    fn a_real_quota_throttles() {
        let Some(throttled) = Throttled::new() else {
            // What the files say is tested above; here it is whether the kernel's are such.
            return cannot_run(
                "a_real_quota_throttles",
                "no cgroup with a quota can be made, which takes root's rights",
            );
        };
        let deadline = Instant::now() + Duration::from_secs(10);
        loop {
            let quota = Mounts::here().quota(throttled.process.id() as i32).expect("it has been given one");
            assert!((quota.cores - 0.2).abs() < 1e-9, "{quota:?}");
            assert!(quota.cgroup.contains("torr-test-"), "{quota:?}");
            if quota.throttled_periods > 2 && quota.periods >= quota.throttled_periods {
                break;
            }
            assert!(Instant::now() < deadline, "{quota:?}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}
