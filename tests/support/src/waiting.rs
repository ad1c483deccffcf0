//! Waiting for a condition.

use std::thread;
use std::time::{Duration, Instant};

/// How long anything may take before a test gives up: far more than needed on a busy machine.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// Calls `look` every 5 ms until a value is returned, and returns that value.
///
/// # Panics
/// If there is none within [`PATIENCE`].
#[track_caller]
pub fn wait_until<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let start = Instant::now();
    loop {
        if let Some(seen) = look() {
            return seen;
        }
        assert!(start.elapsed() < PATIENCE, "waited in vain for {what}");
        thread::sleep(Duration::from_millis(5));
    }
}
