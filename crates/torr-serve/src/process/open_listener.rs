//! A listener of one worker: how it is watched, and how its owner learns that it is closed.

use crate::settings::Settings;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::mpsc::Sender;
use torr_net::Interest;

/// A worker's listener. Its drop closes the descriptor first, and then drops the sender that it may have.
#[derive(Debug)]
pub(crate) struct Listener {
    socket: OwnedFd,
    _open: Option<Sender<()>>,
}

impl Listener {
    /// Returns a listener. Once all listeners with a clone of `open` are closed, its receiver is disconnected.
    pub fn new(socket: OwnedFd, open: Option<Sender<()>>) -> Self {
        Self { socket, _open: open }
    }
}

impl AsFd for Listener {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

impl From<OwnedFd> for Listener {
    fn from(socket: OwnedFd) -> Self {
        Self::new(socket, None)
    }
}

/// Returns how a listener is watched.
///
/// Worker threads of one process may share a listener, and one of them is enough for a connection; they stop together. Worker
/// processes are replaced one by one, and where an event wakes a single one, that may be about to leave: nothing would tell its
/// successor, which waits on the same listener, of the connection.
pub(crate) fn interest(settings: &Settings) -> Interest {
    if settings.processes == 0 { Interest::Shared } else { Interest::Level }
}
