//! Bytes that the kernel does not take at once: their connection is not established, or its buffer is full.

use super::Engine;
use super::batch::{Batch, Send};
use super::connection::{Connection, Sending, Stage, current};
use super::coordinator::Coordinator;
use super::unsent_bytes::UnsentBytes;
use crate::failures;
use crate::pace::pacer::Pacer;
use crate::protocol::Protocol;
use crate::request::SentContent;
use std::io;
use torr_gauge::{Failure, FailureKind};
use torr_net::{Interest, Token, socket};

/// The number of pieces that a protocol writes before other connections get their turn.
const PIECES_PER_TURN: usize = 8;

impl<P: Protocol, A: Pacer, C: Coordinator> Engine<'_, P, A, C> {
    /// Handles a socket that has become writable: its connect has completed, or its buffer has room again.
    #[inline]
    pub(super) fn writable(&mut self, token: Token) {
        let Some(connection) = current(&mut self.connections, token) else { return };
        if connection.stage() == Some(Stage::Connecting) {
            self.finish_connect(token.index());
        } else if connection.has_unsent() {
            self.send_unsent(token.index());
        } else if connection.protocol.has_more() {
            self.batch.with_more.push((token.index() as u32, token.generation()));
        }
    }

    /// Handles a send that was the first on its connection, or of which the kernel took a part only.
    pub(super) fn sent_first_or_in_part(&mut self, index: usize, send: &Send, sent: usize) {
        if self.connections[index].stage() == Some(Stage::Connecting) {
            if sent == 0 {
                return self.keep_until_connected(index, send);
            }
            self.established(index);
            if self.connections[index].is_open() && self.connections[index].unwritten > 0 {
                self.write_requests(index, None);
            }
        }
        self.recorder.sample.sent += sent as u64;
        let connection = &mut self.connections[index];
        connection.cold.transferred.sent += sent as u64;
        if connection.generation != send.generation {
            return;
        }
        keep(connection, &self.batch, send, sent);
        connection.note_unsent();
        if connection.has_unsent() {
            self.register(index, Interest::ReadWrite);
        } else {
            if connection.protocol.has_more() {
                self.batch.with_more.push((send.connection, send.generation));
            }
            if connection.socket.as_ref().is_some_and(|socket| !socket.registered) {
                self.register(index, Interest::Read);
            }
        }
    }

    fn keep_until_connected(&mut self, index: usize, send: &Send) {
        let connection = &mut self.connections[index];
        let is_setup = !connection.cold.was_connected && !self.plan.is_scheduled() && self.plan.keep_alive;
        connection.requests.iter_mut().for_each(|request| request.clock_pending = is_setup);
        keep(connection, &self.batch, send, 0);
        connection.note_unsent();
        self.register(index, Interest::ReadWrite);
    }

    /// Sends the bytes that did not fit the socket's buffer.
    #[cold]
    pub(super) fn send_unsent(&mut self, index: usize) {
        let connection = &mut self.connections[index];
        let Some(socket) = connection.socket.as_ref().filter(|socket| socket.sending == Sending::Blocked) else {
            return;
        };
        connection.requests.start_clocks_of_sent(usize::from(connection.unwritten), || self.clock.now());
        let sent = match P::DATAGRAMS {
            true => connection.cold.unsent.send_by(|bytes| P::send(&mut self.protocol, socket, bytes)),
            false => connection.cold.unsent.send(socket),
        };
        match sent {
            Ok(sent) => {
                self.recorder.sample.sent += sent as u64;
                connection.cold.transferred.sent += sent as u64;
                connection.note_unsent();
                if !connection.has_unsent() && connection.protocol.has_more() {
                    self.batch.with_more.push((index as u32, connection.generation));
                }
                if P::DATAGRAMS && !self.connections[index].has_unsent() {
                    // A level-triggered poller would report a writable socket for ever.
                    self.register(index, Interest::Read);
                }
            }
            Err(error) => self.send_failed(index, &error),
        }
    }

    /// Lets the protocol of a connection write what it left for later, as long as the socket takes it.
    #[cold]
    pub(super) fn send_more(&mut self, index: usize, generation: u32) {
        for _ in 0..PIECES_PER_TURN {
            let connection = &mut self.connections[index];
            if connection.generation != generation || connection.has_unsent() || !connection.protocol.has_more() {
                break;
            }
            let Some(socket) = &connection.socket else { break };
            let start = self.batch.out.len();
            if let Err(failure) = connection.protocol.write_more(&mut self.protocol, &mut self.batch.out) {
                self.batch.out.truncate(start);
                return self.fail_connection(index, failure);
            }
            let sent = socket::send(socket, &self.batch.out[start..]);
            if let Ok(sent) = sent {
                self.recorder.sample.sent += sent as u64;
                connection.cold.transferred.sent += sent as u64;
                connection.cold.unsent.copy(&self.batch.out[start + sent..]);
                connection.note_unsent();
            }
            self.batch.out.truncate(start);
            if let Err(error) = sent {
                return self.send_failed(index, &error);
            }
        }
        let connection = &self.connections[index];
        if connection.generation != generation {
            return;
        }
        if connection.has_unsent() {
            self.register(index, Interest::ReadWrite);
        } else if connection.protocol.has_more() {
            self.readiness.add_writable_turn(Token::new(index as u32, generation));
        } else if connection.unwritten > 0 && connection.is_open() {
            self.write_requests(index, None);
        }
    }

    /// Handles a send that has failed. A server that closes a connection may have responded before, such as with status 413 to
    /// content that it does not read. So what it has sent is read first.
    #[cold]
    pub(super) fn send_failed(&mut self, index: usize, error: &io::Error) {
        if P::DATAGRAMS {
            return self.datagrams_refused(index, error);
        }
        let connection = &mut self.connections[index];
        let Some(socket) = &mut connection.socket else { return };
        if socket.stage == Stage::Connecting {
            return self.fail_connection(index, failures::connect(error));
        }
        socket.sending = Sending::Failed;
        connection.cold.unsent = UnsentBytes::default();
        connection.cold.send_failure = Some(failures::transfer(FailureKind::Write, error));
        self.readiness.add_turn(Token::new(index as u32, connection.generation), true);
    }

    /// Handles a receive that has failed, or found nothing after a send had failed.
    #[cold]
    pub(super) fn receive_failed(&mut self, index: usize, failure: impl FnOnce() -> Failure) {
        let sending = self.connections[index].cold.send_failure.take();
        let failure = self.closed_under_requests(index, sending.unwrap_or_else(failure));
        self.fail_connection(index, failure);
    }

    /// Sends the bytes from `start` on as the last of a connection that is about to be closed, if it takes them.
    #[cold]
    pub(super) fn send_last_bytes(&mut self, index: usize, start: usize) {
        let connection = &self.connections[index];
        let has_bytes = self.batch.out.len() > start;
        if let Some(socket) = connection.socket.as_ref().filter(|socket| socket.sending == Sending::Free && has_bytes) {
            let _ = P::send(&mut self.protocol, socket, &self.batch.out[start..]);
        }
    }
}

/// Keeps what a socket has not taken of a send.
pub(super) fn keep<P>(connection: &mut Connection<P>, batch: &Batch, send: &Send, sent: usize) {
    let bytes = &batch.out[send.bytes.clone()];
    connection.cold.unsent.copy(&bytes[sent.min(bytes.len())..]);
    let mut sent = sent.saturating_sub(bytes.len());
    for piece in batch.content(send).into_iter().flat_map(SentContent::pieces) {
        let of_piece = sent.min(piece.len());
        sent -= of_piece;
        if of_piece < piece.len() {
            connection.cold.unsent.share(piece.slice(of_piece..));
        }
    }
}
