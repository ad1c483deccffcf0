//! Programs under measurement: started on one CPU, waited for with patience, and always ended with all they started.

use std::fs::File;
use std::io::{Read, Seek};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process, kill_process_group, pidfd_open};

use crate::cpu;
use torr_test_support::error::Error;
use torr_test_support::interrupt;

/// The servers' CPU.
pub const SERVER_CPU: usize = 0;
/// The load generators' CPU.
pub const LOAD_CPU: usize = 1;
/// What stands for no CPU in particular.
pub const ALL_CPUS: usize = usize::MAX;

/// A running program, with its output going to files: a pipe would want a reader, which would take CPU time as well.
struct Pinned {
    name: &'static str,
    child: Child,
    pid: Pid,
    pidfd: OwnedFd,
    stdout: File,
    stderr: File,
    reaped: bool,
}

impl Pinned {
    fn start(
        name: &'static str,
        cpu: usize,
        program: &str,
        arguments: &[String],
        folder: &Path,
    ) -> Result<Self, Error> {
        let failed = |e: std::io::Error| Error::failed(format!("cannot start {name}: {e}"));
        let (stdout, stderr) = (tempfile::tempfile().map_err(failed)?, tempfile::tempfile().map_err(failed)?);
        let mut child = Command::new(std::env::current_exe()?)
            .args(["launch", &cpu.to_string(), &std::process::id().to_string(), "--", program])
            .args(arguments)
            .current_dir(folder)
            .stdin(Stdio::null())
            .stdout(stdout.try_clone().map_err(failed)?)
            .stderr(stderr.try_clone().map_err(failed)?)
            .process_group(0)
            .spawn()
            .map_err(failed)?;
        let pid = Pid::from_child(&child);
        match pidfd_open(pid, PidfdFlags::empty()) {
            Ok(pidfd) => Ok(Pinned { name, child, pid, pidfd, stdout, stderr, reaped: false }),
            Err(e) => {
                let _ = child.kill();
                let _ = child.wait();
                Err(failed(e.into()))
            }
        }
    }

    /// Has it ended within this time? It is not reaped by this.
    fn ended_within(&self, time: Duration) -> bool {
        let time = Timespec { tv_sec: time.as_secs() as i64, tv_nsec: time.subsec_nanos().into() };
        poll(&mut [PollFd::new(&self.pidfd, PollFlags::IN)], Some(&time)).is_ok_and(|ready| ready > 0)
    }

    /// Waits for its end, Ctrl-C or the time limit, and does something ten times a second meanwhile.
    fn wait(&self, limit: Duration, mut meanwhile: impl FnMut() -> Result<(), Error>) -> Result<(), Error> {
        let begin = Instant::now();
        while !self.ended_within(Duration::from_millis(100)) {
            interrupt::check()?;
            meanwhile()?;
            if begin.elapsed() > limit {
                return Err(Error::failed(format!("{} did not end within {limit:?}", self.name)));
            }
        }
        Ok(())
    }

    /// The last line it wrote, preferably on stderr.
    fn last_words(&mut self) -> String {
        let (stderr, stdout) = (read(&mut self.stderr), read(&mut self.stdout));
        let last = |text: &str| text.lines().map(str::trim).rfind(|line| !line.is_empty()).map(str::to_owned);
        last(&stderr).or_else(|| last(&stdout)).unwrap_or_else(|| "it said nothing".into())
    }
}

impl Drop for Pinned {
    /// Ends the whole process group: politely, then by force. The group's id cannot be reused before its leader is reaped.
    fn drop(&mut self) {
        if self.reaped {
            return;
        }
        let _ = kill_process_group(self.pid, Signal::TERM);
        self.ended_within(Duration::from_secs(2));
        let _ = kill_process_group(self.pid, Signal::KILL);
        let _ = self.child.wait();
    }
}

fn read(file: &mut File) -> String {
    let mut text = Vec::new();
    let _ = file.rewind().and_then(|()| file.read_to_end(&mut text));
    String::from_utf8_lossy(&text).into_owned()
}

