//! `torr serve --processes`: workers that die, reload under load, and leaving.

use rustix::fs::OFlags;
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::Write;
use std::net::TcpStream;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt, symlink};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::mpsc::channel;
use std::thread;
use std::time::{Duration, Instant};
use tempfile::TempDir;
use torr_test_support::client::{Client, get, post};
use torr_test_support::control_group::ControlGroup;
use torr_test_support::program::{Running, signal, torr_command, torr_path};
use torr_test_support::required::cannot_run;
use torr_test_support::servers::{Serve, free_port};
use torr_test_support::supervised::{Supervised, has_connection, lives, sockets, stop, switches};
use torr_test_support::{PATIENCE, wait_until};

const TWO: &[&str] = &["--processes", "2", "--workers", "1"];

fn two(args: &[&str]) -> Supervised {
    Supervised::start(&[TWO, args].concat())
}

/// Whether the connection gets another response.
fn goes_on(client: &mut Client) -> bool {
    client.send_what_goes(get("/").as_bytes());
    client.responds()
}

fn fifo(path: &Path) {
    let made = Command::new("mkfifo").arg(path).status();
    assert!(made.is_ok_and(|status| status.success()), "a pipe can be made");
}

// Workers that die.

#[test]
fn a_worker_that_is_killed_is_started_anew_while_the_other_serves_on() {
    let server = two(&[]);
    let workers = server.new_workers(2, &BTreeSet::new());
    assert_eq!(
        server.said(),
        [format!("torr: serving on {} with 2 processes of 1 worker each", server.url().trim_end_matches('/'))]
    );
    // Spread by the kernel: all on one worker once in a billion runs.
    let mut clients: Vec<_> = (0..32).map(|_| server.client()).collect();
    clients.iter_mut().for_each(|client| assert_eq!(client.get("/").status, 200));
    let shares: Vec<_> = workers.iter().map(|worker| sockets(*worker)).collect();
    let victim = *workers.first().expect("there are two");
    signal(victim, "KILL");
    let line = server.says("SIGKILL");
    assert!(line.contains(&format!("(process {victim}) was terminated by SIGKILL: restarting in 10 ms")), "{line}");
    let alive = clients.iter_mut().map(goes_on).filter(|alive| *alive).count();
    assert!(alive > 0 && alive < 32, "{alive} of 32 connections go on, of {shares:?} sockets");
    // Some of these wait for the new worker, on the listener that its predecessor had.
    (0..32).for_each(|_| assert_eq!(server.client().get("/").status, 200));
    let after = wait_until("two workers", || Some(server.workers()).filter(|workers| workers.len() == 2));
    assert_eq!(after.intersection(&workers).count(), 1, "{workers:?} became {after:?}");
    server.leaves();
}

#[test]
fn a_worker_that_runs_out_of_memory_is_started_anew_while_the_other_serves_on() {
    const LIMIT: u64 = 16 << 20;
    let server = two(&["--max-body", &(8 * LIMIT).to_string()]);
    let workers = server.new_workers(2, &BTreeSet::new());
    let victim = *workers.first().expect("there are two");
    let group = match ControlGroup::with_memory(LIMIT) {
        Ok(group) => group,
        Err(error) => return cannot_run("a_worker_that_runs_out_of_memory", &error.to_string()),
    };
    group.admit(victim).expect("a process that runs can be moved");
    let mut bystanders: Vec<_> = (0..32).map(|_| server.client()).collect();
    bystanders.iter_mut().for_each(|client| assert_eq!(client.get("/").status, 200));
    // A body that takes four times as much as the victim may have, echoed: which worker has it is the kernel's choice.
    let body = "x".repeat(4 * LIMIT as usize);
    let request = post("/echo", &body);
    let echoes = || {
        let mut client = server.client();
        client.send_what_goes(request.as_bytes());
        client.responds()
    };
    let served = (0..32).take_while(|_| echoes()).count();
    assert!(served < 32, "no connection came to the victim");
    let line = server.says("SIGKILL");
    assert!(line.contains(&format!("(process {victim}) was terminated by SIGKILL: restarting in")), "{line}");
    let alive = bystanders.iter_mut().map(goes_on).filter(|alive| *alive).count();
    assert!(alive > 0 && alive < 32, "{alive} of 32 connections go on");
    // Its successor is not in the group of the victim, and has room.
    wait_until("two workers", || (server.workers().len() == 2 && !server.workers().contains(&victim)).then_some(()));
    (0..16).for_each(|_| assert!(echoes(), "a worker does not respond"));
    server.leaves();
}

