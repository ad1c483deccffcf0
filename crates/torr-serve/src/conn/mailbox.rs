//! Connections that have something to be done which no event of their sockets tells of.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Wake, Waker};
use torr_net::{Token, WakeUp};

/// Where any thread leaves word for a worker's engine.
#[derive(Debug)]
pub(crate) struct Mailbox {
    tokens: Mutex<Vec<Token>>,
    wake_up: WakeUp,
}

impl Mailbox {
    pub fn new() -> io::Result<Arc<Self>> {
        Ok(Arc::new(Self { tokens: Mutex::default(), wake_up: WakeUp::new()? }))
    }

    /// What leaves word for a connection when it is woken.
    pub fn waker(self: &Arc<Self>, token: Token) -> Waker {
        Waker::from(Arc::new(Word { token, mailbox: Arc::clone(self) }))
    }

    /// What has come in since the last call.
    pub fn empty(&self) -> Vec<Token> {
        self.wake_up.clear();
        std::mem::take(&mut *self.tokens.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl AsFd for Mailbox {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.wake_up.as_fd()
    }
}

struct Word {
    token: Token,
    mailbox: Arc<Mailbox>,
}

impl Wake for Word {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.mailbox.tokens.lock().unwrap_or_else(PoisonError::into_inner).push(self.token);
        self.mailbox.wake_up.wake();
    }
}
