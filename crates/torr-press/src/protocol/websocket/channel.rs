//! A WebSocket connection of a plan's requests: its opening handshake, and its messages.

use super::messages::{Messages, Received};
use super::opening::Opening;
use super::thread::WebSocketThread;
use crate::request::{Cursor, WebSocketRequests};
use std::cell::RefCell;
use std::rc::Rc;
use torr_gauge::Failure;

/// One connection, from its opening handshake to its close.
#[derive(Debug)]
pub(super) struct Channel<'p> {
    pub requests: &'p WebSocketRequests,
    /// The requests of all opening handshakes of the thread.
    handshakes: Rc<RefCell<Cursor<'p>>>,
    /// The opening handshake, until it is complete.
    opening: Option<Box<Opening>>,
    pub messages: Messages,
}

impl<'p> Channel<'p> {
    /// Returns a connection that is opened by a request of `handshakes`.
    pub fn new(requests: &'p WebSocketRequests, handshakes: Rc<RefCell<Cursor<'p>>>) -> Self {
        Self { requests, handshakes, opening: None, messages: Messages::default() }
    }

    /// Begins the opening handshake of a new connection.
    pub fn open(&mut self, out: &mut Vec<u8>) {
        self.messages.reset();
        self.opening = Some(Box::new(Opening::begin(&mut self.handshakes.borrow_mut(), out)));
    }

    #[inline]
    pub fn is_handshaking(&self) -> bool {
        self.opening.is_some()
    }

    /// Whether a message is incomplete.
    #[inline]
    pub fn is_mid_message(&self) -> bool {
        self.opening.is_none() && self.messages.is_mid_message()
    }

    /// Does what [`Messages::receive`] does, after the opening handshake.
    ///
    /// # Errors
    /// If the bytes violate the protocol.
    #[inline]
    pub fn receive(
        &mut self,
        thread: &mut WebSocketThread,
        input: &[u8],
        out: &mut Vec<u8>,
        piece: impl FnMut(&[u8]),
    ) -> Result<(usize, Received), Failure> {
        let mut read = 0;
        if let Some(opening) = &mut self.opening {
            let Some((used, agreement)) = opening.read(input, self.requests)? else {
                return Ok((input.len(), Received::All));
            };
            (self.opening, read) = (None, used);
            self.messages.begin(agreement);
            if self.requests.deflate.is_some() {
                *thread.tally.compressed.get_or_insert(0) += u64::from(self.messages.are_compressed());
            }
        }
        let (used, received) = self.messages.receive(thread, &input[read..], out, piece)?;
        Ok((read + used, received))
    }

    /// Appends the next message of a source in one frame.
    #[inline]
    pub fn write_message(
        &mut self,
        thread: &mut WebSocketThread,
        out: &mut Vec<u8>,
        write: impl FnOnce(&mut Vec<u8>, usize),
    ) {
        self.messages.write(thread, self.requests.kind, out, write);
    }
}
