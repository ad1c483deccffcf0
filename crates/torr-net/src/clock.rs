//! Time on a hot path: nanoseconds since the loop's own epoch.

use rustix::time::{ClockId, Timespec, clock_gettime};
use std::num::NonZero;
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

/// Monotonic time, to be compared with [`coarse`].
#[inline]
pub fn exact() -> Nanos {
    of(clock_gettime(ClockId::Monotonic))
}

/// Monotonic time, exact to the kernel's tick of 1 to 10 ms only, at a tenth of an exact clock's cost: for time-outs.
#[inline]
pub fn coarse() -> Nanos {
    of(clock_gettime(ClockId::MonotonicCoarse))
}

#[inline]
fn of(time: Timespec) -> Nanos {
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// Seconds since the Unix epoch, as coarse.
#[inline]
pub fn coarse_unix_seconds() -> u64 {
    u64::try_from(clock_gettime(ClockId::RealtimeCoarse).tv_sec).unwrap_or(0)
}

/// Makes the kernel wake the calling thread when its time has come, rather than up to 50 us later together with others.
pub fn minimise_timer_slack() {
    // Where it is refused, wake-ups are as late as they always were.
    let _ = rustix::thread::set_current_timer_slack(NonZero::new(1));
}
