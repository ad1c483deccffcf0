//! The resources of one subject, and the start of its programs.

use super::placement::Placement;
use super::ports;
use super::process::Process;
use super::socket::Socket;
use std::any::Any;
use std::ffi::OsStr;
use std::fs;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::time::Duration;
use tempfile::TempDir;
use torr_test_support::error::Error;

/// The time that a server may take until it responds.
const START: Duration = Duration::from_secs(30);

/// The resources of one subject, which are ended in the reverse order of their start.
pub struct Environment {
    torr: PathBuf,
    /// The address that servers listen on.
    pub(super) host: IpAddr,
    /// The placement of programs that are started from now on.
    pub placement: Placement,
    /// The placement of the load generator.
    pub generator: Placement,
    /// The arguments of `torr` that lead to the server, where a URL alone does not. Paths in them are those of the folder.
    pub way: &'static [&'static str],
    /// The arguments of `torr doctor` that permit it to look closer: to ask a process, to use a login.
    pub permitted: Vec<String>,
    last_server: Option<u32>,
    held: Vec<Box<dyn Any>>,
    folder: TempDir,
}

impl Environment {
    /// Creates an environment with a folder. `torr` is the program that is tried.
    ///
    /// # Errors
    /// If the folder cannot be created.
    pub fn new(torr: &Path) -> Result<Self, Error> {
        let folder = tempfile::Builder::new().prefix("torr-clinic-").tempdir()?;
        Ok(Self {
            torr: torr.to_owned(),
            host: Ipv4Addr::LOCALHOST.into(),
            placement: Placement::default(),
            generator: Placement::default(),
            way: &[],
            permitted: Vec::new(),
            last_server: None,
            held: Vec::new(),
            folder,
        })
    }

    /// Returns the subject's own folder.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Returns the path of `torr`.
    pub fn torr(&self) -> &Path {
        &self.torr
    }

    /// Returns an address that a server can listen on.
    ///
    /// # Errors
    /// If no port is free.
    pub fn address(&self) -> Result<SocketAddr, Error> {
        Ok((self.host, ports::free()?).into())
    }

    /// Keeps a resource until the subject ends.
    pub fn hold<T: 'static>(&mut self, resource: T) {
        self.held.push(Box::new(resource));
    }

    /// Writes a file into the folder.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn write(&self, name: &str, contents: &str) -> Result<PathBuf, Error> {
        let path = self.folder().join(name);
        fs::write(&path, contents).map_err(Error::at(path.display()))?;
        Ok(path)
    }

    /// Starts a program that runs until the subject ends.
    ///
    /// # Errors
    /// If the program cannot be started.
    pub fn run<S: AsRef<OsStr>>(&mut self, program: impl AsRef<OsStr>, arguments: &[S]) -> Result<(), Error> {
        let process = self.start(program.as_ref(), arguments, &[])?;
        self.hold(process);
        Ok(())
    }

    /// Starts a server, and waits until it responds to a request from the load generator's placement.
    ///
    /// # Errors
    /// If the server does not respond in time.
    pub fn serve<S: AsRef<OsStr>>(
        &mut self,
        program: impl AsRef<OsStr>,
        arguments: &[S],
        variables: &[(&str, &str)],
        url: &str,
    ) -> Result<(), Error> {
        let mut process = self.start(program.as_ref(), arguments, variables)?;
        let (torr, generator) = (self.torr.clone(), self.generator.clone());
        process.until("to answer", START, || {
            let mut command = generator.command(&torr);
            command.args(["-n", "1", "-c", "1", "-t", "1", "-k", "-q", "--timeout", "5s", "--json", "-", url]);
            command.args(self.way).current_dir(self.folder());
            command.output().is_ok_and(|output| output.status.success())
        })?;
        self.last_server = Some(process.pid());
        self.hold(process);
        Ok(())
    }

    /// Starts a server that does not speak HTTP, and waits until its socket takes a connection.
    ///
    /// # Errors
    /// If the server does not listen in time.
    pub fn serve_socket<S: AsRef<OsStr>>(
        &mut self,
        program: impl AsRef<OsStr>,
        arguments: &[S],
        socket: &Socket,
    ) -> Result<(), Error> {
        let mut process = self.start(program.as_ref(), arguments, &[])?;
        process.until("to listen", START, || socket.is_open())?;
        self.hold(process);
        Ok(())
    }

    /// Returns the process of the server that was started last and speaks HTTP.
    pub fn last_server(&self) -> Option<u32> {
        self.last_server
    }

    fn start<S: AsRef<OsStr>>(
        &self,
        program: &OsStr,
        arguments: &[S],
        variables: &[(&str, &str)],
    ) -> Result<Process, Error> {
        let name = Path::new(program).file_name().unwrap_or(program).to_string_lossy().into_owned();
        let mut command = self.placement.command(program);
        command.args(arguments).envs(variables.iter().copied()).current_dir(self.folder());
        Process::start(&name, &mut command, self.folder())
    }
}

impl Drop for Environment {
    fn drop(&mut self) {
        while let Some(last) = self.held.pop() {
            drop(last);
        }
    }
}
