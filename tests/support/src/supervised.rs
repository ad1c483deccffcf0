//! `torr serve` with its process' life in view: what it says, its workers, and their ends.

use crate::client::Client;
use crate::program::{signal, torr_command};
use crate::{PATIENCE, wait_until};
use procfs::process::FDTarget;
use rustix::process::{Pid, test_kill_process};
use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// A server that is killed with this value, and its workers with it.
pub struct Supervised {
    child: Child,
    said: Arc<Mutex<Vec<String>>>,
    pub address: String,
}

impl Supervised {
    /// On a free port.
    pub fn start(args: &[&str]) -> Self {
        Self::start_as(torr_command(&[&["serve", "--listen", "127.0.0.1:0"], args].concat()))
    }

    /// By a command of the test's own. Waits until it says where it serves.
    pub fn start_as(command: Command) -> Self {
        let mut server = Self::spawn(command);
        let line = server.says("serving on http://");
        let url = line.split_whitespace().find_map(|word| word.strip_prefix("http://"));
        server.address = url.expect("it was looked for").to_owned();
        server
    }

    /// Without waiting for anything.
    pub fn spawn(mut command: Command) -> Self {
        let mut child = command.stderr(Stdio::piped()).spawn().expect("torr starts");
        let said = Arc::new(Mutex::new(Vec::new()));
        let (stderr, lines) = (BufReader::new(child.stderr.take().expect("it was piped")), Arc::clone(&said));
        std::thread::spawn(move || {
            stderr.lines().map_while(Result::ok).for_each(|line| lines.lock().expect("no test panics here").push(line));
        });
        Self { child, said, address: String::new() }
    }

    pub fn url(&self) -> String {
        format!("http://{}/", self.address)
    }

    pub fn client(&self) -> Client {
        Client::connect(&self.address)
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    pub fn signal(&self, name: &str) {
        signal(self.pid(), name);
    }

    /// All lines so far.
    pub fn said(&self) -> Vec<String> {
        self.said.lock().expect("no test panics here").clone()
    }

    /// Waits for a line with these words.
    pub fn says(&self, words: &str) -> String {
        self.says_times(words, 1).pop().expect("it was waited for")
    }

    /// Waits for so many lines with these words.
    pub fn says_times(&self, words: &str, times: usize) -> Vec<String> {
        let start = Instant::now();
        loop {
            let mut lines = self.said();
            lines.retain(|line| line.contains(words));
            if lines.len() >= times {
                return lines;
            }
            assert!(start.elapsed() < PATIENCE, "it did not say {words:?} {times} times, but {:#?}", self.said());
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Its workers now.
    pub fn workers(&self) -> BTreeSet<u32> {
        children(self.pid())
    }

    /// Waits until its workers are so many, and each of them none of these.
    pub fn new_workers(&self, count: usize, old: &BTreeSet<u32>) -> BTreeSet<u32> {
        wait_until(&format!("{count} workers other than {old:?}"), || {
            let workers = self.workers();
            (workers.len() == count && workers.is_disjoint(old)).then_some(workers)
        })
    }

    /// Waits for its end, before which all of its workers must have ended.
    pub fn wait(&mut self) -> ExitStatus {
        let mut workers = BTreeSet::new();
        let status = wait_until("the server to end", || {
            workers.extend(self.workers());
            self.child.try_wait().expect("a child can be waited for")
        });
        workers.retain(|worker| lives(*worker));
        assert!(workers.is_empty(), "{workers:?} outlive their supervisor");
        status
    }

    /// Asks it to leave, and waits for that.
    pub fn leaves(mut self) {
        self.signal("TERM");
        let status = self.wait();
        assert_eq!((status.code(), status.signal()), (Some(0), None), "{:?}", self.said());
    }
}

impl Drop for Supervised {
    fn drop(&mut self) {
        let workers = self.workers();
        // Where they have ended already there is nothing to kill.
        let _ = self.child.kill();
        let _ = self.child.wait();
        for worker in workers.into_iter().filter(|worker| lives(*worker)) {
            let _ = Command::new("kill").args(["-KILL", &worker.to_string()]).stderr(Stdio::null()).status();
        }
    }
}

/// Whether a process is there and has not ended yet.
pub fn lives(pid: u32) -> bool {
    let known = i32::try_from(pid).ok().and_then(Pid::from_raw).is_some_and(|pid| test_kill_process(pid).is_ok());
    known && stat(pid).is_some_and(|(state, _)| state != "Z")
}

/// How many sockets a process has open.
pub fn sockets(pid: u32) -> usize {
    let links = fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
    links.filter(|link| fs::read_link(link.path()).is_ok_and(|to| to.to_string_lossy().starts_with("socket:"))).count()
}

/// Returns whether a process has the server's end of a connection, which goes by the addresses of both sides.
pub fn has_connection(pid: u32, client: SocketAddr, server: SocketAddr) -> bool {
    // A list that others change while it is read can lack a socket.
    let row = wait_until("the kernel to list the server's end", || {
        let rows = procfs::net::tcp().expect("the kernel lists its sockets");
        rows.into_iter().find(|row| (row.remote_address, row.local_address) == (client, server))
    });
    let of_process = procfs::process::Process::new(pid as i32).and_then(|process| process.fd());
    let mut descriptors = of_process.expect("the process lives").flatten();
    descriptors.any(|descriptor| matches!(descriptor.target, FDTarget::Socket(inode) if inode == row.inode))
}

/// Stops a process, and returns as soon as none of its threads runs.
pub fn stop(pid: u32) {
    signal(pid, "STOP");
    wait_until("all threads to stop", || {
        let threads = fs::read_dir(format!("/proc/{pid}/task")).expect("the process lives").flatten();
        let states = threads.filter_map(|thread| fs::read_to_string(thread.path().join("stat")).ok());
        states
            .into_iter()
            .all(|stat| stat.rsplit_once(") ").is_some_and(|(_, rest)| rest.starts_with('T')))
            .then_some(())
    });
}

/// How often the threads of a process have come to a stop: with every few requests, and now and then without.
pub fn switches(pid: u32) -> usize {
    let threads = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    let status = threads.filter_map(|thread| fs::read_to_string(thread.path().join("status")).ok());
    let count =
        |line: &str| line.split_once("_switches:").map_or(0, |(_, n)| n.trim().parse().expect("it is a number"));
    status.map(|status| status.lines().map(count).sum::<usize>()).sum()
}

/// The processes that this one has started and that have not ended.
pub fn children(parent: u32) -> BTreeSet<u32> {
    let names = fs::read_dir("/proc").expect("/proc is there").flatten().map(|entry| entry.file_name());
    let pids = names.filter_map(|name| name.to_str()?.parse().ok());
    pids.filter(|pid| stat(*pid).is_some_and(|(state, of)| of == parent && state != "Z")).collect()
}

/// The state and the parent of a process.
fn stat(pid: u32) -> Option<(String, u32)> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let mut fields = stat.rsplit_once(") ")?.1.split(' ');
    Some((fields.next()?.to_owned(), fields.next()?.parse().ok()?))
}
