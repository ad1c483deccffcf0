//! The numbers of metrics, their kinds, and what their values are.

/// The number of a metric.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct MetricId(pub(super) u32);

impl MetricId {
    /// Returns the number as an index.
    #[must_use]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// The kind of a metric, which decides what is kept of its samples.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum MetricKind {
    /// A sum.
    Counter,
    /// The latest value, with the smallest and the largest.
    Gauge,
    /// The share of values that are not zero.
    Rate,
    /// A distribution.
    Trend,
}

impl MetricKind {
    /// Returns the kind's name in results.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Counter => "counter",
            Self::Gauge => "gauge",
            Self::Rate => "rate",
            Self::Trend => "trend",
        }
    }
}

/// What the values of a metric are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Contains {
    /// Plain numbers.
    #[default]
    Default,
    /// Times in milliseconds.
    Time,
    /// Numbers of bytes.
    Data,
}

impl Contains {
    /// Returns the name in results.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::Time => "time",
            Self::Data => "data",
        }
    }
}
