//! `torr serve` as a service: what it tells systemd, sockets that it is handed, and its pid file.

use std::fs;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, UdpSocket};
use std::os::fd::OwnedFd;
use std::os::unix::net::{UnixDatagram, UnixListener, UnixStream};
use std::process::{Command, Stdio, id};
use std::time::Duration;
use tempfile::TempDir;
use torr_test_support::client::{Client, get};
use torr_test_support::program::{Ended, Running, torr_command};
use torr_test_support::supervised::Supervised;
use torr_test_support::{PATIENCE, wait_until};

const WAYS: [&[&str]; 2] = [&["--workers", "2"], &["--workers", "1", "--processes", "2"]];

// The received notifications.

/// The socket that systemd would listen on.
struct Manager {
    socket: UnixDatagram,
    folder: TempDir,
}

impl Manager {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("there is room for temporary files");
        let socket = UnixDatagram::bind(folder.path().join("notify")).expect("a socket can be made");
        socket.set_read_timeout(Some(PATIENCE)).expect("a socket takes options");
        Self { socket, folder }
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = torr_command(&[&["serve", "--listen", "127.0.0.1:0"], args].concat());
        command.env("NOTIFY_SOCKET", self.folder.path().join("notify"));
        command
    }

    /// The lines of the next message.
    fn hears(&self) -> Vec<String> {
        let mut message = [0; 4096];
        let length = self.socket.recv(&mut message).expect("something is told");
        String::from_utf8_lossy(&message[..length]).lines().map(str::to_owned).collect()
    }
}

#[test]
fn systemd_is_notified_of_start_reload_and_end() {
    for args in WAYS {
        let manager = Manager::new();
        let mut server = Supervised::start_as(manager.command(args));
        let what = if args.contains(&"--processes") { ", 2 worker processes" } else { "" };
        let status = format!("STATUS=listening on {}{what}", server.address);
        let ready = ["READY=1".to_owned(), format!("MAINPID={}", server.pid()), status];
        assert_eq!(manager.hears(), ready);

        server.signal("HUP");
        let reloading = manager.hears();
        let [first, time, status] = &*reloading else { panic!("{reloading:?}") };
        assert_eq!((&**first, &**status), ("RELOADING=1", "STATUS=reloading"));
        let time: u64 = time.strip_prefix("MONOTONIC_USEC=").and_then(|n| n.parse().ok()).expect("it has its time");
        let uptime = fs::read_to_string("/proc/uptime").expect("/proc is there");
        let uptime: f64 = uptime.split(' ').next().and_then(|n| n.parse().ok()).expect("it is a number");
        assert!((uptime - time as f64 / 1e6).abs() < 60.0, "{time} us at {uptime} s");
        assert_eq!(manager.hears(), ready);

        server.signal("TERM");
        assert_eq!(manager.hears(), ["STOPPING=1", "STATUS=finishing requests in flight"]);
        assert_eq!(server.wait().code(), Some(0));
        manager.socket.set_nonblocking(true).expect("a socket takes options");
        manager.socket.recv(&mut [0]).expect_err("nothing more is told, and nothing by workers");
    }
}

#[test]
fn a_reload_that_fails_is_notified_too() {
    let manager = Manager::new();
    let file = manager.folder.path().join("torr.toml");
    fs::write(&file, "").expect("a file can be written");
    let server =
        Supervised::start_as(manager.command(&["--processes", "1", "--config", file.to_str().expect("UTF-8")]));
    manager.hears();
    fs::write(&file, "workers = 0").expect("a file can be written");
    server.signal("USR2");
    assert_eq!(manager.hears()[0], "RELOADING=1");
    let reported = manager.hears();
    assert!(reported[0] == "READY=1" && reported[2].ends_with("; the last reload failed"), "{reported:?}");
    server.leaves();
}

/// systemd itself may stand still: its socket then has as many messages as it takes.
#[test]
fn a_service_manager_that_does_not_read_holds_up_nothing() {
    for args in WAYS {
        let manager = Manager::new();
        let other = UnixDatagram::unbound().expect("a socket can be made");
        other.set_nonblocking(true).expect("a socket takes options");
        let mut sent = 0;
        while other.send_to(b"OTHER=1", manager.folder.path().join("notify")).is_ok() {
            sent += 1;
        }
        let mut command = manager.command(args);
        command.env("WATCHDOG_USEC", "20000");
        let mut server = Supervised::start_as(command);
        assert_eq!(Client::connect(&server.address).get("/").status, 200);
        if args.contains(&"--processes") {
            server.signal("HUP");
            server.says("reloaded:");
        }
        server.signal("TERM");
        assert_eq!(server.wait().code(), Some(0));
        for _ in 0..sent {
            assert_eq!(manager.hears(), ["OTHER=1"]);
        }
    }
}

