//! The memory in which all workers of a server count, those of other processes included.
//!
//! A table has rows of 64-bit cells. Each worker thread adds to a row of its own, so that no worker waits for another, and
//! `/metrics` shows the sums of the rows.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::ops::Range;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::atomic::{AtomicU64, Ordering};
use torr_net::SharedCells;

/// Upper bounds of the latency histogram's buckets but the last, in microseconds.
pub(super) const BOUNDS: [u64; 17] = [
    50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 25_000, 50_000, 100_000, 250_000, 500_000, 1_000_000, 2_500_000,
    5_000_000, 10_000_000,
];
/// Status codes that are counted one by one.
pub(super) const STATUSES: Range<u16> = 100..1000;

/// A counter of a worker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(usize)]
pub(crate) enum Count {
    /// When the worker's process began to serve, in seconds since the Unix epoch.
    Started,
    Accepted,
    /// Connections beyond a limit.
    TurnedAway,
    /// Connections that a time-out closed.
    TimedOut,
    /// Connections that have left the engine.
    HandedOver,
    Received,
    Sent,
    /// Nanoseconds in which the worker did not wait for events.
    Busy,
    /// Nanoseconds in which the worker read requests and ran handlers.
    Handling,
    /// Turns of the event loop in which events were ready.
    Turns,
    /// Connections that were ready in all of these turns.
    Ready,
    /// Handlers whose response was not ready at once.
    Waited,
    Panicked,
    /// Calls of blocking handlers that were queued.
    Blocked,
    /// Queued calls that have ended.
    BlockedDone,
    /// Nanoseconds for which calls waited for a thread.
    BlockedWait,
    /// Calls for which the queue had no room.
    BlockedRefused,
    /// Times that a handler held up its worker.
    Stalled,
    /// Calls of the router that ran on the blocking pool.
    Moved,
    /// The sum of all latencies, in nanoseconds.
    Latency,
}

/// A gauge of a worker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(usize)]
pub(crate) enum Gauge {
    /// Connections in the engine.
    Open,
    /// Connections that hyper serves.
    Elsewhere,
    /// Connections of HTTP/3.
    Http3,
    /// Handlers and bodies of responses that are waited for.
    Waiting,
}

pub(super) const COUNTS: usize = Count::Latency as usize + 1;
pub(super) const GAUGES: usize = Gauge::Waiting as usize + 1;
pub(super) const BUCKETS: usize = BOUNDS.len() + 1;
/// The server's own cells of a row: counts, gauges, buckets, statuses. Cells of the application's metrics follow.
const CELLS: usize = COUNTS + GAUGES + BUCKETS + (STATUSES.end - STATUSES.start) as usize;

/// Rows of each worker. A worker that leaves and its successor count at the same time, in different rows.
pub(crate) const GENERATIONS: usize = 4;

/// Returns the row of a worker thread. `worker` counts the threads of all processes.
pub(crate) fn row(worker: usize, generation: usize) -> usize {
    GENERATIONS * worker + generation % GENERATIONS
}

/// The kind of a metric of the application.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum MetricKind {
    Counter,
    /// A counter in nanoseconds, which `/metrics` shows in seconds.
    Seconds,
    /// A gauge, which is 0 once its process has ended.
    Gauge,
}

/// The cells that the application's metrics have in each row.
#[derive(Debug)]
pub(crate) struct Columns {
    /// Differs between applications with different metrics, whose rows must not be added up.
    checksum: u64,
    /// Whether the metric of each cell is a gauge.
    gauges: Vec<bool>,
}

impl Columns {
    /// Returns the cells of metrics with these names and kinds.
    pub fn new<'n>(metrics: impl Iterator<Item = (&'n str, MetricKind)>) -> Self {
        let (mut hasher, mut gauges) = (DefaultHasher::new(), Vec::new());
        for metric in metrics {
            metric.hash(&mut hasher);
            gauges.push(metric.1 == MetricKind::Gauge);
        }
        Self { checksum: (CELLS as u64).wrapping_add(hasher.finish()), gauges }
    }
}

