//! What a server observes of itself: counters that workers add to and `/metrics` reads.
//!
//! A worker adds to cells of its own, so that nobody waits for anybody, and most once for all that one turn of its engine
//! has done.

mod text;

use crate::observe::metric::{self, Metric, MetricKind};
use std::cell::Cell;
use std::io;
use std::ops::Deref;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};
use torr_net::{Nanos, SharedCells, clock};

/// The upper bounds of the latency histogram's buckets but the last, in microseconds.
const BOUNDS: [u64; 17] = [
    50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 25_000, 50_000, 100_000, 250_000, 500_000, 1_000_000, 2_500_000,
    5_000_000, 10_000_000,
];
/// Statuses that are counted one by one.
const STATUSES: std::ops::Range<u16> = 100..1000;

/// One number of a worker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(usize)]
pub(crate) enum Count {
    /// When its process began to serve, in seconds since the Unix epoch.
    Started,
    Accepted,
    /// Connections that found no place.
    TurnedAway,
    /// Connections that were closed because something took too long.
    TimedOut,
    /// Connections that have left the engine.
    HandedOver,
    Received,
    Sent,
    /// Nanoseconds in which it did not wait for events.
    Busy,
    /// Nanoseconds in which it read requests and ran handlers.
    Handling,
    /// Times that it had something to do.
    Turns,
    /// Connections that were ready then, all together.
    Ready,
    /// Handlers that had to be waited for.
    Waited,
    /// Handlers that panicked.
    Panicked,
    /// Calls on the threads for blocking handlers, those that are done, nanoseconds that they waited for a thread, and
    /// those that found no place.
    Blocked,
    BlockedDone,
    BlockedWait,
    BlockedRefused,
    /// The sum of all latencies, in nanoseconds.
    Latency,
}

/// One number that goes up and down.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(usize)]
pub(crate) enum Gauge {
    /// Connections in the engine.
    Open,
    /// Connections that hyper serves.
    Elsewhere,
    /// Handlers and bodies of answers that are being waited for.
    Waiting,
}

const COUNTS: usize = Count::Latency as usize + 1;
const GAUGES: usize = Gauge::Waiting as usize + 1;
const BUCKETS: usize = BOUNDS.len() + 1;
/// The server's own cells of one worker: counts, gauges, buckets, statuses. Those of the application follow.
const CELLS: usize = COUNTS + GAUGES + BUCKETS + (STATUSES.end - STATUSES.start) as usize;

/// All workers' numbers, those of other processes included.
#[derive(Debug)]
pub(crate) struct Board {
    /// Behind the first, which tells the layout.
    cells: SharedCells,
    /// Of the cells that the application has of each worker, whether they are gauges.
    own: Vec<bool>,
}

/// A worker's place on the board, for its own thread.
#[derive(Debug)]
pub(crate) struct Meter {
    counts: Counts,
    /// Answers since the engine last asked.
    answers: Cell<u64>,
}

/// The counts of a worker, for any thread.
#[derive(Debug, Clone)]
pub(crate) struct Counts {
    board: Arc<Board>,
    place: usize,
    /// Until when the worker's time is counted, as busy or as not. Only its own thread counts it.
    awake: Arc<AtomicU64>,
}

impl Counts {
    #[inline]
    fn cell(&self, at: usize) -> &AtomicU64 {
        &self.board.of(self.place)[at]
    }

    /// The worker has waited until then.
    #[inline]
    pub fn awake_since(&self, now: Nanos) {
        self.awake.store(now, Ordering::Relaxed);
    }

    /// The worker has not waited since it was last counted.
    #[inline]
    pub fn busy_until(&self, now: Nanos) {
        let since = self.awake.load(Ordering::Relaxed);
        self.awake.store(now, Ordering::Relaxed);
        self.add(Count::Busy, now.saturating_sub(since));
    }

    /// Adds to a count.
    #[inline]
    pub fn add(&self, count: Count, n: u64) {
        self.cell(count as usize).fetch_add(n, Ordering::Relaxed);
    }

    pub fn one_more(&self, gauge: Gauge) {
        self.cell(COUNTS + gauge as usize).fetch_add(1, Ordering::Relaxed);
    }

    /// What outlives its worker is not counted any more.
    pub fn one_less(&self, gauge: Gauge) {
        let cell = self.cell(COUNTS + gauge as usize);
        let _ = cell.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |n| n.checked_sub(1));
    }
}

impl Deref for Meter {
    type Target = Counts;

    #[inline]
    fn deref(&self) -> &Counts {
        &self.counts
    }
}

/// How many places a worker has, so that those that leave and the one that follows them do not share any.
pub(crate) const TURNS: usize = 4;

/// The place of a worker thread among all of all processes. `turn` tells those apart that serve and leave at the same time.
pub(crate) fn place(worker: usize, turn: usize) -> usize {
    TURNS * worker + turn % TURNS
}

impl Board {
    /// For so many workers, and the application's own metrics.
    ///
    /// # Errors
    /// If the system has no memory for it.
    pub fn new(workers: usize, metrics: &[Metric]) -> io::Result<Self> {
        let cells = SharedCells::new(1 + TURNS * workers.max(1) * (CELLS + metrics.len()))?;
        cells[0].store(layout(metrics), Ordering::Relaxed);
        Ok(Self { cells, own: gauges(metrics) })
    }

