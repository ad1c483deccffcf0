//! A server that is started by a command, and ended with all that it started.

use crate::exit::Stop;
use crate::group::Group;
use std::collections::VecDeque;
use std::io::{BufRead, BufReader, ErrorKind, Read};
use std::net::{SocketAddr, TcpStream};
use std::process::{ChildStderr, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};
use torr_doctor::Halt;
use torr_net::Address;
use torr_press::{Plan, RunError};

/// How often is looked whether something has happened.
const TICK: Duration = Duration::from_millis(10);
/// How long a server may take to end by itself.
const GRACE: Duration = Duration::from_secs(5);
/// How long a connection attempt may take. An address that stays silent for so long has no listener.
const CONNECT: Duration = Duration::from_secs(1);
/// How many of its last lines are kept, and how long each may be.
const LINES: usize = 3;
const LONGEST_LINE: u64 = 400;

/// A command, split as a shell does.
pub struct Launcher {
    /// Variables that stand before it, as in `A=1 program`.
    variables: Vec<(String, String)>,
    program: String,
    arguments: Vec<String>,
}

impl Launcher {
    /// What is wrong with a command is the user's to mend.
    pub fn parse(command: &str) -> Result<Self, Stop> {
        let words = shlex::split(command)
            .ok_or_else(|| Stop::Usage("--command cannot be split into words: a quote is not closed".into()))?;
        let mut words = words.into_iter().peekable();
        let mut variables = Vec::new();
        while let Some((name, value)) = words.peek().and_then(|word| variable(word)) {
            variables.push((name.to_owned(), value.to_owned()));
            words.next();
        }
        let program = words.next().ok_or_else(|| Stop::Usage("--command names no program".into()))?;
        Ok(Self { variables, program, arguments: words.collect() })
    }

    /// Starts it in a process group of its own, with these values for their placeholders. Its addresses have no listener before.
    pub fn start(&self, places: &[(&str, String)], addresses: &[SocketAddr]) -> Result<Launched, Halt> {
        let begun = Instant::now();
        // What was left of an earlier group may still be about to end.
        while let Some(taken) = addresses.iter().find(|address| is_open(address)) {
            if begun.elapsed() > CONNECT {
                return Err(Halt::Command(format!(
                    "somebody listens on {taken} already: end that first, or use {{port}}"
                )));
            }
            thread::sleep(TICK);
        }
        let fill = |text: &String| places.iter().fold(text.clone(), |text, (place, word)| text.replace(place, word));
        let program = fill(&self.program);
        let mut command = Command::new(&program);
        command
            .args(self.arguments.iter().map(fill))
            .envs(self.variables.iter().map(|(name, value)| (name, fill(value))))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped());
        let mut group = Group::start(&mut command, GRACE).map_err(|error| {
            Halt::Command(match error.kind() {
                ErrorKind::NotFound => format!("--command: there is no program '{program}'"),
                _ => format!("--command: '{program}' cannot be started: {error}"),
            })
        })?;
        let lines = Arc::default();
        let reader = group.stderr().map(|stderr| {
            let lines = Arc::clone(&lines);
            thread::spawn(move || keep_last(stderr, &lines))
        });
        Ok(Launched { group, program, lines, reader })
    }
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

/// Reads all that a server says, so that it never waits for it, and keeps the last lines.
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

/// A running server, which ends with this value, and so does all else in its process group.
pub struct Launched {
    group: Group,
    program: String,
    lines: Arc<Lines>,
    reader: Option<JoinHandle<()>>,
}

impl Launched {
    /// Waits until it has answered a request.
    pub fn until_it_answers(self, plan: &Plan, patience: Duration, stop: &AtomicBool) -> Result<Self, Halt> {
        let (begun, once) = (Instant::now(), Duration::from_secs(1).min(patience));
        let one = Plan { connections: 1, depth: 1, threads: 1, requests: Some(1), ..plan.clone() };
        let look = Plan { duration: Some(once), watch_server: false, ..one };
        let addresses: Vec<SocketAddr> = plan.addresses.iter().filter_map(Address::tcp).collect();
        // A run that meets no listener tries again by itself for a while.
        let mut listens = addresses.is_empty();
        loop {
            if stop.load(Ordering::Relaxed) {
                return Err(Halt::Interrupted);
            }
            if self.group.has_ended() {
                return Err(self.silent("ended before it answered: it has to stay in the foreground"));
            }
            listens = listens || addresses.iter().any(is_open);
            if listens {
                match torr_press::run(&look, stop, |_| {}) {
                    Ok(looked) if looked.result.requests > 0 => return Ok(self),
                    Ok(_) | Err(RunError::Unreachable { .. }) => {}
                    Err(error) => return Err(error.into()),
                }
            }
            if begun.elapsed() > patience {
                let at = plan.target.host_and_port();
                return Err(self.silent(&format!("did not answer at {at} within {:.0} s", patience.as_secs_f64())));
            }
            thread::sleep(TICK);
        }
    }

    /// One line: what happened, and what the server said last.
    fn silent(mut self, what: &str) -> Halt {
        // How it ended is of no interest beside what it said.
        let _ = self.group.end();
        // What it has written is in the pipe; only a program that left the group can hold that open.
        let begun = Instant::now();
        while self.reader.as_ref().is_some_and(|reader| !reader.is_finished()) && begun.elapsed() < GRACE {
            thread::sleep(TICK);
        }
        let lines: Vec<_> = self.lines.lock().unwrap_or_else(PoisonError::into_inner).iter().cloned().collect();
        let said = if lines.is_empty() { "it said nothing".into() } else { format!("it said: {}", lines.join(" | ")) };
        Halt::Silent(format!("'{}' {what}; {said}", self.program))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_split_as_a_shell_does() {
        let launcher = Launcher::parse("A=1 B_2='x y' server --name \"a b\" C=3").unwrap();
        assert_eq!(launcher.variables, [("A".into(), "1".into()), ("B_2".into(), "x y".into())]);
        assert_eq!((launcher.program.as_str(), launcher.arguments.len()), ("server", 3));
        assert!(Launcher::parse("server 'a").is_err() && Launcher::parse("A=1").is_err());
    }
}
