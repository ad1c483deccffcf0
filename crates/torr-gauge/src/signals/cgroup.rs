//! The CPU quota that a process is under: the tightest of its cgroup and those above it.

use super::reading::QuotaCounts;
use procfs::FromBufRead;
use procfs::ProcessCGroups;
use procfs::process::{MountInfo, MountInfos};
use std::path::{Path, PathBuf};

/// Where the hierarchies of cgroups can be seen.
#[derive(Debug)]
pub(super) struct Mounts {
    v1: Option<Mount>,
    v2: Option<Mount>,
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

    fn of(mountinfo: &str) -> Self {
        let mounts = MountInfos::from_buf_read(mountinfo.as_bytes()).map_or(vec![], |mounts| mounts.0);
        let mount = |kind: &dyn Fn(&MountInfo) -> bool| {
            let found = mounts.iter().find(|mount| kind(mount))?;
            Some(Mount { point: found.mount_point.clone(), root: (&found.root).into() })
        };
        Self {
            v1: mount(&|mount| mount.fs_type == "cgroup" && mount.super_options.contains_key("cpu")),
            v2: mount(&|mount| mount.fs_type == "cgroup2"),
        }
    }

    /// The quota of a process. `None` if it has none, or if that cannot be told.
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
}

impl Mount {
    /// The quotas of a cgroup and those above it, as far as they can be seen.
    fn upwards(&self, group: &str, quota: fn(&Path) -> Option<QuotaCounts>) -> Vec<QuotaCounts> {
        // The path begins with ".." if the process is outside of the part that this one sees.
        let inside = Path::new(group).strip_prefix(&self.root).ok();
        let Some(inside) = inside.filter(|path| !path.starts_with("..")) else { return vec![] };
        let levels = inside.ancestors().filter_map(|level| {
            let counts = quota(&self.point.join(level))?;
            Some(QuotaCounts { cgroup: self.root.join(level).to_string_lossy().into_owned(), ..counts })
        });
        levels.collect()
    }
}

fn of_v1(directory: &Path) -> Option<QuotaCounts> {
    let number = |name: &str| read(directory, name)?.trim().parse::<i64>().ok();
    let quota = number("cpu.cfs_quota_us").filter(|&quota| quota > 0)?;
    let period = number("cpu.cfs_period_us").filter(|&period| period > 0)?;
    let stat = read(directory, "cpu.stat")?;
    Some(QuotaCounts {
        // Told where the controllers `cpu` and `cpuacct` are mounted together, as they mostly are.
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

fn field(stat: &str, name: &str) -> Option<u64> {
    stat.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' ')?.trim().parse().ok())
}

fn read(directory: &Path, name: &str) -> Option<String> {
    std::fs::read_to_string(directory.join(name)).ok()
}
