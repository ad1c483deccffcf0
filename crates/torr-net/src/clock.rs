//! Time on a hot path: nanoseconds since the loop's own epoch.

use std::time::{Duration, Instant};

/// Nanoseconds since the epoch of the [`Clock`] that told them.
pub type Nanos = u64;

/// A monotonic clock that all threads of a run share by copy, so that their times compare.
#[derive(Debug, Clone, Copy)]
pub struct Clock(Instant);

impl Clock {
    /// A clock whose epoch is now.
    pub fn start() -> Self {
        Self(Instant::now())
    }

    /// The time since the epoch. Good for 584 years.
    #[inline]
    pub fn now(&self) -> Nanos {
        nanos(self.0.elapsed())
    }
}

/// A duration in nanoseconds; one longer than 584 years is as good as that.
#[inline]
pub fn nanos(duration: Duration) -> Nanos {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}
