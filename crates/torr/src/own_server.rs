//! A server of our own to press: this program again, in a process of its own.

use crate::config;
use crate::exit::CliError;
use crate::group::Group;
use std::io::{self, BufRead, BufReader};
use std::process::{ChildStderr, Stdio};
use std::thread;
use std::time::Duration;
use torr_doctor::Halt;
use torr_net::address;
use torr_net::errors::describe;
use torr_press::{Plan, Requests, Target};

/// A running server, which ends with this value.
pub struct Server {
    _group: Group,
    url: String,
}

impl Server {
    /// Starts it on a free port of the loopback address, with further arguments, and waits until it listens.
    pub fn start(workers: usize, arguments: &[&str]) -> Result<Self, CliError> {
        let failed =
            |error: io::Error| CliError::Failed(format!("cannot start Torr's own server: {}", describe(&error)));
        let mut command = config::this_program().map_err(failed)?;
        command
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
                let line = format!("Torr's own server did not start: {said}");
                // It has ended, with the exit code that this mistake has here as well.
                Err(match group.end().map_err(failed)?.code() {
                    Some(2) => CliError::Usage(said),
                    Some(3) => CliError::Unreachable(said),
                    _ => CliError::Failed(line),
                })
            }
        }
    }

    /// Where it serves this path.
    pub fn url(&self, path: &str) -> String {
        format!("{}{path}", self.url)
    }
}

/// Returns the plan of a GET request to a server that was started here.
///
/// # Errors
/// If the URL is not valid.
pub fn get(url: &str, keep_alive: bool) -> Result<Plan, Halt> {
    let target = Target::parse(url)?;
    let request = Requests::get(&target, keep_alive)?;
    let addresses = address::resolve(&target.host, target.port).map_err(|error| Halt::Command(error.to_string()))?;
    Ok(Plan::new(target, addresses.into_iter().map(Into::into).collect(), request))
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
