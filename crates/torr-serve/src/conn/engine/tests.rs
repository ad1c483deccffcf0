//! The engine turn by turn, where over sockets alone it would depend on who is faster.

use super::connection::{Connection, State};
use super::timeouts::SHUTDOWN_IDLE;
use super::{ARENA, Engine};
use crate::app::App;
use crate::conn::admission::ConnectionLimits;
use crate::conn::context::{EngineContext, ServerContext};
use crate::conn::transport::Plain;
use crate::message::response::Response;
use crate::settings::Settings;
use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};
use torr_net::{StopSignal, Token, clock};

const TIME_LIMIT: Duration = Duration::from_secs(30);
/// Few of these fill what the kernel keeps of a connection, and each goes with its head.
static LONG: [u8; 60_000] = [b'l'; 60_000];

fn get(path: &str) -> String {
    format!("GET {path} HTTP/1.1\r\nHost: x\r\n\r\n")
}

/// An engine with one client, whose connection it has accepted.
struct Rig {
    engine: Engine<Plain>,
    client: TcpStream,
    connection: Token,
    /// Connections whose handlers wait to be completed.
    waiting: Vec<Token>,
    count: Arc<AtomicUsize>,
}

impl Rig {
    fn new() -> Self {
        let count = Arc::new(AtomicUsize::new(0));
        let counter = Arc::clone(&count);
        let app = App::new()
            .get_async("/wait", |_| std::future::pending())
            .get("/now", move |_| {
                counter.fetch_add(1, Ordering::Relaxed);
                Response::text("now")
            })
            .get("/long", |_| Response::text(&LONG[..]));
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
        listener.set_nonblocking(true).expect("a socket takes options");
        let client = TcpStream::connect(listener.local_addr().expect("it is bound")).expect("it listens");
        client.set_read_timeout(Some(TIME_LIMIT)).expect("a socket takes options");
        let (_, shared) = ServerContext::alone(app, Settings::default()).expect("there is memory");
        let mut engine = Engine::new(
            EngineContext::new(shared, 0).expect("a descriptor is free"),
            ConnectionLimits::of_all(100),
            OwnedFd::from(listener),
            Arc::new(StopSignal::new().expect("there is room for a descriptor")),
        )
        .expect("it starts");
        let start = Instant::now();
        while engine.connections.is_empty() {
            engine.turn(false).expect("the poller waits");
            assert!(start.elapsed() < TIME_LIMIT, "nobody was accepted");
        }
        let connection = engine.connections.tokens().next().expect("it was accepted");
        Self { engine, client, connection, waiting: Vec::new(), count }
    }

    /// Sends, and waits until it has arrived, without the engine's taking notice.
    fn send(&mut self, bytes: &str) {
        self.client.write_all(bytes.as_bytes()).expect("a socket has room");
        let socket = TcpStream::from(self.connection().socket.try_clone().expect("a descriptor is free"));
        let (start, mut room) = (Instant::now(), vec![0; bytes.len() + 1]);
        while socket.peek(&mut room).is_err_and(|error| error.kind() == ErrorKind::WouldBlock) {
            assert!(start.elapsed() < TIME_LIMIT, "{bytes:?} did not arrive");
        }
    }

    /// One turn. Handlers that wait are kept.
    fn turn(&mut self) {
        self.engine.turn(false).expect("the poller waits");
        self.waiting.extend(self.engine.take_tasks().map(|task| task.token));
    }

    /// Completes the handler that has waited longest.
    fn complete(&mut self, text: &'static str) {
        let token = self.waiting.remove(0);
        self.engine.complete([(token, Response::text(text))]);
    }

    fn connection(&mut self) -> &mut Connection<Plain> {
        self.engine.connections.get_mut(self.connection).expect("it lasts")
    }

    /// Adds what the client can read now to what it has read.
    fn read_now(&mut self, so_far: &mut Vec<u8>) {
        self.client.set_nonblocking(true).expect("a socket takes options");
        let end = self.client.read_to_end(so_far).map_err(|error| error.kind());
        self.client.set_nonblocking(false).expect("a socket takes options");
        assert_eq!(end, Err(ErrorKind::WouldBlock), "after {} bytes", so_far.len());
    }

