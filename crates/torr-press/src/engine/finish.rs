//! The end of a thread's part of a run.

use super::Engine;
use super::OpenConnections;
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
    pub(super) fn finish(mut self, now: Nanos) -> (ThreadResult, OpenConnections<P>) {
        self.settle_all();
        self.sockets.sample(&mut self.connections, LAST_SOCKETS, now, &mut self.recorder);
        let first = self.connections.iter_mut().find_map(|connection| connection.protocol.first_response());
        for index in 0..self.connections.len() {
            while let Some(request) = self.connections[index].requests.take_oldest() {
                if P::STREAMS && request.is_streaming {
                    let last = self.connections[index].protocol.last_event(request.key).unwrap_or(request.due);
                    self.record_silence(index, &request, last, now, |streams| {
                        streams.open += 1;
                        streams.open_gaps.record(now.saturating_sub(last));
                    });
                }
                self.count_unfinished_request(index, &request, now);
                self.recorder.unfinished(&request, now);
            }
        }
        self.abandon_late(now);
        // Requests that were due but never had a slot have waited for a response as well.
        while let Some((due, count)) = self.pacer.take_overdue(now) {
            self.recorder.never_begun(due, count, now);
            self.count_sessions_without_user(count);
        }
        if P::STREAMS && self.plan.demands_streams() {
            // That there was no event is a result as well.
            self.recorder.sample.streams.get_or_insert_default();
        }
        let (sources, sessions) = (self.connector.sources_used(), self.finish_sessions());
        let timestamped = self.timestamps.as_ref().is_some_and(Timestamps::were_used);
        let ended =
            ThreadResult { first, sources, sessions, timestamped, ..self.recorder.finish(now, self.coordinator) };
        (ended, OpenConnections::new(self.connections, self.readiness, self.protocol))
    }
}
