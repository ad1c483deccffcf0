//! A server whose response times are known: it is told beforehand how long each request shall take, and it writes down
//! how long each really took.
//!
//! One thread, so that no lock and no scheduler stands between a request and its answer. It sleeps until shortly before
//! the next answer is due, without timer slack, and then looks at the clock and at its sockets in turn until the moment
//! has come. A request's time begins when the wait that brought it ends, and ends when its answer is about to be sent.

use fastrand::Rng;
use serde_json::Value;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;
use torr_net::{Clock, Events, Interest, Nanos, Poller, Token, clock};
use torr_test_support::program::{Running, run, torr_command, torr_path};
use torr_test_support::wait_until;

/// How long before an answer is due the thread no longer sleeps: more than waking up takes.
const AWAKE: Nanos = 60_000;
/// How often it looks whether it is to end.
const LOOK: Nanos = 20_000_000;
const LISTENER: u32 = u32::MAX;
const ANSWER: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

/// The server under way.
pub struct Metronome {
    pub address: SocketAddr,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<Log>>,
}

/// What the server did, in nanoseconds.
#[derive(Debug, Default)]
pub struct Log {
    /// How long each request was to take ...
    pub programmed: Vec<Nanos>,
    /// ... and really took.
    pub served: Vec<Nanos>,
}

impl Metronome {
    /// The n-th request takes the n-th time; after the last comes the first again.
    pub fn start(times: Vec<Nanos>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
        let address = listener.local_addr().expect("it is bound");
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let thread = std::thread::spawn(move || Server::new(listener, times).run(&stopped));
        Self { address, stop, thread: Some(thread) }
    }

    pub fn url(&self) -> String {
        format!("http://{}/", self.address)
    }

    /// Ends it and gives its log.
    pub fn finish(mut self) -> Log {
        self.stop.store(true, Ordering::Relaxed);
        let thread = self.thread.take().expect("only this takes it, and ends the value");
        thread.join().expect("the server does not panic")
    }
}

impl Drop for Metronome {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// What the thread owns.
struct Server {
    listener: TcpListener,
    poller: Poller,
    clock: Clock,
    times: Vec<Nanos>,
    connections: HashMap<u32, TcpStream>,
    accepted: u32,
    /// When an answer is due, on which connection, and since when it has been asked for and for how long.
    due: BinaryHeap<Reverse<(Nanos, u32, Nanos, Nanos)>>,
    requests: usize,
    log: Log,
}

impl Server {
    fn new(listener: TcpListener, times: Vec<Nanos>) -> Self {
        listener.set_nonblocking(true).expect("a socket takes options");
        let poller = Poller::new().expect("a descriptor is free");
        poller.add(&listener, Token::new(LISTENER, 0), Interest::Level).expect("a listener can be watched");
        let (connections, due) = (HashMap::new(), BinaryHeap::new());
        let clock = Clock::start();
        Self { listener, poller, clock, times, connections, accepted: 0, due, requests: 0, log: Log::default() }
    }

    fn run(mut self, stop: &AtomicBool) -> Log {
        clock::minimise_timer_slack();
        in_real_time(SERVING);
        let mut events = Events::with_capacity(256);
        while !stop.load(Ordering::Relaxed) {
            let next = self.due.peek().map_or(Nanos::MAX, |Reverse((due, ..))| *due);
            let sleep = next.saturating_sub(self.clock.now()).saturating_sub(AWAKE).min(LOOK);
            self.poller.wait(&mut events, Some(Duration::from_nanos(sleep))).expect("it can wait");
            let now = self.clock.now();
            for at in 0..events.len() {
                match events.get(at).token.index() as u32 {
                    LISTENER => self.accept(),
                    number => self.receive(number, now),
                }
            }
            self.answer();
        }
        self.log
    }

    fn accept(&mut self) {
        while let Ok((stream, _)) = self.listener.accept() {
            stream.set_nodelay(true).expect("a socket takes options");
            stream.set_nonblocking(true).expect("a socket takes options");
            let token = Token::new(self.accepted, 0);
            self.poller.add(&stream, token, Interest::Read).expect("a connection can be watched");
            self.connections.insert(self.accepted, stream);
            self.accepted += 1;
        }
    }

    /// One request, which comes in one piece and never before the answer to the one before.
    fn receive(&mut self, number: u32, now: Nanos) {
        let mut bytes = [0; 4096];
        match self.connections.get_mut(&number).map(|stream| stream.read(&mut bytes)) {
            Some(Ok(n)) if n > 0 => {
                assert!(bytes[..n].ends_with(b"\r\n\r\n"), "a request in pieces: {}", bytes[..n].escape_ascii());
                let time = self.times[self.requests % self.times.len()];
                self.requests += 1;
                self.due.push(Reverse((now + time, number, now, time)));
            }
            Some(Err(error)) if error.kind() == std::io::ErrorKind::WouldBlock => {}
            _ => {
                self.connections.remove(&number);
            }
        }
    }

