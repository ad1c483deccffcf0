//! The sending of requests: they are written to the batch's buffer, one after another, and each connection's bytes go by one send.

use super::Engine;
use super::batch::Send;
use super::connection::ConnectionState;
use crate::coordinator::Coordinator;
use crate::failures;
use crate::pacer::Pacer;
use crate::protocol::Protocol;
use torr_gauge::FailureKind;
use torr_net::{Nanos, socket};

impl<P: Protocol, A: Pacer, C: Coordinator> Engine<'_, P, A, C> {
    /// Writes the requests that wait on a connection, or opens it for them.
    #[inline]
    pub(super) fn dispatch(&mut self, index: usize, lag_from: Option<Nanos>) {
        match (self.connections[index].state, lag_from) {
            (ConnectionState::Open, _) => self.write_requests(index, lag_from),
            (ConnectionState::Closed, _) => self.connect(index, lag_from),
            // The request waits for the connection, which is no send lag.
            (_, Some(from)) => self.recorder.send_lag(from, self.clock.now()),
            (_, None) => {}
        }
    }

    /// Writes as many of the requests that wait on a connection as its protocol has room for.
    #[inline]
    pub(super) fn write_requests(&mut self, index: usize, lag_from: Option<Nanos>) {
        self.source.turn_to(self.user_of(index));
        let connection = &mut self.connections[index];
        let (start, mut requests) = (self.batch.out.len(), 0);
        while connection.unwritten > 0 && connection.protocol.has_room() {
            let key = if P::MULTIPLEXES { connection.cold.new_key() } else { 0 };
            let is_head = connection.protocol.start(&mut self.protocol, key, &mut self.source, &mut self.batch.out);
            if let Some(request) = connection.requests.nth_youngest(connection.unwritten.into()) {
                (request.key, request.is_head) = (key, is_head);
            }
            connection.unwritten -= 1;
            requests += 1;
        }
        if connection.unwritten > 0 && connection.state == ConnectionState::Open {
            // From now on it is the server that delays them.
            connection.start_clocks_of_unwritten(|| self.clock.now());
        }
        if let Err(failure) = connection.protocol.flush(&mut self.protocol, &mut self.batch.out) {
            return self.fail_connection(index, failure);
        }
        self.batch.send_requests_from(start, (index as u32, connection.generation), requests, lag_from);
    }

    /// Sends all that has been written.
    #[inline]
    pub(super) fn send_all(&mut self) {
        while !self.batch.sends.is_empty() {
            self.send_batch();
        }
        self.batch.clear_out();
    }

    #[inline]
    fn send_batch(&mut self) {
        let mut sends = std::mem::take(&mut self.batch.sends);
        for Send { connection: index, generation, bytes, requests, lag_from } in sends.drain(..) {
            let index = index as usize;
            let connection = &mut self.connections[index];
            let Some(socket) = connection.socket.as_ref().filter(|_| connection.generation == generation) else {
                continue;
            };
            if let Some(from) = lag_from {
                self.recorder.send_lag(from, self.clock.now());
            } else if requests > 0 {
                connection.requests.start_clocks_of_sent(usize::from(connection.unwritten), || self.clock.now());
            }
            if connection.has_unsent {
                connection.cold.unsent.extend_from_slice(&self.batch.out[bytes]);
                continue;
            }
            match socket::send(socket, &self.batch.out[bytes.clone()]) {
                Ok(sent) if sent == bytes.len() && connection.registered => self.recorder.sample.sent += sent as u64,
                Ok(sent) => self.sent_first_or_in_part(index, bytes, sent),
                Err(error) if connection.state == ConnectionState::Connecting => {
                    self.fail_connection(index, failures::connect(&error));
                }
                Err(error) => self.fail_connection(index, failures::transfer(FailureKind::Write, &error)),
            }
        }
        // A connection that was established meanwhile may have added more.
        sends.append(&mut self.batch.sends);
        self.batch.sends = sends;
    }
}
