//! The time-outs of requests: a sweep over all connections now and then costs less than a timer for each request.

use super::Engine;
use super::coordinator::Coordinator;
use super::in_flight::InFlightRequest;
use crate::failures;
use crate::pace::pacer::Pacer;
use crate::protocol::Protocol;
use crate::response::events::EventPlan;
use torr_gauge::Failure;
use torr_net::{Nanos, clock};

/// The time between two sweeps, in nanoseconds.
const SWEEP: Nanos = 20_000_000;

impl<P: Protocol, A: Pacer, C: Coordinator> Engine<'_, P, A, C> {
    /// Every 20 ms, times requests out and samples a socket.
    #[inline]
    pub(super) fn sweep(&mut self, now: Nanos) {
        if now >= self.next_sweep {
            self.next_sweep = now + SWEEP;
            self.time_out_requests(now);
            self.abandon_late(now);
            self.sockets.sample(&mut self.connections, 1, now, &mut self.recorder);
        }
    }

    /// Fails the requests that have been in flight for longer than the plan's time-out.
    fn time_out_requests(&mut self, now: Nanos) {
        let of_plan = self.plan.timeout;
        for index in 0..self.connections.len() {
            if self.connections[index].requests.is_empty() {
                continue;
            }
            if P::STREAMS
                && let Some(events) = &self.plan.events
            {
                self.time_out_silent(index, events, now);
            }
            let connection = &self.connections[index];
            let within = if self.may_park { self.timeout_of(index) } else { of_plan };
            let timeout = clock::nanos(within);
            let is_older = |request: &InFlightRequest| now.saturating_sub(request.due) >= timeout;
            if !connection.requests.oldest().is_some_and(is_older) {
                // In whatever order they are answered, the oldest one is the first to be late.
                continue;
            }
            let is_late = |request: &InFlightRequest| is_older(request) && !request.is_streaming;
            if P::STREAMS && !connection.requests.iter().any(is_late) {
                continue;
            }
            let is_open = connection.is_open();
            let failure = match is_open {
                false => failures::no_connection_within(within),
                true if connection.protocol.has_event_stream(&mut self.protocol) => failures::endless_stream(within),
                true => failures::no_response_within(within),
            };
            if P::MULTIPLEXES && is_open {
                self.cancel_late(index, is_late, &failure, now);
            } else {
                connection.requests.iter().for_each(|request| self.recorder.unanswered(request, now));
                self.fail_connection(index, failure);
            }
        }
    }

    /// Fails the streams of a connection that have had no event for longer than the plan's time-out for that.
    fn time_out_silent(&mut self, index: usize, events: &EventPlan, now: Nanos) {
        let Some(since) = now.checked_sub(clock::nanos(events.idle_timeout)) else { return };
        let failure = || failures::no_event_within(events.idle_timeout);
        loop {
            let connection = &mut self.connections[index];
            let Some(key) = connection.protocol.silent_since(since) else { return };
            let request =
                if P::MULTIPLEXES { connection.requests.of_key(key) } else { connection.requests.oldest_mut() };
            // The stream of a connection of HTTP/1.1 may be that of the request before.
            let Some(&mut request) = request.filter(|request| request.is_streaming) else { return };
            let last = connection.protocol.last_event(request.key).unwrap_or(request.due);
            self.record_silence(index, &request, last, now, |streams| streams.silent += 1);
            if !P::MULTIPLEXES {
                self.recorder.unanswered(&request, now);
                return self.fail_connection(index, failure());
            }
            self.cancel_late(index, |other| other.key == key, &failure(), now);
        }
    }

    /// Cancels the late requests of a connection alone.
    fn cancel_late(&mut self, index: usize, is_late: impl Fn(&InFlightRequest) -> bool, failure: &Failure, now: Nanos) {
        let connection = &self.connections[index];
        let written = connection.written();
        let late = connection.requests.iter().enumerate().filter(|(_, request)| is_late(request));
        let late: Vec<_> = late.map(|(age, request)| (age, *request)).collect();
        let mut closes = false;
        // From the youngest on, so that the positions of the others do not change.
        for (age, request) in late.into_iter().rev() {
            self.recorder.unanswered(&request, now);
            let connection = &mut self.connections[index];
            if age >= written {
                connection.unwritten -= 1;
            } else {
                let start = self.batch.out.len();
                closes |= !connection.protocol.cancel(&mut self.protocol, request.key, &mut self.batch.out);
                self.batch.send_from(start, index, connection.generation);
            }
            self.fail_request_at(index, age, failure.clone());
        }
        if closes {
            self.close_and_go_on(index);
        }
        self.send_all();
    }
}
