//! The records of a thread: the sample of the current interval, the sample of the warm-up, and the facts of the whole run.

use super::coordinator::Coordinator;
use super::in_flight::InFlightRequest;
use crate::plan::Plan;
use crate::protocol::ReceivedResponse;
use crate::response::events::{EventArrival, TokenArrival};
use crate::response::failed::{FailedResponseBuffer, GatheredResponse};
use std::num::NonZero;
use std::time::Duration;
use torr_gauge::collector::FirstResponse;
use torr_gauge::error_times::ErrorClass;
use torr_gauge::sessions::SessionCounts;
use torr_gauge::sockets::{SocketCounters, SocketReading};
use torr_gauge::streams::{StreamTally, TokenTally};
use torr_gauge::{Failure, Latency, Sample};
use torr_net::tls::NegotiatedTls;
use torr_net::{Nanos, clock};

/// The facts of a thread that no sample holds.
#[derive(Debug, Clone)]
pub(crate) struct ThreadResult {
    /// When the thread ended, counted from the end of the warm-up.
    pub at: Nanos,
    /// The time in which the thread waited for events.
    pub idle: Duration,
    /// Requests begun after the warm-up.
    pub begun: u64,
    /// The most connections at a time.
    pub peak: u64,
    /// Connections that were open when the warm-up ended.
    pub carried: u64,
    /// The number of source addresses used.
    pub sources: usize,
    /// Whether the times of responses are the kernel's time stamps.
    pub timestamped: bool,
    /// The TLS parameters of the first connection.
    pub secured: Option<NegotiatedTls>,
    /// The first response, if it was to be kept.
    pub first: Option<FirstResponse>,
    /// The first response with a status of 400 or more.
    pub failed_response: Option<FailedRequest>,
    /// The counts of the sessions, where there are virtual users.
    pub sessions: Option<SessionCounts>,
}

/// A response with a status of 400 or more.
#[derive(Debug, Clone)]
pub(crate) struct FailedRequest {
    /// The time of the last byte in seconds since the measurement began.
    pub at_s: f64,
    /// The response, as the server sent it.
    pub response: GatheredResponse,
    /// The secrets of the virtual user that sent the request.
    pub secrets: Vec<String>,
}

/// The records of a thread.
pub(super) struct Recorder {
    pub sample: Sample,
    /// Once the warm-up is over, the sample of its requests, the last of which end later.
    warmup: Option<Box<Sample>>,
    warm_until: Nanos,
    interval: Nanos,
    /// The number of samples handed over.
    intervals: u64,
    /// When the interval of the current sample began.
    interval_began: Nanos,
    /// Whether the times from the connection on are recorded.
    detailed: bool,
    pub begun: u64,
    open: u64,
    peak: u64,
    carried: u64,
    pub idle: Nanos,
    /// The part of `idle` that samples have been handed over with.
    idle_handed_over: Nanos,
    /// When the latest scheduled request was sent.
    last_sent: Option<Nanos>,
    secured: Option<NegotiatedTls>,
    /// Whether a failed response is still to be kept.
    pub keeps_failed_response: bool,
    failed_response: Option<FailedRequest>,
}

/// Records the gaps before so many events that have arrived together, at a time. Returns the one before the first of them, unless the
/// stream begins with it.
#[inline]
fn record_gaps(gaps: &mut Latency, before: Option<NonZero<Nanos>>, events: u32, at: Nanos) -> Option<Nanos> {
    if events > 1 {
        gaps.record_many(0, u64::from(events - 1));
    }
    let gap = at.saturating_sub(before.filter(|_| events > 0)?.get());
    gaps.record(gap);
    Some(gap)
}

/// Records events that have arrived at a time, without their tokens.
#[inline]
pub(super) fn record_events(streams: &mut StreamTally, arrival: &EventArrival, at: Nanos) {
    streams.events += u64::from(arrival.events.get());
    if let Some(gap) = record_gaps(&mut streams.gaps, arrival.before, arrival.events.get(), at) {
        streams.silence(gap);
    }
}

