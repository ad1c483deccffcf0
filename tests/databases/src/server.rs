//! Private database servers: in folders and on ports of their own, ended with the test whatever happens.

use crate::outside::Outside;
use rustix::process::{Pid, Signal, geteuid, kill_process};
use std::fs;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// Of the user torr in all of them.
pub const PASSWORD: &str = "a password of no use";

/// Whose server it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Make {
    /// MariaDB.
    MariaDb,
    /// PostgreSQL.
    Postgres,
}

/// A server that is ended when this is dropped, or its process ends in any other way.
pub struct Server {
    make: Make,
    folder: TempDir,
    /// On the loopback address.
    pub port: u16,
    process: Option<Child>,
}

/// A server that all tests share which do it no harm.
pub fn shared(make: Make) -> &'static Server {
    static MARIADB: OnceLock<Server> = OnceLock::new();
    static POSTGRES: OnceLock<Server> = OnceLock::new();
    let shared = if make == Make::MariaDb { &MARIADB } else { &POSTGRES };
    shared.get_or_init(|| {
        let (sender, server) = std::sync::mpsc::channel();
        // The server dies with the thread that has started it: so that must be one that stays.
        thread::spawn(move || {
            let server = Server::start(make);
            server.leave_to_janitor();
            sender.send(server).expect("the test waits for it");
            loop {
                thread::park();
            }
        });
        server.recv().expect("the server starts")
    })
}

impl Server {
    /// A new one with nothing in it.
    pub fn start(make: Make) -> Self {
        let folder = tempfile::Builder::new().prefix("torr-data-").tempdir().expect("there is a temporary folder");
        let mut server = Self { make, folder, port: 0, process: None };
        server.initialise();
        // Somebody else may get the port first.
        for _ in 0..5 {
            let free = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr());
            server.port = free.expect("there is a free port").port();
            if server.run() {
                if make == Make::MariaDb {
                    crate::outside::give_mariadb_its_user(&server.socket());
                }
                return server;
            }
        }
        panic!("{make:?} does not start: {}", server.log());
    }

    /// Has its folder removed once this process has ended in whatever way: what is shared is never dropped.
    fn leave_to_janitor(&self) {
        let script = "cat; for n in $(seq 100); do rm -rf \"$0\" && exit; sleep 0.1; done";
        let mut command = Command::new("sh");
        command.args(["-c", script]).arg(self.folder.path());
        // Its input ends with this process.
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        std::mem::forget(command.spawn().expect("there is a shell"));
    }

    /// Starts it again on its port and data.
    pub fn start_again(&mut self) {
        assert!(self.run(), "{:?} does not start again: {}", self.make, self.log());
    }

    /// Kills it, so that it can tell nobody.
    pub fn kill(&mut self) {
        if self.process.is_some() {
            // A child that is stopped would never notice.
            self.go_on();
        }
        if let Some(mut process) = self.process.take() {
            process.kill().expect("it is our child");
            process.wait().expect("it is our child");
            if self.make == Make::Postgres {
                // Its children leave by themselves; as long as one is there, no new server may start.
                wait_until("PostgreSQL's children have left", || !self.has_children());
            }
        }
    }

    /// Stops all that it does, and waits until it has stopped.
    pub fn stop(&self) {
        self.signal(Signal::STOP);
        wait_until("all threads have stopped", || {
            let pids = self.pids().into_iter();
            pids.flat_map(threads_of).all(|thread| stat(&thread).is_none_or(|stat| stat[0] == "T"))
        });
    }

    /// Lets it go on.
    pub fn go_on(&self) {
        self.signal(Signal::CONT);
    }

    fn signal(&self, signal: Signal) {
        for pid in self.pids() {
            let pid = i32::try_from(pid).ok().and_then(Pid::from_raw).expect("a process has a number");
            // A child may have ended meanwhile.
            let _ = kill_process(pid, signal);
        }
    }

    fn pids(&self) -> Vec<u32> {
        let parent = self.process.as_ref().expect("it runs").id();
        let is_child =
            |pid: &u32| stat(Path::new(&format!("/proc/{pid}"))).is_some_and(|stat| stat[1].parse() == Ok(parent));
        processes().filter(is_child).chain([parent]).collect()
    }

    /// The URL of a new database, which nobody else has.
    pub fn new_database(&self) -> String {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let name = format!("test{}", NUMBER.fetch_add(1, Relaxed));
        Outside::new(&self.url(self.any_database())).run(&format!("CREATE DATABASE {name}"));
        self.url(&name)
    }

    /// The URL of one of its databases.
    pub fn url(&self, database: &str) -> String {
        self.url_with(PASSWORD, database)
    }

    /// The same with another password.
    pub fn url_with(&self, password: &str, database: &str) -> String {
        let scheme = if self.make == Make::MariaDb { "mysql" } else { "postgres" };
        format!("{scheme}://torr:{}@127.0.0.1:{}/{database}", password.replace(' ', "%20"), self.port)
    }

    /// A database that each server has.
    pub fn any_database(&self) -> &'static str {
        if self.make == Make::MariaDb { "mysql" } else { "postgres" }
    }

    fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    fn socket(&self) -> PathBuf {
        self.folder.path().join("socket")
    }

    fn log(&self) -> String {
        fs::read_to_string(self.folder.path().join("log")).unwrap_or_default()
    }

    /// A program of the server. It dies with this thread; PostgreSQL refuses to be root.
    fn command(&self, program: &Path) -> Command {
        let log = fs::File::options().append(true).create(true).open(self.folder.path().join("log"));
        let log = log.expect("the folder is ours");
        let mut command = Command::new("setpriv");
        command.arg("--pdeathsig=KILL");
        if self.make == Make::Postgres && geteuid().is_root() {
            command.args(["--reuid=postgres", "--regid=postgres", "--clear-groups"]);
        }
        // MariaDB's, too, is not to be shared: an instance that starts clears what it finds there.
        command.env("TMPDIR", self.folder.path());
        command.arg(program).current_dir(self.folder.path()).stdin(Stdio::null());
        command.stdout(log.try_clone().expect("a file can be cloned")).stderr(log);
        command
    }

    fn initialise(&self) {
        let data = self.data();
        fs::create_dir(&data).expect("the folder is ours");
        let mut command = if self.make == Make::MariaDb {
            let mut command = self.command(&program("mariadb-install-db"));
            command.args(["--no-defaults", "--auth-root-authentication-method=normal", "--skip-test-db"]);
            command.arg(format!("--datadir={}", data.display()));
            if geteuid().is_root() {
                command.arg("--user=root");
            }
            command
        } else {
            let password = self.folder.path().join("password");
            fs::write(&password, PASSWORD).expect("the folder is ours");
            if geteuid().is_root() {
                let given = Command::new("chown").args(["-R", "postgres:"]).arg(self.folder.path()).status();
                assert!(given.expect("there is chown").success(), "the user postgres comes with PostgreSQL");
            }
            let mut command = self.command(&program("initdb"));
            command.args(["--username=torr", "--auth=scram-sha-256", "--encoding=UTF8", "--locale=C", "--no-sync"]);
            command.arg(format!("--pwfile={}", password.display())).arg("-D").arg(&data);
            command
        };
        let ended = command.status().expect("setpriv comes with util-linux");
        assert!(ended.success(), "{:?} cannot be set up: {}", self.make, self.log());
    }

    /// Starts it, and waits until it answers. False if it ends instead.
    fn run(&mut self) -> bool {
        let (data, socket, port) = (self.data(), self.socket(), self.port);
        let mut command = if self.make == Make::MariaDb {
            let mut command = self.command(&program("mariadbd"));
            command.args(["--no-defaults", "--bind-address=127.0.0.1", "--skip-name-resolve", "--skip-log-bin"]);
            command.args([
                "--innodb-flush-log-at-trx-commit=2",
                "--innodb-buffer-pool-size=32M",
                "--max-connections=200",
            ]);
            command.arg(format!("--datadir={}", data.display())).arg(format!("--socket={}", socket.display()));
            command.arg(format!("--port={port}"));
            if geteuid().is_root() {
                command.arg("--user=root");
            }
            command
        } else {
            let mut command = self.command(&program("postgres"));
            command.arg("-D").arg(&data).arg("-k").arg(self.folder.path());
            command.args(["-F", "-h", "127.0.0.1", "-p", &port.to_string(), "-c", "max_connections=200"]);
            command
        };
        let mut process = command.spawn().expect("setpriv comes with util-linux");
        let mut ended = false;
        wait_until("the server answers", || {
            ended = process.try_wait().expect("it is our child").is_some();
            ended || self.answers()
        });
        if !ended {
            self.process = Some(process);
        }
        !ended
    }

    fn answers(&self) -> bool {
        match self.make {
            Make::MariaDb => crate::outside::mariadb_answers(&self.socket()),
            Make::Postgres => crate::outside::postgres_answers(&self.url("postgres")),
        }
    }

    /// Whether processes work on its data still.
    fn has_children(&self) -> bool {
        let data = self.data();
        processes().any(|pid| fs::read_link(format!("/proc/{pid}/cwd")).is_ok_and(|folder| folder == data))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.kill();
    }
}

