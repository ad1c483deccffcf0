//! Whether the calling thread runs async code, which must not be blocked.

use crate::error::ServeError;
use std::task::{Context, Waker};
use tokio::task::coop;

/// More than the budget of a task in one poll, which is 128.
const ENOUGH: usize = 256;

/// Refuses to block a thread that polls a future of tokio's: a task, or what `block_on` or `#[tokio::main]` runs.
///
/// A handle of a runtime alone is no reason: `spawn_blocking`, `block_in_place` and threads that have entered a runtime may block,
/// and have one too. What tells them apart is that only a future that is being polled has a limited budget of operations.
pub(crate) fn refuse() -> Result<(), ServeError> {
    let cx = &mut Context::from_waker(Waker::noop());
    let mut taken = Vec::with_capacity(ENOUGH);
    let is_limited = (0..ENOUGH).any(|_| match coop::poll_proceed(cx) {
        std::task::Poll::Ready(unit) => {
            taken.push(unit);
            false
        }
        std::task::Poll::Pending => true,
    });
    // Each gives back what was left before it was taken, so the first one has to be the last.
    while let Some(unit) = taken.pop() {
        drop(unit);
    }
    if is_limited { Err(ServeError::InAsync) } else { Ok(()) }
}
