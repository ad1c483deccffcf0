//! A connection that all of a thread share: opened when it is needed, by one for all who wait for it.

use crate::error::DataError;
use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;
use tokio::sync::Mutex;

pub(crate) struct Shared<C> {
    connection: RefCell<Option<Rc<C>>>,
    is_closed: fn(&C) -> bool,
    /// Who holds it connects; all others wait for that.
    connecting: Mutex<()>,
}

impl<C> Shared<C> {
    pub(crate) fn new(is_closed: fn(&C) -> bool) -> Self {
        Self { connection: RefCell::new(None), is_closed, connecting: Mutex::new(()) }
    }

    /// The connection, if one is open.
    pub(crate) fn current(&self) -> Option<Rc<C>> {
        self.connection.borrow().as_ref().filter(|connection| !(self.is_closed)(connection)).map(Rc::clone)
    }

    /// Whether somebody connects just now.
    #[cfg(feature = "network")]
    pub(crate) fn is_connecting(&self) -> bool {
        self.connecting.try_lock().is_err()
    }

    /// The connection, opened unless somebody else does so first. Nobody waits longer for his turn than `wait`, since each of
    /// those before him may have to learn for himself that nobody answers; then it is `late`.
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

    /// Leaves this connection to those who have it already.
    pub(crate) fn give_up(&self, connection: &Rc<C>) {
        self.connection.borrow_mut().take_if(|current| Rc::ptr_eq(current, connection));
    }
}
