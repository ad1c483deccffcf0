//! A server that is started by a command, and ended with all of its child processes.

use crate::exit::CliError;
use crate::group::Group;
use std::collections::VecDeque;
use std::io::{BufRead, BufReader, ErrorKind, Read};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{ChildStderr, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};
use torr_doctor::Halt;
use torr_net::Address;
use torr_net::errors::describe;
use torr_press::{Plan, RunError};

/// The interval of polling.
const TICK: Duration = Duration::from_millis(10);
/// The time that a server has to end by itself.
const GRACE: Duration = Duration::from_secs(5);
/// The time-out of a connection attempt; an address that does not respond has no listener.
const CONNECT: Duration = Duration::from_secs(1);
/// The number of last lines that are kept.
const LINES: usize = 3;
const LONGEST_LINE: u64 = 400;

/// A command, split as a shell does.
pub struct Launcher {
    /// The flag that has the command, for errors.
    flag: &'static str,
    /// Variables before the program, as in `A=1 program`.
    variables: Vec<(String, String)>,
    program: String,
    /// The program that errors name, if another one starts it.
    name: Option<String>,
    arguments: Vec<String>,
    /// The folder that it runs in, if it is not this program's own.
    folder: Option<PathBuf>,
}

impl Launcher {
    /// Parses the command of a flag; mistakes are bad usage.
    pub fn parse(flag: &'static str, command: &str) -> Result<Self, CliError> {
        let words = shlex::split(command)
            .ok_or_else(|| CliError::Usage(format!("cannot split {flag} into words: a quote is not closed")))?;
        let mut words = words.into_iter().peekable();
        let mut variables = Vec::new();
        while let Some((name, value)) = words.peek().and_then(|word| variable(word)) {
            variables.push((name.to_owned(), value.to_owned()));
            words.next();
        }
        let program = words.next().ok_or_else(|| CliError::Usage(format!("missing program in {flag}")))?;
        Ok(Self { flag, variables, program, name: None, arguments: words.collect(), folder: None })
    }

    /// The program.
    pub fn program(&self) -> &str {
        &self.program
    }

    /// Returns the command with another name for its program in errors, as that of what it starts.
    pub fn called(self, name: &str) -> Self {
        Self { name: Some(name.to_owned()), ..self }
    }

    /// Returns the same command in a folder, with these variables before its own.
    pub fn within(mut self, folder: PathBuf, variables: Vec<(String, String)>) -> Self {
        self.variables.splice(0..0, variables);
        Self { folder: Some(folder), ..self }
    }

    /// Starts the command in a new process group, with values for placeholders. Its addresses must have no listener before.
    pub fn start(&self, placeholders: &[(&str, String)], addresses: &[SocketAddr]) -> Result<Launched, Halt> {
        let begun = Instant::now();
        // Processes of an earlier group may still be about to end.
        while let Some(taken) = addresses.iter().find(|address| is_open(address)) {
            if begun.elapsed() > CONNECT {
                return Err(Halt::Command(format!(
                    "another program already listens on {taken}: stop it, or use {{port}}"
                )));
            }
            thread::sleep(TICK);
        }
        let fill =
            |text: &String| placeholders.iter().fold(text.clone(), |text, (name, word)| text.replace(name, word));
        let program = fill(&self.program);
        let mut command = Command::new(&program);
        command
            .args(self.arguments.iter().map(fill))
            .envs(self.variables.iter().map(|(name, value)| (name, fill(value))))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped());
        if let Some(folder) = &self.folder {
            command.current_dir(folder);
        }
        let mut group = Group::start(&mut command, GRACE).map_err(|error| {
            let flag = self.flag;
            Halt::Command(match error.kind() {
                ErrorKind::NotFound => format!("{flag}: no such program: '{program}'"),
                _ => format!("{flag}: cannot start '{program}': {}", describe(&error)),
            })
        })?;
        let lines = Arc::default();
        let reader = group.stderr().map(|stderr| {
            let lines = Arc::clone(&lines);
            thread::spawn(move || keep_last(stderr, &lines))
        });
        Ok(Launched { group, program: self.name.clone().unwrap_or(program), lines, reader })
    }
}

/// Returns a port without a listener at this moment.
pub fn free_port() -> Result<u16, CliError> {
    let bound = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr());
    bound.map(|address| address.port()).map_err(|error| CliError::Failed(format!("no free port: {}", describe(&error))))
}

/// Returns the error of a URL that was valid with one port but not with another.
pub fn no_start(stop: CliError) -> Halt {
    Halt::Command(stop.into_line())
}

