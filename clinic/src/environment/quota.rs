//! Control groups (version 1 or 2) with a quota of CPU time.

use super::Environment;
use super::placement::Placement;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};
use torr_test_support::error::Error;

/// The period of a quota in microseconds.
const PERIOD: u32 = 100_000;

/// A control group, which is removed when it is dropped. All its processes must have ended.
pub(super) struct ControlGroup(PathBuf);

impl Environment {
    /// Returns a placement whose programs share `percent` of one CPU.
    ///
    /// # Errors
    /// If the control group cannot be created.
    pub fn quota(&mut self, percent: u32) -> Result<Placement, Error> {
        let group = ControlGroup::new(percent)?;
        let placement = Placement::default().in_group(&group.0.join("cgroup.procs"));
        self.hold(group);
        Ok(placement)
    }
}

impl ControlGroup {
    /// Creates a group with a quota of `percent` of one CPU.
    pub(super) fn new(percent: u32) -> Result<Self, Error> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let name = format!("torr-clinic-{}-{}", std::process::id(), NUMBER.fetch_add(1, Ordering::Relaxed));
        let quota = PERIOD / 100 * percent;
        let (first, root) = (Path::new("/sys/fs/cgroup/cpu"), Path::new("/sys/fs/cgroup"));
        if first.is_dir() {
            let group = Self::make(&first.join(name))?;
            group.set("cpu.cfs_period_us", &PERIOD.to_string())?;
            group.set("cpu.cfs_quota_us", &quota.to_string())?;
            return Ok(group);
        }
        // The kernel refuses a controller that is enabled already or does not exist, which writing cpu.max shows.
        let _ = fs::write(root.join("cgroup.subtree_control"), "+cpu");
        let group = Self::make(&root.join(name))?;
        group.set("cpu.max", &format!("{quota} {PERIOD}"))?;
        Ok(group)
    }

    /// Moves a running process into the group.
    pub(super) fn admit(&self, pid: u32) -> Result<(), Error> {
        self.set("cgroup.procs", &pid.to_string())
    }

    fn make(path: &Path) -> Result<Self, Error> {
        fs::create_dir(path).map_err(Error::at(path.display()))?;
        Ok(Self(path.to_owned()))
    }

    fn set(&self, name: &str, value: &str) -> Result<(), Error> {
        let file = self.0.join(name);
        fs::write(&file, value).map_err(Error::at(file.display()))
    }
}

impl Drop for ControlGroup {
    /// Removes the group. A killed process takes a moment to leave it.
    fn drop(&mut self) {
        let begin = Instant::now();
        while fs::remove_dir(&self.0).is_err() && begin.elapsed() < Duration::from_secs(5) {
            thread::sleep(Duration::from_millis(10));
        }
    }
}