/// Records tokens that have arrived at a time.
fn record_tokens(tally: &mut TokenTally, tokens: &TokenArrival, at: Nanos) {
    tally.chunks += u64::from(tokens.chunks);
    if let Some(gap) = record_gaps(&mut tally.gaps, tokens.before, tokens.chunks, at) {
        tally.spent = tally.spent.saturating_add(gap);
    }
    if let Some(usage) = &tokens.usage {
        tally.counted_chunks += usage.chunks;
        tally.completion += usage.completion;
        tally.prompt += usage.prompt;
        tally.with_usage += u64::from(usage.is_first);
    }
}

impl Recorder {
    pub fn new(plan: &Plan) -> Self {
        Self {
            sample: Sample::default(),
            warmup: None,
            warm_until: clock::nanos(plan.warmup),
            interval: clock::nanos(plan.interval),
            intervals: 0,
            interval_began: clock::nanos(plan.warmup),
            detailed: plan.detailed,
            begun: 0,
            open: 0,
            peak: 0,
            carried: 0,
            idle: 0,
            idle_handed_over: 0,
            last_sent: None,
            secured: None,
            keeps_failed_response: plan.warmup.is_zero(),
            failed_response: None,
        }
    }

    /// Whether the warm-up, if there is one, is over.
    fn is_measuring(&self) -> bool {
        self.warm_until == 0 || self.warmup.is_some()
    }

    /// Returns when a sample has to be handed over, or the warm-up ends.
    pub fn next_time(&self) -> Nanos {
        let current = u64::from(self.is_measuring());
        self.warm_until + self.interval * (self.intervals + current)
    }

    /// Whether the time of the warm-up is over, but the warm-up has not been ended yet.
    #[inline]
    pub fn ends_warmup(&self, now: Nanos) -> bool {
        !self.is_measuring() && now >= self.warm_until
    }

    /// Ends the warm-up when its time is over. Requests from before it are recorded apart from then on.
    #[inline]
    pub fn end_warmup(&mut self, now: Nanos, coordinator: &impl Coordinator) {
        if self.ends_warmup(now) {
            self.warmup = Some(Box::new(std::mem::replace(&mut self.sample, coordinator.fresh_sample())));
            self.idle_handed_over = self.idle;
            self.carried = self.open;
            self.peak = self.open;
            self.keeps_failed_response = true;
        }
    }

    /// Hands over the sample of the interval that has ended. Where more have, nothing was recorded in those after it: the thread
    /// was held up, and samples for them would take memory.
    #[inline]
    pub fn hand_over(&mut self, now: Nanos, coordinator: &impl Coordinator) {
        if now < self.next_time() || !self.is_measuring() {
            return;
        }
        let mut sample = std::mem::replace(&mut self.sample, coordinator.fresh_sample());
        self.complete(&mut sample);
        coordinator.sample(self.intervals, sample, false);
        self.intervals += 1;
        while now >= self.next_time() {
            coordinator.held_up(self.intervals, self.open);
            self.intervals += 1;
        }
        self.interval_began = self.warm_until + self.interval * self.intervals;
    }

    /// Adds what is known only at the end of an interval.
    fn complete(&mut self, sample: &mut Sample) {
        sample.open = self.open;
        sample.idle = self.idle - std::mem::replace(&mut self.idle_handed_over, self.idle);
    }

    /// Counts a request that is begun, and returns whether that is during the warm-up.
    #[inline]
    pub fn begin(&mut self, due: Nanos) -> bool {
        let in_warmup = due < self.warm_until;
        self.begun += u64::from(!in_warmup);
        in_warmup
    }

    /// Records how much later a scheduled request is sent than it could have been.
    #[inline]
    pub fn send_lag(&mut self, from: Nanos, now: Nanos) {
        self.sample.lag.record(now.saturating_sub(from));
        if let Some(last) = self.last_sent.replace(now) {
            self.sample.record_gap(now.saturating_sub(last));
        }
    }

