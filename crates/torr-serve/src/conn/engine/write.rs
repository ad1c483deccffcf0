//! Responses that could not be sent at once, long bodies, and what follows the last byte.

use super::Engine;
use super::connection::State;
use super::task::{Task, Work};
use crate::conn::http1::LongBody;
use crate::conn::next::Next;
use crate::conn::transport::Transport;
use std::task::Poll;
use torr_net::{Interest, Token, socket};

/// The number of parts of a long body, and of bytes, that are sent before other connections have their turn.
const PARTS: usize = 16;
const BYTES: usize = 1024 * 1024;

impl<T: Transport> Engine<T> {
    /// Sends what is unsent, then `body`, and then takes the next step.
    pub(super) fn write(&mut self, token: Token, body: Option<LongBody>, then: Next) {
        if let Some(connection) = self.connections.get_mut(token) {
            connection.state = State::Writing { body, then };
            self.write_more(token);
        }
    }

    /// Continues where the socket has room again.
    #[inline]
    pub(super) fn continue_writing(&mut self, token: Token) {
        let Some(connection) = self.connections.get_mut(token) else { return };
        match connection.state {
            State::Writing { .. } => self.write_more(token),
            State::Handling { .. } if !connection.unsent.is_empty() => {
                if let Ok(sent) = socket::send(&connection.socket, &connection.unsent) {
                    self.counts.sent += sent as u64;
                    connection.unsent.drain(..sent);
                }
            }
            _ => {}
        }
    }

    /// Sends as much as the client takes now, but not so much that others wait.
    fn write_more(&mut self, token: Token) {
        let pause = self.look_pause();
        let (mut parts, mut bytes) = (PARTS, BYTES);
        while parts > 0 && bytes > 0 {
            parts -= 1;
            let Some(connection) = self.connections.get_mut(token) else { return };
            match connection.send_next(&mut self.buffers.plain) {
                Poll::Ready(Ok(None)) => return self.end_writing(token),
                Poll::Ready(Ok(Some(0))) => {
                    // What was taken before does not count as taken later.
                    connection.look(self.now, pause);
                    return self.watch(token, Interest::ReadWrite);
                }
                Poll::Ready(Ok(Some(sent))) => {
                    bytes = bytes.saturating_sub(sent);
                    self.counts.sent += sent as u64;
                    connection.since = self.now;
                }
                Poll::Pending => return self.wait_for_body(token),
                // The client is gone, or the handler gave less than it announced.
                Poll::Ready(Err(_)) => return drop(self.connections.remove(token)),
            }
        }
        self.watch(token, Interest::ReadWrite);
        self.again.push(token);
    }

    /// Leaves a body that has nothing at hand to a task.
    fn wait_for_body(&mut self, token: Token) {
        let Some(connection) = self.connections.get_mut(token) else { return };
        if connection.ended && !connection.http.has_upload_room() {
            self.connections.remove(token);
            return;
        }
        let is_endless = connection.state.is_endless();
        let State::Writing { body: Some(LongBody::Stream(stream)), then } =
            std::mem::replace(&mut connection.state, State::Reading)
        else {
            return;
        };
        connection.enter(State::Producing { is_endless, then, task: None }, self.now);
        connection.unsent = Vec::new();
        self.tasks.push(Task { token, work: Work::Body(stream) });
        // An event tells if the client goes.
        self.watch(token, Interest::Read);
    }

    /// Does what follows once everything is sent.
    fn end_writing(&mut self, token: Token) {
        let Some(connection) = self.connections.get_mut(token) else { return };
        let State::Writing { then, .. } = std::mem::replace(&mut connection.state, State::Reading) else { return };
        connection.unsent = Vec::new();
        connection.http.end_body();
        match then {
            Next::Receive | Next::Continue => {
                // Requests may have arrived meanwhile, here or in the kernel.
                if connection.unread || connection.http.has_backlog() || connection.transport.has_ended() {
                    self.again.push(token);
                }
                self.watch(token, Interest::Read);
            }
            Next::Close => {
                connection.end_transport();
                self.connections.remove(token);
            }
            Next::Drop => drop(self.connections.remove(token)),
            Next::Linger => self.linger(token),
            Next::HandOver(protocol) => self.hand_over(token, protocol),
        }
    }

    /// Ends the sending side after the last response, and discards what the client still sends.
    fn linger(&mut self, token: Token) {
        let Some(connection) = self.connections.get_mut(token) else { return };
        connection.end_transport();
        socket::end_sending(&connection.socket);
        connection.enter(State::Lingering { began: self.now }, self.now);
        self.again.push(token);
        self.watch(token, Interest::Read);
    }
}
