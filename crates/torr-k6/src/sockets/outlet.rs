//! The way of events from the thread of the sockets to a virtual user.

use super::mail::{Event, Mail};
use super::signal::Signal;
use std::sync::Arc;
use tokio::sync::mpsc;

/// The number of events that wait for one virtual user. Its sockets are not read from before it has taken some.
const MOST_MAIL: usize = 32;

/// The place where the events of a virtual user's sockets arrive.
#[derive(Debug, Clone)]
pub struct Outlet {
    mail: mpsc::Sender<Mail>,
    signal: Arc<Signal>,
    slot: usize,
}

impl Outlet {
    /// Returns the outlet of the user of a slot, and where its mail arrives.
    #[must_use]
    pub fn new(signal: Arc<Signal>, slot: usize) -> (Self, mpsc::Receiver<Mail>) {
        let (mail, arrives) = mpsc::channel(MOST_MAIL);
        (Self { mail, signal, slot }, arrives)
    }

    /// Hands over an event. Returns whether it is taken.
    pub(super) async fn hand_over(&self, socket: u64, event: impl Into<Event>) -> bool {
        let is_taken = self.mail.send(Mail { socket, event: event.into() }).await.is_ok();
        self.signal.raise(self.slot);
        is_taken
    }
}
