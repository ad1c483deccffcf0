//! The end of connections, and of requests without a response.

use super::Engine;
use super::connection::{Sending, Stage};
use super::coordinator::Coordinator;
use super::in_flight::{InFlightRequest, RequestQueue};
use super::slots::{AfterWait, DeferredSlot};
use super::unsent_bytes::UnsentBytes;
use crate::failures;
use crate::pace::pacer::Pacer;
use crate::protocol::{Protocol, ProtocolEvent};
use torr_gauge::Failure;
use torr_net::{Nanos, backoff};

impl<P: Protocol, A: Pacer, C: Coordinator> Engine<'_, P, A, C> {
    /// Handles the end of the server's side.
    pub(super) fn server_closed(&mut self, index: usize, now: Nanos) {
        let connection = &mut self.connections[index];
        if !connection.is_open() {
            // The protocol's state may be that of the socket before.
            let failure = connection.cold.send_failure.take().unwrap_or_else(failures::closed_unready);
            return self.fail_connection(index, failure);
        }
        let written = connection.written();
        match connection.protocol.server_closed() {
            // Such a response says that its connection is not persistent.
            Ok(Some(ProtocolEvent::Response(response))) => self.complete(index, response, now),
            Ok(Some(ProtocolEvent::Failed(_, failure))) => self.fail_connection(index, failure),
            Ok(Some(ProtocolEvent::Unprocessed(key))) => {
                self.requeue(index, |requests| requests.take(key));
                self.close_for_server(index);
            }
            Ok(Some(ProtocolEvent::Switched)) => {}
            Ok(Some(ProtocolEvent::RedirectedElsewhere)) => {
                self.requeue(index, RequestQueue::take_oldest);
                self.close_for_server(index);
            }
            Ok(None) if written > 0 => {
                let failure = connection.cold.send_failure.take().unwrap_or_else(failures::closed_unanswered);
                let failure = self.closed_under_requests(index, failure);
                self.fail_connection(index, failure);
            }
            Ok(None) => {
                self.recorder.closed_idle(now.saturating_sub(connection.cold.established_at));
                self.close_for_server(index);
            }
            Err(failure) => self.fail_connection(index, failure),
        }
    }

    /// Closes a connection that the server wants to end. Requests that it has not processed go on another one.
    pub(super) fn close_for_server(&mut self, index: usize) {
        if !self.is_used_up(index) {
            self.recorder.sample.closed_by_server += 1;
        }
        self.close_and_go_on(index);
    }

    /// Closes a connection. Requests that have not been processed go on another one.
    pub(super) fn close_and_go_on(&mut self, index: usize) {
        self.close(index);
        if !self.connections[index].requests.is_empty() {
            self.connect(index, None);
        }
    }

    /// Closes a connection that may not carry more requests, after its last response.
    #[inline]
    pub(super) fn close_if_used_up(&mut self, index: usize) {
        if self.is_used_up(index) && self.connections[index].requests.is_empty() {
            self.close(index);
        }
    }

    /// Defers the available slot of a connection that cannot take a request now. Returns whether that is the case.
    #[inline]
    pub(super) fn defer_slot(&mut self, index: usize, now: Nanos) -> bool {
        if self.requests_per_connection.is_some() && self.is_used_up(index) {
            // It waits for the connection's end.
            self.connections[index].cold.parked_slots += 1;
            return true;
        }
        let connection = &self.connections[index];
        connection.failures > 0 && connection.socket.is_none() && self.defer_by_back_off(index, now)
    }

    #[cold]
    fn defer_by_back_off(&mut self, index: usize, now: Nanos) -> bool {
        let until = self.connections[index].cold.back_off_until;
        if until > now {
            self.slots.defer(DeferredSlot { until, connection: index as u32, then: AfterWait::Available });
        }
        until > now
    }

    fn is_used_up(&self, index: usize) -> bool {
        let connection = &self.connections[index];
        let begun = match &connection.socket {
            // The requests that wait for the next socket.
            None => connection.requests.len() as u64,
            Some(_) => connection.cold.begun,
        };
        self.requests_per_connection.is_some_and(|max| begun >= max)
    }

    /// Closes a connection that has failed, and fails its requests. It is opened again after a back-off.
    #[cold]
    pub(super) fn fail_connection(&mut self, index: usize, failure: Failure) {
        let was_opening = !self.connections[index].is_open() && !self.connector.has_connected;
        self.close(index);
        let connection = &mut self.connections[index];
        connection.protocol.discard_in_flight();
        let mut goes_on = false;
        if !connection.requests.is_empty() {
            connection.unwritten = 0;
            let until = self.back_off(index);
            self.connections[index].cold.back_off_until = until;
            while let Some(request) = self.connections[index].requests.take_oldest() {
                goes_on |= self.fail_and_defer(index, &request, failure.clone(), until);
            }
        }
        // A user that tries again may wait for a server that is not there yet.
        if was_opening && !goes_on {
            self.coordinator.connect_failed(self.destination_of(index), &failure);
        }
    }

    /// Records a failed request, and defers its slot. Returns whether its user sends it again.
    fn fail_and_defer(&mut self, index: usize, request: &InFlightRequest, failure: Failure, until: Nanos) -> bool {
        let then = self.record_failure(index, request, failure);
        if let Some(then) = then {
            let connection = self.user_of(index) as u32;
            let until = if then == AfterWait::NextStepAtOnce { 0 } else { until };
            self.slots.defer(DeferredSlot { until, connection, then });
        }
        matches!(then, Some(AfterWait::NextStep | AfterWait::NextStepAtOnce))
    }

    /// Fails the request of this key alone.
    #[cold]
    pub(super) fn fail_request(&mut self, index: usize, key: u32, failure: Failure) {
        let age = self.connections[index].requests.iter().position(|request| request.key == key);
        if let Some(age) = age {
            self.fail_request_at(index, age, failure);
        }
    }

    /// Fails the request at position `age`, counted from the oldest, alone.
    pub(super) fn fail_request_at(&mut self, index: usize, age: usize, failure: Failure) {
        let Some(request) = self.connections[index].requests.remove(age) else { return };
        let until = self.back_off(index);
        self.fail_and_defer(index, &request, failure, until);
        if self.requests_per_connection.is_some() {
            self.close_if_used_up(index);
        }
    }

    /// Records a failed request. Returns what is to become of its slot, if anything.
    fn record_failure(&mut self, index: usize, request: &InFlightRequest, failure: Failure) -> Option<AfterWait> {
        let now = self.clock.now();
        self.slots.in_flight -= 1;
        let then = self.fail_session(index, request, &failure, now);
        self.recorder.failure(request, failure, now);
        then
    }

    /// Puts a request, which `take` takes from those in flight, back among those to be written.
    #[cold]
    pub(super) fn requeue(&mut self, index: usize, take: impl FnOnce(&mut RequestQueue) -> Option<InFlightRequest>) {
        let connection = &mut self.connections[index];
        if let Some(request) = take(&mut connection.requests) {
            connection.requests.insert(connection.unwritten.into(), request);
            connection.unwritten += 1;
        }
    }

    /// Closes a connection. Its requests, if it has any, wait for the next socket.
    pub(super) fn close(&mut self, index: usize) {
        if P::HAS_LAST_BYTES {
            self.send_close(index);
        }
        let has_tunnel = self.servers.tunnel(self.destination_of(index)).is_some();
        let connection = &mut self.connections[index];
        let Some(socket) = connection.take_socket(&mut self.connector.opening) else { return };
        connection.generation = connection.generation.wrapping_add(1);
        if socket.stage != Stage::Connecting {
            self.recorder.closed();
        }
        connection.unwritten = connection.requests.len() as u16;
        if P::DATAGRAMS {
            connection.cold.timer = None;
            connection.protocol.settle(&mut self.protocol, &socket);
        }
        if socket.sending != Sending::Free {
            (connection.cold.unsent, connection.cold.send_failure) = (UnsentBytes::default(), None);
        }
        if has_tunnel {
            connection.cold.tunnel.reset();
        }
        if self.requests_per_connection.is_some() {
            let parked = std::mem::take(&mut connection.cold.parked_slots);
            let user = self.user_of(index);
            (0..parked).for_each(|_| self.slots.release(user as u32));
        }
    }

    /// Sends the last bytes of the protocol on a connection that is about to be closed.
    #[cold]
    fn send_close(&mut self, index: usize) {
        if self.connections[index].is_open() {
            let start = self.batch.out.len();
            self.connections[index].protocol.close(&mut self.protocol, &mut self.batch.out);
            self.send_last_bytes(index, start);
            self.batch.out.truncate(start);
        }
    }

    /// Closes the connections without requests.
    pub(super) fn close_idle(&mut self) {
        for n in 0..self.slots.open_connections().len() {
            let user = self.slots.open_connections()[n] as usize;
            for index in (user..self.connections.len()).step_by(self.slots.connections) {
                if self.connections[index].requests.is_empty() {
                    self.close(index);
                }
            }
        }
    }

    /// Counts a failure in a row, and returns when the slot may be used again.
    fn back_off(&mut self, index: usize) -> Nanos {
        let connection = &mut self.connections[index];
        let wait = backoff::delay_after(connection.failures.into());
        connection.failures = connection.failures.saturating_add(1);
        self.clock.now() + wait
    }
}
