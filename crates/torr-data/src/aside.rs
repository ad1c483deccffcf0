//! Waiting for something asynchronous once, on a runtime and a thread of its own: so it does not matter on what the caller
//! runs.

use crate::error::{DataError, ErrorKind};

/// Does it, and waits until it is done.
pub(crate) fn run<T: Send>(work: impl AsyncFnOnce() -> Result<T, DataError> + Send) -> Result<T, DataError> {
    let work = || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| DataError::new(ErrorKind::Other, error))?;
        runtime.block_on(work())
    };
    std::thread::scope(|scope| scope.spawn(work).join()).unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}
