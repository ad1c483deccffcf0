//! A server with known response times: the test sets how long each request takes, and the server writes down
//! how long each really took.
//!
//! One thread, so that no lock and no scheduler stands between a request and its response. It sleeps until shortly before
//! the next response is due, without timer slack, and then looks at the clock and at its sockets in turn until the moment
//! has come. A request's time begins when the kernel received it, however late the thread gets to see it, and ends when its
//! response is about to be sent.

use fastrand::Rng;
use rustix::process::Pid;
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
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
use torr_net::timestamp::{self, Timestamps};
use torr_net::{Clock, Events, Interest, Nanos, Poller, Token, clock};
use torr_test_support::program::{Running, run, torr_command, torr_path};
use torr_test_support::wait_until;

/// How long before a response is due the thread no longer sleeps: more than waking up takes.
const AWAKE: Nanos = 60_000;
/// How often it looks whether it is to end.
const LOOK: Nanos = 20_000_000;
const LISTENER: u32 = u32::MAX;
const RESPONSE: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

/// The running server.
pub struct Metronome {
    pub address: SocketAddr,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<Log>>,
}

/// What the server did, in nanoseconds, in the order of the requests.
#[derive(Debug, Default)]
pub struct Log {
    /// How long each request was to take ...
    pub programmed: Vec<Nanos>,
    /// ... and really took.
    pub served: Vec<Nanos>,
}

impl Log {
    /// Leaves out the first requests.
    pub fn forget(&mut self, requests: usize) {
        self.programmed.drain(..requests);
        self.served.drain(..requests);
    }
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
    timestamps: Timestamps,
    times: Vec<Nanos>,
    connections: HashMap<u32, TcpStream>,
    accepted: u32,
    due: BinaryHeap<Reverse<Due>>,
    requests: usize,
    /// Of each request its number, and how long it was to take and took.
    served: Vec<(usize, Nanos, Nanos)>,
}

/// A response that is due, the earliest first.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Due {
    at: Nanos,
    /// The number of its request.
    request: usize,
    connection: u32,
    received: Nanos,
    time: Nanos,
}

impl Server {
    fn new(listener: TcpListener, times: Vec<Nanos>) -> Self {
        listener.set_nonblocking(true).expect("a socket takes options");
        // Its connections take it over, so that a request that comes before its connection was accepted has a time stamp, too.
        timestamp::enable(&listener).expect("a socket takes options");
        let poller = Poller::new().expect("a descriptor is free");
        poller.add(&listener, Token::new(LISTENER, 0), Interest::Level).expect("a listener can be watched");
        let (connections, due) = (HashMap::new(), BinaryHeap::new());
        let clock = Clock::start();
        let (timestamps, served) = (Timestamps::new(clock), Vec::new());
        Self { listener, poller, clock, timestamps, times, connections, accepted: 0, due, requests: 0, served }
    }

    fn run(mut self, stop: &AtomicBool) -> Log {
        clock::minimise_timer_slack();
        in_real_time(SERVING);
        let mut events = Events::with_capacity(256);
        while !stop.load(Ordering::Relaxed) {
            let next = self.due.peek().map_or(Nanos::MAX, |Reverse(due)| due.at);
            let sleep = next.saturating_sub(self.clock.now()).saturating_sub(AWAKE).min(LOOK);
            self.poller.wait(&mut events, Some(Duration::from_nanos(sleep))).expect("it can wait");
            self.timestamps.refresh();
            for at in 0..events.len() {
                match events.get(at).token.index() as u32 {
                    LISTENER => self.accept(),
                    number => self.receive(number),
                }
            }
            self.response();
        }
        self.served.sort_unstable();
        let (programmed, served) = self.served.into_iter().map(|(_, programmed, served)| (programmed, served)).unzip();
        Log { programmed, served }
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

    /// One request, which comes in one piece and never before the response to the one before.
    fn receive(&mut self, number: u32) {
        let mut bytes = [0; 4096];
        match self.connections.get(&number).map(|stream| self.timestamps.recv(stream, &mut bytes)) {
            Some(Ok(None)) => {}
            Some(Ok(Some((n, received)))) if n > 0 => {
                assert!(bytes[..n].ends_with(b"\r\n\r\n"), "a request in pieces: {}", bytes[..n].escape_ascii());
                let time = self.times[self.requests % self.times.len()];
                let (at, request) = (received + time, self.requests);
                self.due.push(Reverse(Due { at, request, connection: number, received, time }));
                self.requests += 1;
            }
            _ => {
                self.connections.remove(&number);
            }
        }
    }

    fn response(&mut self) {
        while let Some(Reverse(due)) = self.due.peek() {
            let now = self.clock.now();
            if due.at > now {
                return;
            }
            let Some(Reverse(due)) = self.due.pop() else { return };
            let Some(mut stream) = self.connections.get(&due.connection) else { continue };
            // The request of a closed client is in no figures.
            if stream.write_all(RESPONSE).is_ok() {
                self.served.push((due.request, due.time, now - due.received));
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
/// up, has to make way: there may be no more CPUs than two. `meanwhile` is called with the process once it presses.
pub fn torr_in_real_time(args: &[&str], meanwhile: impl FnOnce(Pid)) -> Value {
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
    // Until it is waited for, no other process has its number.
    meanwhile(Pid::from_raw(torr.pid() as i32).expect("a process has a number"));
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

/// Measures meanwhile what the machine itself adds to any request, on each CPU by itself, since one may be held up while the
/// others work: how long a byte takes, from the moment it was due to be sent to another thread until it is back, on sockets and in
/// real time like everything here.
pub struct Witness {
    stop: Arc<AtomicBool>,
    /// A CPU's sender.
    senders: Vec<JoinHandle<Vec<Nanos>>>,
    echoes: Vec<JoinHandle<()>>,
}

impl Witness {
    pub fn start() -> Self {
        let (stop, allowed) = (Arc::new(AtomicBool::new(false)), sched_getaffinity(None).expect("a thread has CPUs"));
        let cpus = (0..CpuSet::MAX_CPU).filter(|cpu| allowed.is_set(*cpu));
        let (senders, echoes) = cpus.map(|cpu| Self::of(cpu, &stop)).unzip();
        Self { stop, senders, echoes }
    }

    fn of(cpu: usize, stop: &Arc<AtomicBool>) -> (JoinHandle<Vec<Nanos>>, JoinHandle<()>) {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
        let mut near = TcpStream::connect(listener.local_addr().expect("it is bound")).expect("it listens");
        let (mut far, _) = listener.accept().expect("somebody has connected");
        for stream in [&near, &far] {
            stream.set_nodelay(true).expect("a socket takes options");
        }
        let stopped = Arc::clone(stop);
        let stay = move || {
            let mut only = CpuSet::new();
            only.set(cpu);
            sched_setaffinity(None, &only).expect("the CPU is allowed");
            in_real_time(MEASURING);
        };
        let sender = std::thread::spawn(move || {
            stay();
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
            stay();
            let mut byte = [0];
            // Until the other end has gone.
            while far.read_exact(&mut byte).is_ok() && far.write_all(&byte).is_ok() {}
        });
        (sender, echo)
    }

    /// Ends it and gives the times of each CPU.
    pub fn finish(mut self) -> Vec<Vec<Nanos>> {
        self.end()
    }

    fn end(&mut self) -> Vec<Vec<Nanos>> {
        self.stop.store(true, Ordering::Relaxed);
        let times = self.senders.drain(..).filter_map(|thread| thread.join().ok()).collect();
        self.echoes.drain(..).for_each(|thread| drop(thread.join()));
        times
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
