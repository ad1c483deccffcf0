//! The task that moves bytes between a driver's client and the socket of its connection.

use tokio::task::JoinHandle;

/// A running task that is aborted when the value is dropped, even if a response is outstanding.
#[derive(Debug)]
pub(crate) struct ConnectionTask(JoinHandle<()>);

impl ConnectionTask {
    /// Spawns the task on the current runtime.
    pub(crate) fn start(task: impl Future<Output = ()> + Send + 'static) -> Self {
        Self(tokio::spawn(task))
    }

    /// Returns whether the connection has ended.
    pub(crate) fn has_ended(&self) -> bool {
        self.0.is_finished()
    }
}

impl Drop for ConnectionTask {
    fn drop(&mut self) {
        self.0.abort();
    }
}