#[test]
fn a_supervisor_makes_room_for_the_listeners_of_many_workers() {
    let mut command = Command::new("sh");
    command.args(["-c", "ulimit -Sn 200; exec \"$0\" \"$@\"", torr_path(), "serve"]);
    command.args(["--listen", "127.0.0.1:0", "--processes", "3", "--workers", "100"]);
    let server = Supervised::start_as(command);
    assert_eq!(server.client().get("/").status, 200);
    server.leaves();
}

#[test]
fn a_worker_that_is_stopped_by_a_signal_is_replaced() {
    let server = Supervised::start(&["--processes", "1", "--workers", "2"]);
    let old = server.new_workers(1, &BTreeSet::new());
    signal(*old.first().expect("there is one"), "TERM");
    server.says("ended with exit code 0: restarting in 10 ms");
    server.new_workers(1, &old);
    assert_eq!(server.client().get("/").status, 200);
    server.leaves();
}

#[test]
fn a_worker_that_stands_still_holds_up_its_own_connections_only() {
    const CLIENTS: usize = 32;
    let server = two(&[]);
    let workers = server.new_workers(2, &BTreeSet::new());
    let still = *workers.first().expect("there are two");
    // Spread by the kernel: all on one worker once in a billion runs.
    let mut clients: Vec<_> = (0..CLIENTS).map(|_| server.client()).collect();
    clients.iter_mut().for_each(|client| assert_eq!(client.get("/").status, 200));
    stop(still);
    let address = server.address.parse().expect("it is an address");
    let others = clients.iter().filter(|client| !has_connection(still, client.address(), address)).count();
    assert!(others > 0 && others < CLIENTS, "{others} of {CLIENTS} connections are the other worker's");
    let (tell, answered) = channel();
    let waiting: Vec<_> = clients
        .into_iter()
        .map(|mut client| {
            let tell = tell.clone();
            thread::spawn(move || tell.send(client.get("/").status))
        })
        .collect();
    let next = || answered.recv_timeout(PATIENCE).expect("a response comes");
    (0..others).for_each(|_| assert_eq!(next(), 200));
    assert!(answered.try_recv().is_err(), "a worker that stands still has responded");
    signal(still, "CONT");
    (others..CLIENTS).for_each(|_| assert_eq!(next(), 200, "no request is lost"));
    waiting.into_iter().for_each(|client| client.join().expect("it does not panic").expect("somebody listens"));
    assert_eq!(server.workers(), workers, "nobody was replaced");
    server.leaves();
}

#[test]
fn a_worker_that_cannot_start_ends_the_server_with_its_own_message_and_code() {
    let folder = tempfile::tempdir().expect("there is room for temporary files");
    let (config, address) = (folder.path().join("config"), format!("127.0.0.1:{}", free_port()));
    // What each process reads from a pipe is its own.
    fifo(&config);
    let config = config.to_str().expect("it is UTF-8");
    let args = ["serve", "--listen", &address, "--processes", "3", "--config", config];
    let mut server = Supervised::spawn(torr_command(&args));
    fs::write(config, "workers = 1\n").expect("the supervisor reads it");
    wait_until("the supervisor to listen", || TcpStream::connect(&address).ok());
    fs::write(config, "workers = 0\n").expect("a worker reads it");
    let status = server.wait();
    assert_eq!(status.code(), Some(2), "{status}");
    let line = server.says("workers must be");
    assert_eq!(server.said(), [line]);
}

#[test]
fn workers_share_the_limit_of_connections() {
    let server = two(&["--max-connections", "4", "--defer-accept", "false"]);
    let mut clients: Vec<_> = (0..40).map(|_| server.client()).collect();
    let served = |client: &mut Client| {
        client.send_what_goes(get("/").as_bytes());
        client.responds()
    };
    // Each worker has far more than its two, but once in a billion runs.
    assert_eq!(clients.iter_mut().filter_map(|client| served(client).then_some(())).count(), 4);
    server.leaves();
}

#[test]
fn many_reloads_leave_nothing_behind() {
    let server = two(&["--stop-timeout", "2s"]);
    let files = || fs::read_dir(format!("/proc/{}/fd", server.pid())).expect("it runs").count();
    let (before, mut workers) = (files(), server.new_workers(2, &BTreeSet::new()));
    for round in 1..=5 {
        server.signal("HUP");
        server.says_times("reloaded:", round);
        workers = server.new_workers(2, &workers);
    }
    wait_until("as few descriptors as before", || (files() == before).then_some(()));
    server.leaves();
}

