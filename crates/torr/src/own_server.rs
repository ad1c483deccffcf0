//! A server of our own to press: this program again, in a process of its own.

use crate::config;
use crate::exit::Stop;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

/// A running server, which ends with this value.
pub struct Server {
    child: Child,
    url: String,
}

impl Server {
    /// Starts it on a free port of the loopback address, with further arguments, and waits until it listens.
    pub fn start(workers: usize, arguments: &[&str]) -> Result<Self, Stop> {
        let failed = |error: std::io::Error| Stop::Failed(format!("cannot start a server of our own: {error}"));
        let program = std::env::current_exe().map_err(failed)?;
        let mut command = Command::new(program);
        let mut child = config::without_variables(&mut command)
            .args(["serve", "--listen", "127.0.0.1:0", "--workers", &workers.to_string()])
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(failed)?;
        let mut line = String::new();
        if let Some(stderr) = child.stderr.take() {
            BufReader::new(stderr).read_line(&mut line).map_err(failed)?;
        }
        let mut server = Self { child, url: String::new() };
        // It says where it listens in its first line.
        match line.split_whitespace().find(|word| word.starts_with("http://")) {
            Some(url) => server.url = url.to_owned(),
            None => return Err(Stop::Failed(format!("a server of our own did not start: {}", line.trim()))),
        }
        Ok(server)
    }

    /// Where it serves this path.
    pub fn url(&self, path: &str) -> String {
        format!("{}{path}", self.url)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It holds nothing that would have to be saved, and may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
