//! A server of our own to press: this program again, in a process of its own.

use crate::config;
use crate::exit::Stop;
use crate::group::Group;
use std::io::{self, BufRead, BufReader};
use std::process::{ChildStderr, Command, Stdio};
use std::thread;
use std::time::Duration;

/// A running server, which ends with this value.
pub struct Server {
    _group: Group,
    url: String,
}

impl Server {
    /// Starts it on a free port of the loopback address, with further arguments, and waits until it listens.
    pub fn start(workers: usize, arguments: &[&str]) -> Result<Self, Stop> {
        let failed = |error: io::Error| Stop::Failed(format!("cannot start a server of our own: {error}"));
        let program = std::env::current_exe().map_err(failed)?;
        let mut command = Command::new(program);
        config::without_variables(&mut command)
            .args(["serve", "--listen", "127.0.0.1:0", "--workers", &workers.to_string()])
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped());
        // It holds nothing that would have to be saved.
        let mut group = Group::start(&mut command, Duration::ZERO).map_err(failed)?;
        let mut stderr = BufReader::new(group.stderr().expect("its standard error was piped"));
        match listening(&mut stderr).map_err(failed)? {
            Ok(url) => {
                // What it says is read to its end, since it would wait or fail otherwise.
                thread::spawn(move || io::copy(&mut stderr, &mut io::sink()));
                Ok(Self { _group: group, url })
            }
            Err(said) => {
                let line = format!("a server of our own did not start: {said}");
                // It has ended, with the exit code that this mistake has here as well.
                Err(match group.end().map_err(failed)?.code() {
                    Some(2) => Stop::Usage(said),
                    Some(3) => Stop::Unreachable(said),
                    _ => Stop::Failed(line),
                })
            }
        }
    }

    /// Where it serves this path.
    pub fn url(&self, path: &str) -> String {
        format!("{}{path}", self.url)
    }
}

/// Reads up to the line that tells where the server listens. If the server ends before, returns what it said last.
fn listening(stderr: &mut BufReader<ChildStderr>) -> io::Result<Result<String, String>> {
    let (mut line, mut last) = (String::new(), String::new());
    while stderr.read_line(&mut line)? > 0 {
        if let Some(url) = line.split_whitespace().find(|word| word.starts_with("http://")) {
            return Ok(Ok(url.to_owned()));
        }
        last = line.trim().trim_start_matches("torr: ").to_owned();
        line.clear();
    }
    Ok(Err(last))
}
