//! Wake-ups of connections by other threads: there is something to do for them of which no event of their sockets tells.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Wake, Waker};
use torr_net::{Token, WakeUp};

/// The wake-ups of one worker's connections, which any thread may add to. Its descriptor is readable while there are any.
#[derive(Debug)]
pub(crate) struct Wakeups {
    tokens: Mutex<Vec<Token>>,
    wake_up: WakeUp,
}

impl Wakeups {
    /// # Errors
    /// If the kernel has no descriptor left.
    pub fn new() -> io::Result<Arc<Self>> {
        Ok(Arc::new(Self { tokens: Mutex::default(), wake_up: WakeUp::new()? }))
    }

    /// Returns a waker that adds a wake-up of this connection.
    pub fn waker(self: &Arc<Self>, token: Token) -> Waker {
        Waker::from(Arc::new(ConnectionWaker { token, wakeups: Arc::clone(self) }))
    }

    /// Removes and returns the connections that were woken up.
    pub fn take(&self) -> Vec<Token> {
        self.wake_up.clear();
        std::mem::take(&mut *self.tokens.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl AsFd for Wakeups {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.wake_up.as_fd()
    }
}

struct ConnectionWaker {
    token: Token,
    wakeups: Arc<Wakeups>,
}

impl Wake for ConnectionWaker {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.wakeups.tokens.lock().unwrap_or_else(PoisonError::into_inner).push(self.token);
        self.wakeups.wake_up.wake();
    }
}