    fn answer(&mut self) {
        while let Some(&Reverse((due, number, received, time))) = self.due.peek() {
            let now = self.clock.now();
            if due > now {
                return;
            }
            self.due.pop();
            let Some(mut stream) = self.connections.get(&number) else { continue };
            // A client that has gone is its own affair, and its request is not in anybody's figures.
            if stream.write_all(ANSWER).is_ok() {
                self.log.programmed.push(time);
                self.log.served.push(now - received);
            }
        }
    }
}

/// Real-time priorities: who measures does not wait for the server, which knows by itself when it was held up.
const MEASURING: &str = "60";
const SERVING: &str = "50";

/// Lets the calling thread run before all others of the machine, so that it is not measured how busy that is with other
/// things. Where it is not allowed, more attempts are needed.
fn in_real_time(priority: &str) {
    let thread = rustix::thread::gettid().as_raw_nonzero().to_string();
    run("chrt", &["--fifo", "--pid", priority, &thread]);
}

/// Runs `torr` with one pressing thread, in real time likewise, and gives its result. Its first thread, which only adds
/// up, has to make way: there may be no more CPUs than two.
pub fn torr_in_real_time(args: &[&str]) -> Value {
    let allowed = run("chrt", &["--fifo", MEASURING, "true"]).code == Some(0);
    let mut command = torr_command(&[]);
    if allowed {
        command = Command::new("chrt");
        command.args(["--fifo", MEASURING, torr_path()]);
    }
    command.args([args, &["-t", "1", "--json", "-"]].concat());
    let torr = Running::start(command);
    let pressing = |folder: PathBuf| std::fs::read_to_string(folder.join("comm")).is_ok_and(|name| name == "press-0\n");
    wait_until("the pressing thread", || {
        let mut threads = std::fs::read_dir(format!("/proc/{}/task", torr.pid())).ok()?.flatten();
        threads.any(|thread| pressing(thread.path())).then_some(())
    });
    run("chrt", &["--other", "--pid", "0", &torr.pid().to_string()]);
    let ended = torr.wait();
    assert_eq!(ended.code, Some(0), "{args:?}: {ended:?}");
    serde_json::from_str(&ended.stdout).unwrap_or_else(|error| panic!("{args:?}: {error}: {ended:?}"))
}

/// Keeps the machine's CPUs from falling asleep, out of which a virtual one takes some 50 us to wake: threads that have
/// something to do, but give way to anything else.
pub struct Awake {
    stop: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

impl Awake {
    pub fn start() -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let spin = |_| {
            let stop = Arc::clone(&stop);
            std::thread::spawn(move || {
                let thread = rustix::thread::gettid().as_raw_nonzero();
                let idle = run("chrt", &["--idle", "--pid", "0", &thread.to_string()]);
                assert_eq!(idle.code, Some(0), "every thread may become less important: {idle:?}");
                while !stop.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            })
        };
        let threads = (0..std::thread::available_parallelism().map_or(1, usize::from)).map(spin).collect();
        Self { stop, threads }
    }
}

impl Drop for Awake {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

/// Measures meanwhile what the machine itself adds to any request: how long a byte is under way, from the moment it was
/// due to be sent to another thread until it is back, on sockets and in real time like everything here.
pub struct Witness {
    stop: Arc<AtomicBool>,
    threads: Vec<JoinHandle<Vec<Nanos>>>,
}

impl Witness {
    pub fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
        let mut near = TcpStream::connect(listener.local_addr().expect("it is bound")).expect("it listens");
        let (mut far, _) = listener.accept().expect("somebody has connected");
        for stream in [&near, &far] {
            stream.set_nodelay(true).expect("a socket takes options");
        }
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let sender = std::thread::spawn(move || {
            in_real_time(MEASURING);
            let (clock, mut byte, mut times) = (Clock::start(), [0], Vec::new());
            let mut due = clock.now();
            while !stopped.load(Ordering::Relaxed) {
                // On a schedule, or it would count a pause once that holds up many requests.
                due += 1_000_000;
                std::thread::sleep(Duration::from_nanos(due.saturating_sub(clock.now())));
                near.write_all(&byte).and_then(|()| near.read_exact(&mut byte)).expect("the other end is there");
                times.push(clock.now() - due);
            }
            times
        });
        let echo = std::thread::spawn(move || {
            in_real_time(MEASURING);
            let mut byte = [0];
            // Until the other end has gone.
            while far.read_exact(&mut byte).is_ok() && far.write_all(&byte).is_ok() {}
            Vec::new()
        });
        Self { stop, threads: vec![sender, echo] }
    }

    /// Ends it and gives the times.
    pub fn finish(mut self) -> Vec<Nanos> {
        self.end().concat()
    }

    fn end(&mut self) -> Vec<Vec<Nanos>> {
        self.stop.store(true, Ordering::Relaxed);
        self.threads.drain(..).filter_map(|thread| thread.join().ok()).collect()
    }
}

impl Drop for Witness {
    fn drop(&mut self) {
        self.end();
    }
}

/// Each request takes the same time.
pub fn constant(us: u64, n: usize) -> Vec<Nanos> {
    vec![us * 1000; n]
}

/// Most requests take the first time; about a share of them, by lot, the other.
pub fn bimodal(us: u64, share: f64, other_us: u64, n: usize) -> Vec<Nanos> {
    let mut random = Rng::with_seed(11);
    (0..n).map(|_| if random.f64() < share { other_us } else { us } * 1000).collect()
}

/// Times whose logarithms are normally distributed about that of the median.
pub fn log_normal(median_us: u64, sigma: f64, n: usize) -> Vec<Nanos> {
    let mut random = Rng::with_seed(12);
    let mut normal = || {
        // Box and Muller.
        let (radius, angle) = ((-2.0 * (1.0 - random.f64()).ln()).sqrt(), std::f64::consts::TAU * random.f64());
        radius * angle.cos()
    };
    (0..n).map(|_| (median_us as f64 * 1000.0 * (sigma * normal()).exp()) as Nanos).collect()
}

/// The time in microseconds at or below which this share of them lies.
pub fn quantile(times: &[Nanos], share: f64) -> f64 {
    let mut sorted = times.to_vec();
    sorted.sort_unstable();
    let rank = (share * sorted.len() as f64).ceil() as usize;
    sorted[rank.clamp(1, sorted.len()) - 1] as f64 / 1e3
}
