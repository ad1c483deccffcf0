//! What a script has of its socket.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use tokio::sync::{mpsc, oneshot};

/// The number of bytes that wait to be sent on one socket.
const MOST_UNSENT: usize = 64 << 20;

/// A socket that a script has opened. It is closed when this value is dropped.
#[derive(Debug)]
pub struct SocketHandle {
    commands: mpsc::UnboundedSender<Command>,
    counts: Arc<Counts>,
    _alive: oneshot::Sender<()>,
}

/// The error of a message that does not fit what waits to be sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TooMuch;

impl TooMuch {
    /// Checks that a message fits what waits to be sent.
    ///
    /// # Errors
    /// If it does not.
    pub(super) fn check(waits: usize, length: usize) -> Result<(), Self> {
        if waits + length > MOST_UNSENT { Err(Self) } else { Ok(()) }
    }
}

impl fmt::Display for TooMuch {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "more than {} MiB wait to be sent: the server does not read", MOST_UNSENT >> 20)
    }
}

/// The bytes of a socket.
#[derive(Debug, Default)]
pub(super) struct Counts {
    pub sent: AtomicU64,
    pub received: AtomicU64,
    /// The bytes of messages that wait to be sent.
    pub unsent: AtomicUsize,
}

impl Counts {
    /// Takes the numbers of bytes that were sent and received since the last call.
    pub fn take_transferred(&self) -> (u64, u64) {
        (self.sent.swap(0, Ordering::AcqRel), self.received.swap(0, Ordering::AcqRel))
    }
}

/// What the thread of the sockets has of a socket.
pub(super) struct FarEnd {
    pub commands: mpsc::UnboundedReceiver<Command>,
    pub counts: Arc<Counts>,
    /// Has its end when the script's handle is dropped.
    pub gone: oneshot::Receiver<()>,
}

/// What a script does with its socket.
#[derive(Debug)]
pub(super) enum Command {
    /// Sends a message.
    Send { is_text: bool, payload: Vec<u8> },
    /// Sends a ping.
    Ping,
    /// Sends a close frame with this code and reason.
    Close(u16, String),
}

impl SocketHandle {
    /// Returns the handle of a new socket, and its far end.
    pub(super) fn new() -> (Self, FarEnd) {
        let (commands, of_thread) = mpsc::unbounded_channel();
        let (alive, gone) = oneshot::channel();
        let counts = Arc::new(Counts::default());
        let far = FarEnd { commands: of_thread, counts: counts.clone(), gone };
        (Self { commands, counts, _alive: alive }, far)
    }

    /// Sends a message.
    ///
    /// # Errors
    /// If the server does not read, and too much waits to be sent.
    pub fn send(&self, is_text: bool, payload: Vec<u8>) -> Result<(), TooMuch> {
        let length = payload.len();
        if let Err(error) = TooMuch::check(self.counts.unsent.fetch_add(length, Ordering::AcqRel), length) {
            self.counts.unsent.fetch_sub(length, Ordering::AcqRel);
            return Err(error);
        }
        let _ = self.commands.send(Command::Send { is_text, payload });
        Ok(())
    }

    /// Sends a ping, whose pong tells the time since.
    pub fn ping(&self) {
        let _ = self.commands.send(Command::Ping);
    }

    /// Sends a close frame. Nothing is sent after it.
    pub fn close(&self, code: u16, reason: &str) {
        let _ = self.commands.send(Command::Close(code, reason.to_owned()));
    }

    /// Returns the number of bytes of messages that wait to be sent.
    #[must_use]
    pub fn unsent(&self) -> usize {
        self.counts.unsent.load(Ordering::Acquire)
    }

    /// Takes the numbers of bytes that were sent and received since the last call.
    pub fn take_transferred(&self) -> (u64, u64) {
        self.counts.take_transferred()
    }
}
