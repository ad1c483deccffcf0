//! A connection that all tasks of a thread share, opened when the first of them needs it.

use crate::error::DataError;
use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;
use tokio::sync::Mutex;

pub(crate) struct SharedConnection<C> {
    connection: RefCell<Option<Rc<C>>>,
    is_closed: fn(&C) -> bool,
    /// Held by the task that connects; the others wait for the lock.
    connecting: Mutex<()>,
}

impl<C> SharedConnection<C> {
    pub(crate) fn new(is_closed: fn(&C) -> bool) -> Self {
        Self { connection: RefCell::new(None), is_closed, connecting: Mutex::new(()) }
    }

    /// Returns the connection, if one is open.
    pub(crate) fn current(&self) -> Option<Rc<C>> {
        self.connection.borrow().as_ref().filter(|connection| !(self.is_closed)(connection)).map(Rc::clone)
    }

    /// Returns whether a task connects at the moment.
    #[cfg(feature = "network")]
    pub(crate) fn is_connecting(&self) -> bool {
        self.connecting.try_lock().is_err()
    }

    /// Returns the connection, opened unless another task opens it first. A task waits for the lock at most `wait`, because
    /// each task before it may itself run into a connect timeout; after that the error is `late`.
    pub(crate) async fn open(
        &self,
        wait: Duration,
        late: impl FnOnce() -> DataError,
        connect: impl Future<Output = Result<C, DataError>>,
    ) -> Result<Rc<C>, DataError> {
        let turn = tokio::time::timeout(wait, self.connecting.lock()).await;
        let _connecting = turn.map_err(|_| late())?;
        if let Some(connection) = self.current() {
            return Ok(connection);
        }
        let connection = Rc::new(connect.await?);
        self.connection.replace(Some(Rc::clone(&connection)));
        Ok(connection)
    }

    /// Stops handing out this connection. Tasks that hold it keep it.
    pub(crate) fn discard(&self, connection: &Rc<C>) {
        self.connection.borrow_mut().take_if(|current| Rc::ptr_eq(current, connection));
    }
}
