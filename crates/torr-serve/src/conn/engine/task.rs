//! The work that the engine leaves to tasks of its worker's runtime.

use crate::app::Pending;
use crate::conn::handover::HandedOver;
use crate::message::stream::Stream;
use tokio::task::JoinHandle;
use torr_net::Token;

/// Work on behalf of a connection.
pub(crate) struct Task {
    pub token: Token,
    pub work: Work,
}

/// The work of a task.
pub(crate) enum Work {
    /// Waits for a handler's response.
    Response(Pending),
    /// Waits for the next part of a body.
    Body(Box<Stream>),
    /// Serves a connection that has left the engine.
    Connection(HandedOver),
}

/// A running task, which is aborted when this is dropped.
pub(crate) struct AbortOnDrop(pub JoinHandle<()>);

impl Drop for AbortOnDrop {
    fn drop(&mut self) {
        self.0.abort();
    }
}
