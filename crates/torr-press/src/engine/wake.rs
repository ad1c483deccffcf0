//! Parked users: they wait until what they are part of wakes them, and their requests can be given up.

use super::Engine;
use super::coordinator::Coordinator;
use crate::pace::pacer::Pacer;
use crate::protocol::Protocol;
use crate::work::source::Source;
use crate::work::users::Wake;
use std::time::Duration;
use torr_net::Nanos;

impl<P: Protocol, A: Pacer, C: Coordinator> Engine<'_, P, A, C> {
    /// Takes all users that were woken to their next steps.
    pub(super) fn wake_users(&mut self, now: Nanos) {
        while let Source::Users(users) = &mut self.source
            && let Some(wake) = users.all.woken(now)
        {
            match wake {
                Wake::Next(user) => {
                    let is_in_session = self.sessions.as_ref().is_some_and(|sessions| sessions.users[user].in_session);
                    if is_in_session {
                        self.continue_user(user as u32, now);
                    }
                }
                Wake::Abandon(user) => self.abandon(user, now),
                Wake::Disconnect(user) => self.disconnect(user),
            }
        }
    }

    /// Returns when users may have to be woken.
    pub(super) fn next_wake(&self) -> Nanos {
        match &self.source {
            Source::Users(users) => users.all.next_wake(),
            Source::Requests(_) => Nanos::MAX,
        }
    }

    /// Returns the time-out of the request in flight on a connection: its own, but not more than that of the plan.
    pub(super) fn timeout_of(&self, index: usize) -> Duration {
        let own = match &self.source {
            Source::Users(users) => users.all.timeout(self.user_of(index)),
            Source::Requests(_) => None,
        };
        own.map_or(self.plan.timeout, |own| own.min(self.plan.timeout))
    }

    /// Gives up the requests of a user, and closes the connections that carry them.
    #[cold]
    fn abandon(&mut self, user: usize, now: Nanos) {
        let waiting = self.slots.continuing.len();
        self.slots.continuing.retain(|&other| other as usize != user);
        debug_assert!(waiting - self.slots.continuing.len() <= 1, "a user has one next step");
        for index in (user..self.connections.len()).step_by(self.slots.connections) {
            if self.connections[index].requests.is_empty() {
                continue;
            }
            self.close(index);
            self.connections[index].protocol.discard_in_flight();
            self.connections[index].unwritten = 0;
            while let Some(request) = self.connections[index].requests.take_oldest() {
                self.slots.in_flight -= 1;
                self.count_unfinished_request(index, &request, now);
                self.recorder.unfinished(&request, now);
            }
        }
    }

    /// Closes the connections of a user that carry no request.
    #[cold]
    fn disconnect(&mut self, user: usize) {
        for index in (user..self.connections.len()).step_by(self.slots.connections) {
            if self.connections[index].requests.is_empty() {
                self.close(index);
            }
        }
    }
}