    /// Counts bytes received on a connection whose oldest request is this.
    #[inline]
    pub fn received(&mut self, bytes: usize, oldest: Option<&InFlightRequest>) {
        match &self.warmup {
            Some(_) if oldest.is_some_and(|request| request.in_warmup) => self.sample.carried.received += bytes as u64,
            _ => self.sample.received += bytes as u64,
        }
    }

    /// Records a response. `established_at` is the time of its connection.
    #[inline]
    pub fn response(
        &mut self,
        request: &InFlightRequest,
        received: &ReceivedResponse,
        last_byte: Nanos,
        established_at: impl FnOnce() -> Nanos,
    ) {
        self.sample.activity.mark(last_byte.saturating_sub(self.interval_began));
        let sample = match &mut self.warmup {
            Some(warmup) if request.in_warmup => {
                self.sample.carried.answered += 1;
                warmup
            }
            _ => &mut self.sample,
        };
        let took = last_byte.saturating_sub(request.due);
        sample.answered.record(took);
        if let Some(first_byte) = received.first_byte.filter(|first| first.get() != last_byte) {
            sample.first_apart.record(first_byte.get().saturating_sub(request.due));
            sample.last_apart.record(took);
        }
        sample.status.count(received.response.status);
        sample.body += received.response.body;
        sample.redirects += u64::from(received.redirects);
        if received.failed_checks != 0 {
            sample.count_checks(received.failed_checks);
        }
        if self.detailed {
            let from = established_at().max(request.due);
            let first_byte = received.first_byte.map_or(last_byte, |first| first.get());
            sample.processing.record(last_byte.saturating_sub(from));
            sample.waiting.record(first_byte.saturating_sub(from));
        }
    }

    /// Counts a stream that the client has ended as planned.
    pub fn ended_here(&mut self, request: &InFlightRequest) {
        self.sample_of(request).streams.get_or_insert_default().limited += 1;
    }

    /// Records the first event of the stream that responds to a request.
    pub fn first_event(&mut self, request: &InFlightRequest, at: Nanos) {
        let streams = self.sample_of(request).streams.get_or_insert_default();
        streams.first_event.record(at.saturating_sub(request.due));
    }

    /// Records the first token of the stream that responds to a request.
    pub fn first_token(&mut self, request: &InFlightRequest, at: Nanos) {
        let streams = self.sample_of(request).streams.get_or_insert_default();
        streams.tokens.get_or_insert_default().first.record(at.saturating_sub(request.due));
    }

    /// Notes that something has come back from the server.
    #[inline]
    pub fn mark_activity(&mut self, at: Nanos) {
        self.sample.activity.mark(at.saturating_sub(self.interval_began));
    }

    /// Records events of a stream, in the time in which they arrived, whenever their request was begun.
    #[inline]
    pub fn events(&mut self, arrival: &EventArrival, at: Nanos) {
        self.mark_activity(at);
        let streams = self.sample.streams.get_or_insert_default();
        record_events(streams, arrival, at);
        if let Some(tokens) = &arrival.tokens {
            record_tokens(streams.tokens.get_or_insert_default(), tokens, at);
        }
    }

    /// Records the silence of the stream that responds to a request since its latest event, at the end of the run or at a time-out.
    /// Returns the tally in which that end is to be counted.
    pub fn silence(&mut self, request: &InFlightRequest, since: Nanos, now: Nanos) -> &mut StreamTally {
        let streams = self.sample_of(request).streams.get_or_insert_default();
        streams.silence(now.saturating_sub(since));
        streams
    }

    /// Records a response with a status of 400 or more, and keeps the first one, which is in `buffer`, with the secrets of a
    /// virtual user. Returns whether it was kept.
    #[cold]
    pub fn failed_status(
        &mut self,
        request: &InFlightRequest,
        status: u16,
        now: Nanos,
        buffer: &mut FailedResponseBuffer,
        secrets: impl FnOnce() -> Vec<String>,
    ) -> bool {
        let since = now.saturating_sub(self.warm_until);
        self.sample.carried.response_errors += u64::from(self.is_carried(request));
        self.sample_of(request).error_times.record(ErrorClass::Status(status), since);
        if !self.keeps_failed_response {
            return false;
        }
        let response = std::mem::take(buffer).response().filter(|_| !request.in_warmup);
        let Some(response) = response else { return false };
        self.failed_response = Some(FailedRequest { at_s: since as f64 / 1e9, response, secrets: secrets() });
        self.keeps_failed_response = false;
        true
    }

