//! The events of streams: recorded for the run where all responses are streams, and for the entry of their session otherwise.

use super::Engine;
use super::coordinator::Coordinator;
use super::in_flight::InFlightRequest;
use super::recorder::record_events;
use crate::pace::pacer::Pacer;
use crate::protocol::Protocol;
use crate::response::events::EventArrival;
use crate::work::source::Source;
use crate::work::users::AfterEvents;
use std::num::NonZero;
use torr_gauge::streams::StreamTally;
use torr_net::Nanos;

impl<P: Protocol, A: Pacer, C: Coordinator> Engine<'_, P, A, C> {
    /// Records the events of streams that have arrived on a connection. Returns the key of a stream whose user does not wait for more of
    /// it, and what that user does.
    #[inline]
    pub(super) fn record_events(&mut self, index: usize, now: Nanos) -> Option<(u32, AfterEvents)> {
        let mut then = None;
        while let Some(arrival) = self.connections[index].protocol.take_arrival(now) {
            if self.sessions.is_some() {
                then = self.take_events_of_entry(index, arrival, now).or(then);
                continue;
            }
            let has_first_token = arrival.tokens.is_some_and(|tokens| tokens.chunks > 0 && tokens.before.is_none());
            if arrival.before.is_none() || has_first_token {
                let requests = &mut self.connections[index].requests;
                let request = if P::MULTIPLEXES { requests.of_key(arrival.key) } else { requests.oldest_mut() };
                if let Some(request) = request {
                    if !request.is_streaming {
                        request.is_streaming = true;
                        self.recorder.first_event(request, now);
                    }
                    if has_first_token {
                        self.recorder.first_token(request, now);
                    }
                }
            }
            self.recorder.events(&arrival, now);
        }
        then
    }

    /// Hands events of the stream that responds to a user's request to that user, and records those that were taken. Returns the key of
    /// the stream and what the user does, unless it waits for more.
    #[cold]
    fn take_events_of_entry(&mut self, index: usize, arrival: EventArrival, now: Nanos) -> Option<(u32, AfterEvents)> {
        let (taken, then) = self.hand_over_events(index, &arrival);
        if let Some(events) = NonZero::new(taken) {
            self.record_events_of_entry(index, &EventArrival { events, ..arrival }, now);
        }
        (then != AfterEvents::Await).then_some((arrival.key, then))
    }

    /// Hands events to the user that they are for. Returns how many were taken, and what the user does. Events that are not handed
    /// over are all taken.
    fn hand_over_events(&mut self, index: usize, arrival: &EventArrival) -> (u32, AfterEvents) {
        let (user, all) = (self.user_of(index), arrival.events.get());
        let Source::Users(users) = &mut self.source else { return (all, AfterEvents::Await) };
        let response = self.connections[index].protocol.arriving(arrival.key);
        let Some(response) = response.filter(|response| response.hands_events) else {
            return (all, AfterEvents::Await);
        };
        let mut events = response.take_events();
        let handed = events.len();
        if handed == 0 {
            // All were handed over with those before.
            return (0, AfterEvents::Await);
        }
        let then = users.all.arrived(user, response, &mut events);
        ((handed - events.len()) as u32, then)
    }

    /// Lets a user go on who does not wait for more of a stream.
    #[cold]
    pub(super) fn go_on_after_events(&mut self, index: usize, (key, then): (u32, AfterEvents), now: Nanos) {
        match then {
            AfterEvents::Await => {}
            AfterEvents::Leave => self.leave_stream(index, key, now),
            AfterEvents::Step => self.continue_user(self.user_of(index) as u32, now),
        }
    }

    /// Tells the user of a connection that it has switched to WebSocket.
    #[cold]
    pub(super) fn switched(&mut self, index: usize, now: Nanos) {
        let user = self.user_of(index);
        let connection = &mut self.connections[index];
        if let Some(request) = connection.requests.oldest_mut() {
            // No response follows: it has the time of a stream from here on.
            request.is_streaming = true;
        }
        if let (Source::Users(users), Some(response)) = (&mut self.source, connection.protocol.arriving(0)) {
            users.all.switched(user, response);
        }
        self.continue_user(user as u32, now);
    }

    /// Returns the connection of a user that carries a request.
    pub(super) fn connection_in_use(&self, user: u32) -> Option<usize> {
        let mut all = (user as usize..self.connections.len()).step_by(self.slots.connections);
        all.find(|&index| !self.connections[index].requests.is_empty())
    }

    /// Sends the message of a user's step. One for a WebSocket that has ended is discarded.
    #[cold]
    pub(super) fn send_message(&mut self, user: u32) {
        let Source::Users(users) = &mut self.source else { return };
        let Some(message) = users.all.take_message(user as usize) else { return };
        let Some(index) = self.connection_in_use(user) else { return };
        let connection = &mut self.connections[index];
        let (start, generation) = (self.batch.out.len(), connection.generation);
        connection.protocol.send_message(&mut self.protocol, &message, &mut self.batch.out);
        self.batch.send_from(start, index, generation);
    }

    /// Ends a stream that its user has left.
    #[cold]
    pub(super) fn leave_stream(&mut self, index: usize, key: u32, now: Nanos) {
        let connection = &mut self.connections[index];
        let (start, generation) = (self.batch.out.len(), connection.generation);
        let response = connection.protocol.leave_stream(&mut self.protocol, key, &mut self.batch.out);
        self.batch.send_from(start, index, generation);
        if let Some(response) = response {
            self.complete(index, response, now);
        }
    }

    /// Records events of the stream that responds to a user's request.
    fn record_events_of_entry(&mut self, index: usize, arrival: &EventArrival, now: Nanos) {
        self.recorder.mark_activity(now);
        let requests = &mut self.connections[index].requests;
        let request = if P::MULTIPLEXES { requests.of_key(arrival.key) } else { requests.oldest_mut() };
        let Some(request) = request else { return };
        // A WebSocket streams from its handshake on.
        let is_first = !std::mem::replace(&mut request.is_streaming, true) || arrival.before.is_none();
        let request = *request;
        if let Some(streams) = self.streams_of_entry(index, &request) {
            if is_first {
                streams.first_event.record(now.saturating_sub(request.due));
            }
            record_events(streams, arrival, now);
        }
    }

    /// Returns the tally of the entry that a user's request is of; `None` during the warm-up, and where there are no entries.
    fn streams_of_entry(&mut self, index: usize, request: &InFlightRequest) -> Option<&mut StreamTally> {
        let user = self.user_of(index);
        let sessions = self.sessions.as_mut()?;
        let entry = sessions.users[user].entry;
        Some(sessions.entry(entry).filter(|_| !request.in_warmup)?.streams.get_or_insert_default())
    }

    /// Counts a stream that the client has ended as planned.
    pub(super) fn record_end_here(&mut self, index: usize, request: &InFlightRequest) {
        if self.sessions.is_none() {
            return self.recorder.ended_here(request);
        }
        if let Some(streams) = self.streams_of_entry(index, request) {
            streams.limited += 1;
        }
    }

    /// Records the silence of the stream that responds to a request since its latest event, at the end of the run or at a time-out:
    /// `count` counts that end.
    pub(super) fn record_silence(
        &mut self,
        index: usize,
        request: &InFlightRequest,
        since: Nanos,
        now: Nanos,
        count: impl FnOnce(&mut StreamTally),
    ) {
        if self.sessions.is_none() {
            return count(self.recorder.silence(request, since, now));
        }
        if let Some(streams) = self.streams_of_entry(index, request) {
            streams.silence(now.saturating_sub(since));
            count(streams);
        }
    }
}