#[test]
fn a_watchdog_is_notified_that_the_server_lives() {
    for args in WAYS {
        let manager = Manager::new();
        let mut command = manager.command(args);
        let server = Supervised::start_as({
            command.env("WATCHDOG_USEC", "200000");
            command
        });
        let mut alive = 0;
        while alive < 5 {
            alive += usize::from(manager.hears() == ["WATCHDOG=1"]);
        }
        server.leaves();
    }
}

// What is handed over.

fn listener() -> (TcpListener, SocketAddr) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let address = listener.local_addr().expect("it is bound");
    (listener, address)
}

/// `torr serve` with this socket as descriptor 3, and as 4 too if there are to be two, as systemd would start it.
fn activated(socket: OwnedFd, count: usize, args: &[&str]) -> Command {
    let torr = torr_command(&[&["serve", "--listen", "192.0.2.1:1"], args].concat());
    let mut command = Command::new("sh");
    let script = format!("LISTEN_PID=$$ LISTEN_FDS={count} exec \"$0\" \"$@\" 3<&0 4<&0 0</dev/null");
    command.args(["-c", &script]).arg(torr.get_program()).args(torr.get_args()).stdin(Stdio::from(socket));
    command
}

#[test]
fn a_socket_that_is_handed_over_is_served_by_all_workers() {
    for args in [&["--workers", "3"][..], &["--workers", "2", "--processes", "2"]] {
        let (socket, address) = listener();
        let server = Supervised::start_as(activated(socket.try_clone().expect("there is room").into(), 1, args));
        assert_eq!(server.address, address.to_string());
        let mut clients: Vec<_> = (0..20).map(|_| Client::connect(address)).collect();
        clients.iter_mut().for_each(|client| assert_eq!(client.get("/").status, 200));
        server.signal("HUP");
        if args.contains(&"--processes") {
            server.says("reloaded:");
        }
        clients.iter_mut().for_each(|client| assert_eq!(client.get("/").status, 200));
        assert_eq!(Client::connect(address).get("/").status, 200);
        server.leaves();

        // The socket is still open, and who comes now is served by the next server.
        let mut early = Client::connect(address);
        early.send(get("/"));
        let next = Supervised::start_as(activated(socket.into(), 1, args));
        assert_eq!(early.response().status, 200);
        next.leaves();
    }
}

#[test]
fn a_unix_socket_that_is_handed_over_is_served() {
    for args in WAYS {
        let folder = tempfile::tempdir().expect("there is room for temporary files");
        let path = folder.path().join("socket");
        let socket = UnixListener::bind(&path).expect("a socket can be made");
        let server = Supervised::start_as(activated(socket.into(), 1, args));
        assert_eq!(server.address, format!("unix:{}", path.display()));
        let mut client = UnixStream::connect(&path).expect("the server listens");
        client.set_read_timeout(Some(PATIENCE)).expect("a socket takes options");
        client.write_all(b"GET /plaintext HTTP/1.0\r\n\r\n").expect("the server reads");
        let mut response = String::new();
        client.read_to_string(&mut response).expect("the server responds in ASCII");
        assert!(response.starts_with("HTTP/1.1 200 OK\r\n") && response.ends_with("Hello, World!"), "{response}");
        server.leaves();
    }
}

/// Draining must not cost CPU: the socket stays ready for others.
#[test]
fn a_worker_that_leaves_does_not_watch_a_socket_that_stays_open() {
    let (socket, address) = listener();
    let server = Supervised::start_as(activated(socket.try_clone().expect("room").into(), 1, &["--workers", "1"]));
    let (mut slow, mut other) = (Client::connect(address), Client::connect(address));
    assert_eq!((slow.get("/").status, other.get("/").status), (200, 200));
    slow.send(get("/sleep/2000"));
    server.signal("TERM");
    wait_until("it to leave", || (other.get("/").field("Connection") == Some("close")).then_some(()));
    // This one waits for another server on the socket.
    let mut early = Client::connect(address);
    early.send(get("/"));
    let before = cpu(server.pid());
    assert_eq!(slow.response().text(), "slept\n");
    let used = cpu(server.pid()) - before;
    assert!(used < Duration::from_millis(500), "it used {used:?} in two seconds in which it had nothing to do");
    early.has_nothing();
}

