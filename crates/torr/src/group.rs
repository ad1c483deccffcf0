//! Programs that Torr starts, each in a process group of its own. None of them is left when Torr ends.

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStderr, Command, ExitStatus};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// The time between two looks at a program that is about to end.
const TICK: Duration = Duration::from_millis(10);

/// The process groups that exist. A group is started and ended under this lock, so that [`kill_all`] misses none and
/// kills no group that has got the number of an earlier one.
static GROUPS: Mutex<Vec<Pid>> = Mutex::new(Vec::new());

fn groups() -> MutexGuard<'static, Vec<Pid>> {
    GROUPS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A running program with all processes of its group. They end when this value is dropped.
///
/// Ctrl-C in a terminal reaches Torr alone: its children have groups of their own.
#[derive(Debug)]
pub struct Group {
    child: Child,
    /// How long the program may take to end by itself after SIGTERM.
    grace: Duration,
    /// Whether the program was waited for. Its number may belong to another process then.
    over: bool,
}

impl Group {
    /// Starts a program in a process group of its own.
    ///
    /// # Errors
    /// If the program cannot be started.
    pub fn start(command: &mut Command, grace: Duration) -> io::Result<Self> {
        let mut groups = groups();
        let child = command.process_group(0).spawn()?;
        groups.push(Pid::from_child(&child));
        Ok(Self { child, grace, over: false })
    }

    /// Takes the program's standard error, if that was piped and not taken yet.
    pub fn stderr(&mut self) -> Option<ChildStderr> {
        self.child.stderr.take()
    }

    /// Returns whether the program has ended. It is not waited for, so its number stays its own.
    pub fn has_ended(&self) -> bool {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        self.over || !matches!(waitid(WaitId::Pid(self.id()), options), Ok(None))
    }

    /// Sends SIGTERM to the group, kills what is left of it after the grace time, and returns how the program ended.
    ///
    /// # Errors
    /// If the program cannot be waited for.
    pub fn end(&mut self) -> io::Result<ExitStatus> {
        if self.over {
            return self.child.wait();
        }
        // It may have ended by itself.
        let _ = kill_process_group(self.id(), Signal::TERM);
        let begun = Instant::now();
        while !self.has_ended() && begun.elapsed() < self.grace {
            thread::sleep(TICK);
        }
        let mut groups = groups();
        // A group is gone once all of its processes are.
        let _ = kill_process_group(self.id(), Signal::KILL);
        let status = self.child.wait();
        let id = self.id();
        groups.retain(|group| *group != id);
        self.over = true;
        status
    }

    fn id(&self) -> Pid {
        Pid::from_child(&self.child)
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        // No process is left that could get the signal.
        let _ = self.end();
    }
}

/// Kills all groups at once. No further group can be started as long as the returned guard lives.
pub fn kill_all() -> impl Drop {
    let groups = groups();
    for group in groups.iter() {
        // It may be gone already.
        let _ = kill_process_group(*group, Signal::KILL);
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_ends_with_its_value_and_with_all_groups() {
        // All groups of the process are killed, those of other tests too.
        if !torr_test_support::has_own_process("group::tests::a_program_ends_with_its_value_and_with_all_groups") {
            return;
        }
        let start = || Group::start(Command::new("sleep").arg("600"), Duration::from_secs(60)).unwrap();
        let (dropped, killed) = (start(), start());
        let id = dropped.id();
        drop(dropped);
        assert!(rustix::process::test_kill_process(id).is_err(), "it is still there");
        let guard = kill_all();
        while !killed.has_ended() {
            thread::sleep(TICK);
        }
        drop(guard);
        assert!(!groups().contains(&id));
    }
}