#[derive(Debug)]
pub(crate) struct MetricsTable {
    /// The checksum of the layout, and all rows.
    cells: SharedCells,
    columns: Columns,
}

impl MetricsTable {
    /// Creates a table for a number of worker threads.
    ///
    /// # Errors
    /// If the system has no memory for the table.
    pub fn new(workers: usize, columns: Columns) -> io::Result<Self> {
        let cells = SharedCells::new(1 + GENERATIONS * workers.max(1) * (CELLS + columns.gauges.len()))?;
        cells[0].store(columns.checksum, Ordering::Relaxed);
        Ok(Self { cells, columns })
    }

    /// Opens the table of a supervisor. `None` if the table has another layout or too few rows.
    pub fn inherited(descriptor: OwnedFd, workers: usize, columns: Columns) -> Option<Self> {
        let cells = SharedCells::of(descriptor).ok()?;
        let fits = cells[0].load(Ordering::Relaxed) == columns.checksum
            && cells.len() > GENERATIONS * workers * (CELLS + columns.gauges.len());
        fits.then_some(Self { cells, columns })
    }

    /// Returns a descriptor of the table, for a child process.
    ///
    /// # Errors
    /// If no descriptor is free.
    pub fn descriptor(&self) -> io::Result<OwnedFd> {
        self.cells.as_fd().try_clone_to_owned()
    }

    /// Ends a row whose worker has ended in any way: its gauges are 0 and its blocking calls done.
    pub fn close(&self, row: usize) {
        self.clear_gauges(row);
        self.clear_own_gauges(row);
        self.row(row)[Count::BlockedDone as usize].store(self.count(row, Count::Blocked), Ordering::Relaxed);
    }

    pub(super) fn clear_gauges(&self, row: usize) {
        self.row(row)[COUNTS..COUNTS + GAUGES].iter().for_each(|gauge| gauge.store(0, Ordering::Relaxed));
    }

    /// Sets the application's gauges in a row to 0.
    pub(super) fn clear_own_gauges(&self, row: usize) {
        let own = self.row(row)[CELLS..].iter().zip(&self.columns.gauges);
        own.filter(|(_, is_gauge)| **is_gauge).for_each(|(cell, _)| cell.store(0, Ordering::Relaxed));
    }

    #[inline]
    fn width(&self) -> usize {
        CELLS + self.columns.gauges.len()
    }

    pub(super) fn rows(&self) -> usize {
        (self.cells.len() - 1) / self.width()
    }

    #[inline]
    pub(super) fn row(&self, row: usize) -> &[AtomicU64] {
        &self.cells[1..][row * self.width()..][..self.width()]
    }

    /// Returns the cell of a metric of the application, by the metric's number.
    pub(super) fn own_cell(&self, row: usize, number: usize) -> &AtomicU64 {
        &self.row(row)[CELLS + number]
    }

    pub(super) fn own(&self, row: usize, number: usize) -> u64 {
        self.own_cell(row, number).load(Ordering::Relaxed)
    }

    pub(super) fn count(&self, row: usize, count: Count) -> u64 {
        self.row(row)[count as usize].load(Ordering::Relaxed)
    }

    pub(super) fn gauge(&self, row: usize, gauge: Gauge) -> u64 {
        self.row(row)[COUNTS + gauge as usize].load(Ordering::Relaxed)
    }

    pub(super) fn bucket(&self, row: usize, bucket: usize) -> u64 {
        self.row(row)[COUNTS + GAUGES + bucket].load(Ordering::Relaxed)
    }

    pub(super) fn status(&self, row: usize, status: u16) -> u64 {
        self.row(row)[status_cell(status)].load(Ordering::Relaxed)
    }
}

/// Returns the cell of a status code in a row.
pub(super) const fn status_cell(status: u16) -> usize {
    COUNTS + GAUGES + BUCKETS + (status - STATUSES.start) as usize
}