/// A program that has run to its end.
pub struct Ended {
    /// What it wrote on stdout.
    pub stdout: String,
    /// The last line it wrote, preferably on stderr.
    pub last_words: String,
    /// Its CPU time in seconds, from its start to the end of its last thread.
    pub cpu_seconds: f64,
    /// From start to end, in seconds.
    pub wall_seconds: f64,
    /// The peak of its resident memory in KiB, as it was a tenth of a second before its end at the latest.
    pub peak_memory_kib: u64,
}

/// Runs a load generator on the load's CPU to its end; an error if it fails or takes longer than the limit.
pub fn run(
    name: &'static str,
    program: &str,
    arguments: &[String],
    folder: &Path,
    limit: Duration,
) -> Result<Ended, Error> {
    run_while(name, program, arguments, folder, limit, || Ok(()))
}

/// Runs a program to its end, and calls a function ten times a second meanwhile, whose failure ends the run.
pub fn run_while(
    name: &'static str,
    program: &str,
    arguments: &[String],
    folder: &Path,
    limit: Duration,
    mut meanwhile: impl FnMut() -> Result<(), Error>,
) -> Result<Ended, Error> {
    let begin = Instant::now();
    let mut program = Pinned::start(name, LOAD_CPU, program, arguments, folder)?;
    let (pid, mut peak_memory_kib) = (program.pid, 0);
    program.wait(limit, || {
        peak_memory_kib = peak_memory(pid).unwrap_or(0).max(peak_memory_kib);
        meanwhile()
    })?;
    let wall_seconds = begin.elapsed().as_secs_f64();
    let _ = kill_process_group(program.pid, Signal::KILL); // what it may have left behind, while the id is still its own
    let before = cpu::reaped();
    let status = program.child.wait()?;
    let cpu_seconds = cpu::reaped() - before;
    program.reaped = true;
    let (stdout, last_words) = (read(&mut program.stdout), program.last_words());
    match status.success() {
        true => Ok(Ended { stdout, last_words, cpu_seconds, wall_seconds, peak_memory_kib }),
        false => Err(Error::failed(format!("{name} failed ({status}): {last_words}"))),
    }
}

/// Returns the peak of a running process's resident memory in KiB.
fn peak_memory(pid: Pid) -> Option<u64> {
    memory(pid.as_raw_nonzero().get() as u32, "VmHWM:")
}

/// Returns a running process's resident memory in KiB.
pub fn resident_memory(pid: u32) -> Result<u64, Error> {
    memory(pid, "VmRSS:").ok_or_else(|| Error::failed("a process without resident memory"))
}

/// Returns a figure of a running process's memory in KiB, by the kernel's name for it.
fn memory(pid: u32, name: &str) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    status.lines().find_map(|line| line.strip_prefix(name))?.trim().strip_suffix(" kB")?.parse().ok()
}

/// A load generator beside the one that is measured; it ends when this is dropped.
pub struct Beside(Pinned);

impl Beside {
    /// Starts it on the load's CPU.
    pub fn start(name: &'static str, program: &str, arguments: &[String], folder: &Path) -> Result<Self, Error> {
        Self::start_on(LOAD_CPU, name, program, arguments, folder)
    }

    /// Starts it on a CPU, or on [`ALL_CPUS`].
    pub fn start_on(
        cpu: usize,
        name: &'static str,
        program: &str,
        arguments: &[String],
        folder: &Path,
    ) -> Result<Self, Error> {
        Pinned::start(name, cpu, program, arguments, folder).map(Self)
    }

    /// Its process id.
    pub fn pid(&self) -> u32 {
        self.0.pid.as_raw_nonzero().get() as u32
    }

    /// Whether it has ended by itself.
    pub fn has_ended(&self) -> bool {
        self.0.ended_within(Duration::ZERO)
    }