/// Returns whether the address has a listener.
fn is_open(address: &SocketAddr) -> bool {
    TcpStream::connect_timeout(address, CONNECT).is_ok()
}

/// A word that sets a variable.
fn variable(word: &str) -> Option<(&str, &str)> {
    let (name, value) = word.split_once('=')?;
    let is_name = !name.is_empty()
        && !name.starts_with(|c: char| c.is_ascii_digit())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    is_name.then_some((name, value))
}

type Lines = Mutex<VecDeque<String>>;

/// Reads all of a server's standard error, so that the server never blocks, and keeps the last lines.
fn keep_last(stderr: ChildStderr, lines: &Lines) {
    let mut reader = BufReader::new(stderr);
    let mut line = Vec::new();
    while matches!(reader.by_ref().take(LONGEST_LINE).read_until(b'\n', &mut line), Ok(1..)) {
        let text = String::from_utf8_lossy(&line).trim().to_owned();
        line.clear();
        if text.is_empty() {
            continue;
        }
        let mut lines = lines.lock().unwrap_or_else(PoisonError::into_inner);
        lines.push_back(text);
        if lines.len() > LINES {
            lines.pop_front();
        }
    }
}

/// A running server. Its process group is ended on drop.
pub struct Launched {
    group: Group,
    program: String,
    lines: Arc<Lines>,
    reader: Option<JoinHandle<()>>,
}

impl Launched {
    /// Waits until the server has responded to a request.
    pub fn until_it_responds(self, plan: &Plan, patience: Duration, stop: &AtomicBool) -> Result<Self, Halt> {
        let once = Duration::from_secs(1).min(patience);
        let one = Plan { connections: 1, depth: 1, threads: 1, requests: Some(1), ..plan.clone() };
        let look = Plan { duration: Some(once), watch_server: false, ..one };
        let addresses: Vec<SocketAddr> = plan.addresses.iter().filter_map(Address::tcp).collect();
        // A run without a listener retries for a while.
        let mut listens = addresses.is_empty();
        let responds = || {
            listens = listens || addresses.iter().any(is_open);
            if !listens {
                return Ok(false);
            }
            match torr_press::run(&look, stop, |_| {}) {
                Ok(looked) => Ok(looked.result.requests > 0),
                Err(RunError::Unreachable { .. }) => Ok(false),
                Err(error) => Err(error.into()),
            }
        };
        self.until(&plan.target.host_and_port(), patience, stop, responds)
    }

    /// Waits until the server listens.
    pub fn until_it_listens(self, address: SocketAddr, patience: Duration, stop: &AtomicBool) -> Result<Self, Halt> {
        self.until(&address.to_string(), patience, stop, || Ok(is_open(&address)))
    }

    fn until(
        self,
        at: &str,
        patience: Duration,
        stop: &AtomicBool,
        mut responds: impl FnMut() -> Result<bool, Halt>,
    ) -> Result<Self, Halt> {
        let begun = Instant::now();
        loop {
            if stop.load(Ordering::Relaxed) {
                return Err(Halt::Interrupted);
            }
            if self.group.has_ended() {
                return Err(self.silent("ended before it responded: it must stay in the foreground"));
            }
            if responds()? {
                return Ok(self);
            }
            if begun.elapsed() > patience {
                return Err(self.silent(&format!("did not respond at {at} within {:.0} s", patience.as_secs_f64())));
            }
            thread::sleep(TICK);
        }
    }

    /// Returns the error in one line, with the server's last lines.
    fn silent(mut self, what: &str) -> Halt {
        // Its last lines say more than its exit status.
        let _ = self.group.end();
        // Its output is in the pipe, which only a program that left the group can hold open.
        let begun = Instant::now();
        while self.reader.as_ref().is_some_and(|reader| !reader.is_finished()) && begun.elapsed() < GRACE {
            thread::sleep(TICK);
        }
        let lines: Vec<_> = self.lines.lock().unwrap_or_else(PoisonError::into_inner).iter().cloned().collect();
        let said = if lines.is_empty() { "no output".into() } else { format!("output: {}", lines.join(" | ")) };
        Halt::Silent(format!("'{}' {what}; {said}", self.program))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_split_as_a_shell_does() {
        let launcher = Launcher::parse("--command", "A=1 B_2='x y' server --name \"a b\" C=3").unwrap();
        assert_eq!(launcher.variables, [("A".into(), "1".into()), ("B_2".into(), "x y".into())]);
        assert_eq!((launcher.program.as_str(), launcher.arguments.len()), ("server", 3));
        assert!(Launcher::parse("--command", "server 'a").is_err() && Launcher::parse("--command", "A=1").is_err());
    }
}
