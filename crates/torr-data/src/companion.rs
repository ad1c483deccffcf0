//! A thread beside one that blocks. The drivers need a runtime that polls sockets, and a thread on which one runs already
//! cannot run another: so that one is on this thread, while the other waits.

use crate::error::{DataError, ErrorKind};
use std::cell::RefCell;
use std::pin::Pin;
use std::sync::mpsc;
use std::thread;
use tokio::runtime::Builder;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

/// Something to be done there. It makes its future there, too, so that this one needs not be `Send`.
type Job = Box<dyn FnOnce() -> Pin<Box<dyn Future<Output = ()>>> + Send>;

thread_local! {
    /// The calling thread's companion, which ends with it.
    static COMPANION: RefCell<Option<UnboundedSender<Job>>> = const { RefCell::new(None) };
}

/// Asks on the companion's thread, and waits.
pub(crate) fn run<T, F>(ask: impl FnOnce() -> F + Send + 'static) -> Result<T, DataError>
where
    T: Send + 'static,
    F: Future<Output = Result<T, DataError>> + 'static,
{
    let (reply, answer) = mpsc::sync_channel(1);
    let job: Job = Box::new(move || {
        Box::pin(async move {
            let outcome = ask().await;
            // Who asked waits for it, unless his thread has panicked.
            let _ = reply.send(outcome);
        })
    });
    hand_over(job)?;
    answer.recv().unwrap_or_else(|_| {
        COMPANION.take();
        Err(DataError::new(ErrorKind::Other, "the thread that talks to the server has panicked"))
    })
}

fn hand_over(job: Job) -> Result<(), DataError> {
    COMPANION.with_borrow_mut(|companion| {
        let job = match companion {
            Some(jobs) => match jobs.send(job) {
                Ok(()) => return Ok(()),
                // One that has panicked is replaced.
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
    DataError::new(ErrorKind::Other, format_args!("the thread that talks to the server: {error}"))
}
