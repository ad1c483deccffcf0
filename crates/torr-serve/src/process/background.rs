//! A tokio runtime for applications of simple controllers, driven by its own thread.
//!
//! The workers of such an application wait without tokio, which costs less. A controller may still spawn a task, create a
//! socket or take the runtime's handle, so it runs in the context of this runtime, which is always driven.

use crate::process::shutdown::{Ended, Shutdown};
use std::io;
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Instant;
use tokio::runtime::{Builder, Handle};
use tokio::sync::{oneshot, watch};

/// The runtime and its thread.
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
    /// If the system refuses a thread or the runtime's descriptors.
    pub fn start(shutdown: Arc<Shutdown>, ended: Ended) -> io::Result<Self> {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let (handle, (stop, stopped)) = (runtime.handle().clone(), oneshot::channel::<()>());
        let drive = move || {
            let _ended = ended;
            let deadline = runtime.block_on(async {
                // The sender is dropped to stop the runtime.
                let _ = stopped.await;
                shutdown.finish(shutdown.background(), &watch::Sender::new(false)).await
            });
            let left = deadline.saturating_duration_since(Instant::now());
            shutdown.while_blocking(shutdown.background(), || runtime.shutdown_timeout(left));
        };
        let thread = thread::Builder::new().name("background".into()).spawn(drive)?;
        Ok(Self { handle, stop: Some(stop), thread })
    }

    /// Returns the handle with which a worker enters the runtime's context.
    pub fn handle(&self) -> Handle {
        self.handle.clone()
    }

    /// Begins to stop the runtime, which ends with its last task or at the time limit of the shutdown.
    pub fn begin_stop(&mut self) {
        self.stop = None;
    }

    /// Waits for the thread's end.
    pub fn join(self) {
        // A panic of the thread has been printed already.
        let _ = self.thread.join();
    }
}
