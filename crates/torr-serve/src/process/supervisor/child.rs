//! A worker process as its supervisor sees it: its start, its messages and its end.

use crate::observe::metrics_table::MetricsTable;
use crate::process::inherited::{self, READY};
use crate::process::systemd;
use command_fds::CommandFdExt;
use rustix::process::{Pid, PidfdFlags, pidfd_open};
use std::env;
use std::ffi::OsString;
use std::fs;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{self, Command, ExitStatus};
use std::time::Instant;

/// The program of this process, to be started as a worker.
#[derive(Debug)]
pub(crate) struct Program {
    path: PathBuf,
    name: OsString,
    arguments: Vec<OsString>,
}

impl Program {
    /// Returns the program with the arguments and the name of this process.
    ///
    /// # Errors
    /// If the path of the executable is unknown.
    pub fn of_this_process() -> io::Result<Self> {
        let actual = env::current_exe()?;
        let mut arguments = env::args_os();
        let name = arguments.next().unwrap_or_else(|| actual.clone().into());
        // A path with symbolic links is kept: a new version may be installed by a change of the link.
        let given = PathBuf::from(&name);
        let given = given.components().nth(1).and_then(|_| std::path::absolute(&given).ok());
        let path = given.filter(|given| fs::canonicalize(given).is_ok_and(|found| found == actual)).unwrap_or(actual);
        Ok(Self { path, name, arguments: arguments.collect() })
    }

    /// Starts the program as a worker with copies of these listeners.
    ///
    /// # Errors
    /// If the program does not exist any more, or the system refuses a process.
    pub fn start(
        &self,
        number: usize,
        generation: usize,
        table: &MetricsTable,
        listeners: &[OwnedFd],
    ) -> io::Result<Child> {
        let (channel, theirs) = UnixStream::pair()?;
        channel.set_nonblocking(true)?;
        let theirs = OwnedFd::from(theirs);
        let copies = listeners.iter().map(OwnedFd::try_clone);
        let copies = std::iter::once(table.descriptor()).chain(copies).collect::<io::Result<Vec<_>>>()?;
        let mut command = Command::new(&self.path);
        command.arg0(&self.name).args(&self.arguments);
        command.env(inherited::VARIABLE, inherited::note(number, generation, &theirs, &copies));
        for name in systemd::VARIABLES {
            command.env_remove(name);
        }
        // Ctrl-C in a terminal reaches the supervisor alone, which stops its workers.
        command.process_group(0);
        command.preserved_fds([theirs].into_iter().chain(copies).collect());
        let mut process = command.spawn()?;
        // The command holds the worker's end of the channel.
        drop(command);
        let pid = i32::try_from(process.id()).ok().and_then(Pid::from_raw);
        let end = pidfd_open(pid.expect("a process has a positive number"), PidfdFlags::empty());
        let end = end.inspect_err(|_| {
            // Without a pidfd its end could not be noticed.
            let _ = process.kill();
            let _ = process.wait();
        })?;
        Ok(Child { number, generation, process, end, channel })
    }
}

/// A worker process.
#[derive(Debug)]
pub(crate) struct Child {
    /// The worker's number, from 1.
    pub number: usize,
    /// The number of the worker's row among those of its slot, below `GENERATIONS`.
    pub generation: usize,
    process: process::Child,
    end: OwnedFd,
    channel: UnixStream,
}

impl Child {
    pub fn pid(&self) -> u32 {
        self.process.id()
    }

    /// Returns a descriptor that is readable once the process has ended.
    pub fn end(&self) -> impl AsFd {
        &self.end
    }

    /// Returns the channel, which is readable once the worker has sent a message.
    pub fn channel(&self) -> impl AsFd {
        &self.channel
    }

    /// Receives a message. Returns whether it is that the worker is ready.
    pub fn receive_ready(&mut self) -> bool {
        let mut message = [0];
        self.channel.read(&mut message).is_ok_and(|n| n == 1 && message[0] == READY)
    }

    /// Sends a message.
    pub fn send(&mut self, message: u8) {
        // The process may have ended.
        let _ = self.channel.write(&[message]);
    }

    /// Kills the process.
    pub fn kill(&mut self) {
        let _ = self.process.kill();
    }

    /// Waits for the end of the process.
    pub fn wait(mut self) -> io::Result<ExitStatus> {
        self.process.wait()
    }
}

/// Returns in words how a process ended.
pub(crate) fn ending(status: ExitStatus) -> String {
    use std::os::unix::process::ExitStatusExt;
    match (status.signal(), status.code()) {
        (Some(signal), _) => match signal_hook::low_level::signal_name(signal) {
            Some(name) => format!("was terminated by {name}"),
            None => format!("was terminated by signal {signal}"),
        },
        (None, Some(code)) => format!("ended with exit code {code}"),
        (None, None) => "ended".into(),
    }
}

/// The time by which a worker has to be ready or to end.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Deadline {
    pub at: Instant,
    /// The fault to report if the deadline is missed.
    pub fault: &'static str,
}
