//! The events of streams: recorded for the run where all responses are streams, and for the entry of their session otherwise.

use super::Engine;
use super::coordinator::Coordinator;
use super::in_flight::InFlightRequest;
use super::recorder::record_events;
use crate::pace::pacer::Pacer;
use crate::protocol::Protocol;
use crate::response::events::EventArrival;
use crate::work::source::Source;
use std::num::NonZero;
use torr_gauge::streams::StreamTally;
use torr_net::Nanos;

impl<P: Protocol, A: Pacer, C: Coordinator> Engine<'_, P, A, C> {
    /// Records the events of streams that have arrived on a connection. Returns the key of a stream that its user has left.
    #[inline]
    pub(super) fn record_events(&mut self, index: usize, now: Nanos) -> Option<u32> {
        let mut left = None;
        while let Some(arrival) = self.connections[index].protocol.take_arrival(now) {
            if self.sessions.is_some() {
                left = self.take_events_of_entry(index, arrival, now).or(left);
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
        left
    }

    /// Hands events of the stream that responds to a user's request to that user, and records those that were taken. Returns the key of
    /// the stream if the user has left it.
    #[cold]
    fn take_events_of_entry(&mut self, index: usize, arrival: EventArrival, now: Nanos) -> Option<u32> {
        let (taken, left) = self.hand_over_events(index, &arrival);
        if let Some(events) = NonZero::new(taken) {
            self.record_events_of_entry(index, &EventArrival { events, ..arrival }, now);
        }
        left.then_some(arrival.key)
    }

    /// Hands events to the user that they are for. Returns how many were taken, and whether the user has left the stream. Events
    /// that are not handed over are all taken.
    fn hand_over_events(&mut self, index: usize, arrival: &EventArrival) -> (u32, bool) {
        let (user, all) = (self.user_of(index), arrival.events.get());
        let Source::Users(users) = &mut self.source else { return (all, false) };
        let response = self.connections[index].protocol.arriving(arrival.key);
        let Some(response) = response.filter(|response| response.hands_events) else { return (all, false) };
        let mut events = response.take_events();
        let handed = events.len();
        if handed == 0 {
            // All were handed over with those before.
            return (0, false);
        }
        let goes_on = users.all.arrived(user, response, &mut events);
        ((handed - events.len()) as u32, !goes_on)
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
        let is_first = !std::mem::replace(&mut request.is_streaming, true);
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
