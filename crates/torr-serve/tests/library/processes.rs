//! Worker processes of a program that uses the library: the example, and what one process may have.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Lines};
use std::net::SocketAddr;
use std::process::{Child, ChildStdout, Command, Stdio};
use torr_serve::{App, Response, ServeError, Server, Settings, worker_number};
use torr_test_support::client::Client;

/// The example, which is killed with this value; its workers see that and end.
struct Processes {
    child: Child,
    lines: Lines<BufReader<ChildStdout>>,
    address: SocketAddr,
}

impl Drop for Processes {
    fn drop(&mut self) {
        // Where it has ended already there is nothing to kill.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Processes {
    fn start() -> Self {
        let tests = std::env::current_exe().expect("a test is a program");
        let folder = tests.parent().and_then(|deps| deps.parent()).expect("it lies in target/debug/deps");
        let program = folder.join("examples/processes");
        let mut command = Command::new(&program);
        let child = command.arg("127.0.0.1:0").stdout(Stdio::piped()).spawn();
        let mut child = child.unwrap_or_else(|error| panic!("{}: {error}; cargo build --examples", program.display()));
        let lines = BufReader::new(child.stdout.take().expect("it was piped")).lines();
        let mut example = Self { child, lines, address: SocketAddr::from(([0, 0, 0, 0], 0)) };
        let line = example.line().expect("it says something");
        let address = line.strip_prefix("http://").and_then(|rest| rest.strip_suffix("/ is served by two processes"));
        example.address = address.and_then(|text| text.parse().ok()).unwrap_or_else(|| panic!("{line}"));
        example
    }

    fn line(&mut self) -> Option<String> {
        self.lines.next().map(|line| line.expect("a pipe can be read"))
    }

    /// The process of each worker by its name, as the last of many connections saw it.
    fn workers(&self) -> BTreeMap<String, u32> {
        // The kernel spreads connections: one worker is missed by all of these once in a billion runs.
        let responses = (0..32).map(|_| Client::connect(self.address).get("/"));
        let worker = |text: &str| {
            let (name, process) = text.split_once(", process ").expect("it tells who answers");
            (name.to_owned(), process.parse().expect("it is a number"))
        };
        responses.map(|response| worker(response.text())).collect()
    }

    fn signal(&self, name: &str) {
        let sent = Command::new("kill").args([&format!("-{name}"), &self.child.id().to_string()]).status();
        assert!(sent.is_ok_and(|status| status.success()), "a child can be sent a signal");
    }
}

#[test]
fn a_program_is_its_own_worker_and_knows_which() {
    let mut example = Processes::start();
    let old = example.workers();
    assert_eq!(old.keys().collect::<Vec<_>>(), ["worker 1", "worker 2"]);
    assert!(old.values().all(|process| *process != example.child.id()), "the supervisor serves itself: {old:?}");
    // The example does not print reloads, but its workers' responses show them.
    example.signal("HUP");
    let replaced = |new: &BTreeMap<String, u32>| new.iter().all(|(name, process)| old[name] != *process);
    let start = std::time::Instant::now();
    while !replaced(&example.workers()) {
        assert!(start.elapsed() < crate::support::PATIENCE, "the old workers serve on");
    }
    example.signal("TERM");
    assert_eq!(example.line().as_deref(), Some("all workers have left"));
    assert_eq!(example.line(), None, "workers say it too");
    assert_eq!(example.child.wait().expect("a child can be waited for").code(), Some(0));
}

/// A worker that is about to leave must not be the only one to learn of a connection.
#[test]
fn each_connection_over_many_reloads_is_served() {
    const RELOADS: usize = 12;
    let example = Processes::start();
    let mut old = example.workers();
    for reload in 0..RELOADS {
        example.signal("HUP");
        let start = std::time::Instant::now();
        loop {
            // A connection that no worker accepts would wait in vain for its response, which fails the test.
            let new = example.workers();
            if new.len() == 2 && new.iter().all(|(name, process)| old[name] != *process) {
                old = new;
                break;
            }
            assert!(start.elapsed() < crate::support::PATIENCE, "reload {reload}: the old workers serve on");
        }
    }
}

/// In the process of a test there is no other server with worker processes.
#[test]
fn a_program_has_one_server_with_worker_processes() {
    assert_eq!(worker_number(), None);
    let server = |processes| {
        let mut settings = Settings::default();
        settings.processes = processes;
        Server::new(App::new().get("/", |_| Response::text("fine"))).settings(settings).bind("127.0.0.1:0")
    };
    let first = server(2).expect("a port is free");
    let error = server(1).expect_err("it is the second");
    assert!(matches!(&error, ServeError::System(error) if error.to_string().contains("one server")), "{error}");
    server(0).expect("one without is another matter");
    drop(first);
}