#[test]
fn a_signal_during_the_start_ends_it() {
    let folder = tempfile::tempdir().expect("there is room for temporary files");
    let (config, address) = (folder.path().join("config"), format!("127.0.0.1:{}", free_port()));
    fifo(&config);
    let config = config.to_str().expect("it is UTF-8");
    let args = ["serve", "--listen", &address, "--processes", "2", "--stop-timeout", "50ms", "--config", config];
    let mut server = Supervised::spawn(torr_command(&args));
    fs::write(config, "workers = 1\n").expect("the supervisor reads it");
    // The worker waits for a configuration that is never written.
    let worker = wait_until("a worker", || server.workers().first().copied());
    server.signal("TERM");
    server.says(&format!("worker 1 (process {worker}) did not stop within stop_timeout: killing it"));
    let status = server.wait();
    assert_eq!((status.code(), server.said().len()), (Some(0), 1), "{:?}", server.said());
}

// Reload.

/// Waits until these have much to do: as much as without load in many seconds.
fn are_pressed(workers: &BTreeSet<u32>) {
    let all = || workers.iter().map(|worker| switches(*worker)).sum::<usize>();
    let before = all();
    wait_until("the workers to be pressed", || (all() > before + 100).then_some(()));
}

/// Reloads three times while `torr` presses with these arguments, and gives its result.
fn reload_under_load(signal: &str, connections: usize, args: &[&str]) -> Value {
    let server = two(&[]);
    let mut seen = server.new_workers(2, &BTreeSet::new());
    let (url, count) = (server.url(), connections.to_string());
    // Much longer than it is left to run.
    let load = [&[&*url, "-c", &count, "-d", "5m", "--json", "-"], args].concat();
    let load = Running::start(torr_command(&load));
    are_pressed(&seen);
    for round in 1..=3 {
        server.signal(signal);
        server.says_times("reloaded:", round);
        // Old ones may wait for their last connections still.
        let new = &server.workers() - &seen;
        assert_eq!(new.len(), 2, "{new:?} came after {seen:?}");
        are_pressed(&new);
        seen.extend(new);
    }
    load.signal("INT");
    let ended = load.wait();
    assert_eq!(ended.code, Some(130), "{ended:?}");
    server.leaves();
    serde_json::from_str(&ended.stdout).unwrap_or_else(|error| panic!("{error}: {ended:?}"))
}

/// Checks that every request had its response.
fn none_failed(result: &Value) {
    let errors = result["errors"].as_object().expect("it has errors");
    assert!(errors.values().all(|count| count == 0), "{result:#}");
    let status = result["status"].as_object().expect("it has statuses");
    assert_eq!(status.keys().collect::<Vec<_>>(), ["200"], "{result:#}");
    assert_eq!(status["200"], result["requests"], "{result:#}");
}

#[test]
fn no_request_fails_in_reloads_under_full_load() {
    let result = reload_under_load("HUP", 50, &[]);
    none_failed(&result);
    let closed = result["connections"]["closed_by_server"].as_u64().expect("it is a number");
    // On a busy machine one may have no request between two reloads.
    assert!(closed >= 50, "reloads let all 50 connections come again: {result:#}");
}

#[test]
fn no_request_fails_in_reloads_where_each_has_its_connection() {
    none_failed(&reload_under_load("USR2", 10, &["--no-keepalive"]));
}

#[test]
fn no_request_fails_in_reloads_with_mostly_idle_connections() {
    let result = reload_under_load("USR2", 100, &["--rate", "300"]);
    none_failed(&result);
    assert!(result["connections"]["closed_by_server"].as_u64().expect("it is a number") > 0, "{result:#}");
}

#[test]
fn an_old_worker_waits_for_the_next_request_of_an_idle_connection() {
    let server = two(&["--idle-timeout", "1s"]);
    let old = server.new_workers(2, &BTreeSet::new());
    let (mut speaks, mut is_silent) = (server.client(), server.client());
    assert_eq!((speaks.get("/").status, is_silent.get("/").status), (200, 200));
    let since = Instant::now();
    server.signal("HUP");
    server.says("reloaded:");
    // The old worker hears of it a moment later.
    wait_until("an answer to be the last", || (speaks.get("/").field("Connection") == Some("close")).then_some(()));
    speaks.ends();
    is_silent.ends();
    // Clocks of the server are exact to a few milliseconds.
    assert!(since.elapsed() > Duration::from_millis(700), "an idle connection was ended early: {:?}", since.elapsed());
    server.new_workers(2, &old);
    server.leaves();
}

