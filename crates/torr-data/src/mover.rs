//! The task that moves bytes between a connection's socket and its client.

use tokio::task::JoinHandle;

/// It ends with this value, also if the server still owes an answer.
#[derive(Debug)]
pub(crate) struct Mover(JoinHandle<()>);

impl Mover {
    /// Starts to move.
    pub(crate) fn start(moving: impl Future<Output = ()> + Send + 'static) -> Self {
        Self(tokio::spawn(moving))
    }

    /// Whether the connection has ended.
    pub(crate) fn has_ended(&self) -> bool {
        self.0.is_finished()
    }
}

impl Drop for Mover {
    fn drop(&mut self) {
        self.0.abort();
    }
}