    /// Records a redirect that should be followed and is not. Its response is complete.
    pub fn failed_redirect(&mut self, request: &InFlightRequest, failure: Failure, now: Nanos) {
        self.sample.carried.response_errors += u64::from(self.is_carried(request));
        self.record_failures(request, failure, 1, now);
    }

    /// Counts a response with a status of 400 or more that the entry of its session expects.
    #[cold]
    pub fn expected_status(&mut self, request: &InFlightRequest) {
        self.sample_of(request).expected_statuses += 1;
    }

    /// Records a failed request.
    pub fn failure(&mut self, request: &InFlightRequest, failure: Failure, now: Nanos) {
        self.failures(request, failure, 1, now);
    }

    /// Records requests that have failed in the same way, of which this is one.
    fn failures(&mut self, request: &InFlightRequest, failure: Failure, count: u64, now: Nanos) {
        self.sample.carried.failed += if self.is_carried(request) { count } else { 0 };
        self.record_failures(request, failure, count, now);
    }

    fn record_failures(&mut self, request: &InFlightRequest, failure: Failure, count: u64, now: Nanos) {
        let at = now.saturating_sub(self.warm_until);
        let sample = self.sample_of(request);
        sample.error_times.record_many(ErrorClass::Kind(failure.kind), at, count);
        sample.failures.count_many(failure, count);
    }

    /// Records the age of a request that is given up without a response.
    pub fn unanswered(&mut self, request: &InFlightRequest, now: Nanos) {
        self.sample_of(request).unanswered.record(now.saturating_sub(request.due));
    }

    /// Records a request that is unanswered at the end of the run.
    pub fn unfinished(&mut self, request: &InFlightRequest, now: Nanos) {
        self.sample_of(request).unfinished += 1;
        self.unanswered(request, now);
    }

    /// Records requests that were due at about the same time, and never had a slot until the end of the run.
    pub fn never_begun(&mut self, due: Nanos, count: u64, now: Nanos) {
        let request = self.without_slot(due, count, now);
        self.sample_of(&request).unfinished += count;
    }

    /// Records requests that were due at about the same time, and failed since no slot was available for them in time.
    #[cold]
    pub fn abandoned(&mut self, due: Nanos, count: u64, failure: Failure, now: Nanos) {
        let request = self.without_slot(due, count, now);
        self.failures(&request, failure, count, now);
    }

    /// Records the age of requests that were due at about the same time, and have no slot. Returns one of them.
    fn without_slot(&mut self, due: Nanos, count: u64, now: Nanos) -> InFlightRequest {
        let in_warmup = due < self.warm_until;
        self.begun += if in_warmup { 0 } else { count };
        let request =
            InFlightRequest { due, key: 0, clock_pending: false, in_warmup, is_head: false, is_streaming: false };
        self.sample_of(&request).unanswered.record_many(Latency::rounded(now.saturating_sub(due)), count);
        request
    }

    /// Records a connection that is established.
    pub fn connected(&mut self, took: Option<Nanos>) {
        self.open += 1;
        self.peak = self.peak.max(self.open);
        self.sample.opened += 1;
        if let Some(took) = took {
            self.sample.connect.record(took);
        }
    }

    /// Counts an established connection that is closed.
    pub fn closed(&mut self) {
        self.open -= 1;
    }

    /// Records a completed TLS handshake.
    pub fn secured(&mut self, secured: NegotiatedTls, took: Nanos) {
        self.sample.tls.record(took);
        match secured.resumed {
            false => self.sample.full_handshakes += 1,
            true => self.sample.resumed_handshakes += 1,
        }
        self.sample.early_handshakes += u64::from(secured.early_data);
        self.secured.get_or_insert(secured);
    }

