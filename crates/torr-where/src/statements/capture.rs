//! The capture of a database's packets while a load runs, on a thread of its own.

mod filter;
mod owners;
mod socket;

use super::database::Database;
use super::tally::Tallies;
use super::tracker::Tracker;
use owners::Owners;
use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};
use rustix::time::{ClockId, clock_gettime};
use socket::{Batch, PacketSocket};
use std::fs::{File, read_link};
use std::io;
use std::net::SocketAddr;
use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// The pause between two looks at the kernel's buffer.
const PAUSE: Duration = Duration::from_millis(5);

/// For each time that the thread computes it pauses so many times as long: it takes a fifth of a CPU at most.
const RESTS: u32 = 4;

/// The number of packets that tell enough, and the shortest time for them: each packet costs the service and the database too.
const ENOUGH: (u64, Duration) = (30_000, Duration::from_millis(500));

/// The pause between two looks at the service's sockets.
const OWNERS: Duration = Duration::from_millis(300);

/// What to capture.
#[derive(Debug, Clone)]
pub(super) struct Subject {
    /// The database.
    pub(super) database: Database,
    /// Its address, as the service's processes see it.
    pub(super) server: SocketAddr,
    /// The service's processes. Without any, all clients are counted, in this process's network namespace.
    pub(super) processes: Vec<i32>,
}

/// A capture that runs.
#[derive(Debug)]
pub(super) struct Capture {
    stop: Arc<AtomicBool>,
    thread: JoinHandle<Recorded>,
}

/// What a capture has recorded.
#[derive(Debug)]
pub(super) struct Recorded {
    /// The connections.
    pub(super) tracker: Tracker,
    /// The counts of all statements of the service.
    pub(super) totals: Tallies,
    /// The connections with statements.
    pub(super) connections: u64,
    /// How long the capture ran.
    pub(super) elapsed: Duration,
    /// The packets that were lost since too many came.
    pub(super) dropped: u64,
    /// The CPU time that the thread took.
    pub(super) cpu: Duration,
    /// The error that ended it early.
    pub(super) error: Option<io::Error>,
}

impl Capture {
    /// Begins to capture.
    pub(super) fn start(subject: Subject) -> io::Result<Self> {
        let stop = Arc::new(AtomicBool::new(false));
        let (sender, opened) = sync_channel(1);
        let stopped = Arc::clone(&stop);
        let thread =
            thread::Builder::new().name("torr-capture".into()).spawn(move || run(&subject, &stopped, &sender))?;
        // The thread sends in any case, unless it panics.
        opened.recv().unwrap_or_else(|_| Err(io::Error::other("the thread of the capture ended too early")))?;
        Ok(Self { stop, thread })
    }

    /// Begins to end the capture.
    pub(super) fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.thread().unpark();
    }

    /// Ends the capture.
    pub(super) fn finish(self) -> io::Result<Recorded> {
        self.stop();
        self.thread.join().map_err(|_| io::Error::other("the thread of the capture ended too early"))
    }
}

/// Opens the socket in the network namespace of the service.
fn open(subject: &Subject) -> io::Result<PacketSocket> {
    if let Some(process) = subject.processes.first() {
        let link = format!("/proc/{process}/ns/net");
        // Without the right to read it, this namespace is the only one that can be captured.
        if read_link(&link).is_ok_and(|other| read_link("/proc/self/ns/net").is_ok_and(|own| own != other)) {
            // Only this thread moves, and it ends with the capture.
            move_into_link_name_space(File::open(link)?.as_fd(), Some(LinkNameSpaceType::Network))?;
        }
    }
    PacketSocket::open(&filter::filter(subject.server.port()))
}

/// Captures until the capture is stopped.
fn run(subject: &Subject, stop: &AtomicBool, opened: &SyncSender<io::Result<()>>) -> Recorded {
    let tracker = Tracker::new(subject.database, subject.server);
    let totals = Tallies::default();
    let (elapsed, cpu) = (Duration::ZERO, Duration::ZERO);
    let mut recorded = Recorded { tracker, totals, connections: 0, elapsed, dropped: 0, cpu, error: None };
    let socket = match open(subject) {
        Ok(socket) => socket,
        Err(error) => {
            // The receiver may have ended.
            let _ = opened.send(Err(error));
            return recorded;
        }
    };
    let began = Instant::now();
    let _ = opened.send(Ok(()));
    let mut owners = Owners::default();
    let mut looked: Option<Instant> = None;
    let (mut batch, mut packets) = (Batch::default(), 0);
    loop {
        // What came before the end is read; afterwards nothing but what is in the buffer.
        let is_last = stop.load(Ordering::Relaxed) || (packets >= ENOUGH.0 && began.elapsed() >= ENOUGH.1);
        let worked = cpu_time();
        if is_last || looked.is_none_or(|looked| looked.elapsed() >= OWNERS) {
            owners.look(&subject.processes, subject.server.port());
            looked = Some(Instant::now());
        }
        let (is_empty, error) = take_batches(&socket, &mut batch, &mut recorded.tracker, &mut packets);
        if error.is_some() || is_last {
            recorded.error = error;
            break;
        }
        let rest = (cpu_time() - worked) * RESTS;
        thread::park_timeout(if is_empty { rest.max(PAUSE) } else { rest });
    }
    recorded.elapsed = began.elapsed();
    recorded.dropped = socket.dropped().into();
    recorded.cpu = cpu_time();
    (recorded.totals, recorded.connections) = recorded.tracker.totals(&owners.own, &owners.foreign);
    recorded
}

/// The most batches that are taken in one go.
const BATCHES: usize = 64;

/// Takes what the kernel's buffer has, counts the packets, and returns whether that was all.
fn take_batches(
    socket: &PacketSocket,
    batch: &mut Batch,
    tracker: &mut Tracker,
    packets: &mut u64,
) -> (bool, Option<io::Error>) {
    for _ in 0..BATCHES {
        match socket.receive(batch) {
            Ok(received) => {
                *packets += received as u64;
                for (packet, at) in batch.iter() {
                    tracker.packet(packet, at);
                }
                if received < socket::BATCH {
                    return (true, None);
                }
            }
            Err(error) => return (true, Some(error)),
        }
    }
    (false, None)
}

/// Returns the CPU time of this thread.
fn cpu_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec.unsigned_abs(), u32::try_from(time.tv_nsec).unwrap_or(0))
}
