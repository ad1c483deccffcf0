//! Users that park: they are woken, their requests have time-outs of their own, outlive failures, and can be given up.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;
use torr_gauge::sessions::EntryName;
use torr_gauge::{Failure, FailureKind};
use torr_net::{Address, Nanos};
use torr_press::users::{Judged, Phases, ReceivedBy, Step, ThreadPart, ThreadUsers, Transferred, Users, Wake};
use torr_press::{Keep, Plan, RequestInfo, RequestParts, Target, Work};

/// What the users of the test have seen, in order.
#[derive(Debug, Default)]
struct Seen(Mutex<Vec<String>>);

impl Seen {
    fn add(&self, text: impl Into<String>) {
        self.0.lock().expect("nobody panics with it").push(text.into());
    }
}

#[derive(Debug, Default)]
struct Parked {
    seen: Seen,
    is_over: AtomicBool,
}

impl Users for Parked {
    fn entries(&self) -> Vec<EntryName> {
        vec![EntryName { name: "request".to_owned(), file: "test".to_owned(), line: 1, asserts: Vec::new() }]
    }

    fn thread(&self, _part: ThreadPart) -> Box<dyn ThreadUsers + '_> {
        Box::new(Thread { all: self, wakes: vec![Wake::Next(0)], path: [None, None], steps: 0, turns: 0 })
    }

    fn has_sessions(&self) -> bool {
        false
    }

    fn may_park(&self) -> bool {
        true
    }
}

/// Two users: the first one has a sequence of steps, the second one is a lane that carries a request for the first.
struct Thread<'u> {
    all: &'u Parked,
    wakes: Vec<Wake>,
    path: [Option<&'static str>; 2],
    steps: usize,
    /// The number of turns of the event loop after which the first user is woken; 0 for none.
    turns: u8,
}

impl Thread<'_> {
    fn send(&mut self, user: usize, path: &'static str) -> Step {
        self.path[user] = Some(path);
        Step::Send(0)
    }
}