/// The CPU time that a process has used.
fn cpu(pid: u32) -> Duration {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).expect("it runs");
    let fields: Vec<_> = stat.rsplit_once(") ").expect("a name stands in brackets").1.split(' ').collect();
    let ticks: u64 = fields[11..13].iter().map(|field| field.parse::<u64>().expect("it is a number")).sum();
    Duration::from_millis(ticks * 1000 / rustix::param::clock_ticks_per_second())
}

#[test]
fn what_cannot_be_served_is_refused_in_one_line() {
    let udp = || OwnedFd::from(UdpSocket::bind("127.0.0.1:0").expect("a port is free"));
    let tcp = || OwnedFd::from(listener().0);
    let datagrams = || OwnedFd::from(UnixDatagram::unbound().expect("a socket can be made"));
    let no_listener = "cannot use the inherited sockets: not a listening TCP or Unix socket";
    for (socket, count, args, line) in [
        (udp(), 1, WAYS[0], no_listener),
        (datagrams(), 1, WAYS[1], no_listener),
        (tcp(), 2, WAYS[1], "cannot use the inherited sockets: expected one per worker thread, found 2 for 1 worker"),
    ] {
        let ended = Running::start_with_its_input(activated(socket, count, args)).wait();
        one_line(&ended, 1, line);
    }
}

fn one_line(ended: &Ended, code: i32, line: &str) {
    assert_eq!((ended.code, ended.stderr.trim_end()), (Some(code), &*format!("torr: {line}")), "{ended:?}");
}

// The pid file.

#[test]
fn the_pid_file_is_there_as_long_as_the_server() {
    for args in WAYS {
        let folder = tempfile::tempdir().expect("there is room for temporary files");
        let file = folder.path().join("torr.pid");
        let with = [args, &["--pid-file", file.to_str().expect("it is UTF-8")]].concat();
        // One of a server that was killed. No process has this number.
        fs::write(&file, "4194304\n").expect("a file can be written");
        let server = Supervised::start(&with);
        let expected = format!("{}\n", server.pid());
        assert_eq!(fs::read_to_string(&file).expect("it is there"), expected);
        server.signal("HUP");
        assert_eq!(server.client().get("/").status, 200);

        let second = Running::start(torr_command(&[&["serve", "--listen", "127.0.0.1:0"], &*with].concat())).wait();
        let (pid, shown) = (server.pid(), file.display());
        let lives = format!(
            "the server is already running as process {pid}, by the pid file {shown}: stop that process, use another \
             pid file, or delete this one if it is stale"
        );
        one_line(&second, 2, &lives);
        assert_eq!(fs::read_to_string(&file).expect("it is there"), expected);
        server.leaves();
        assert_eq!(fs::read_dir(folder.path()).expect("it is a folder").count(), 0, "a file is left");
    }
}

#[test]
fn a_number_that_was_given_to_a_younger_process_is_stale() {
    let folder = tempfile::tempdir().expect("there is room for temporary files");
    let file = folder.path().join("torr.pid");
    fs::write(&file, id().to_string()).expect("a file can be written");
    let start = || ["serve", "--listen", "127.0.0.1:0", "--pid-file", file.to_str().expect("it is UTF-8")];
    let refused = Running::start(torr_command(&start())).wait();
    assert_eq!(refused.code, Some(2), "this process lives: {refused:?}");
    // Written long before this process began.
    let yesterday = std::time::SystemTime::now() - Duration::from_secs(24 * 3600);
    fs::File::options().write(true).open(&file).and_then(|f| f.set_modified(yesterday)).expect("a file has a time");
    let server = Supervised::start_as(torr_command(&start()));
    assert_eq!(fs::read_to_string(&file).expect("it is there").trim(), server.pid().to_string());
    server.leaves();
}

#[test]
fn a_file_that_is_no_pid_file_is_left_alone() {
    let folder = tempfile::tempdir().expect("there is room for temporary files");
    let file = folder.path().join("precious");
    for content in [&b"precious\n"[..], b"-1", b"0", b"\xff\xfe"] {
        fs::write(&file, content).expect("a file can be written");
        let path = file.to_str().expect("it is UTF-8");
        let ended = Running::start(torr_command(&["serve", "--listen", "127.0.0.1:0", "--pid-file", path])).wait();
        one_line(&ended, 2, &format!("{path} is not a pid file: expected a number"));
        assert_eq!(fs::read(&file).expect("it is there"), content);
    }
    let nowhere = folder.path().join("no/where");
    let path = nowhere.to_str().expect("it is UTF-8");
    let ended = Running::start(torr_command(&["serve", "--listen", "127.0.0.1:0", "--pid-file", path])).wait();
    one_line(&ended, 2, &format!("cannot write the pid file {path}: no such file or directory"));
}
