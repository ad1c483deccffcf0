//! The sending of requests: they are written to the batch's buffer, one after another, and each connection's bytes go by one send.

use super::Engine;
use super::connection::{Sending, Stage};
use super::coordinator::Coordinator;
use super::unsent::keep;
use super::unsent_bytes::PIECES;
use crate::pace::pacer::Pacer;
use crate::protocol::Protocol;
use crate::request::SentContent;
use std::io::{self, IoSlice};
use std::os::fd::AsFd;
use torr_net::{Nanos, socket};

impl<P: Protocol, A: Pacer, C: Coordinator> Engine<'_, P, A, C> {
    /// Writes the requests that wait on a connection, or opens it for them.
    #[inline]
    pub(super) fn dispatch(&mut self, index: usize, lag_from: Option<Nanos>) {
        match (self.connections[index].stage(), lag_from) {
            (Some(Stage::Open), _) => self.write_requests(index, lag_from),
            (None, _) => self.connect(index, lag_from),
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
        let (mut start, mut requests) = (self.batch.out.len(), 0);
        while connection.unwritten > 0 && connection.protocol.has_room() {
            let key = if P::MULTIPLEXES { connection.cold.new_key() } else { 0 };
            let is_head = connection.protocol.start(&mut self.protocol, key, &mut self.source, &mut self.batch.out);
            if let Some(request) = connection.requests.nth_youngest(connection.unwritten.into()) {
                (request.key, request.is_head) = (key, is_head);
            }
            connection.unwritten -= 1;
            requests += 1;
            if self.has_shared_content
                && let Some(content) = self.source.take_content()
            {
                let to = (index as u32, connection.generation);
                self.batch.send_with_content(start, to, requests, lag_from, content);
                (start, requests) = (self.batch.out.len(), 0);
            }
        }
        if connection.unwritten > 0 && connection.is_open() {
            // From now on it is the server that delays them.
            connection.start_clocks_of_unwritten(|| self.clock.now());
        }
        if let Err(failure) = connection.protocol.flush(&mut self.protocol, &mut self.batch.out) {
            return self.fail_connection(index, failure);
        }
        self.batch.send_requests_from(start, (index as u32, connection.generation), requests, lag_from);
        if P::DATAGRAMS {
            self.arm_timer(index);
        }
    }

    /// Sends all that has been written.
    #[inline]
    pub(super) fn send_all(&mut self) {
        loop {
            while !self.batch.sends.is_empty() {
                self.send_batch();
            }
            self.batch.clear_out();
            match self.batch.with_more.pop() {
                Some((index, generation)) => self.send_more(index as usize, generation),
                None => return,
            }
        }
    }

    #[inline]
    fn send_batch(&mut self) {
        let mut sends = std::mem::take(&mut self.batch.sends);
        for send in sends.drain(..) {
            let index = send.connection as usize;
            let connection = &mut self.connections[index];
            let Some(socket) = connection.socket.as_ref().filter(|_| connection.generation == send.generation) else {
                continue;
            };
            if let Some(from) = send.lag_from {
                self.recorder.send_lag(from, self.clock.now());
            } else if send.requests > 0 {
                connection.requests.start_clocks_of_sent(usize::from(connection.unwritten), || self.clock.now());
            }
            match socket.sending {
                Sending::Free => {}
                Sending::Blocked => {
                    keep(connection, &self.batch, &send, 0);
                    continue;
                }
                Sending::Failed => continue,
            }
            let bytes = &self.batch.out[send.bytes.clone()];
            let sent = match self.batch.content(&send) {
                None => P::send(&mut self.protocol, socket, bytes),
                Some(content) => send_with(socket, bytes, content),
            };
            match sent {
                Ok(sent) if sent == bytes.len() && socket.registered && send.content == 0 => {
                    self.recorder.sample.sent += sent as u64;
                    if self.may_park {
                        connection.cold.transferred.sent += sent as u64;
                    }
                    if connection.protocol.has_more() {
                        self.batch.with_more.push((send.connection, send.generation));
                    }
                }
                Ok(sent) => self.sent_first_or_in_part(index, &send, sent),
                Err(error) => self.send_failed(index, &error),
            }
        }
        // A connection that was established meanwhile may have added more.
        sends.append(&mut self.batch.sends);
        self.batch.sends = sends;
    }
}

/// Sends bytes and the first pieces of content behind them, by one system call, and returns the number of bytes that the socket took.
#[cold]
fn send_with(socket: impl AsFd, bytes: &[u8], content: &SentContent) -> io::Result<usize> {
    let mut slices = [IoSlice::new(bytes); PIECES];
    let mut count = 1;
    for (slice, piece) in slices[1..].iter_mut().zip(content.pieces()) {
        *slice = IoSlice::new(piece);
        count += 1;
    }
    socket::send_all_of(socket, &slices[..count])
}