/// Threads of a process that have no connection any more leave the others of it alone.
#[test]
fn an_idle_connection_outlives_the_reload_where_a_process_has_several_workers() {
    for (processes, clients) in [("1", 1), ("2", 2), ("2", 12)] {
        let server = Supervised::start(&["--processes", processes, "--workers", "2"]);
        let mut clients: Vec<_> = (0..clients).map(|_| server.client()).collect();
        clients.iter_mut().for_each(|client| assert_eq!(client.get("/").status, 200));
        server.signal("HUP");
        server.says("reloaded:");
        // So long the clients have nothing to ask.
        std::thread::sleep(Duration::from_secs(1));
        for client in &mut clients {
            let response = client.get("/");
            assert_eq!((response.status, response.field("Connection")), (200, Some("close")));
            client.ends();
        }
        server.leaves();
    }
}

/// The server's name, as the file says at the time.
fn name(server: &Supervised) -> String {
    let mut stream = TcpStream::connect(&server.address).expect("it listens");
    stream.write_all(b"GET / HTTP/1.0\r\n\r\n").expect("it takes a request");
    let response = std::io::read_to_string(stream).expect("it answers");
    let line = response.lines().find_map(|line| line.strip_prefix("Server: "));
    line.unwrap_or_else(|| panic!("{response}")).to_owned()
}

#[test]
fn a_reload_reads_the_configuration_anew_and_is_given_up_if_it_is_wrong() {
    let folder = tempfile::tempdir().expect("there is room for temporary files");
    let file = folder.path().join("torr.toml");
    let write = |text: &str| fs::write(&file, text).expect("a file can be written");
    write("server_name = 'one'\n");
    let server = two(&["--config", file.to_str().expect("it is UTF-8")]);
    let old = server.new_workers(2, &BTreeSet::new());
    assert_eq!(name(&server), "one");
    let mut client = server.client();

    write("server_name = ''\n");
    server.signal("HUP");
    let line = server.says("reload cancelled, the old workers continue");
    assert!(line.contains("worker 1 (process ") && line.contains(") ended with exit code 2: "), "{line}");
    server.says("server_name must be");
    assert_eq!((server.workers(), name(&server)), (old.clone(), "one".into()));

    write("server_name = 'two'\n");
    server.signal("USR2");
    server.says("reloaded:");
    client.send(get("/"));
    client.end_sending();
    client.count_to_end();
    server.new_workers(2, &old);
    assert_eq!(name(&server), "two");
    server.leaves();
}

#[test]
fn a_worker_that_is_not_ready_in_time_ends_the_reload_and_a_later_one_follows() {
    let folder = tempfile::tempdir().expect("there is room for temporary files");
    let file = folder.path().join("torr.toml");
    fs::write(&file, "").expect("a file can be written");
    let server = two(&["--config", file.to_str().expect("it is UTF-8"), "--start-timeout", "3s"]);
    let old = server.new_workers(2, &BTreeSet::new());
    // The pipe has no writer, so that its reader waits.
    fs::remove_file(&file).expect("it is there");
    fifo(&file);
    server.signal("HUP");
    let stuck = wait_until("a new worker", || server.workers().difference(&old).next().copied());
    let nonblocking = OFlags::NONBLOCK.bits().cast_signed();
    let open = || File::options().write(true).custom_flags(nonblocking).open(&file).ok();
    let _writer = wait_until("it to read the pipe", open);
    server.signal("HUP");
    server.says("a reload was requested during another reload");
    // The second one finds a file again.
    fs::remove_file(&file).expect("it is there");
    fs::write(&file, "").expect("a file can be written");
    server.says(&format!("(process {stuck}) was not ready within start_timeout: killing it"));
    server.says("reload cancelled");
    server.says("reloaded:");
    let new = server.new_workers(2, &old);
    assert!(!new.contains(&stuck), "{stuck} of {new:?}");
    server.leaves();
}

// Leaving.

