//! The steps of virtual users: when they take the next one, and what it leads to.

use super::Engine;
use super::connection::Connection;
use super::coordinator::Coordinator;
use super::in_flight::InFlightRequest;
use super::session_state::{Sessions, UserState};
use super::slots::{AfterWait, DeferredSlot};
use crate::pace::pacer::Pacer;
use crate::protocol::{Protocol, ReceivedResponse};
use crate::response::failed::FailedResponseBuffer;
use crate::response::kept::KeptResponse;
use crate::work::source::Source;
use crate::work::users::{Phases, ReceivedBy, Step, Unmet};
use std::num::NonZero;
use torr_gauge::sessions::{AssertExample, SessionCounts};
use torr_gauge::{Failure, FailureKind};
use torr_net::{Address, Nanos, clock, file_limit, prefetch};

impl<P: Protocol, A: Pacer, C: Coordinator> Engine<'_, P, A, C> {
    /// Returns the slot, or the user, that a connection belongs to.
    #[inline]
    pub(super) fn user_of(&self, connection: usize) -> usize {
        let users = self.slots.connections;
        if connection < users { connection } else { connection % users }
    }

    /// Returns the number of the server that a connection goes to.
    #[inline]
    pub(super) fn destination_of(&self, connection: usize) -> usize {
        let users = self.slots.connections;
        if connection < users { 0 } else { connection / users }
    }

    /// Returns the connection that takes the next request of a slot, or of its user.
    #[inline]
    pub(super) fn connection_of(&mut self, user: u32) -> u32 {
        match &self.source {
            Source::Users(users) if !self.servers.is_one() => {
                let index = user as usize + users.all.destination(user as usize) * self.slots.connections;
                if index >= self.connections.len() {
                    self.add_connections(index);
                }
                index as u32
            }
            _ => user,
        }
    }

    /// Makes connections of all users to the servers that were learnt of, up to the one of this connection.
    #[cold]
    fn add_connections(&mut self, index: usize) {
        let users = self.slots.connections;
        let servers = index / users + 1;
        // Each user may connect to each of them; a limit that is too low fails the connects.
        file_limit::raise_for_connections(
            (self.plan.prepared_connections() * servers + self.plan.thread_count()) as u64,
        );
        for server in self.connections.len() / users..servers {
            let new = self.numbers.clone().map(|number| Connection::new(number, (self.new_protocol)(server)));
            self.connections.extend(new);
        }
    }

    /// Tells the user of a connection that it is about to get a response. Those that may park have too much memory of their own for the
    /// CPU's caches.
    #[inline]
    pub(super) fn expect(&self, index: usize) {
        if self.may_park
            && let Source::Users(users) = &self.source
        {
            if let Some(connection) = self.connections.get(index) {
                prefetch::value(&*connection.cold);
            }
            users.all.expect(self.user_of(index));
        }
    }

    /// Begins a session that was due at a time. Returns whether a request is to be sent now.
    pub(super) fn begin_session(&mut self, index: u32, due: Nanos, now: Nanos) -> bool {
        let (Some(sessions), Source::Users(users)) = (&mut self.sessions, &mut self.source) else { return true };
        let in_warmup = due < clock::nanos(self.plan.warmup);
        sessions.users[index as usize] =
            UserState { due, entry: 0, together: 1, in_session: true, is_pausing: false, in_warmup };
        sessions.running += 1;
        if let Some(counts) = sessions.counts.as_mut().filter(|_| !in_warmup) {
            counts.start();
        }
        users.all.begin(index as usize);
        self.advance_user(index, now)
    }

    /// Takes a user to the next step. Returns whether that is a request, to be sent now.
    pub(super) fn advance_user(&mut self, index: u32, now: Nanos) -> bool {
        let (Some(sessions), Source::Users(users)) = (&mut self.sessions, &mut self.source) else { return true };
        let state = &mut sessions.users[index as usize];
        match users.all.next(index as usize) {
            Step::Send(entry) => {
                (state.entry, state.together) = (entry, 1);
                if let Some(counts) = &mut sessions.counts {
                    counts.make_room(entry as usize);
                    if self.servers.may_be_several() {
                        counts.entries[entry as usize].note_server(users.all.destination(index as usize));
                    }
                }
                return true;
            }
            Step::SendAll(entry, together) => {
                (state.entry, state.together) = (entry, together);
                return true;
            }
            Step::Await | Step::Park => {}
            Step::Message => {
                self.send_message(index);
                return self.advance_user(index, now);
            }
            Step::Leave => {
                if let Some(connection) = self.connection_in_use(index) {
                    self.leave_stream(connection, 0, now);
                }
            }
            Step::Pause(pause) | Step::LookUp(pause) => {
                state.is_pausing = true;
                let until = now.saturating_add(clock::nanos(pause));
                self.slots.defer(DeferredSlot { until, connection: index, then: AfterWait::NextStep });
            }
            Step::Finished => {
                let took = now.saturating_sub(state.due);
                if let Some(counts) = sessions.counts.as_mut().filter(|_| !state.in_warmup) {
                    counts.finish(took);
                }
                self.end_session(index, now);
            }
            Step::Failed(entry, reason) => {
                if let Some(counts) = sessions.counts.as_mut().filter(|_| !state.in_warmup) {
                    counts.fail(entry as usize, reason.as_deref());
                }
                self.end_session(index, now);
            }
        }
        false
    }

    /// Takes a user whose pause is over to the next step. Its session may have ended meanwhile: with a WebSocket that has failed.
    pub(super) fn end_pause(&mut self, index: u32, now: Nanos) {
        if let Some(state) = self.sessions.as_mut().and_then(|sessions| sessions.users.get_mut(index as usize)) {
            state.is_pausing = false;
            if !state.in_session {
                return self.release_slot(index, now);
            }
        }
        self.continue_user(index, now);
    }

    /// Makes the slot of a user whose session has ended available.
    fn end_session(&mut self, index: u32, now: Nanos) {
        self.close_session(index as usize);
        self.release_slot_after_think(index, now);
    }

    /// Notes that a session has ended, and ends the run if its users cannot go on.
    fn close_session(&mut self, index: usize) {
        let (Some(sessions), Source::Users(users)) = (&mut self.sessions, &mut self.source) else { return };
        if std::mem::take(&mut sessions.users[index].in_session) {
            sessions.running -= 1;
        }
        if users.all.is_over() {
            self.coordinator.abort();
        }
    }

    /// Hands a response to its user. `failed` is what was gathered of a response with a status of 400 or more, which is an error
    /// unless the entry expects it.
    pub(super) fn judge_response(
        &mut self,
        index: usize,
        request: &InFlightRequest,
        received: &ReceivedResponse,
        failed: Option<FailedResponseBuffer>,
        now: Nanos,
    ) {
        let user = self.user_of(index);
        let (Some(sessions), Source::Users(users)) = (&mut self.sessions, &mut self.source) else { return };
        let connection = &mut self.connections[index];
        let took = now.saturating_sub(request.due);
        let certificate = connection.cold.certificate.as_deref();
        let phases = Phases {
            first_byte: received.first_byte.map_or(now, NonZero::get),
            end: now,
            ..connection.cold.phases(request)
        };
        let mut status_only = KeptResponse::default();
        let response = connection.protocol.kept().unwrap_or(&mut status_only);
        response.status = received.response.status;
        let tcp = connection.cold.address.as_ref().and_then(Address::tcp);
        let by = ReceivedBy {
            response,
            took,
            address: tcp.map(|address| address.ip()),
            certificate,
            port: tcp.map_or(0, |address| address.port()),
            tls: connection.cold.tls.as_deref(),
            phases,
            transferred: std::mem::take(&mut connection.cold.transferred),
        };
        let judged = users.all.received(user, &by);
        response.clear();
        let passed = judged.passed;
        let state = sessions.users[user];
        if let Some(entry) = sessions.entry(state.entry).filter(|_| !request.in_warmup) {
            entry.record_response(took, received.response.status, passed);
            if judged.retries {
                entry.record_retry();
            }
            for Unmet { assert, expected, actual } in judged.unmet {
                entry.record_failed_assert(assert, || AssertExample { expected, actual });
            }
        }
        if let Some(buffer) = failed {
            match passed {
                true => self.recorder.expected_status(request),
                false => self.record_failed_status(index, request, received.response.status, buffer, now),
            }
        }
    }

    /// Takes a user whose response was judged to the next step.
    pub(super) fn continue_user(&mut self, index: u32, now: Nanos) {
        if self.advance_user(index, now) {
            self.slots.continuing.push_back(index);
        }
    }

    /// Ends the session of a user whose request has failed, unless it sends the request again. Returns what is to become of the
    /// slot: of requests that were sent together, the first that fails ends the session.
    pub(super) fn fail_session(
        &mut self,
        index: usize,
        request: &InFlightRequest,
        failure: &Failure,
        now: Nanos,
    ) -> Option<AfterWait> {
        let user = self.user_of(index);
        let (Some(sessions), Source::Users(users)) = (&mut self.sessions, &mut self.source) else {
            return Some(AfterWait::RequestEnded);
        };
        let state = sessions.users[user];
        let phases = Phases { end: now, ..self.connections[index].cold.phases(request) };
        let transferred = std::mem::take(&mut self.connections[index].cold.transferred);
        let outlives = self.may_park && state.in_session && users.all.outlives(user, failure, &phases, transferred);
        let retries = !outlives && state.in_session && users.all.retries(user, failure);
        if let Some(entry) = sessions.entry(state.entry).filter(|_| !request.in_warmup) {
            let timed_out = failure.kind == FailureKind::Timeout;
            entry.record_request_failure(timed_out.then(|| now.saturating_sub(request.due)));
            if retries {
                entry.record_retry();
            }
        }
        if outlives {
            return Some(AfterWait::NextStepAtOnce);
        }
        if retries {
            return Some(AfterWait::NextStep);
        }
        users.all.failed(user, failure);
        if let Some(counts) = sessions.counts.as_mut().filter(|_| state.in_session && !state.in_warmup) {
            counts.fail(state.entry as usize, Some(&failure.what));
        }
        self.close_session(user);
        (state.in_session && !state.is_pausing).then_some(AfterWait::RequestEnded)
    }

    /// Returns the number of requests that a user sends together.
    #[inline]
    pub(super) fn requests_together(&self, index: u32) -> u16 {
        self.sessions.as_ref().map_or(1, |sessions| sessions.users[index as usize].together)
    }

    /// Adds the sessions that have ended to the sample that is about to be handed over.
    #[inline]
    pub(super) fn count_ended_sessions(&mut self, now: Nanos) {
        let Some(counts) = self.sessions.as_mut().and_then(|sessions| sessions.counts.as_mut()) else { return };
        if now >= self.recorder.next_time() {
            self.recorder.sample.sessions.add(counts.take_ended());
        }
    }

    /// Counts sessions that were due but never had a user.
    pub(super) fn count_sessions_without_user(&mut self, count: u64) {
        if let Some(counts) = self.sessions.as_mut().and_then(|sessions| sessions.counts.as_mut()) {
            counts.never_begin(count);
        }
    }

    /// Counts sessions that were due at about the same time, and failed since no user was available for them in time.
    pub(super) fn count_abandoned_sessions(&mut self, due: Nanos, count: u64) {
        let is_measured = due >= clock::nanos(self.plan.warmup);
        if let Some(counts) =
            self.sessions.as_mut().and_then(|sessions| sessions.counts.as_mut()).filter(|_| is_measured)
        {
            counts.abandon(count);
        }
    }

    /// Counts a request that the end of the run has cut off.
    pub(super) fn count_unfinished_request(&mut self, index: usize, request: &InFlightRequest, now: Nanos) {
        let user = self.user_of(index);
        let Some(sessions) = &mut self.sessions else { return };
        let entry = sessions.users[user].entry;
        if let Some(entry) = sessions.entry(entry).filter(|_| !request.in_warmup) {
            entry.record_unfinished(now.saturating_sub(request.due));
        }
    }

    /// Returns the counts of the sessions, those that the end of the run has cut off among them; `None` where results tell of requests
    /// only.
    pub(super) fn finish_sessions(&mut self) -> Option<SessionCounts> {
        let Sessions { counts, users, .. } = *self.sessions.take()?;
        let mut counts = counts?;
        self.recorder.sample.sessions.add(counts.take_ended());
        for _ in users.iter().filter(|user| user.in_session && !user.in_warmup) {
            counts.leave_unfinished();
        }
        Some(counts)
    }
}