    /// The body of the next response, which must have three bytes.
    fn body(&mut self) -> String {
        let mut response = Vec::new();
        while !response.ends_with(b"\r\n\r\n") {
            let mut byte = [0];
            self.client
                .read_exact(&mut byte)
                .unwrap_or_else(|error| panic!("{error} after {}", response.escape_ascii()));
            response.extend(byte);
        }
        let mut body = [0; 3];
        self.client.read_exact(&mut body).expect("the body comes with its head");
        String::from_utf8_lossy(&body).into_owned()
    }
}

/// A connection that goes on with requests it has, while further ones arrive, must not overtake itself.
#[test]
fn requests_that_arrive_while_others_are_handled_get_their_responses_after_them() {
    let mut rig = Rig::new();
    rig.send(&(get("/wait") + &get("/wait") + &get("/now")));
    rig.turn();
    assert_eq!(rig.waiting.len(), 1, "the first waits, and the others wait for it");
    rig.complete("one");
    assert!(rig.engine.has_more(), "the second is to be answered");
    rig.send(&get("/now"));
    rig.turn();
    assert_eq!((rig.waiting.len(), rig.count.load(Ordering::Relaxed)), (1, 0), "the second waits, and no more");
    rig.complete("two");
    while rig.engine.has_more() {
        rig.turn();
    }
    let bodies: Vec<_> = (0..4).map(|_| rig.body()).collect();
    assert_eq!(bodies, ["one", "two", "now", "now"]);
}

#[test]
fn a_client_that_sends_faster_than_it_is_served_does_not_fill_the_memory() {
    const REQUESTS: usize = 60_000;
    let mut rig = Rig::new();
    let (mut sender, mut reader) =
        (rig.client.try_clone().expect("a socket"), rig.client.try_clone().expect("a socket"));
    let sending = thread::spawn(move || sender.write_all(get("/now").repeat(REQUESTS).as_bytes()));
    let reading = thread::spawn(move || {
        let mut room = vec![0; ARENA];
        while reader.read(&mut room).is_ok_and(|n| n > 0) {}
    });
    let (start, mut most) = (Instant::now(), 0);
    while rig.count.load(Ordering::Relaxed) < REQUESTS {
        rig.turn();
        most = most.max(rig.connection().http.held());
        assert!(start.elapsed() < TIME_LIMIT, "{:?} of {REQUESTS} requests were answered", rig.count);
    }
    assert!(most <= 2 * ARENA, "{most} bytes were held");
    drop(rig);
    sending.join().expect("it does not panic").expect("all was taken");
    reading.join().expect("it does not panic");
}

#[test]
fn a_connection_that_was_idle_for_long_may_still_send_a_request_when_the_server_leaves() {
    let mut rig = Rig::new();
    let connection = rig.engine.connections.get_mut(rig.connection).expect("it lasts");
    connection.since -= clock::nanos(Duration::from_secs(60));
    rig.engine.leave().expect("the stop signal is watched");
    rig.engine.tick().expect("there is nothing to fail");
    assert!(!rig.engine.connections.is_empty(), "it was ended at once");
    rig.send(&get("/now"));
    rig.turn();
    assert_eq!(rig.body(), "now");
}

#[test]
fn an_idle_connection_is_ended_soon_after_the_server_leaves() {
    let mut rig = Rig::new();
    rig.engine.leave().expect("the stop signal is watched");
    let start = Instant::now();
    while !rig.engine.connections.is_empty() {
        rig.engine.tick().expect("there is nothing to fail");
        assert!(start.elapsed() < TIME_LIMIT, "it is kept");
    }
    assert!(start.elapsed() >= SHUTDOWN_IDLE - Duration::from_millis(50), "it was ended after {:?}", start.elapsed());
    assert_eq!(rig.client.read(&mut [0]).expect("the end comes"), 0);
}

#[test]
fn the_end_that_comes_with_the_last_request_is_seen() {
    let mut rig = Rig::new();
    rig.send(&get("/now"));
    rig.client.shutdown(Shutdown::Write).expect("it is connected");
    let start = Instant::now();
    while !rig.engine.connections.is_empty() {
        rig.turn();
        assert!(start.elapsed() < TIME_LIMIT, "it is kept");
    }
    assert_eq!(rig.body(), "now");
}

/// A refused client reads the end at once, although the server reads on for a while.
#[test]
fn a_last_response_is_followed_by_the_end() {
    let mut rig = Rig::new();
    rig.send("nonsense\r\n\r\n");
    rig.turn();
    let mut response = String::new();
    rig.client.read_to_string(&mut response).expect("the end comes");
    assert!(response.starts_with("HTTP/1.1 400 Bad Request\r\n"), "{response}");
    assert!(!rig.engine.connections.is_empty(), "the connection was closed with what the client may still send");
}

