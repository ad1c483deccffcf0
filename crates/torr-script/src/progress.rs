//! What each load thread is calling, for others to see: a script may not come to an end.

use std::sync::atomic::{AtomicU8, Ordering};
use torr_press::users::DecisionCount;

/// The functions of a script that load threads call, in the order of their numbers.
const CALLED: [&str; 4] = ["request", "delay", "response", "session"];

/// The calls of one thread.
#[derive(Debug, Default)]
pub struct Progress {
    count: DecisionCount,
    /// The position of the latest call's function among [`CALLED`].
    called: AtomicU8,
}

impl Progress {
    /// Makes a call of the function at this position among [`CALLED`]. Only the thread itself may.
    #[inline]
    fn call<R>(&self, called: u8, call: impl FnOnce() -> R) -> R {
        self.called.store(called, Ordering::Relaxed);
        self.count.during(call)
    }

    /// Makes a call of `request`.
    #[inline]
    pub fn request<R>(&self, call: impl FnOnce() -> R) -> R {
        self.call(0, call)
    }

    /// Makes a call of `delay`.
    #[inline]
    pub fn delay<R>(&self, call: impl FnOnce() -> R) -> R {
        self.call(1, call)
    }

    /// Makes a call of `response`.
    #[inline]
    pub fn response<R>(&self, call: impl FnOnce() -> R) -> R {
        self.call(2, call)
    }

    /// Makes a call of `session`.
    #[inline]
    pub fn session<R>(&self, call: impl FnOnce() -> R) -> R {
        self.call(3, call)
    }

    /// Returns the number that is odd while a call is in progress.
    pub fn count(&self) -> u64 {
        self.count.get()
    }

    /// Returns the function that was called last.
    pub fn called(&self) -> &'static str {
        CALLED[usize::from(self.called.load(Ordering::Relaxed)) % CALLED.len()]
    }
}
