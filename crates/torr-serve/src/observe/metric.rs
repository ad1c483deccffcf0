//! Metrics of the application, beside those of the server.

use crate::observe::metrics_table::{Columns, MetricKind, MetricsTable};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// A metric of the application, which `/metrics` shows as the sum of all processes. Clones share one value; a change is an
/// atomic addition, from any thread.
///
/// ```
/// use torr_serve::{App, Metric, Response};
///
/// let orders = Metric::counter("tea_orders_total", "Orders taken.");
/// let taken = orders.clone();
/// let app = App::new().metrics("/metrics").metric(&orders).post("/orders", move |_| {
///     taken.add(1);
///     Response::new(201)
/// });
/// # drop(app);
/// ```
#[derive(Debug, Clone)]
pub struct Metric(Arc<Number>);

#[derive(Debug)]
struct Number {
    name: String,
    help: String,
    kind: MetricKind,
    /// The value until the server starts.
    early: AtomicU64,
    /// The table that has the value after the start, with a row and the metric's number.
    late: OnceLock<(Arc<MetricsTable>, usize, usize)>,
}

impl Metric {
    /// Creates a counter. By convention its name ends in `_total`.
    ///
    /// # Panics
    /// If the name is empty, begins with a digit, or has a character other than ASCII letters, digits, `_` and `:`; or if the
    /// help has a line end or a backslash.
    pub fn counter(name: &str, help: &str) -> Self {
        Self::new(name, help, MetricKind::Counter)
    }

    /// Creates a counter of time. By convention its name ends in `_seconds_total`.
    ///
    /// # Panics
    /// Panics where [`Metric::counter`] does.
    pub fn seconds(name: &str, help: &str) -> Self {
        Self::new(name, help, MetricKind::Seconds)
    }

    /// Creates a gauge, which goes up and down.
    ///
    /// # Panics
    /// Panics where [`Metric::counter`] does.
    pub fn gauge(name: &str, help: &str) -> Self {
        Self::new(name, help, MetricKind::Gauge)
    }

    fn new(name: &str, help: &str, kind: MetricKind) -> Self {
        let sound = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b':';
        let named = !name.is_empty() && name.bytes().all(sound) && !name.as_bytes()[0].is_ascii_digit();
        assert!(named, "invalid metric name {name:?}");
        assert!(!help.contains(['\n', '\\']), "the help of {name} must be one line without backslashes");
        let number =
            Number { name: name.into(), help: help.into(), kind, early: AtomicU64::new(0), late: OnceLock::new() };
        Self(Arc::new(number))
    }

    /// Adds to the metric; `n` is in nanoseconds for a metric of [`Metric::seconds`].
    pub fn add(&self, n: u64) {
        self.cell().fetch_add(n, Relaxed);
    }

    /// Adds a time to a metric of [`Metric::seconds`].
    pub fn add_time(&self, time: Duration) {
        self.add(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX));
    }

    /// Subtracts from a gauge, which stops at 0.
    ///
    /// # Panics
    /// If the metric is not a gauge.
    pub fn sub(&self, n: u64) {
        assert!(self.0.kind == MetricKind::Gauge, "{} is a counter, which must not decrease", self.0.name);
        let _ = self.cell().fetch_update(Relaxed, Relaxed, |now| Some(now.saturating_sub(n)));
    }

    /// Moves the value to a table.
    fn keep_at(&self, table: &Arc<MetricsTable>, row: usize, number: usize) {
        if self.0.late.set((Arc::clone(table), row, number)).is_ok() {
            self.cell().fetch_add(self.0.early.swap(0, Relaxed), Relaxed);
        }
    }

    fn cell(&self) -> &AtomicU64 {
        self.0.late.get().map_or(&self.0.early, |(table, row, number)| table.own_cell(*row, *number))
    }

    pub(crate) fn name(&self) -> &str {
        &self.0.name
    }

    pub(crate) fn help(&self) -> &str {
        &self.0.help
    }

    pub(crate) fn kind(&self) -> MetricKind {
        self.0.kind
    }
}

/// Returns the columns of the application's metrics.
pub(crate) fn columns(metrics: &[Metric]) -> Columns {
    Columns::new(metrics.iter().map(|metric| (metric.name(), metric.kind())))
}

/// Moves the application's metrics to a row of a table.
pub(crate) fn keep(metrics: &[Metric], table: &Arc<MetricsTable>, row: usize) {
    table.clear_own_gauges(row);
    for (number, metric) in metrics.iter().enumerate() {
        metric.keep_at(table, row, number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_counted_early_is_not_lost() {
        let metric = Metric::counter("a_total", "A.");
        metric.add(2);
        let table = Arc::new(MetricsTable::new(1, columns(std::slice::from_ref(&metric))).expect("there is memory"));
        keep(std::slice::from_ref(&metric), &table, 0);
        metric.clone().add(3);
        assert_eq!(table.own(0, 0), 5);
    }

    #[test]
    fn a_process_that_has_ended_leaves_counts_but_no_gauges() {
        let metrics = [Metric::counter("a_total", "A."), Metric::gauge("b", "B.")];
        let table = Arc::new(MetricsTable::new(2, columns(&metrics)).expect("there is memory"));
        let row = crate::observe::metrics_table::row(1, 0);
        keep(&metrics, &table, row);
        metrics.iter().for_each(|metric| metric.add(4));
        assert_eq!((table.own(row, 0), table.own(row, 1)), (4, 4));
        table.close(row);
        assert_eq!((table.own(row, 0), table.own(row, 1)), (4, 0));
    }

    #[test]
    fn only_a_table_of_the_same_metrics_is_inherited() {
        let metrics = [Metric::counter("a_total", "A.")];
        let table = MetricsTable::new(1, columns(&metrics)).expect("there is memory");
        let inherited = |metrics: &[Metric]| {
            MetricsTable::inherited(table.descriptor().expect("a descriptor is free"), 1, columns(metrics)).is_some()
        };
        assert!(inherited(&metrics));
        assert!(!inherited(&[]));
        assert!(!inherited(&[Metric::counter("b_total", "B.")]));
        assert!(!inherited(&[Metric::gauge("a_total", "A.")]));
    }

    #[test]
    fn a_gauge_does_not_go_below_nothing() {
        let metric = Metric::gauge("a", "A.");
        metric.add(2);
        metric.sub(3);
        assert_eq!(metric.cell().load(Relaxed), 0);
    }

    #[test]
    fn names_that_prometheus_does_not_allow_are_refused() {
        for bad in ["", "1a", "a-b", "a b", "ä"] {
            assert!(std::panic::catch_unwind(|| Metric::counter(bad, "")).is_err(), "{bad}");
        }
        let time = Metric::seconds("waited_seconds_total", "Waited.");
        time.add_time(Duration::from_millis(1));
        assert_eq!(time.cell().load(Relaxed), 1_000_000);
    }
}
