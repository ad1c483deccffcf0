//! The companion thread of a thread that blocks. The drivers need a runtime that polls sockets, and a thread that already
//! runs a runtime cannot run a second one: so the drivers run on a companion thread while the caller waits.

use crate::error::{DataError, ErrorKind};
use std::cell::RefCell;
use std::pin::Pin;
use std::sync::mpsc;
use std::thread;
use tokio::runtime::Builder;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

/// An operation for the companion thread. Its future is made there too and need not be `Send`.
type Job = Box<dyn FnOnce() -> Pin<Box<dyn Future<Output = ()>>> + Send>;

thread_local! {
    /// The queue of the calling thread's companion, which ends when the queue is dropped.
    static COMPANION: RefCell<Option<UnboundedSender<Job>>> = const { RefCell::new(None) };
}

/// Runs an operation on the companion thread and blocks until it ends.
pub(crate) fn run<T, F>(operation: impl FnOnce() -> F + Send + 'static) -> Result<T, DataError>
where
    T: Send + 'static,
    F: Future<Output = Result<T, DataError>> + 'static,
{
    let (sender, receiver) = mpsc::sync_channel(1);
    let job: Job = Box::new(move || {
        Box::pin(async move {
            let outcome = operation().await;
            // The receiver is gone only if the calling thread has panicked.
            let _ = sender.send(outcome);
        })
    });
    submit(job)?;
    receiver.recv().unwrap_or_else(|_| {
        COMPANION.take();
        Err(DataError::new(ErrorKind::Other, "the database driver's thread panicked"))
    })
}

fn submit(job: Job) -> Result<(), DataError> {
    COMPANION.with_borrow_mut(|companion| {
        let job = match companion {
            Some(jobs) => match jobs.send(job) {
                Ok(()) => return Ok(()),
                // A companion that has panicked is replaced.
                Err(unsent) => unsent.0,
            },
            None => job,
        };
        companion.insert(start()?).send(job).map_err(|_| failed("it has ended"))
    })
}

fn start() -> Result<UnboundedSender<Job>, DataError> {
    let runtime = Builder::new_current_thread().enable_all().build().map_err(failed)?;
    let (sender, mut jobs): (_, UnboundedReceiver<Job>) = unbounded_channel();
    let work = move || {
        runtime.block_on(async {
            while let Some(job) = jobs.recv().await {
                job().await;
            }
        });
    };
    thread::Builder::new().name("torr-data".to_owned()).spawn(work).map_err(failed)?;
    Ok(sender)
}

fn failed(error: impl std::fmt::Display) -> DataError {
    DataError::new(ErrorKind::Other, format_args!("the database driver's thread failed: {error}"))
}
