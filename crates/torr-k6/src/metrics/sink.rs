//! What is kept of a metric's samples, by its kind.

use super::kind::MetricKind;
use super::trend::TrendSink;
use torr_net::Nanos;

/// The values of a Gauge.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Gauge {
    /// The latest value.
    pub value: f64,
    /// The smallest value.
    pub min: f64,
    /// The largest value.
    pub max: f64,
    /// The monotonic time of the latest value; `None` without values.
    pub at: Option<Nanos>,
}

impl Gauge {
    fn merge(&mut self, other: &Self) {
        let Some(at) = other.at else { return };
        let is_first = self.at.is_none();
        self.min = if is_first { other.min } else { self.min.min(other.min) };
        self.max = if is_first { other.max } else { self.max.max(other.max) };
        if self.at.is_none_or(|own| own <= at) {
            self.value = other.value;
            self.at = Some(at);
        }
    }
}

/// The values of a Rate.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Rate {
    /// The number of values that are not zero.
    pub passes: u64,
    /// The number of all values.
    pub total: u64,
}

impl Rate {
    /// Returns the share of values that are not zero, 0 without values.
    #[must_use]
    pub fn share(self) -> f64 {
        if self.total == 0 { 0.0 } else { self.passes as f64 / self.total as f64 }
    }
}

/// What is kept of a metric's samples.
#[derive(Debug, Clone)]
pub enum Sink {
    /// The sum of a Counter, with the number of samples.
    Counter {
        /// The sum.
        sum: f64,
        /// The number of samples.
        samples: u64,
    },
    /// The values of a Gauge.
    Gauge(Gauge),
    /// The values of a Rate.
    Rate(Rate),
    /// The values of a Trend.
    Trend(TrendSink),
}

impl Sink {
    /// Returns a sink without samples.
    #[must_use]
    pub fn new(kind: MetricKind) -> Self {
        match kind {
            MetricKind::Counter => Self::Counter { sum: 0.0, samples: 0 },
            MetricKind::Gauge => Self::Gauge(Gauge::default()),
            MetricKind::Rate => Self::Rate(Rate::default()),
            MetricKind::Trend => Self::Trend(TrendSink::default()),
        }
    }

    /// Adds a sample.
    #[inline]
    pub fn add(&mut self, value: f64) {
        match self {
            Self::Counter { sum, samples } => {
                *sum += value;
                *samples += 1;
            }
            Self::Gauge(gauge) => {
                let at = Some(torr_net::clock::exact());
                gauge.merge(&Gauge { value, min: value, max: value, at });
            }
            Self::Rate(rate) => {
                rate.passes += u64::from(value != 0.0);
                rate.total += 1;
            }
            Self::Trend(trend) => trend.add(value),
        }
    }

    /// Adds all samples of another sink of the same kind.
    pub fn merge(&mut self, other: Self) {
        match (self, other) {
            (Self::Counter { sum, samples }, Self::Counter { sum: further, samples: more }) => {
                *sum += further;
                *samples += more;
            }
            (Self::Gauge(gauge), Self::Gauge(other)) => gauge.merge(&other),
            (Self::Rate(rate), Self::Rate(other)) => {
                rate.passes += other.passes;
                rate.total += other.total;
            }
            (Self::Trend(trend), Self::Trend(other)) => trend.merge(other),
            // A metric has one kind in a whole run.
            _ => {}
        }
    }

    /// Returns whether there is no sample.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        match self {
            Self::Counter { samples, .. } => *samples == 0,
            Self::Gauge(gauge) => gauge.at.is_none(),
            Self::Rate(rate) => rate.total == 0,
            Self::Trend(trend) => trend.is_empty(),
        }
    }

    /// Returns what the sink holds, and leaves it without samples.
    #[must_use]
    pub(super) fn take(&mut self) -> Self {
        let empty = match self {
            Self::Counter { .. } => MetricKind::Counter,
            Self::Gauge(_) => MetricKind::Gauge,
            Self::Rate(_) => MetricKind::Rate,
            Self::Trend(_) => MetricKind::Trend,
        };
        std::mem::replace(self, Self::new(empty))
    }
}
