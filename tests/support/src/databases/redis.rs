//! How Redis is run.
//!
//! Debian's package `redis-server` starts a service where it is installed. But it has no program of its own: its link leads to
//! a program of `redis-tools`, which has no service, and which looks at the name it is called by.

use super::folder::{Folder, program};
use super::program::Program;
use super::url::PASSWORD;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

pub(crate) struct Redis;

impl Program for Redis {
    fn scheme_and_user(&self) -> &'static str {
        "redis://"
    }

    fn any_database(&self) -> &'static str {
        "0"
    }

    fn initialise(&self, folder: &Folder) {
        std::os::unix::fs::symlink(program("redis-check-rdb"), link(folder)).expect("the folder is ours");
    }

    fn command(&self, folder: &Folder, port: u16) -> Command {
        let mut command = folder.command(&link(folder), &[]);
        command.args(["--bind", "127.0.0.1", "--port", &port.to_string(), "--requirepass", PASSWORD]);
        // A database for each test.
        command.args(["--save", "", "--appendonly", "no", "--databases", "100"]).arg("--dir").arg(folder.data());
        command
    }

    fn responses(&self, _folder: &Folder, port: u16) -> bool {
        let ask = || {
            let mut stream = TcpStream::connect(("127.0.0.1", port))?;
            stream.set_read_timeout(Some(Duration::from_secs(1)))?;
            write!(stream, "AUTH \"{PASSWORD}\"\r\nPING\r\n")?;
            let mut response = [0; 12];
            stream.read_exact(&mut response).map(|()| response == *b"+OK\r\n+PONG\r\n")
        };
        ask().unwrap_or(false)
    }
}

fn link(folder: &Folder) -> PathBuf {
    folder.path().join("redis-server")
}
