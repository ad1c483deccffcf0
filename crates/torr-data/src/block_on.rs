//! Runs a future to its end from code that is not asynchronous.

use std::pin::pin;
use std::task::{Context, Poll, Waker};

/// Returns the outcome of a future that is ready at the first poll, as every future of SQLite is.
///
/// # Panics
/// If the future is pending.
pub(crate) fn ready<T>(future: impl Future<Output = T>) -> T {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(outcome) => outcome,
        Poll::Pending => panic!("a future of SQLite, which is always ready, waits for something else"),
    }
}

/// Runs an asynchronous closure on a new thread with a runtime of its own, and blocks until the closure ends. The caller
/// may itself be on a runtime.
#[cfg(feature = "sockets")]
pub(crate) fn on_new_thread<T: Send>(
    work: impl AsyncFnOnce() -> Result<T, crate::DataError> + Send,
) -> Result<T, crate::DataError> {
    let work = || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| crate::DataError::new(crate::ErrorKind::Other, error))?;
        runtime.block_on(work())
    };
    std::thread::scope(|scope| scope.spawn(work).join()).unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}
