//! Control groups (version 1 or 2) with a limit of CPU time or of memory.

use crate::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// The period of a quota in microseconds.
const PERIOD: u32 = 100_000;

/// A control group, which is removed when it is dropped. All its processes must have ended.
pub struct ControlGroup(PathBuf);

impl ControlGroup {
    /// Creates a group with a quota of `percent` of one CPU.
    ///
    /// # Errors
    /// If this process may not create groups, or the kernel has no quotas.
    pub fn with_quota(percent: u32) -> Result<Self, Error> {
        let quota = PERIOD / 100 * percent;
        let first = [("cpu.cfs_period_us", PERIOD.to_string()), ("cpu.cfs_quota_us", quota.to_string())];
        Self::create("cpu", &first, &("cpu.max", format!("{quota} {PERIOD}")))
    }

    /// Creates a group whose processes have at most so many bytes of memory, without those that they had before they joined.
    ///
    /// # Errors
    /// If this process may not create groups, or the kernel has no limits of memory.
    pub fn with_memory(bytes: u64) -> Result<Self, Error> {
        let limit = bytes.to_string();
        Self::create("memory", &[("memory.limit_in_bytes", limit.clone())], &("memory.max", limit))
    }

    fn create(controller: &str, first: &[(&str, String)], second: &(&str, String)) -> Result<Self, Error> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let name = format!("torr-test-{}-{}", std::process::id(), NUMBER.fetch_add(1, Ordering::Relaxed));
        let root = Path::new("/sys/fs/cgroup");
        if root.join(controller).is_dir() {
            let group = Self::make(&root.join(controller).join(name))?;
            first.iter().try_for_each(|(file, value)| group.set(file, value))?;
            return Ok(group);
        }
        // The kernel refuses a controller that is enabled already or does not exist, which writing the limit shows.
        let _ = fs::write(root.join("cgroup.subtree_control"), format!("+{controller}"));
        let group = Self::make(&root.join(name))?;
        group.set(second.0, &second.1)?;
        Ok(group)
    }

    /// Returns the file to which a process that joins the group writes its number.
    pub fn joining(&self) -> PathBuf {
        self.0.join("cgroup.procs")
    }

    /// Moves a running process into the group.
    ///
    /// # Errors
    /// If the kernel refuses it.
    pub fn admit(&self, pid: u32) -> Result<(), Error> {
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
