//! What whole-program tests share: running `torr`, and servers to run it against. Everything started ends with its value.
#![allow(dead_code, reason = "each test program uses its part of this")]

pub mod certificates;
pub mod client;
pub mod http2_server;
pub mod layout;
pub mod markdown;
pub mod metrics;
pub mod metronome;
pub mod namespace;
pub mod printed;
pub mod program;
pub mod proxy;
pub mod result;
pub mod script;
pub mod servers;
pub mod supervised;
pub mod terminal;

use std::time::{Duration, Instant};

/// How long anything may take before a test gives it up: far more than it needs on a busy machine.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// Waits for something to come true, looking often.
///
/// # Panics
/// If it does not within [`PATIENCE`].
pub fn wait_until<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let start = Instant::now();
    loop {
        if let Some(seen) = look() {
            return seen;
        }
        assert!(start.elapsed() < PATIENCE, "waited in vain for {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}
