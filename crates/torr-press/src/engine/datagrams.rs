//! Protocols over datagrams: what their timers go off for, and what they send without a request, such as acknowledgements.

use super::Engine;
use super::connection::current;
use super::coordinator::Coordinator;
use crate::failures;
use crate::pace::pacer::Pacer;
use crate::protocol::Protocol;
use std::io;
use torr_net::{Event, Nanos, Token};

impl<P: Protocol, A: Pacer, C: Coordinator> Engine<'_, P, A, C> {
    /// Sets the timer of a connection, unless an earlier one is set.
    pub(super) fn arm_timer(&mut self, index: usize) {
        let connection = &mut self.connections[index];
        if connection.socket.is_none() {
            return;
        }
        let Some(at) = connection.protocol.next_timeout().map(|at| self.clock.time_of(at)) else { return };
        if connection.cold.timer.is_none_or(|set| at < set) {
            connection.cold.timer = Some(at);
            self.timers.set(at, Token::new(index as u32, connection.generation));
        }
    }

    /// Lets connections do what their timers have gone off for.
    #[inline]
    pub(super) fn run_timers(&mut self, now: Nanos) {
        if self.timers.next_time() > now {
            return;
        }
        // A timer that is set meanwhile is for the next turn, even if it is due at once.
        let mut due = Vec::new();
        while let Some(timer) = self.timers.take_due(now) {
            due.push(timer);
        }
        for (at, token) in due {
            let index = token.index();
            let Some(connection) = current(&mut self.connections, token) else { continue };
            if connection.cold.timer.take_if(|set| *set == at).is_none() {
                continue;
            }
            let is_due = connection.protocol.next_timeout().is_some_and(|at| self.clock.time_of(at) <= now);
            if is_due {
                connection.protocol.time_out();
                self.read(index, &mut [], now);
                self.flush_connection(index);
            } else {
                self.arm_timer(index);
            }
        }
        self.send_all();
    }

    /// Sends what connections that have received datagrams are to send beside requests.
    pub(super) fn flush_batch(&mut self, batch: &[Event]) {
        for &Event { token, readable, .. } in batch {
            if readable && current(&mut self.connections, token).is_some() {
                self.flush_connection(token.index());
            }
        }
        self.send_all();
    }

    fn flush_connection(&mut self, index: usize) {
        let start = self.batch.out.len();
        let connection = &mut self.connections[index];
        if connection.socket.is_none() {
            return;
        }
        if let Err(failure) = connection.protocol.flush(&mut self.protocol, &mut self.batch.out) {
            return self.fail_connection(index, failure);
        }
        self.batch.send_from(start, index, connection.generation);
        self.arm_timer(index);
    }

    /// Adds what all connections have counted so far to the sample.
    pub(super) fn settle_all(&mut self) {
        for connection in &mut self.connections {
            if let Some(socket) = &connection.socket {
                connection.protocol.settle(&mut self.protocol, socket);
            }
        }
        P::add_tally(&mut self.protocol, &mut self.recorder.sample);
    }

    /// Handles an error of a socket of datagrams: it is about those that were sent before.
    #[cold]
    pub(super) fn datagrams_refused(&mut self, index: usize, error: &io::Error) {
        let failure = match self.connections[index].is_open() {
            true => failures::datagrams(error),
            false => failures::connect(error),
        };
        self.fail_connection(index, failure);
    }
}
