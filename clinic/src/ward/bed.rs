//! What a subject is given: a folder, ports, places for its programs and for its doctor.

use super::place::Place;
use super::ports;
use super::process::Process;
use crate::error::Error;
use std::any::Any;
use std::ffi::OsStr;
use std::fs;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::time::Duration;
use tempfile::TempDir;

/// How long a program may take until it answers.
const START: Duration = Duration::from_secs(30);

/// Holds all that one subject is made of, and ends it in the reverse order.
pub struct Bed {
    torr: PathBuf,
    /// Where its servers' addresses are.
    pub(super) host: IpAddr,
    /// Where programs are started from now on.
    pub place: Place,
    /// Where the doctor is started.
    pub doctor: Place,
    held: Vec<Box<dyn Any>>,
    folder: TempDir,
}

impl Bed {
    /// An empty one, for `torr` at this path.
    ///
    /// # Errors
    /// If there can be no folder.
    pub fn new(torr: &Path) -> Result<Self, Error> {
        let folder = tempfile::Builder::new().prefix("torr-clinic-").tempdir()?;
        Ok(Self {
            torr: torr.to_owned(),
            host: Ipv4Addr::LOCALHOST.into(),
            place: Place::default(),
            doctor: Place::default(),
            held: Vec::new(),
            folder,
        })
    }

    /// The subject's own folder.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Where `torr` is.
    pub fn torr(&self) -> &Path {
        &self.torr
    }

    /// An address that a server can listen on.
    ///
    /// # Errors
    /// If no port is free.
    pub fn address(&self) -> Result<SocketAddr, Error> {
        Ok((self.host, ports::free()?).into())
    }

    /// Keeps something until the subject ends.
    pub fn hold<T: 'static>(&mut self, what: T) {
        self.held.push(Box::new(what));
    }

    /// Writes a file into the folder.
    ///
    /// # Errors
    /// If that fails.
    pub fn write(&self, name: &str, contents: &str) -> Result<PathBuf, Error> {
        let path = self.folder().join(name);
        fs::write(&path, contents).map_err(Error::at(path.display()))?;
        Ok(path)
    }

    /// Starts a program that runs until the subject ends.
    ///
    /// # Errors
    /// If it cannot be started.
    pub fn run<S: AsRef<OsStr>>(&mut self, program: impl AsRef<OsStr>, arguments: &[S]) -> Result<(), Error> {
        let process = self.start(program.as_ref(), arguments, &[])?;
        self.hold(process);
        Ok(())
    }

    /// Starts a server, and waits until it answers a request where the doctor will be.
    ///
    /// # Errors
    /// If it does not.
    pub fn serve<S: AsRef<OsStr>>(
        &mut self,
        program: impl AsRef<OsStr>,
        arguments: &[S],
        variables: &[(&str, &str)],
        url: &str,
    ) -> Result<(), Error> {
        let mut process = self.start(program.as_ref(), arguments, variables)?;
        let (torr, doctor) = (self.torr.clone(), self.doctor.clone());
        process.until("to answer", START, || {
            let mut asks = doctor.command(&torr);
            asks.args(["-n", "1", "-c", "1", "-t", "1", "-k", "-q", "--timeout", "5s", "--json", "-", url]);
            asks.output().is_ok_and(|answer| answer.status.success())
        })?;
        self.hold(process);
        Ok(())
    }

    fn start<S: AsRef<OsStr>>(
        &self,
        program: &OsStr,
        arguments: &[S],
        variables: &[(&str, &str)],
    ) -> Result<Process, Error> {
        let name = Path::new(program).file_name().unwrap_or(program).to_string_lossy().into_owned();
        let mut command = self.place.command(program);
        command.args(arguments).envs(variables.iter().copied()).current_dir(self.folder());
        Process::start(&name, &mut command, self.folder())
    }
}

impl Drop for Bed {
    fn drop(&mut self) {
        while let Some(last) = self.held.pop() {
            drop(last);
        }
    }
}
