//! How MariaDB is run.

use super::folder::{Folder, program};
use super::outside::runtime;
use super::program::Program;
use super::url::PASSWORD;
use mysql_async::prelude::Queryable;
use rustix::process::geteuid;
use std::path::Path;
use std::process::Command;

pub(crate) struct MariaDb;

impl Program for MariaDb {
    fn scheme_and_user(&self) -> &'static str {
        "mysql://torr"
    }

    fn any_database(&self) -> &'static str {
        "mysql"
    }

    fn initialise(&self, folder: &Folder) {
        let mut command = command(folder, "mariadb-install-db");
        command.args(["--auth-root-authentication-method=normal", "--skip-test-db"]);
        folder.set_up(command);
    }

    fn command(&self, folder: &Folder, port: u16) -> Command {
        let mut command = command(folder, "mariadbd");
        command.args(["--bind-address=127.0.0.1", "--skip-name-resolve", "--skip-log-bin"]);
        command.args(["--innodb-flush-log-at-trx-commit=2", "--innodb-buffer-pool-size=32M", "--max-connections=200"]);
        command.arg(format!("--socket={}", folder.socket().display())).arg(format!("--port={port}"));
        command
    }

    fn responses(&self, folder: &Folder, _port: u16) -> bool {
        runtime().block_on(mysql_async::Conn::new(root(&folder.socket()))).is_ok()
    }

    /// Gives it its user.
    fn welcome(&self, folder: &Folder) {
        let sql = format!("GRANT ALL ON *.* TO torr@127.0.0.1 IDENTIFIED BY '{PASSWORD}'");
        runtime().block_on(async {
            let mut conn = mysql_async::Conn::new(root(&folder.socket())).await.expect("it answers");
            conn.query_drop(sql).await.expect("root may do that");
        });
    }
}

fn command(folder: &Folder, name: &str) -> Command {
    let mut command = folder.command(&program(name), &[]);
    command.arg("--no-defaults").arg(format!("--datadir={}", folder.data().display()));
    if geteuid().is_root() {
        command.arg("--user=root");
    }
    command
}

fn root(socket: &Path) -> mysql_async::Opts {
    let opts = mysql_async::OptsBuilder::default().user(Some("root"));
    opts.socket(Some(socket.display().to_string())).into()
}