#[test]
fn signals_let_slow_requests_end_and_then_the_server() {
    let ends = |processes: &str, signal: &str| {
        let mut server = Supervised::start(&["--processes", processes, "--workers", "1"]);
        let (mut slow, mut idle) = (server.client(), server.client());
        assert_eq!((slow.get("/").status, idle.get("/").status), (200, 200));
        // Longer than a busy machine takes for the signal.
        slow.send(get("/sleep/3000"));
        // Answered after it, by the same worker or another, so both have it.
        assert_eq!(idle.get("/sleep/100").status, 200);
        server.signal(signal);
        let response = slow.response();
        assert_eq!(
            (response.text(), response.field("Connection")),
            ("slept\n", Some("close")),
            "{signal}: {response:?}"
        );
        slow.ends();
        idle.ends();
        drop((slow, idle));
        assert_eq!(server.wait().code(), Some(0), "{signal}: {:?}", server.said());
        let others = |line: &String| !line.contains("stopping: waiting");
        assert_eq!(server.said().into_iter().filter(others).count(), 1, "{signal}: {:?}", server.said());
    };
    std::thread::scope(|scope| {
        for (processes, signal) in [("2", "TERM"), ("2", "INT"), ("2", "QUIT"), ("0", "QUIT"), ("0", "INT")] {
            scope.spawn(move || ends(processes, signal));
        }
    });
}

#[test]
fn a_worker_that_does_not_leave_in_time_is_killed() {
    let mut server = two(&["--stop-timeout", "100ms"]);
    let mut client = server.client();
    client.send(get("/cpu/10000000"));
    let start = Instant::now();
    wait_until("a worker to be busy", || server.workers().into_iter().find(|worker| is_running(*worker)));
    server.signal("TERM");
    let line = server.says("did not stop within stop_timeout: killing it");
    assert_eq!(server.wait().code(), Some(0));
    assert!(start.elapsed() < Duration::from_secs(9), "it was waited for: {:?}", start.elapsed());
    assert_eq!(server.said()[1..], [line]);
}

/// Whether a thread of it has the state R five times in a row.
fn is_running(pid: u32) -> bool {
    (0..5).all(|_| {
        let threads = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
        let mut stats = threads.filter_map(|thread| fs::read_to_string(thread.path().join("stat")).ok());
        stats.any(|stat| stat.rsplit_once(") ").is_some_and(|(_, rest)| rest.starts_with('R')))
    })
}

#[test]
fn a_second_signal_ends_it_at_once() {
    for processes in ["0", "2"] {
        let folder = tempfile::tempdir().expect("there is room for temporary files");
        let pid_file = folder.path().join("pid");
        let path = pid_file.to_str().expect("it is UTF-8");
        let mut server = Supervised::start(&["--processes", processes, "--workers", "1", "--pid-file", path]);
        let mut client = server.client();
        assert_eq!(client.get("/").status, 200);
        client.send(get("/sleep/600000"));
        server.signal("QUIT");
        wait_until("it to listen no longer", || TcpStream::connect(&server.address).err());
        server.signal("TERM");
        let status = server.wait();
        assert_eq!((status.code(), status.signal()), (None, Some(15)), "{processes}: {status}");
        assert!(!pid_file.exists(), "{processes}: the pid file is still there");
    }
}

#[test]
fn workers_whose_supervisor_is_killed_finish_what_they_have() {
    let server = two(&["--stop-timeout", "5s"]);
    let workers = server.new_workers(2, &BTreeSet::new());
    let mut client = server.client();
    assert_eq!(client.get("/").status, 200);
    client.send(get("/sleep/500"));
    assert_eq!(server.client().get("/sleep/50").status, 200);
    server.signal("KILL");
    let response = client.response();
    assert_eq!((response.text(), response.field("Connection")), ("slept\n", Some("close")), "{response:?}");
    wait_until("the workers to end", || workers.iter().all(|worker| !lives(*worker)).then_some(()));
    TcpStream::connect(&server.address).expect_err("nobody listens any more");
}

#[test]
fn a_busy_worker_whose_supervisor_is_killed_ends_after_a_while() {
    let server = two(&["--stop-timeout", "100ms"]);
    let workers = server.new_workers(2, &BTreeSet::new());
    let mut client = server.client();
    client.send(get("/cpu/10000000"));
    let start = Instant::now();
    wait_until("a worker to be busy", || workers.iter().find(|worker| is_running(**worker)));
    server.signal("KILL");
    wait_until("the workers to end", || workers.iter().all(|worker| !lives(*worker)).then_some(()));
    assert!(start.elapsed() < Duration::from_secs(9), "it was waited for: {:?}", start.elapsed());
}

