//! How PostgreSQL is run. It refuses to be root.

use super::folder::{Folder, program};
use super::outside::runtime;
use super::processes::any_process_in;
use super::program::Program;
use super::url::{PASSWORD, url};
use rustix::process::geteuid;
use std::fs;
use std::process::Command;

pub(crate) struct Postgres;

impl Program for Postgres {
    fn scheme_and_user(&self) -> &'static str {
        "postgres://torr"
    }

    fn any_database(&self) -> &'static str {
        "postgres"
    }

    fn initialise(&self, folder: &Folder) {
        let password = folder.path().join("password");
        fs::write(&password, PASSWORD).expect("the folder is ours");
        if geteuid().is_root() {
            let given = Command::new("chown").args(["-R", "postgres:"]).arg(folder.path()).status();
            assert!(given.expect("there is chown").success(), "the user postgres comes with PostgreSQL");
        }
        let mut command = command(folder, "initdb");
        command.args(["--username=torr", "--auth=scram-sha-256", "--encoding=UTF8", "--locale=C", "--no-sync"]);
        command.arg(format!("--pwfile={}", password.display()));
        folder.set_up(command);
    }

    fn command(&self, folder: &Folder, port: u16) -> Command {
        let mut command = command(folder, "postgres");
        command.arg("-k").arg(folder.path());
        command.args(["-F", "-h", "127.0.0.1", "-p", &port.to_string(), "-c", "max_connections=200"]);
        command
    }

    fn responses(&self, _folder: &Folder, port: u16) -> bool {
        let url = url(self.scheme_and_user(), port, PASSWORD, self.any_database());
        runtime().block_on(tokio_postgres::connect(&url, tokio_postgres::NoTls)).is_ok()
    }

    /// Its children leave by themselves; as long as one is there, no new server may start.
    fn has_left(&self, folder: &Folder) -> bool {
        !any_process_in(folder.data())
    }
}

fn command(folder: &Folder, name: &str) -> Command {
    let other: &[&str] = &["--reuid=postgres", "--regid=postgres", "--clear-groups"];
    let mut command = folder.command(&program(name), if geteuid().is_root() { other } else { &[] });
    command.arg("-D").arg(folder.data());
    command
}
