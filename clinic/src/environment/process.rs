//! Processes, which end with all their children when they are dropped.

use rustix::process::{Pid, Signal, kill_process_group};
use std::fs::{self, File};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};
use torr_test_support::error::Error;
use torr_test_support::interrupt;

/// The interval at which a condition is polled.
const TICK: Duration = Duration::from_millis(10);

/// A running program, in a process group of its own.
pub struct Process {
    name: String,
    child: Child,
    log: PathBuf,
}

/// The end of a program.
pub struct Ended {
    pub status: ExitStatus,
    /// The last line of the program's output.
    pub last_line: String,
}

impl Process {
    /// Starts a command whose output is appended to a file of this folder.
    ///
    /// # Errors
    /// If the command cannot be started.
    pub fn start(name: &str, command: &mut Command, folder: &Path) -> Result<Self, Error> {
        let failed = |error| Error::at(format!("cannot start {name}"))(error);
        let log = folder.join(format!("{name}.log"));
        let output = File::options().create(true).append(true).open(&log).map_err(failed)?;
        let errors = output.try_clone().map_err(failed)?;
        let child = command
            .stdin(Stdio::null())
            .stdout(output)
            .stderr(errors)
            .process_group(0)
            .spawn()
            .map_err(Error::at(format!("cannot start {name}")))?;
        Ok(Self { name: name.to_owned(), child, log })
    }

    /// Returns the process number.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Waits until a condition holds.
    ///
    /// # Errors
    /// If the program ends first, or `limit` has passed, or the clinic is interrupted.
    pub fn until(&mut self, what: &str, limit: Duration, mut holds: impl FnMut() -> bool) -> Result<(), Error> {
        let begin = Instant::now();
        while !holds() {
            interrupt::check()?;
            let name = &self.name;
            if self.child.try_wait()?.is_some() {
                return Err(Error::failed(format!("{name} has ended: {}", self.last_line())));
            }
            if begin.elapsed() > limit {
                return Err(Error::failed(format!("{name}: not within {limit:?}: {what}: {}", self.last_line())));
            }
            thread::sleep(TICK);
        }
        Ok(())
    }

    /// Waits for the program's end.
    ///
    /// # Errors
    /// If `limit` has passed, or the clinic is interrupted.
    pub fn end(mut self, limit: Duration) -> Result<Ended, Error> {
        let begin = Instant::now();
        loop {
            interrupt::check()?;
            if let Some(status) = self.child.try_wait()? {
                return Ok(Ended { status, last_line: self.last_line() });
            }
            if begin.elapsed() > limit {
                return Err(Error::failed(format!("{} did not end within {limit:?}", self.name)));
            }
            thread::sleep(TICK);
        }
    }

    /// Returns the last line of the program's output.
    fn last_line(&self) -> String {
        let said = fs::read(&self.log).unwrap_or_default();
        let said = String::from_utf8_lossy(&said);
        said.lines().map(str::trim).rfind(|line| !line.is_empty()).unwrap_or("no output").to_owned()
    }
}

impl Drop for Process {
    /// Kills the process group: no program of the clinic has anything to save.
    fn drop(&mut self) {
        // The group may outlive its leader. Its number is not reused while the group has a process.
        let _ = kill_process_group(Pid::from_child(&self.child), Signal::KILL);
        let _ = self.child.wait();
    }
}