#[test]
fn a_server_without_workers_survives_signals_to_reload() {
    let server = Serve::start(&["--workers", "1"]);
    let mut client = server.client();
    for name in ["HUP", "USR2", "HUP"] {
        assert_eq!(client.get("/").status, 200);
        signal(server.pid(), name);
    }
    let response = client.get("/");
    assert_eq!((response.status, response.field("Connection")), (200, None), "{response:?}");
}

/// A program that a worker starts has its variables, but is no worker.
#[test]
fn a_variable_without_what_it_speaks_of_is_left_alone() {
    let own = File::open("/dev/null").expect("it is there");
    for note in ["1:1:1,2", "1:0:-1", "nonsense"] {
        let mut command = torr_command(&["serve", "--listen", "127.0.0.1:0", "--processes", "1", "--workers", "1"]);
        command.env("TORR_WORKER_PROCESS", note).stdin(own.try_clone().expect("there is room"));
        let server = Supervised::start_as(command);
        assert_eq!((server.client().get("/").status, server.workers().len()), (200, 1), "{note}");
        server.leaves();
    }
}

// The program that is started again.

/// A folder beside the program, where it can have a second name.
struct Versions(TempDir);

impl Versions {
    fn new() -> Self {
        let torr = Path::new(torr_path());
        let folder = tempfile::tempdir_in(torr.parent().expect("it is a file")).expect("there is room for a folder");
        fs::create_dir(folder.path().join("1")).expect("a folder can be made");
        fs::create_dir(folder.path().join("2")).expect("a folder can be made");
        fs::hard_link(torr, folder.path().join("1/torr")).expect("a file can have two names");
        Self(folder)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// A new version, which leaves a trace of each start.
    fn write_new(&self, name: &str) {
        let script = format!("#!/bin/sh\necho >> '{}'\nexec '{}' \"$@\"\n", self.path("trace").display(), torr_path());
        let new = self.path("new");
        fs::write(&new, script).expect("a file can be written");
        fs::set_permissions(&new, fs::Permissions::from_mode(0o755)).expect("it can be made a program");
        fs::rename(&new, self.path(name)).expect("a file can be renamed");
    }

    /// How often the new version was started.
    fn starts(&self) -> usize {
        fs::read_to_string(self.path("trace")).map_or(0, |text| text.lines().count())
    }

    fn serve(&self, program: &str) -> Supervised {
        let mut command = Command::new(program);
        command.args(["serve", "--listen", "127.0.0.1:0"]).args(TWO).current_dir(self.0.path());
        Supervised::start_as(command)
    }
}

#[test]
fn a_reload_starts_the_version_that_was_installed_meanwhile() {
    let versions = Versions::new();
    let program = versions.path("1/torr");
    let server = versions.serve(program.to_str().expect("it is UTF-8"));
    let old = server.new_workers(2, &BTreeSet::new());
    versions.write_new("1/torr");
    server.signal("HUP");
    server.says("reloaded:");
    server.new_workers(2, &old);
    assert_eq!((versions.starts(), server.client().get("/").status), (2, 200));
    server.leaves();
}

#[test]
fn a_reload_follows_a_link_in_the_programs_path() {
    let versions = Versions::new();
    let link = versions.path("current");
    symlink("1", &link).expect("a link can be made");
    let program = versions.path("current/torr");
    let server = versions.serve(program.to_str().expect("it is UTF-8"));
    versions.write_new("2/torr");
    fs::remove_file(&link).and_then(|()| symlink("2", &link)).expect("a link can be made anew");
    server.signal("HUP");
    server.says("reloaded:");
    assert_eq!((versions.starts(), server.client().get("/").status), (2, 200));
    server.leaves();
}

#[test]
fn where_there_is_no_program_it_is_tried_again() {
    let versions = Versions::new();
    let program = versions.path("1/torr");
    let server = versions.serve(program.to_str().expect("it is UTF-8"));
    let old = server.new_workers(2, &BTreeSet::new());
    fs::remove_file(&program).expect("it is there");
    server.signal("HUP");
    server.says("cannot start worker 1: No such file or directory (os error 2): reload cancelled");
    assert_eq!(server.workers(), old);
    signal(*old.last().expect("there are two"), "KILL");
    // With longer and longer waits.
    server.says("cannot start worker 2 (No such file or directory (os error 2)): restarting in 20 ms");
    server.says("cannot start worker 2 (No such file or directory (os error 2)): restarting in 500 ms");
    versions.write_new("1/torr");
    wait_until("two workers", || (server.workers().len() == 2).then_some(()));
    (0..16).for_each(|_| assert_eq!(server.client().get("/").status, 200));
    server.leaves();
}
