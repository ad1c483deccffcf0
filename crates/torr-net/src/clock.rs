//! Clocks for hot paths: nanoseconds since an epoch of the caller's choice.

use rustix::time::{ClockId, Timespec, clock_gettime};
use std::num::NonZero;
use std::time::{Duration, Instant};

/// A time in nanoseconds since the epoch of its clock.
pub type Nanos = u64;

/// A monotonic clock, whose copies share one epoch, so that times of different threads compare.
#[derive(Debug, Clone, Copy)]
pub struct Clock(Instant);

impl Clock {
    /// Creates a clock whose epoch is now.
    pub fn start() -> Self {
        Self(Instant::now())
    }

    /// Creates a clock whose epoch is a time of this one, which may be still to come.
    #[must_use]
    pub fn with_epoch(&self, epoch: Nanos) -> Self {
        Self(self.0 + Duration::from_nanos(epoch))
    }

    /// Returns the time since the epoch, which overflows after 584 years; 0 before the epoch.
    #[inline]
    pub fn now(&self) -> Nanos {
        nanos(self.0.elapsed())
    }

    /// Returns a time as this clock has it; 0 before the epoch.
    #[inline]
    pub fn time_of(&self, instant: Instant) -> Nanos {
        nanos(instant.saturating_duration_since(self.0))
    }

    /// Returns the time until the epoch, none after it.
    pub fn until_epoch(&self) -> Duration {
        self.0.saturating_duration_since(Instant::now())
    }
}

/// Returns a duration in nanoseconds, at most 584 years.
#[inline]
pub fn nanos(duration: Duration) -> Nanos {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

/// Returns the monotonic time, on the same epoch as [`coarse`].
#[inline]
pub fn exact() -> Nanos {
    nanos_of(clock_gettime(ClockId::Monotonic))
}

/// Returns the monotonic time at the resolution of the kernel's tick, 1 to 10 ms, at a tenth of the cost of [`exact`]: for
/// time-outs.
#[inline]
pub fn coarse() -> Nanos {
    nanos_of(clock_gettime(ClockId::MonotonicCoarse))
}

#[inline]
fn nanos_of(time: Timespec) -> Nanos {
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// Returns the seconds since the Unix epoch, at the resolution of the kernel's tick.
#[inline]
pub fn coarse_unix_seconds() -> u64 {
    u64::try_from(clock_gettime(ClockId::RealtimeCoarse).tv_sec).unwrap_or(0)
}

/// Reduces the calling thread's timer slack from 50 us to 1 ns, so that the kernel does not defer its timers to batch them.
pub fn minimise_timer_slack() {
    // A failure leaves the default slack.
    let _ = rustix::thread::set_current_timer_slack(NonZero::new(1));
}
