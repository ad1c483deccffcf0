//! The engine turn by turn, where over sockets alone it would depend on who is faster.

use super::*;
use std::io::{ErrorKind, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Instant;

const PATIENCE: Duration = Duration::from_secs(30);

fn get(path: &str) -> String {
    format!("GET {path} HTTP/1.1\r\nHost: x\r\n\r\n")
}

/// An engine with one client, whose connection it has accepted.
struct Rig {
    engine: Engine,
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
        let app = App::new().get_async("/wait", |_| std::future::pending()).get("/now", move |_| {
            counter.fetch_add(1, Ordering::Relaxed);
            Response::text("now")
        });
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
        listener.set_nonblocking(true).expect("a socket takes options");
        let client = TcpStream::connect(listener.local_addr().expect("it is bound")).expect("it listens");
        client.set_read_timeout(Some(PATIENCE)).expect("a socket takes options");
        let mut engine = Engine::new(Arc::new(app), Arc::new(Settings::default()), Seats::new(100), listener.into())
            .expect("it starts");
        let start = Instant::now();
        while engine.is_empty() {
            engine.turn().expect("the poller waits");
            assert!(start.elapsed() < PATIENCE, "nobody was accepted");
        }
        let connection = engine.connections.tokens().next().expect("it was accepted");
        Self { engine, client, connection, waiting: Vec::new(), count }
    }

    /// Sends, and waits until it has arrived, without the engine's taking notice.
    fn send(&mut self, bytes: &str) {
        self.client.write_all(bytes.as_bytes()).expect("a socket has room");
        let connection = self.engine.connections.get_mut(self.connection).expect("it lasts");
        let socket = TcpStream::from(connection.socket.try_clone().expect("a descriptor is free"));
        let (start, mut room) = (Instant::now(), vec![0; bytes.len() + 1]);
        while socket.peek(&mut room).is_err_and(|error| error.kind() == ErrorKind::WouldBlock) {
            assert!(start.elapsed() < PATIENCE, "{bytes:?} did not arrive");
        }
    }

    /// One turn. Handlers that wait are kept.
    fn turn(&mut self) {
        self.engine.turn().expect("the poller waits");
        self.waiting.extend(self.engine.take_tasks().map(|task| task.token));
    }

    /// Completes the handler that has waited longest.
    fn complete(&mut self, text: &'static str) {
        let token = self.waiting.remove(0);
        self.engine.complete([(token, Response::text(text))]);
    }

    /// The body of the next answer, all of which have three bytes.
    fn body(&mut self) -> String {
        let mut answer = Vec::new();
        while !answer.ends_with(b"\r\n\r\n") {
            let mut byte = [0];
            self.client.read_exact(&mut byte).unwrap_or_else(|error| panic!("{error} after {}", answer.escape_ascii()));
            answer.extend(byte);
        }
        let mut body = [0; 3];
        self.client.read_exact(&mut body).expect("the body comes with its head");
        String::from_utf8_lossy(&body).into_owned()
    }
}

/// A connection that goes on with requests it has, while further ones arrive, must not overtake itself.
#[test]
fn requests_that_arrive_while_others_go_on_are_answered_after_them() {
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
        let connection = rig.engine.connections.get_mut(rig.connection).expect("it lasts");
        most = most.max(connection.http.held());
        assert!(start.elapsed() < PATIENCE, "{:?} of {REQUESTS} requests were answered", rig.count);
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
    rig.engine.leave();
    rig.engine.tend().expect("there is nothing to fail");
    assert!(!rig.engine.is_empty(), "it was ended at once");
    rig.send(&get("/now"));
    rig.turn();
    assert_eq!(rig.body(), "now");
}

#[test]
fn an_idle_connection_is_ended_soon_after_the_server_leaves() {
    let mut rig = Rig::new();
    rig.engine.leave();
    let start = Instant::now();
    while !rig.engine.is_empty() {
        rig.engine.tend().expect("there is nothing to fail");
        assert!(start.elapsed() < PATIENCE, "it is kept");
    }
    assert!(start.elapsed() >= LEAVING_IDLE - Duration::from_millis(50), "it was ended after {:?}", start.elapsed());
    assert_eq!(rig.client.read(&mut [0]).expect("the end comes"), 0);
}