impl ThreadUsers for Thread<'_> {
    fn begin(&mut self, _user: usize) {}

    fn next(&mut self, user: usize) -> Step {
        if user == 1 {
            return if self.path[1].is_some() { Step::Send(0) } else { Step::Park };
        }
        // A session that begins is parked until it is woken.
        if self.steps == 0 && !self.wakes.is_empty() {
            return Step::Park;
        }
        self.steps += 1;
        match self.steps {
            1 => self.send(0, "/first"),
            2 => {
                self.path[1] = Some("/lane");
                self.wakes.push(Wake::Next(1));
                Step::Park
            }
            3 => self.send(0, "/silent"),
            4 => self.send(0, "/close"),
            5 => self.send(0, "/after"),
            6 => {
                self.path[1] = Some("/silent");
                self.wakes.push(Wake::Next(1));
                // By then the request is in flight.
                self.turns = 5;
                Step::Park
            }
            7 => {
                self.wakes.push(Wake::Next(0));
                self.wakes.push(Wake::Abandon(1));
                Step::Park
            }
            8 => {
                self.wakes.push(Wake::Next(0));
                self.wakes.push(Wake::Disconnect(0));
                Step::Park
            }
            9 => self.send(0, "/last"),
            _ => {
                self.all.is_over.store(true, Ordering::Relaxed);
                Step::Park
            }
        }
    }

    fn write(&mut self, user: usize, out: &mut Vec<u8>) -> RequestInfo {
        let path = self.path[user].expect("a user that sends has a path");
        out.extend_from_slice(format!("GET {path} HTTP/1.1\r\nHost: test\r\n\r\n").as_bytes());
        RequestInfo { is_head: false, keep: Keep::Content, ..RequestInfo::default() }
    }

    fn parts(&mut self, _user: usize) -> RequestParts {
        unreachable!("the plan is for HTTP/1.1")
    }

    fn received(&mut self, user: usize, by: &ReceivedBy<'_>) -> Judged {
        let phases = &by.phases;
        let in_order = phases.opened <= phases.established
            && phases.established <= phases.ready
            && phases.opened <= phases.sent
            && phases.sent <= phases.first_byte
            && phases.ready <= phases.first_byte
            && phases.first_byte <= phases.end;
        assert!(in_order && phases.end > 0, "{phases:?}");
        assert!(by.port > 0 && by.tls.is_none());
        let path = self.path[user].take().unwrap_or_default();
        self.all.seen.add(format!("{user} {path} {}", String::from_utf8_lossy(&by.response.decoded())));
        if user == 1 {
            self.wakes.push(Wake::Next(0));
        }
        Judged { passed: true, ..Judged::default() }
    }

    fn failed(&mut self, _user: usize, failure: &Failure) {
        panic!("{failure:?}");
    }

    fn outlives(&mut self, user: usize, failure: &Failure, phases: &Phases, _: Transferred) -> bool {
        assert!(phases.end > 0, "{phases:?}");
        let path = self.path[user].take().unwrap_or_default();
        let kind = if failure.kind == FailureKind::Timeout { "timed out" } else { "failed" };
        self.all.seen.add(format!("{user} {path} {kind}"));
        true
    }

    fn timeout(&self, user: usize) -> Option<Duration> {
        // The plan's own time-out is longer than the test.
        self.path[user].filter(|path| *path == "/silent" && user == 0).map(|_| Duration::from_millis(50))
    }

    fn woken(&mut self, _now: Nanos) -> Option<Wake> {
        if let Some(wake) = self.wakes.pop() {
            return Some(wake);
        }
        let is_last = self.turns == 1;
        self.turns = self.turns.saturating_sub(1);
        is_last.then_some(Wake::Next(0))
    }

    fn next_wake(&self) -> Nanos {
        if self.wakes.is_empty() && self.turns == 0 { Nanos::MAX } else { 0 }
    }

    fn is_stopped(&self) -> bool {
        self.all.is_over.load(Ordering::Relaxed)
    }
}

/// Returns the address of a server that sends each path back, but nothing for `/silent`, and closes at `/close`.
fn server() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let address = listener.local_addr().expect("it is bound");
    thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            thread::spawn(move || {
                let mut buffer = [0; 1024];
                while let Ok(length) = stream.read(&mut buffer) {
                    let request = String::from_utf8_lossy(&buffer[..length]).into_owned();
                    match request.split(' ').nth(1) {
                        Some("/silent") => {}
                        Some(path) if path != "/close" => {
                            let response = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{path}", path.len());
                            let _ = stream.write_all(response.as_bytes());
                        }
                        _ => return,
                    }
                }
            });
        }
    });
    address
}

#[test]
fn users_park_and_are_woken_until_they_end_the_run() {
    let address = server();
    let users = Arc::new(Parked::default());
    let target = Target::parse(&format!("http://{address}/")).expect("it is a URL");
    let of_plan: Arc<dyn Users> = users.clone();
    let mut plan = Plan::new(target, vec![Address::Tcp(address)], Work::from(of_plan));
    plan.connections = 2;
    plan.timeout = Duration::from_secs(600);
    plan.watch_server = false;
    let measured = torr_press::run(&plan, &AtomicBool::new(false), |_| {}).expect("the run ends");
    let seen = users.seen.0.lock().expect("nobody panics with it").clone();
    let expected = [
        "0 /first /first",
        "1 /lane /lane",
        "0 /silent timed out",
        "0 /close failed",
        "0 /after /after",
        "0 /last /last",
    ];
    assert_eq!(seen, expected);
    let result = &measured.result;
    assert_eq!((result.requests, result.unfinished), (4, 1), "{result:?}");
    // The first user's connection was lost twice and closed once, the lane's was given up.
    assert_eq!(result.connections.opened, 5);
}
