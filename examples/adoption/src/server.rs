//! A program that serves, and the port that it listens on.

use std::fs;
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// The longest time from a program's start until it listens.
const START: Duration = Duration::from_secs(20);
/// The time between two looks at what a program listens on.
const LOOK: Duration = Duration::from_millis(20);
/// The state of a listener in the kernel's table of sockets.
const LISTENS: &str = "0A";

/// A started program, which ends when this value is dropped.
pub struct Server {
    child: Child,
    pub address: SocketAddr,
}

impl Server {
    /// Starts a program in its folder and waits until it listens. Its output goes to a file.
    pub fn start(program: &Path, folder: &Path, output: &Path, environment: &[[String; 2]]) -> Result<Self, String> {
        let file = fs::File::create(output).map_err(|error| format!("{}: {error}", output.display()))?;
        let copy = file.try_clone().map_err(|error| error.to_string())?;
        let mut command = Command::new(program);
        command.current_dir(folder).stdin(Stdio::null()).stdout(file).stderr(copy).env("RUST_LOG", "error");
        command.envs(environment.iter().map(|[name, value]| (name, value)));
        let mut child = command.spawn().map_err(|error| format!("{}: {error}", program.display()))?;
        let deadline = Instant::now() + START;
        loop {
            if let Some(port) = port_of(child.id()) {
                return Ok(Self { child, address: SocketAddr::from(([127, 0, 0, 1], port)) });
            }
            let ended = child.try_wait().map_err(|error| error.to_string())?;
            if ended.is_some() || Instant::now() > deadline {
                let _ = child.kill();
                let _ = child.wait();
                let why = ended.map_or("does not listen".to_owned(), |status| format!("ended: {status}"));
                return Err(format!("{why}, see {}", output.display()));
            }
            thread::sleep(LOOK);
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Returns the TCP port that a process listens on.
fn port_of(process: u32) -> Option<u16> {
    let descriptors = fs::read_dir(format!("/proc/{process}/fd")).ok()?;
    let links = descriptors.filter_map(|entry| fs::read_link(entry.ok()?.path()).ok());
    let sockets: Vec<String> =
        links.filter_map(|link| Some(link.to_str()?.strip_prefix("socket:[")?.strip_suffix(']')?.to_owned())).collect();
    let table = fs::read_to_string(format!("/proc/{process}/net/tcp")).ok()?;
    table.lines().skip(1).find_map(|line| {
        let columns: Vec<_> = line.split_whitespace().collect();
        let (local, state, socket) = (columns.get(1)?, columns.get(3)?, columns.get(9)?);
        let is_own = *state == LISTENS && sockets.iter().any(|own| own == socket);
        let port = u16::from_str_radix(local.rsplit(':').next()?, 16).ok()?;
        is_own.then_some(port)
    })
}
