//! What a script has of a connection and of its calls.

use super::call::Call;
use crate::sockets::handle::{Counts, TooMuch};
use crate::sockets::outlet::Outlet;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::sync::{mpsc, oneshot, watch};

/// A connection that a script has opened. It is closed when this value is dropped, after the calls that are under way.
#[derive(Debug)]
pub struct GrpcConnection {
    jobs: mpsc::UnboundedSender<CallJob>,
    counts: Arc<Counts>,
    closing: watch::Sender<bool>,
}

/// What the thread of the sockets has of a connection.
pub(in crate::sockets) struct ConnectionEnd {
    pub jobs: mpsc::UnboundedReceiver<CallJob>,
    pub counts: Arc<Counts>,
    /// Becomes true when the script closes the connection.
    pub closing: watch::Receiver<bool>,
}

/// A call on its way to the thread.
#[derive(Debug)]
pub(in crate::sockets) struct CallJob {
    pub call: Call,
    pub outlet: Outlet,
    pub end: CallFarEnd,
}

/// A call that a script has made. It is canceled when this value is dropped.
#[derive(Debug)]
pub struct CallHandle {
    /// The messages that are to be sent; the end of the request is `None`.
    messages: mpsc::UnboundedSender<Option<Vec<u8>>>,
    unsent: Arc<AtomicUsize>,
    _alive: oneshot::Sender<()>,
}

/// What the thread of the sockets has of a call.
#[derive(Debug)]
pub(in crate::sockets) struct CallFarEnd {
    pub messages: mpsc::UnboundedReceiver<Option<Vec<u8>>>,
    /// The bytes of messages that wait to be sent.
    pub unsent: Arc<AtomicUsize>,
    /// Has its end when the script's handle is dropped.
    pub gone: oneshot::Receiver<()>,
}

impl GrpcConnection {
    /// Returns the handle of a new connection, and its far end.
    pub(in crate::sockets) fn new() -> (Self, ConnectionEnd) {
        let (jobs, of_thread) = mpsc::unbounded_channel();
        let (closing, is_closing) = watch::channel(false);
        let counts = Arc::new(Counts::default());
        let end = ConnectionEnd { jobs: of_thread, counts: counts.clone(), closing: is_closing };
        (Self { jobs, counts, closing }, end)
    }

    /// Makes a call, whose events go to an outlet.
    #[must_use]
    pub fn call(&self, call: Call, outlet: Outlet) -> CallHandle {
        let (messages, of_thread) = mpsc::unbounded_channel();
        let (alive, gone) = oneshot::channel();
        let unsent = Arc::new(AtomicUsize::new(0));
        let end = CallFarEnd { messages: of_thread, unsent: unsent.clone(), gone };
        // The thread lives as long as the run; a connection that does not open has no calls.
        let _ = self.jobs.send(CallJob { call, outlet, end });
        CallHandle { messages, unsent, _alive: alive }
    }

    /// Closes the connection. Its calls are canceled.
    pub fn close(&self) {
        self.closing.send_replace(true);
    }

    /// Takes the numbers of bytes that were sent and received since the last call.
    pub fn take_transferred(&self) -> (u64, u64) {
        self.counts.take_transferred()
    }
}

impl CallHandle {
    /// Sends a message of a stream.
    ///
    /// # Errors
    /// If the server does not read, and too much waits to be sent.
    pub fn send(&self, message: Vec<u8>) -> Result<(), TooMuch> {
        let length = message.len();
        if let Err(error) = TooMuch::check(self.unsent.fetch_add(length, Ordering::AcqRel), length) {
            self.unsent.fetch_sub(length, Ordering::AcqRel);
            return Err(error);
        }
        let _ = self.messages.send(Some(message));
        Ok(())
    }

    /// Ends the request. Nothing is sent after it.
    pub fn end(&self) {
        let _ = self.messages.send(None);
    }
}
