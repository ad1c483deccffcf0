//! The end of upgraded connections when the server stops. Their protocol is known to their own tasks alone, which may run
//! anywhere: they see the end of the connection.

use super::upgrade::Upgrade;
use crate::process::shutdown::Shutdown;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use tokio::sync::watch;

/// The time at which a connection of HTTP/1.1 has to end, if it is upgraded. Until it is dropped, it is counted among the
/// receivers of the worker's `watch`.
pub(super) struct Cutoff {
    state: State,
    upgrade: Arc<Upgrade>,
    shutdown: Arc<Shutdown>,
}

enum State {
    Waiting(Pin<Box<dyn Future<Output = watch::Receiver<bool>> + Send>>),
    Over { _counted: watch::Receiver<bool> },
}

impl Cutoff {
    /// Returns the cut-off of a connection whose upgrade is `upgrade`. It comes when `over` turns true, or the worker has ended.
    pub fn new(mut over: watch::Receiver<bool>, upgrade: Arc<Upgrade>, shutdown: Arc<Shutdown>) -> Self {
        let waiting = async move {
            // An error is the end of the worker.
            let _ = over.wait_for(|is_over| *is_over).await.map(drop);
            over
        };
        Self { state: State::Waiting(Box::pin(waiting)), upgrade, shutdown }
    }

    /// Returns whether the connection has to end now, without a wake-up if that comes later: for a task that writes while
    /// another one reads, which is woken up.
    pub fn has_come(&self) -> bool {
        self.upgrade.is_complete() && self.shutdown.streams_are_over()
    }

    /// Returns whether the connection has to end now. If not, the calling task is woken when it has to.
    pub fn poll(&mut self, cx: &mut Context<'_>) -> bool {
        if let State::Waiting(waiting) = &mut self.state {
            match waiting.as_mut().poll(cx) {
                Poll::Ready(counted) => self.state = State::Over { _counted: counted },
                Poll::Pending => return false,
            }
        }
        self.upgrade.is_complete()
    }
}
