//! The capture of a database's packets while a load runs, on a thread of its own.

mod filter;
mod owners;
mod packets;
mod socket;

use super::database::Database;
use super::tally::Tallies;
use super::tracker::Tracker;
use crate::pace::Begun;
use owners::Owners;
use packets::Packets;
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
const PAUSE: Duration = Duration::from_millis(20);

/// For each time that the thread computes it pauses so many times as long.
const RESTS: u32 = 9;

/// The number of packets that tell enough, and the shortest time for them: each packet costs the service and the database too.
const ENOUGH: (u64, Duration) = (10_000, Duration::from_millis(300));

/// The time between two looks at the service's sockets, and the share of a CPU that these looks may take.
const OWNERS: (Duration, f64) = (Duration::from_millis(300), 0.01);

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
    /// The packets that are not decoded yet.
    packets: Packets,
    /// Who has the connections.
    owners: Owners,
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

    /// Ends the capture, and decodes the packets. That takes CPU time, so that it is for the time after a load.
    pub(super) fn finish(self) -> io::Result<Recorded> {
        self.stop();
        let recorded = self.thread.join();
        let mut recorded = recorded.map_err(|_| io::Error::other("the thread of the capture ended too early"))?;
        recorded.packets.decode(&mut recorded.tracker);
        let Recorded { tracker, owners, .. } = &mut recorded;
        (recorded.totals, recorded.connections) = tracker.totals(&owners.own, &owners.foreign);
        Ok(recorded)
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
    PacketSocket::open(&filter::filter(subject.server.port()), subject.server.ip())
}

/// Captures until the capture is stopped.
fn run(subject: &Subject, stop: &AtomicBool, opened: &SyncSender<io::Result<()>>) -> Recorded {
    let tracker = Tracker::new(subject.database, subject.server);
    let totals = Tallies::default();
    let (elapsed, cpu) = (Duration::ZERO, Duration::ZERO);
    let (packets, owners) = (Packets::default(), Owners::default());
    let mut recorded =
        Recorded { tracker, packets, owners, totals, connections: 0, elapsed, dropped: 0, cpu, error: None };
    let socket = match open(subject) {
        Ok(socket) => socket,
        Err(error) => {
            // The receiver may have ended.
            let _ = opened.send(Err(error));
            return recorded;
        }
    };
    let (began, whole) = (Instant::now(), Begun::now());
    let _ = opened.send(Ok(()));
    let mut look_due = began;
    let mut batch = Batch::default();
    loop {
        // What came before the end is read; afterwards nothing but what is in the buffer.
        let has_enough = recorded.packets.taken >= ENOUGH.0 && began.elapsed() >= ENOUGH.1;
        let is_last = stop.load(Ordering::Relaxed) || has_enough;
        if is_last {
            // On a busy machine this thread waits for a CPU, and what comes meanwhile belongs to no time that is known.
            (recorded.elapsed, recorded.packets.until) = (began.elapsed(), now());
        }
        let begun = Begun::now();
        if is_last || look_due <= begun.at {
            recorded.owners.look(&subject.processes, subject.server.port());
            look_due = begun.next(OWNERS.0, OWNERS.1);
        }
        let (mut is_empty, mut error) = take_batches(&socket, &mut batch, &mut recorded);
        while is_last && !is_empty && error.is_none() {
            (is_empty, error) = take_batches(&socket, &mut batch, &mut recorded);
        }
        if error.is_some() || is_last {
            if !is_last {
                recorded.elapsed = began.elapsed();
            }
            recorded.error = error;
            break;
        }
        let rest = begun.cost() * RESTS;
        thread::park_timeout(if is_empty { rest.max(PAUSE) } else { rest });
    }
    recorded.dropped = socket.dropped().into();
    recorded.cpu = whole.cost();
    recorded
}

/// Returns the time in nanoseconds by the clock of the packets.
fn now() -> u64 {
    let now = clock_gettime(ClockId::Realtime);
    now.tv_sec.unsigned_abs().saturating_mul(1_000_000_000).saturating_add(now.tv_nsec.unsigned_abs())
}

/// The most batches that are taken in one go.
const BATCHES: usize = 64;

/// Takes what the kernel's buffer has, and returns whether that was all, or all until the end.
fn take_batches(socket: &PacketSocket, batch: &mut Batch, recorded: &mut Recorded) -> (bool, Option<io::Error>) {
    for _ in 0..BATCHES {
        match socket.receive(batch) {
            Ok(received) => {
                let Recorded { packets, tracker, .. } = recorded;
                batch.iter().for_each(|(packet, at)| packets.add(packet, at, tracker));
                let is_over = batch.iter().last().is_some_and(|(_, at)| at > packets.until);
                if received < socket::BATCH || is_over {
                    return (true, None);
                }
            }
            Err(error) => return (true, Some(error)),
        }
    }
    (false, None)
}
