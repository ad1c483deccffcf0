//! Detection of async code on the calling thread, which must not be blocked.

use crate::error::ServeError;
use std::task::{Context, Waker};
use tokio::task::coop;

/// More operations than tokio's budget of a task in one poll, which is 128.
const ENOUGH: usize = 256;

/// Returns an error on a thread that polls a future of tokio: a task, or the future of `block_on` or `#[tokio::main]`.
///
/// The presence of a runtime's handle is no evidence: blocking tasks and threads that have entered a runtime have one, and may
/// block. But only a future that is being polled has a limited budget of operations.
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
    // Each unit restores the budget as it was before the unit, so the first one has to be dropped last.
    while let Some(unit) = taken.pop() {
        drop(unit);
    }
    if is_limited { Err(ServeError::InAsync) } else { Ok(()) }
}
