//! A worker process as its supervisor sees it: how it is started, spoken to and ended.

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

/// This program, to be started again.
#[derive(Debug)]
pub(crate) struct Program {
    path: PathBuf,
    name: OsString,
    arguments: Vec<OsString>,
}

impl Program {
    /// With the arguments and the name of this process.
    ///
    /// # Errors
    /// If the system does not tell its path.
    pub fn of_this_process() -> io::Result<Self> {
        let actual = env::current_exe()?;
        let mut arguments = env::args_os();
        let name = arguments.next().unwrap_or_else(|| actual.clone().into());
        // A path with links in it is kept as it was given: a new version may be installed by changing a link.
        let given = PathBuf::from(&name);
        let given = given.components().nth(1).and_then(|_| std::path::absolute(&given).ok());
        let path = given.filter(|given| fs::canonicalize(given).is_ok_and(|found| found == actual)).unwrap_or(actual);
        Ok(Self { path, name, arguments: arguments.collect() })
    }

    /// Starts it as a worker with a copy of these listeners.
    ///
    /// # Errors
    /// If there is no such program any more, or the system has no room for it.
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
        // Ctrl-C in a terminal reaches the supervisor alone, which tells its workers.
        command.process_group(0);
        command.preserved_fds([theirs].into_iter().chain(copies).collect());
        let mut process = command.spawn()?;
        // The command holds the worker's end of the channel.
        drop(command);
        let pid = i32::try_from(process.id()).ok().and_then(Pid::from_raw);
        let end = pidfd_open(pid.expect("a process has a positive number"), PidfdFlags::empty());
        let end = end.inspect_err(|_| {
            // Nobody would ever hear of its end.
            let _ = process.kill();
            let _ = process.wait();
        })?;
        Ok(Child { number, generation, process, end, channel })
    }
}

/// A worker process.
#[derive(Debug)]
pub(crate) struct Child {
    /// Its place among the workers, from 1.
    pub number: usize,
    /// Which of its rows of the table the worker has.
    pub generation: usize,
    process: process::Child,
    end: OwnedFd,
    channel: UnixStream,
}

impl Child {
    pub fn pid(&self) -> u32 {
        self.process.id()
    }

    /// Readable once it has ended.
    pub fn end(&self) -> impl AsFd {
        &self.end
    }

    /// Readable once it has something to say.
    pub fn channel(&self) -> impl AsFd {
        &self.channel
    }

    /// Whether it says that it is ready.
    pub fn says_ready(&mut self) -> bool {
        let mut said = [0];
        self.channel.read(&mut said).is_ok_and(|n| n == 1 && said[0] == READY)
    }

    /// Tells it something.
    pub fn tell(&mut self, what: u8) {
        // One that has ended need not be told.
        let _ = self.channel.write(&[what]);
    }

    /// Ends it at once.
    pub fn kill(&mut self) {
        let _ = self.process.kill();
    }

    /// Waits for its end.
    pub fn wait(mut self) -> io::Result<ExitStatus> {
        self.process.wait()
    }
}

/// In words how a process ended.
pub(crate) fn ending(status: ExitStatus) -> String {
    use std::os::unix::process::ExitStatusExt;
    match (status.signal(), status.code()) {
        (Some(signal), _) => match signal_hook::low_level::signal_name(signal) {
            Some(name) => format!("was ended by {name}"),
            None => format!("was ended by signal {signal}"),
        },
        (None, Some(code)) => format!("ended with exit code {code}"),
        (None, None) => "ended".into(),
    }
}

/// What becomes of the time that something may take.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Deadline {
    pub at: Instant,
    /// What it does not do by then.
    pub fault: &'static str,
}