/// The bodies of whole responses, in their order.
fn bodies(mut responses: &[u8]) -> Vec<&[u8]> {
    let mut bodies = Vec::new();
    while !responses.is_empty() {
        let end = responses.windows(4).position(|w| w == b"\r\n\r\n").expect("a response has a head") + 4;
        let head = std::str::from_utf8(&responses[..end]).expect("a head is text");
        let length = head.lines().find_map(|line| line.strip_prefix("Content-Length: ")).expect("a body has a length");
        let (body, rest) = responses[end..].split_at(length.parse().expect("a length is a number"));
        bodies.push(body);
        responses = rest;
    }
    bodies
}

/// Bytes for which the kernel had no room are sent as soon as there is room, be it before or after the next response is made.
#[test]
fn responses_keep_their_order_where_the_client_reads_late() {
    for early in [true, false] {
        let mut rig = Rig::new();
        let mut expected: Vec<&[u8]> = Vec::new();
        loop {
            rig.send(&(get("/long") + &get("/wait")));
            rig.turn();
            expected.push(&LONG);
            if !rig.connection().unsent.is_empty() {
                break;
            }
            rig.complete("one");
            expected.push(b"one");
        }
        assert!(rig.connection().state.is_handling(), "the last handler is at work");
        let (start, mut received) = (Instant::now(), Vec::new());
        rig.read_now(&mut received);
        while early && !received.ends_with(&LONG) {
            rig.turn();
            rig.read_now(&mut received);
            assert!(start.elapsed() < TIME_LIMIT, "a response is not sent while the next one is waited for");
        }
        rig.complete("end");
        expected.push(b"end");
        while !received.ends_with(b"end") {
            rig.turn();
            rig.read_now(&mut received);
            assert!(start.elapsed() < TIME_LIMIT, "the last response does not come");
        }
        assert!(bodies(&received) == expected, "read early: {early}");
    }
}

#[test]
fn responses_that_fill_the_socket_are_sent_on_once_the_client_reads() {
    let (mut rig, mut expected) = (Rig::new(), Vec::new());
    while !matches!(rig.connection().state, State::Writing { .. }) {
        rig.send(&get("/long"));
        rig.turn();
        expected.push(&LONG[..]);
    }
    rig.send(&get("/now"));
    expected.push(b"now");
    let (start, mut received) = (Instant::now(), Vec::new());
    while !received.ends_with(b"now") {
        rig.read_now(&mut received);
        rig.turn();
        assert!(start.elapsed() < TIME_LIMIT, "the rest does not come");
    }
    assert!(bodies(&received) == expected, "{} responses are {} bytes", expected.len(), received.len());
}

/// A listener may not be watchable, such as where the kernel has no memory for it: what makes accepting pause can make the end
/// of the pause fail.
#[test]
fn a_listener_that_cannot_be_watched_again_is_tried_again() {
    let mut rig = Rig::new();
    let listener = rig.engine.listener.take().expect("it listens");
    // A file is nothing that a poller can watch.
    let file = std::fs::File::open("/proc/self/status").expect("there is /proc");
    rig.engine.listener = Some(Arc::new(OwnedFd::from(file).into()));
    rig.engine.accept_again = Some(0);
    for _ in 0..3 {
        rig.engine.tick().expect("the server goes on");
        let again = rig.engine.accept_again.expect("it is tried again");
        assert!(again > rig.engine.now, "not at once");
        rig.engine.accept_again = Some(0);
    }
    rig.engine.poller.remove(&listener).expect("it was watched");
    rig.engine.listener = Some(listener);
    rig.engine.tick().expect("the server goes on");
    assert_eq!(rig.engine.accept_again, None);
    rig.engine.accept_again = Some(0);
    rig.engine.tick().expect("that it is watched already is no failure");
    assert_eq!(rig.engine.accept_again, None);
    let address = rig.client.peer_addr().expect("it is connected");
    let _second = TcpStream::connect(address).expect("it listens");
    let start = Instant::now();
    while rig.engine.connections.tokens().count() < 2 {
        rig.turn();
        assert!(start.elapsed() < TIME_LIMIT, "nobody was accepted");
    }
}
