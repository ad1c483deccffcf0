//! The results of tasks and other threads for connections: responses, parts of bodies, room for content.

use super::connection::State;
use super::task::AbortOnDrop;
use super::{Engine, Output};
use crate::callbacks;
use crate::conn::http1::LongBody;
use crate::conn::transport::Transport;
use crate::message::response::Response;
use crate::message::stream::Stream;
use torr_net::{Token, clock};

impl<T: Transport> Engine<T> {
    /// Takes the responses of handlers that were waited for.
    pub fn complete(&mut self, responses: impl IntoIterator<Item = (Token, Response)>) {
        self.now = clock::coarse();
        self.cx.common_headers.refresh();
        for (token, response) in responses {
            let connection = self.connections.get_mut(token).filter(|connection| connection.state.is_handling());
            let Some(connection) = connection else {
                callbacks::dispose("a response", response);
                continue;
            };
            let State::Handling { pending, arrived, .. } = connection.enter(State::Reading, self.now) else { continue };
            self.cx.worker.meter.took(clock::exact().saturating_sub(arrived), 1);
            let start = self.buffers.out.len();
            let handled = connection.respond(response, pending, &self.cx, &mut self.buffers);
            self.outputs.push(Output { token, bytes: start..self.buffers.out.len(), handled });
        }
        self.cx.worker.meter.take_responses();
        self.send();
        self.cx.worker.meter.busy_until(clock::exact());
    }

    /// Takes a body of which the next part, or the end, has come.
    pub fn resume(&mut self, token: Token, stream: Box<Stream>) {
        self.now = clock::coarse();
        let Some(connection) = self.connections.get_mut(token) else { return };
        let State::Producing { then, .. } = connection.state else { return };
        connection.since = self.now;
        self.write(token, Some(LongBody::Stream(stream)), then);
    }

    /// Keeps the task that does a connection's work: it ends with the connection.
    pub fn hold(&mut self, token: Token, running: AbortOnDrop) {
        if let Some(connection) = self.connections.get_mut(token)
            && let State::Handling { task, .. } | State::Producing { task, .. } = &mut connection.state
        {
            *task = Some(running);
        }
    }

    /// Handles the wake-ups of connections: their handlers have taken content, or ask for it, or want no more of it.
    pub(super) fn take_wakeups(&mut self) {
        for token in self.cx.worker.wakeups.take() {
            let Some(connection) = self.connections.get_mut(token) else { continue };
            let start = self.buffers.out.len();
            // As long as there was no room, the client could not send: its time begins now.
            if !matches!(connection.state, State::Writing { .. } | State::Lingering { .. }) {
                connection.since = self.now;
            }
            let handled = connection.invite(&mut self.buffers);
            if connection.unread && !connection.http.has_backpressure() {
                self.again.push(token);
            }
            self.outputs.push(Output { token, bytes: start..self.buffers.out.len(), handled });
        }
        self.send();
    }
}
