//! A watcher put to real sockets, threads and processes, most of them this process's own.

use super::reading::Reading;
use super::scope::{Scope, Target};
use super::{Signals, Watcher};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::unix::net::{UnixListener, UnixStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

/// A watcher that takes this process for the server.
fn watch(target: Target) -> Watcher {
    Watcher::of(Scope::new(target, true)).expect("somebody listens there")
}

fn watch_tcp(listener: &TcpListener) -> Watcher {
    watch(Target::Tcp(vec![address(listener)]))
}

fn address(listener: &TcpListener) -> SocketAddr {
    listener.local_addr().expect("it is bound")
}

/// Waits until what was seen since `begin` is as wanted.
fn until(watcher: &Watcher, begin: &Reading, wanted: impl Fn(&Signals) -> bool) -> Signals {
    let deadline = Instant::now() + Duration::from_secs(10);
    loop {
        let signals = Signals::between(begin, &watcher.reading());
        if wanted(&signals) {
            return signals;
        }
        assert!(Instant::now() < deadline, "it was not seen: {signals:#?}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Listens with a queue of this length.
fn listen(address: &str, backlog: i32) -> TcpListener {
    let listener = TcpListener::bind(address).expect("a free port");
    rustix::net::listen(&listener, backlog).expect("to listen again changes the queue's length");
    listener
}

#[test]
fn connections_wait_in_the_listeners_queue() {
    let listener = listen("127.0.0.1:0", 3);
    let watcher = watch_tcp(&listener);
    let begin = watcher.reading();
    let _waiting: Vec<_> = (0..2).map(|_| TcpStream::connect(address(&listener)).expect("there is room")).collect();
    let seen = until(&watcher, &begin, |signals| signals.listeners[0].queued_max == Some(2));
    let found = &seen.listeners[0];
    assert_eq!((found.address.as_str(), found.sockets), (address(&listener).to_string().as_str(), 1));
    assert_eq!(found.backlog, Some(3));
    assert!(found.queued_mean.is_some_and(|mean| mean > 0.0 && mean <= 2.0));
    // No process has accepted them.
    assert_eq!(seen.clients.expect("sockets can be seen").established, 0.0);
}

#[test]
fn unread_requests_and_unsent_responses_differ() {
    // A socket for both families, as many servers have: clients over IPv4 have mapped addresses there.
    let listener = listen("[::]:0", 16);
    let port = address(&listener).port();
    let watcher = watch(Target::Tcp(vec![([127, 0, 0, 1], port).into()]));
    let connect = || {
        let client = TcpStream::connect(("127.0.0.1", port)).expect("it listens");
        (client, listener.accept().expect("it is there").0)
    };
    let (mut asking, _silent) = connect();
    asking.write_all(b"GET / HTTP/1.1\r\n\r\n").expect("it fits");
    let (_deaf, mut answering) = connect();
    answering.set_nonblocking(true).expect("it can be");
    while answering.write(&[0; 65536]).is_ok() {}
    let (_idle_client, _idle) = connect();
    let begin = watcher.reading();
    let seen = until(&watcher, &begin, |signals| signals.clients.is_some_and(|clients| clients.established > 0.0));
    let clients = seen.clients.expect("it has been waited for");
    assert_eq!((clients.established, clients.unread, clients.unsent), (3.0, 1.0, 1.0));
    assert!(clients.rtt_us.is_some_and(|rtt| rtt > 0.0) && clients.min_rtt_us.is_some_and(|rtt| rtt > 0.0));
    // All the time the client's window held the response back.
    let held =
        until(&watcher, &begin, |signals| signals.clients.is_some_and(|clients| clients.window_limited.is_some()));
    assert!(held.clients.and_then(|clients| clients.window_limited).is_some_and(|share| share > 0.5));
}

/// Another program that is connected to an address as long as this lives.
struct Foreign(std::process::Child);

impl Foreign {
    fn connect(to: SocketAddr) -> Self {
        let connect = format!("exec 3<>/dev/tcp/{}/{}; read", to.ip(), to.port());
        let mut bash = std::process::Command::new("bash");
        let child = bash.args(["-c", &connect]).stdin(std::process::Stdio::piped()).spawn();
        Self(child.expect("bash runs"))
    }
}

impl Drop for Foreign {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn connections_of_other_programs_to_the_server_are_no_part_of_the_load() {
    let listener = listen("[::]:0", 16);
    let port = address(&listener).port();
    let to = SocketAddr::from(([127, 0, 0, 1], port));
    let _foreign = Foreign::connect(to);
    let (_accepted_foreign, _) = listener.accept().expect("it connects");
    let _ours = TcpStream::connect(to).expect("it listens");
    let (_accepted, _) = listener.accept().expect("it is there");
    let established = |watcher: &Watcher| {
        let begin = watcher.reading();
        until(watcher, &begin, |signals| signals.clients.is_some()).clients.expect("it has been waited for").established
    };
    assert_eq!(established(&watch(Target::Tcp(vec![to]))), 1.0);
    // Who watches a port for others does not know who loads it.
    assert_eq!(established(&watch(Target::Port(port))), 2.0);
}

#[test]
fn connections_of_other_programs_to_a_peer_are_not_the_servers() {
    let server = listen("127.0.0.1:0", 16);
    let upstream = listen("127.0.0.2:0", 16);
    let to = address(&upstream);
    let _opened = TcpStream::connect(to).expect("it listens");
    let (_at_upstream, _) = upstream.accept().expect("it is there");
    let watcher = watch_tcp(&server);
    // It comes after the watcher has looked who holds what.
    let _foreign = Foreign::connect(to);
    let (_foreign_at_upstream, _) = upstream.accept().expect("it connects");
    // A sample may count it before it is seen to stay; those after that do not.
    until(&watcher, &watcher.reading(), |signals| {
        let samples = signals.seconds > 0.2;
        samples && Upstream::seen(signals, to).is_some()
    });
    let begin = watcher.reading();
    let seen = until(&watcher, &begin, |signals| signals.seconds > 0.2 && Upstream::seen(signals, to).is_some());
    let peer = Upstream::seen(&seen, to).expect("it has been waited for");
    assert_eq!(peer.connections, 1.0, "{seen:#?}");
    // Both connections have been accepted.
    let queue = peer.listener.as_ref().expect("the peer listens on this machine");
    assert_eq!((queue.sockets, queue.backlog, queue.queued_max), (1, Some(16), Some(0)), "{queue:?}");
}

/// Returns the use of a thread of this process by its name.
fn thread<'a>(signals: &'a Signals, name: &str) -> Option<&'a super::ThreadUse> {
    signals.processes.iter().flat_map(|process| &process.threads).find(|thread| thread.name == name)
}

#[test]
fn a_busy_thread_and_one_that_waits_for_a_lock_look_different() {
    let listener = listen("127.0.0.1:0", 16);
    let watcher = watch_tcp(&listener);
    let ended = Arc::new((AtomicBool::new(false), Mutex::new(()), Condvar::new()));
    let spawn = |name: &str, work: fn(&(AtomicBool, Mutex<()>, Condvar))| {
        let ended = ended.clone();
        std::thread::Builder::new().name(name.into()).spawn(move || work(&ended)).expect("a thread can be made")
    };
    let burner = spawn("burner", |(ended, ..)| while !ended.load(Ordering::Relaxed) {});
    let waiter = spawn("waiter", |(ended, lock, signal)| {
        let guard = lock.lock().expect("nobody fails with it");
        drop(signal.wait_while(guard, |()| !ended.load(Ordering::Relaxed)).expect("nobody fails with it"));
    });
    let begin = watcher.reading();
    let looked_at = |signals: &Signals| thread(signals, "burner").is_some() && thread(signals, "waiter").is_some();
    until(&watcher, &begin, looked_at);
    let begin = watcher.reading();
    let seen = until(&watcher, &begin, |signals| signals.seconds > 1.0);
    ended.0.store(true, Ordering::Relaxed);
    drop(ended.1.lock());
    ended.2.notify_all();
    for thread in [burner, waiter] {
        thread.join().expect("it ends");
    }

    let burner = thread(&seen, "burner").expect("it has been waited for");
    assert!(burner.running.is_some_and(|share| share > 0.9) && burner.waiting.is_empty(), "{burner:?}");
    // Others may want the CPU too: what it did not get, it waited for.
    assert!(burner.demand() > 0.8, "{burner:?}");
    let waiter = thread(&seen, "waiter").expect("it has been waited for");
    assert!(waiter.cores < 0.01 && waiter.running.is_some_and(|share| share < 0.1), "{waiter:?}");
    let on_lock: f64 = waiter.waiting.iter().filter(|(what, _)| what.contains("futex")).map(|(_, share)| share).sum();
    assert!(on_lock > 0.9, "{waiter:?}");
    let process = &seen.processes[0];
    assert!(process.cores >= burner.cores - 0.05 && process.thread_count >= 3, "{process:?}");
    assert!(process.allowed_cores.is_some_and(|cores| cores > 0));
    assert!(process.open_files.is_some_and(|files| files > 3) && process.file_limit >= process.open_files);
}

/// A server in this process that connects to another listener, which responds to a byte with a byte, late.
struct Upstream {
    server: TcpListener,
    to: SocketAddr,
    connection: TcpStream,
    other: TcpStream,
}

impl Upstream {
    fn new() -> Self {
        let server = listen("127.0.0.1:0", 16);
        let upstream = listen("127.0.0.2:0", 16);
        let to = address(&upstream);
        let connection = TcpStream::connect(to).expect("it listens");
        let (other, _) = upstream.accept().expect("it is there");
        Self { server, to, connection, other }
    }

    fn seen(signals: &Signals, to: SocketAddr) -> Option<&super::PeerUse> {
        signals.peers.iter().find(|peer| peer.address == to.to_string())
    }
}

#[test]
fn a_connection_awaits_a_response_or_is_idle() {
    let mut upstream = Upstream::new();
    let to = upstream.to;
    let watcher = watch_tcp(&upstream.server);
    // An exchange that is over at once leaves it at rest.
    upstream.connection.write_all(b"?").expect("it fits");
    upstream.other.read_exact(&mut [0]).expect("it was sent");
    upstream.other.write_all(b"!").expect("it fits");
    upstream.connection.read_exact(&mut [0]).expect("it was sent");
    let waiting = |begin: &Reading, seconds: f64| {
        let enough = |signals: &Signals| signals.seconds > seconds && Upstream::seen(signals, to).is_some();
        let seen = until(&watcher, begin, enough);
        let peer = Upstream::seen(&seen, to).expect("it has been waited for").clone();
        assert_eq!((peer.connections, peer.connections_max, peer.kept), (1.0, 1, Some(1.0)), "{peer:?}");
        peer.waiting.expect("the kernel tells")
    };
    assert_eq!(waiting(&watcher.reading(), 0.3), 0.0);
    // The second request goes out right after a response has come, and is acknowledged long before it is answered.
    upstream.connection.write_all(b"?").expect("it fits");
    upstream.other.read_exact(&mut [0]).expect("it was sent");
    upstream.other.write_all(b"!").expect("it fits");
    upstream.connection.read_exact(&mut [0]).expect("it was sent");
    upstream.connection.write_all(b"?").expect("it fits");
    assert_eq!(waiting(&watcher.reading(), 0.5), 1.0);
    upstream.other.write_all(b"!").expect("it fits");
    upstream.connection.read_exact(&mut [0]).expect("it was sent");
    assert_eq!(waiting(&watcher.reading(), 0.3), 0.0);
}

#[test]
fn exchanges_with_a_peer_are_counted() {
    let mut upstream = Upstream::new();
    let watcher = watch_tcp(&upstream.server);
    let begin = watcher.reading();
    let traffic = |signals: &Signals| {
        let peer = Upstream::seen(signals, upstream.to)?;
        Some((peer.sends_per_s? * signals.seconds, peer.bytes_per_s? * signals.seconds))
    };
    until(&watcher, &begin, |signals| traffic(signals).is_some());
    let begin = watcher.reading();
    for _ in 0..50 {
        upstream.connection.write_all(b"?").expect("it fits");
        upstream.other.read_exact(&mut [0]).expect("it was sent");
        upstream.other.write_all(b"1234").expect("it fits");
        upstream.connection.read_exact(&mut [0; 4]).expect("it was sent");
    }
    let near = |number: f64, wanted: f64| (number - wanted).abs() < 0.5;
    until(&watcher, &begin, |signals| {
        traffic(signals).is_some_and(|(sends, bytes)| near(sends, 50.0) && near(bytes, 200.0))
    });
}

#[test]
fn unix_sockets_are_seen_on_both_sides() {
    let directory = tempfile::tempdir().expect("a directory for sockets");
    let (path, other) = (directory.path().join("server.sock"), directory.path().join(".s.PGSQL.5432"));
    let server = UnixListener::bind(&path).expect("a fresh path");
    let database = UnixListener::bind(&other).expect("a fresh path");
    let mut client = UnixStream::connect(&path).expect("it listens");
    client.write_all(b"GET / HTTP/1.1\r\n\r\n").expect("it fits");
    let (_accepted, _) = server.accept().expect("it is there");
    let _queued = UnixStream::connect(&path).expect("there is room");
    let _to_database = UnixStream::connect(&other).expect("it listens");
    let (_at_database, _) = database.accept().expect("it is there");

    let watcher = watch(Target::Unix(path.clone()));
    let begin = watcher.reading();
    let other = other.display().to_string();
    let peer = |signals: &Signals| signals.peers.iter().find(|peer| peer.address == other).cloned();
    let seen = until(&watcher, &begin, |signals| peer(signals).is_some());
    let clients = seen.clients.expect("sockets can be seen");
    assert_eq!((clients.established, clients.unread), (1.0, 1.0));
    assert_eq!(clients.rtt_us, None);
    let listener = &seen.listeners[0];
    assert_eq!((listener.address.as_str(), listener.queued_max), (path.display().to_string().as_str(), Some(1)));
    let peer = peer(&seen).expect("it has been waited for");
    assert_eq!((peer.connections, peer.kept, peer.waiting, peer.role), (1.0, Some(1.0), None, super::Role::Database));
    assert_eq!(peer.processes[0].pid, std::process::id() as i32);
    let queue = peer.listener.expect("the database listens on this machine");
    assert_eq!((queue.sockets, queue.queued_max), (1, Some(0)));
    assert!(queue.backlog.is_some_and(|backlog| backlog > 0), "{queue:?}");
    // A connection that the database has not accepted is in its queue.
    let _queued_there = UnixStream::connect(&other).expect("there is room");
    let queued = |signals: &Signals| {
        let peer = signals.peers.iter().find(|peer| peer.address == other)?;
        peer.listener.as_ref()?.queued_max
    };
    until(&watcher, &watcher.reading(), |signals| queued(signals) == Some(1));
}

#[test]
fn a_server_that_is_gone_is_not_an_idle_server() {
    let listener = listen("127.0.0.1:0", 16);
    let at = address(&listener);
    // This process is the generator, not the server, but its listener can be seen.
    let watcher = Watcher::start(&[at]).expect("somebody listens there");
    assert_eq!(watcher.reading().processes, vec![]);
    let other = Watcher::start_port(at.port()).expect("somebody listens there");
    assert_eq!(Signals::between(&watcher.reading(), &other.reading()), Signals::default());
    drop(listener);
    // A child that another test starts has the listener too, until it executes its program.
    let (begun, is_gone) =
        (Instant::now(), || Watcher::start(&[at]).is_none() && Watcher::start_port(at.port()).is_none());
    while !is_gone() {
        assert!(begun.elapsed() < Duration::from_secs(30), "a watcher starts without a listener");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn a_reading_travels_as_json() {
    let listener = listen("127.0.0.1:0", 16);
    let watcher = watch_tcp(&listener);
    let _connection = TcpStream::connect(address(&listener)).expect("it listens");
    until(&watcher, &watcher.reading(), |signals| signals.seconds > 0.1);
    let reading = watcher.reading();
    let text = serde_json::to_string(&reading).expect("it can be written");
    assert_eq!(serde_json::from_str::<Reading>(&text).expect("it can be read"), reading);
}
