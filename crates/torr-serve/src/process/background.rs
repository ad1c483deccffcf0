//! A runtime of tokio for applications of simple controllers, driven by a thread of its own.
//!
//! Such an application needs no runtime, so its workers wait without tokio, which costs less. But a controller may spawn a
//! task, make a socket or take the runtime's handle all the same. So it runs in the context of this runtime, which is always
//! driven, and never in that of its worker's.

use crate::process::shutdown::{Ended, Shutdown};
use std::io;
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Instant;
use tokio::runtime::{Builder, Handle};
use tokio::sync::{oneshot, watch};

/// The runtime, until it is told to stop.
#[derive(Debug)]
pub(crate) struct Background {
    handle: Handle,
    stop: Option<oneshot::Sender<()>>,
    thread: JoinHandle<()>,
}

impl Background {
    /// Starts the runtime and its thread.
    ///
    /// # Errors
    /// If the system refuses a thread or what a runtime needs.
    pub fn start(shutdown: Arc<Shutdown>, ended: Ended) -> io::Result<Self> {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let (handle, (stop, stopped)) = (runtime.handle().clone(), oneshot::channel::<()>());
        let drive = move || {
            let _ended = ended;
            let deadline = runtime.block_on(async {
                // That its sender is dropped is what tells it to stop.
                let _ = stopped.await;
                shutdown.finish(shutdown.background(), &watch::Sender::new(false)).await
            });
            let left = deadline.saturating_duration_since(Instant::now());
            shutdown.while_blocking(shutdown.background(), || runtime.shutdown_timeout(left));
        };
        let thread = thread::Builder::new().name("background".into()).spawn(drive)?;
        Ok(Self { handle, stop: Some(stop), thread })
    }

    /// The handle by which its context is entered.
    pub fn handle(&self) -> Handle {
        self.handle.clone()
    }

    /// Lets it end, with its last task or the time of the shutdown.
    pub fn tell_to_stop(&mut self) {
        self.stop = None;
    }

    /// Waits for its end.
    pub fn join(self) {
        // A panic of a task is the task's own; one of this thread has been printed.
        let _ = self.thread.join();
    }
}
