//! The counters of one worker, and the text of all workers' counters.

mod text;

use crate::observe::metric::Metric;
use crate::observe::metrics_table::{BOUNDS, COUNTS, Count, GAUGES, Gauge, MetricsTable, STATUSES, status_cell};
use std::cell::Cell;
use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};
use torr_net::{Nanos, clock};

/// A worker's row of the table, for the worker's own thread.
#[derive(Debug)]
pub(crate) struct Meter {
    counts: Counts,
    /// The number of the engine's responses since [`Meter::take_responses`].
    responses: Cell<u64>,
}

/// A worker's row of the table, for any thread.
#[derive(Debug, Clone)]
pub(crate) struct Counts {
    table: Arc<MetricsTable>,
    row: usize,
    /// The time up to which the worker's time is counted, as busy or as not. Only the worker's own thread counts time.
    awake: Arc<AtomicU64>,
}

impl Counts {
    #[inline]
    fn cell(&self, at: usize) -> &AtomicU64 {
        &self.table.row(self.row)[at]
    }

    /// Notes that the worker has waited until `now`.
    #[inline]
    pub fn awake_since(&self, now: Nanos) {
        self.awake.store(now, Ordering::Relaxed);
    }

    /// Counts the time since the last call as busy.
    #[inline]
    pub fn busy_until(&self, now: Nanos) {
        let since = self.awake.load(Ordering::Relaxed);
        self.awake.store(now, Ordering::Relaxed);
        self.add(Count::Busy, now.saturating_sub(since));
    }

    #[inline]
    pub fn add(&self, count: Count, n: u64) {
        self.cell(count as usize).fetch_add(n, Ordering::Relaxed);
    }

    pub fn one_more(&self, gauge: Gauge) {
        self.cell(COUNTS + gauge as usize).fetch_add(1, Ordering::Relaxed);
    }

    /// Subtracts one from a gauge, which stays 0 where its worker has ended before.
    pub fn one_less(&self, gauge: Gauge) {
        let cell = self.cell(COUNTS + gauge as usize);
        let _ = cell.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |n| n.checked_sub(1));
    }

    /// Returns all workers' counters and the application's metrics in Prometheus' text format.
    pub fn text(&self, metrics: &[Metric]) -> String {
        text::of(&self.table, metrics)
    }
}

impl Deref for Meter {
    type Target = Counts;

    #[inline]
    fn deref(&self) -> &Counts {
        &self.counts
    }
}

impl Meter {
    /// Begins to count in a row.
    pub fn new(table: Arc<MetricsTable>, row: usize) -> Self {
        let awake = Arc::new(AtomicU64::new(clock::exact()));
        table.clear_gauges(row);
        let meter = Self { counts: Counts { table, row, awake }, responses: Cell::new(0) };
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        meter.cell(Count::Started as usize).store(now.as_secs(), Ordering::Relaxed);
        meter
    }

    /// Adds to a cell that only this thread writes, which costs less than an atomic addition.
    #[inline]
    fn add_alone(&self, at: usize, n: u64) {
        let cell = self.cell(at);
        cell.store(cell.load(Ordering::Relaxed).wrapping_add(n), Ordering::Relaxed);
    }

    #[inline]
    pub fn set(&self, gauge: Gauge, n: u64) {
        self.cell(COUNTS + gauge as usize).store(n, Ordering::Relaxed);
    }

    /// Counts a response of the engine.
    #[inline]
    pub fn answered(&self, status: u16) {
        self.responses.set(self.responses.get() + 1);
        self.status(status);
    }

    /// Counts a status code.
    #[inline]
    pub fn status(&self, status: u16) {
        if STATUSES.contains(&status) {
            self.add_alone(status_cell(status), 1);
        }
    }

    /// Returns the number of the engine's responses since the last call.
    #[inline]
    pub fn take_responses(&self) -> u64 {
        self.responses.take()
    }

    /// Counts the latency of a number of responses.
    #[inline]
    pub fn took(&self, latency: Nanos, responses: u64) {
        let bucket = BOUNDS.partition_point(|bound| bound * 1000 < latency);
        self.add_alone(COUNTS + GAUGES + bucket, responses);
        self.add(Count::Latency, latency.saturating_mul(responses));
    }

    /// Returns the row for use by other threads.
    pub fn elsewhere(&self) -> Counts {
        self.counts.clone()
    }
}

impl Drop for Meter {
    fn drop(&mut self) {
        self.table.clear_gauges(self.row);
    }
}