    /// Records a completed handshake of the protocol within a connection.
    pub fn upgraded(&mut self, took: Nanos) {
        self.sample.websocket.get_or_insert_default().handshakes.record(took);
    }

    /// Records the shortest life of a connection that the server ended without a request in flight.
    pub fn closed_idle(&mut self, lived: Nanos) {
        self.sample.ended_idle = Some(self.sample.ended_idle.unwrap_or(lived).min(lived));
    }

    /// Records requests that met the close of a connection that was idle for so long.
    pub fn closed_idle_under(&mut self, oldest: &InFlightRequest, requests: u64, idle: Duration) {
        self.sample_of(oldest).idle_closes.record(requests, idle);
    }

    /// Records a socket's statistics, and how they have grown since the time `since` unless that was during the warm-up.
    pub fn socket(&mut self, look: SocketReading, now: &SocketCounters, earlier: &SocketCounters, since: Nanos) {
        let counts = since >= self.warm_until || !self.is_measuring();
        self.sample.sockets.take(look, counts.then(|| now.since(*earlier)));
    }

    /// Hands over what is left at the end of the run.
    pub fn finish(mut self, now: Nanos, coordinator: &impl Coordinator) -> ThreadResult {
        let mut last = std::mem::take(&mut self.sample);
        self.complete(&mut last);
        // A run that was stopped during the warm-up has measured nothing.
        let (warmup, sample) = match self.warmup {
            Some(warmup) => (Some(*warmup), last),
            None if self.warm_until > 0 => (Some(last), Sample::default()),
            None => (None, last),
        };
        if let Some(warmup) = warmup {
            coordinator.warmup(warmup);
        }
        coordinator.sample(self.intervals, sample, true);
        ThreadResult {
            at: now.saturating_sub(self.warm_until),
            idle: Duration::from_nanos(self.idle),
            begun: self.begun,
            peak: self.peak,
            carried: self.carried,
            sources: 0,
            timestamped: false,
            secured: self.secured,
            first: None,
            failed_response: self.failed_response,
            sessions: None,
        }
    }

    /// Whether a request was begun during the warm-up and has outlived it.
    fn is_carried(&self, request: &InFlightRequest) -> bool {
        request.in_warmup && self.warmup.is_some()
    }

    /// Returns the sample that a request is recorded in.
    fn sample_of(&mut self, request: &InFlightRequest) -> &mut Sample {
        match &mut self.warmup {
            Some(warmup) if request.in_warmup => warmup,
            _ => &mut self.sample,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::state::{Report, RunState, ThreadCoordinator};
    use crate::{Requests, Target};
    use std::sync::mpsc;

    const SECOND: Nanos = 1_000_000_000;

    #[test]
    fn a_thread_that_was_held_up_hands_over_one_sample() {
        let target = Target::parse("http://127.0.0.1:1/").expect("this is a target");
        let requests = Requests::get(&target, true).expect("this is a request");
        let plan = Plan::new(target, vec![], requests);
        let state = RunState::new(&plan);
        let (reports, read) = mpsc::channel();
        let coordinator = ThreadCoordinator { number: 0, state: &state, reports };
        let mut recorder = Recorder::new(&plan);
        recorder.open = 3;
        recorder.sample.sent = 7;
        recorder.hand_over(SECOND - 1, &coordinator);
        assert!(read.try_recv().is_err(), "the first interval is not over");
        recorder.hand_over(3 * SECOND, &coordinator);
        recorder.hand_over(4 * SECOND, &coordinator);
        let reports: Vec<_> = read.try_iter().collect();
        let seen = reports.iter().map(|report| match report {
            Report::Sample { interval, sample, .. } => (*interval, sample.open, Some(sample.sent)),
            Report::HeldUp { interval, open, .. } => (*interval, *open, None),
            Report::Warmup(_) => panic!("the plan has no warm-up"),
        });
        assert_eq!(seen.collect::<Vec<_>>(), [(0, 3, Some(7)), (1, 3, None), (2, 3, None), (3, 3, Some(0))]);
    }
}