/// A program from PATH, or from where Debian keeps those that are not for everybody.
fn program(name: &str) -> PathBuf {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let debian = fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let debian = debian.map(|version| version.path().join("bin"));
    let mut folders = std::env::split_paths(&path).chain(["/usr/sbin".into(), "/usr/bin".into()]).chain(debian);
    let found = folders.find_map(|folder| Some(folder.join(name)).filter(|file| file.is_file()));
    found.unwrap_or_else(|| panic!("{name} is missing: ./test installs it"))
}

fn processes() -> impl Iterator<Item = u32> {
    let all = fs::read_dir("/proc").expect("there is /proc").flatten();
    all.filter_map(|entry| entry.file_name().to_str().and_then(|name| name.parse().ok()))
}

fn threads_of(pid: u32) -> Vec<PathBuf> {
    let tasks = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    tasks.map(|task| task.path()).collect()
}

/// What the kernel says of a process or thread after its name: its state, its parent, and so on.
fn stat(of: &Path) -> Option<Vec<String>> {
    let stat = fs::read_to_string(of.join("stat")).ok()?;
    Some(stat.rsplit_once(')')?.1.split_whitespace().map(str::to_owned).collect())
}

/// Waits for a condition.
pub fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    let since = Instant::now();
    while !holds() {
        assert!(since.elapsed() < Duration::from_secs(60), "not within a minute: {what}");
        thread::sleep(Duration::from_millis(10));
    }
}
