//! Responses: what a connection has received goes to its protocol, and complete responses are recorded.

use super::Engine;
use super::connection::Connection;
use super::coordinator::Coordinator;
use super::in_flight::{InFlightRequest, RequestQueue};
use super::slots::{AfterWait, DeferredSlot};
use crate::pace::pacer::Pacer;
use crate::protocol::{InFlight, Protocol, ProtocolEvent, ReceivedResponse};
use crate::response::failed::FailedResponseBuffer;
use crate::work::source::Source;
use torr_net::Nanos;

impl<P: Protocol, A: Pacer, C: Coordinator> Engine<'_, P, A, C> {
    /// Reads the bytes received on a connection.
    #[inline]
    pub(super) fn read(&mut self, index: usize, mut input: &mut [u8], now: Nanos) {
        let generation = self.connections[index].generation;
        loop {
            let connection = &mut self.connections[index];
            let oldest_is_head = connection.requests.oldest().is_some_and(|request| request.is_head);
            let count = connection.written();
            let failed_response =
                if self.recorder.keeps_failed_response { Some(&mut connection.cold.failed_response) } else { None };
            let in_flight = InFlight { count, oldest_is_head, failed_response };
            let start = self.batch.out.len();
            let event = connection.protocol.receive(&mut self.protocol, input, now, in_flight, &mut self.batch.out);
            self.batch.send_from(start, index, generation);
            if P::DATAGRAMS
                && let Some(secured) = self.connections[index].protocol.late_handshake()
            {
                self.secured(index, secured, now);
            }
            let mut then = None;
            if P::STREAMS {
                if P::HAS_HANDSHAKES {
                    self.begin_stream(index, now);
                }
                then = self.record_events(index, now);
            }
            match event {
                Ok((used, Some(event))) => {
                    input = &mut input[used..];
                    match event {
                        ProtocolEvent::Response(response) => self.complete(index, response, now),
                        ProtocolEvent::Switched => self.switched(index, now),
                        ProtocolEvent::Failed(key, failure) => self.fail_request(index, key, failure),
                        ProtocolEvent::Unprocessed(key) => self.requeue(index, |requests| requests.take(key)),
                        ProtocolEvent::RedirectedElsewhere => self.requeue(index, RequestQueue::take_oldest),
                    }
                    if self.connections[index].generation != generation {
                        return;
                    }
                    if !P::BUFFERS_EVENTS && input.is_empty() {
                        break;
                    }
                }
                Ok((_, None)) => {
                    if let Some(then) = then {
                        self.go_on_after_events(index, then, now);
                        if self.connections[index].generation != generation {
                            return;
                        }
                    }
                    break;
                }
                Err(failure) => {
                    self.send_last_bytes(index, start);
                    return self.fail_connection(index, failure);
                }
            }
        }
        if self.connections[index].protocol.has_ended() {
            return self.server_closed(index, now);
        }
        let connection = &self.connections[index];
        let is_draining = P::BUFFERS_EVENTS && connection.protocol.is_draining();
        if connection.unwritten > 0 || !connection.is_open() || is_draining {
            self.resume_writing(index, now);
        }
    }

    /// Records a complete response, and releases its slot.
    #[inline]
    pub(super) fn complete(&mut self, index: usize, received: ReceivedResponse, last_byte: Nanos) {
        let connection = &mut self.connections[index];
        let request = match P::MULTIPLEXES {
            true => connection.requests.take(received.key),
            false => connection.requests.take_oldest(),
        };
        let Some(request) = request else { return };
        connection.failures = 0;
        self.slots.in_flight -= 1;
        self.recorder.response(&request, &received, last_byte, || connection.cold.established_at);
        if P::STREAMS && received.ended_here {
            self.record_end_here(index, &request);
        }
        let connection = &self.connections[index];
        // Before the request is sent completely, another one cannot follow.
        let is_cut = !connection.protocol.multiplexes()
            && (connection.has_unsent() || connection.protocol.has_more())
            && connection.requests.is_empty();
        let mut failed = None;
        if received.response.status >= 300 {
            failed = self.unusual_status(index, &request, received.response.status, last_byte);
        }
        if self.sessions.is_some() {
            // Before the connection may be closed: of requests sent together, those without a response go on another one.
            self.judge_response(index, &request, &received, failed, last_byte);
        }
        if !received.response.keep_alive {
            match P::STREAMS && received.ended_here {
                true => self.close_and_go_on(index),
                false => self.close_for_server(index),
            }
        } else if is_cut {
            self.close(index);
        } else if self.requests_per_connection.is_some() {
            self.close_if_used_up(index);
        }
        match self.sessions.is_some() {
            true => self.continue_user(self.user_of(index) as u32, last_byte),
            false => self.release_slot_after_think(index as u32, last_byte),
        }
    }

    /// Records a response with a status of 300 or more, as far as it is an error: every one from 400 up, and a redirect that
    /// should be followed and is not. Returns what [`Self::failed_status`] returns.
    #[cold]
    fn unusual_status(
        &mut self,
        index: usize,
        request: &InFlightRequest,
        status: u16,
        now: Nanos,
    ) -> Option<FailedResponseBuffer> {
        if status >= 400 {
            return self.failed_status(index, request, status, now);
        }
        if let Some(failure) = self.connections[index].protocol.redirect_failure() {
            self.recorder.failed_redirect(request, failure, now);
        }
        None
    }

    /// Records a response with a status of 400 or more. In a session, whose entry may expect it, what was gathered of the response
    /// is returned for the judgement instead.
    fn failed_status(
        &mut self,
        index: usize,
        request: &InFlightRequest,
        status: u16,
        now: Nanos,
    ) -> Option<FailedResponseBuffer> {
        let buffer = std::mem::take(&mut self.connections[index].cold.failed_response);
        if self.sessions.is_some() {
            return Some(buffer);
        }
        self.record_failed_status(index, request, status, buffer, now);
        None
    }

    /// Records a response with a status of 400 or more that is an error.
    pub(super) fn record_failed_status(
        &mut self,
        index: usize,
        request: &InFlightRequest,
        status: u16,
        mut buffer: FailedResponseBuffer,
        now: Nanos,
    ) {
        let user = self.user_of(index);
        let secrets = || match &self.source {
            Source::Users(users) => users.all.secrets(user),
            Source::Requests(_) => Vec::new(),
        };
        if self.recorder.failed_status(request, status, now, &mut buffer, secrets) {
            self.connections.iter_mut().for_each(Connection::drop_failed_response);
        }
    }

    /// Makes the slot of a request or session that has ended available, after the think time if there is one.
    #[inline]
    pub(super) fn release_slot_after_think(&mut self, connection: u32, now: Nanos) {
        match &self.plan.think {
            Some(think) => {
                let until = now + think.time();
                self.slots.defer(DeferredSlot { until, connection, then: AfterWait::RequestEnded });
            }
            None => self.release_slot(connection, now),
        }
    }
}
