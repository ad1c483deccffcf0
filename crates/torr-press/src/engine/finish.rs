//! The end of a thread's part of a run.

use super::Engine;
use super::coordinator::Coordinator;
use super::recorder::ThreadResult;
use crate::pace::pacer::Pacer;
use crate::protocol::Protocol;
use torr_net::Nanos;
use torr_net::timestamp::Timestamps;

/// The number of sockets that are sampled at the end of the run.
const LAST_SOCKETS: usize = 16;

impl<P: Protocol, A: Pacer, C: Coordinator> Engine<'_, P, A, C> {
    /// Records the requests that are unanswered at the end, and hands over what is left.
    pub(super) fn finish(mut self, now: Nanos) -> ThreadResult {
        self.sockets.sample(&mut self.connections, LAST_SOCKETS, now, &mut self.recorder);
        let first = self.connections.iter_mut().find_map(|connection| connection.protocol.first_response());
        for index in 0..self.connections.len() {
            while let Some(request) = self.connections[index].requests.take_oldest() {
                self.count_unfinished_request(index, &request, now);
                self.recorder.unfinished(&request, now);
            }
        }
        // Requests that were due but never had a slot have waited for a response as well.
        while let Some((due, count)) = self.pacer.take_overdue(now) {
            self.recorder.never_begun(due, count, now);
            self.count_sessions_without_user(count);
        }
        let (sources, sessions) = (self.connector.sources_used(), self.finish_sessions());
        let timestamped = self.timestamps.as_ref().is_some_and(Timestamps::were_used);
        ThreadResult { first, sources, sessions, timestamped, ..self.recorder.finish(now, self.coordinator) }
    }
}
