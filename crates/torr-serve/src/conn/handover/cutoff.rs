//! The end of upgraded connections when the server stops. What they speak is known to their own tasks alone, which may run
//! anywhere: they see the end of the connection.

use crate::process::shutdown::Shutdown;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use tokio::sync::watch;

/// Tells a connection of HTTP/1.1 when it has to end, once it has been upgraded. Until it is dropped, it is counted among the
/// receivers of the worker's `watch`.
pub(super) struct Cutoff {
    state: State,
    upgraded: Arc<AtomicBool>,
    shutdown: Arc<Shutdown>,
}

enum State {
    Waiting(Pin<Box<dyn Future<Output = watch::Receiver<bool>> + Send>>),
    Over { _counted: watch::Receiver<bool> },
}

/// Marks a connection as upgraded.
#[derive(Clone, Default)]
pub(super) struct Upgraded(Arc<AtomicBool>);

impl Upgraded {
    pub fn mark(&self) {
        self.0.store(true, Ordering::Release);
    }
}

impl Cutoff {
    /// The cut-off of a connection that `upgraded` marks. It comes when `over` turns true, or the worker has ended.
    pub fn new(mut over: watch::Receiver<bool>, upgraded: &Upgraded, shutdown: Arc<Shutdown>) -> Self {
        let waiting = async move {
            // An error is the end of the worker.
            let _ = over.wait_for(|is_over| *is_over).await.map(drop);
            over
        };
        Self { state: State::Waiting(Box::pin(waiting)), upgraded: Arc::clone(&upgraded.0), shutdown }
    }

    /// Returns whether the connection has to end now, without waking anybody if that comes later: for a task that writes while
    /// another one reads, and is to be woken.
    pub fn has_come(&self) -> bool {
        self.upgraded.load(Ordering::Acquire) && self.shutdown.streams_are_over()
    }

    /// Returns whether the connection has to end now. If not, the calling task is woken when it has to.
    pub fn poll(&mut self, cx: &mut Context<'_>) -> bool {
        if let State::Waiting(waiting) = &mut self.state {
            match waiting.as_mut().poll(cx) {
                Poll::Ready(counted) => self.state = State::Over { _counted: counted },
                Poll::Pending => return false,
            }
        }
        self.upgraded.load(Ordering::Acquire)
    }
}
