//! Bytes that the kernel does not take at once: their connection is not established, or its buffer is full.

use super::Engine;
use super::connection::{ConnectionState, current};
use crate::coordinator::Coordinator;
use crate::failures;
use crate::pacer::Pacer;
use crate::protocol::Protocol;
use std::ops::Range;
use torr_gauge::FailureKind;
use torr_net::{Interest, Token, socket};

impl<P: Protocol, A: Pacer, C: Coordinator> Engine<'_, P, A, C> {
    /// Handles a socket that has become writable: its connect has completed, or its buffer has room again.
    #[inline]
    pub(super) fn writable(&mut self, token: Token) {
        let Some(connection) = current(&mut self.connections, token) else { return };
        if connection.state == ConnectionState::Connecting {
            self.finish_connect(token.index());
        } else if connection.has_unsent {
            self.send_unsent(token.index());
        }
    }

    /// Handles a send that was the first on its connection, or of which the kernel took a part only.
    pub(super) fn sent_first_or_in_part(&mut self, index: usize, bytes: Range<usize>, sent: usize) {
        if self.connections[index].state == ConnectionState::Connecting {
            if sent == 0 {
                return self.keep_until_connected(index, bytes);
            }
            self.established(index);
            if self.connections[index].state == ConnectionState::Open && self.connections[index].unwritten > 0 {
                self.write_requests(index, None);
            }
        }
        self.recorder.sample.sent += sent as u64;
        let connection = &mut self.connections[index];
        connection.has_unsent = sent < bytes.len();
        connection.cold.unsent.extend_from_slice(&self.batch.out[bytes.start + sent..bytes.end]);
        if connection.has_unsent {
            self.register(index, Interest::ReadWrite);
        } else if !connection.registered {
            self.register(index, Interest::Read);
        }
    }

    fn keep_until_connected(&mut self, index: usize, bytes: Range<usize>) {
        let connection = &mut self.connections[index];
        let is_setup = !connection.cold.was_connected && !self.plan.is_scheduled() && self.plan.keep_alive;
        connection.requests.iter_mut().for_each(|request| request.clock_pending = is_setup);
        connection.has_unsent = true;
        connection.cold.unsent.extend_from_slice(&self.batch.out[bytes]);
        self.register(index, Interest::ReadWrite);
    }

    /// Sends the bytes that did not fit the socket's buffer.
    #[cold]
    pub(super) fn send_unsent(&mut self, index: usize) {
        let connection = &mut self.connections[index];
        let Some(socket) = &connection.socket else { return };
        connection.requests.start_clocks_of_sent(usize::from(connection.unwritten), || self.clock.now());
        match socket::send(socket, &connection.cold.unsent[connection.cold.sent..]) {
            Ok(sent) => {
                self.recorder.sample.sent += sent as u64;
                connection.cold.sent += sent;
                connection.has_unsent = connection.cold.sent < connection.cold.unsent.len();
                if !connection.has_unsent {
                    (connection.cold.unsent, connection.cold.sent) = (Vec::new(), 0);
                }
            }
            Err(error) => self.fail_connection(index, failures::transfer(FailureKind::Write, &error)),
        }
    }

    /// Sends the bytes from `start` on as the last of a connection that is about to be closed, if it takes them.
    #[cold]
    pub(super) fn send_last_bytes(&mut self, index: usize, start: usize) {
        let connection = &self.connections[index];
        let has_bytes = self.batch.out.len() > start;
        if let Some(socket) = connection.socket.as_ref().filter(|_| !connection.has_unsent && has_bytes) {
            let _ = socket::send(socket, &self.batch.out[start..]);
        }
    }
}