    /// The one of a supervisor, if it has room for so many workers and is laid out as it is here.
    pub fn inherited(descriptor: OwnedFd, workers: usize, metrics: &[Metric]) -> Option<Self> {
        let cells = SharedCells::of(descriptor).ok()?;
        let fits = cells[0].load(Ordering::Relaxed) == layout(metrics)
            && cells.len() > TURNS * workers * (CELLS + metrics.len());
        fits.then_some(Self { cells, own: gauges(metrics) })
    }

    /// From here on the application's metrics are kept at this place.
    pub fn keep(self: &Arc<Self>, metrics: &[Metric], place: usize) {
        self.no_own_gauges(place);
        for (number, metric) in metrics.iter().enumerate() {
            metric.keep_at(self, 1 + place * self.width() + CELLS + number);
        }
    }

    /// To be inherited.
    ///
    /// # Errors
    /// If no descriptor is free.
    pub fn descriptor(&self) -> io::Result<OwnedFd> {
        self.cells.as_fd().try_clone_to_owned()
    }

    /// The worker at this place has ended, in whatever way: nothing of it is open or runs.
    pub fn close(&self, place: usize) {
        self.nothing_open(place);
        self.no_own_gauges(place);
        self.of(place)[Count::BlockedDone as usize].store(self.count(place, Count::Blocked), Ordering::Relaxed);
    }

    fn nothing_open(&self, place: usize) {
        self.of(place)[COUNTS..COUNTS + GAUGES].iter().for_each(|gauge| gauge.store(0, Ordering::Relaxed));
    }

    fn no_own_gauges(&self, place: usize) {
        let own = &self.of(place)[CELLS..];
        own.iter().zip(&self.own).filter(|(_, gauge)| **gauge).for_each(|(cell, _)| cell.store(0, Ordering::Relaxed));
    }

    /// The cells of one place.
    #[inline]
    fn width(&self) -> usize {
        CELLS + self.own.len()
    }

    fn places(&self) -> usize {
        (self.cells.len() - 1) / self.width()
    }

    #[inline]
    fn of(&self, place: usize) -> &[AtomicU64] {
        &self.cells[1..][place * self.width()..][..self.width()]
    }

    /// One cell of all.
    pub fn cell(&self, at: usize) -> &AtomicU64 {
        &self.cells[at]
    }

    /// The application's metric of this number.
    pub fn own(&self, place: usize, number: usize) -> u64 {
        self.of(place)[CELLS + number].load(Ordering::Relaxed)
    }

    fn count(&self, place: usize, count: Count) -> u64 {
        self.of(place)[count as usize].load(Ordering::Relaxed)
    }

    fn gauge(&self, place: usize, gauge: Gauge) -> u64 {
        self.of(place)[COUNTS + gauge as usize].load(Ordering::Relaxed)
    }

    fn bucket(&self, place: usize, bucket: usize) -> u64 {
        self.of(place)[COUNTS + GAUGES + bucket].load(Ordering::Relaxed)
    }

    fn status(&self, place: usize, status: u16) -> u64 {
        self.of(place)[status_cell(status)].load(Ordering::Relaxed)
    }
}

fn layout(metrics: &[Metric]) -> u64 {
    (CELLS as u64).wrapping_add(metric::layout(metrics))
}

fn gauges(metrics: &[Metric]) -> Vec<bool> {
    metrics.iter().map(|metric| metric.kind() == MetricKind::Gauge).collect()
}

const fn status_cell(status: u16) -> usize {
    COUNTS + GAUGES + BUCKETS + (status - STATUSES.start) as usize
}

impl Meter {
    /// A worker begins to serve at this place.
    pub fn new(board: Arc<Board>, place: usize) -> Self {
        let awake = Arc::new(AtomicU64::new(clock::exact()));
        board.nothing_open(place);
        let meter = Self { counts: Counts { board, place, awake }, answers: Cell::new(0) };
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        meter.cell(Count::Started as usize).store(now.as_secs(), Ordering::Relaxed);
        meter
    }

    /// Adds to a cell that nobody but this thread writes to, which costs less.
    #[inline]
    fn add_alone(&self, at: usize, n: u64) {
        let cell = self.cell(at);
        cell.store(cell.load(Ordering::Relaxed).wrapping_add(n), Ordering::Relaxed);
    }

    /// Sets a gauge.
    #[inline]
    pub fn set(&self, gauge: Gauge, n: u64) {
        self.cell(COUNTS + gauge as usize).store(n, Ordering::Relaxed);
    }

    /// Counts an answer of the engine's.
    #[inline]
    pub fn answered(&self, status: u16) {
        self.answers.set(self.answers.get() + 1);
        self.status(status);
    }

    /// Counts an answer of this status.
    #[inline]
    pub fn status(&self, status: u16) {
        if STATUSES.contains(&status) {
            self.add_alone(status_cell(status), 1);
        }
    }

    /// Answers since this was last asked.
    #[inline]
    pub fn take_answers(&self) -> u64 {
        self.answers.take()
    }

    /// Notes that so many answers took so long.
    #[inline]
    pub fn took(&self, latency: Nanos, answers: u64) {
        let bucket = BOUNDS.partition_point(|bound| bound * 1000 < latency);
        self.add_alone(COUNTS + GAUGES + bucket, answers);
        self.add(Count::Latency, latency.saturating_mul(answers));
    }

    /// Something that adds to the same counts from any thread.
    pub fn elsewhere(&self) -> Counts {
        self.counts.clone()
    }

    /// All workers' numbers and the application's own, in Prometheus' text format.
    pub fn text(&self, metrics: &[Metric]) -> String {
        text::of(&self.board, metrics)
    }
}

impl Drop for Meter {
    fn drop(&mut self) {
        self.board.nothing_open(self.place);
    }
}