    /// Waits for its end, and returns its exit code, what it wrote on stdout, and its last line.
    pub fn finish(mut self, limit: Duration) -> Result<(Option<i32>, String, String), Error> {
        self.0.wait(limit, || Ok(()))?;
        let status = self.0.child.wait()?;
        self.0.reaped = true;
        Ok((status.code(), read(&mut self.0.stdout), self.0.last_words()))
    }
}

/// A server under measurement; it ends when this is dropped.
pub struct Server {
    program: Pinned,
    port: u16,
}

impl Server {
    /// Starts a server on the servers' CPU and waits until its port responds.
    pub fn start(
        name: &'static str,
        port: u16,
        program: &str,
        arguments: &[String],
        folder: &Path,
    ) -> Result<Self, Error> {
        Self::start_on(SERVER_CPU, name, port, program, arguments, folder)
    }

    /// Starts a server on all CPUs and waits until its port responds.
    pub fn on_all_cpus(
        name: &'static str,
        port: u16,
        program: &str,
        arguments: &[String],
        folder: &Path,
    ) -> Result<Self, Error> {
        Self::start_on(ALL_CPUS, name, port, program, arguments, folder)
    }

    fn start_on(
        cpu: usize,
        name: &'static str,
        port: u16,
        program: &str,
        arguments: &[String],
        folder: &Path,
    ) -> Result<Self, Error> {
        let program = Pinned::start(name, cpu, program, arguments, folder)?;
        let mut server = Server { program, port };
        let begin = Instant::now();
        loop {
            interrupt::check()?;
            // Checked first, so that a port that responds is this server's own and not that of one who took it before.
            if server.program.ended_within(Duration::from_millis(20)) {
                let last_words = server.program.last_words();
                return Err(Error::failed(format!("{name} ended before it listened: {last_words}")));
            }
            if TcpStream::connect_timeout(&server.address(), Duration::from_millis(200)).is_ok() {
                sleep(Duration::from_millis(200)); // to settle
                return Ok(server);
            }
            if begin.elapsed() > Duration::from_secs(30) {
                return Err(Error::failed(format!("{name} did not listen within 30 s")));
            }
        }
    }

    /// Port on the loopback.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Its process id.
    pub fn pid(&self) -> u32 {
        self.program.pid.as_raw_nonzero().get() as u32
    }

    /// CPU seconds used so far by it and all it started, once it is at rest; an error if it has ended.
    pub fn cpu_at_rest(&mut self) -> Result<f64, Error> {
        let used = cpu::at_rest(self.pid());
        if self.program.ended_within(Duration::ZERO) {
            let last_words = self.program.last_words();
            return Err(Error::failed(format!("{} ended: {last_words}", self.program.name)));
        }
        Ok(used)
    }

    /// Sends it, and nothing that it has started, a signal.
    pub fn signal(&self, signal: Signal) -> Result<(), Error> {
        kill_process(self.program.pid, signal).map_err(Error::at(format!("cannot signal {}", self.program.name)))
    }

    /// Returns what it has written on stderr so far. Its own offset in the file is unchanged.
    pub fn said(&self) -> Result<String, Error> {
        let mut text = vec![0; self.program.stderr.metadata()?.len() as usize];
        self.program.stderr.read_exact_at(&mut text, 0)?;
        Ok(String::from_utf8_lossy(&text).into_owned())
    }

    fn address(&self) -> SocketAddr {
        (Ipv4Addr::LOCALHOST, self.port).into()
    }
}

/// Returns a loopback port without a listener. Below the ephemeral ports, which short connections go through by the thousand.
pub fn free_port() -> Result<u16, Error> {
    use std::sync::atomic::{AtomicU16, Ordering};
    static NEXT: AtomicU16 = AtomicU16::new(19_390);
    for _ in 0..1000 {
        let port = NEXT.fetch_add(1, Ordering::Relaxed);
        if TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_ok() {
            return Ok(port);
        }
    }
    Err(Error::failed("no free port from 19390 on"))
}
