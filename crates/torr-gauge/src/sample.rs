//! The counts and histograms of one thread in one interval.

mod bounds;

use crate::datagrams::DatagramTally;
use crate::error_times::ErrorTimes;
use crate::idle_closes::IdleCloses;
use crate::sessions::SessionsEnded;
use crate::sockets::SocketTally;
use crate::stalls::Activity;
use crate::statuses::Statuses;
use crate::streams::StreamTally;
use crate::websocket::WebSocketTally;
use crate::{Failure, FailureKind, Latency};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The limit of distinct causes of failures; further ones are counted by their kind only.
const MAX_DISTINCT: usize = 32;
/// The limit of recorded gaps between requests, enough for a test of their distribution.
pub const MAX_GAPS: usize = 2000;

/// The counts and histograms of one interval, in bounded memory. Serialised, it is what an agent of a fleet sends.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Sample {
    /// The response times of complete responses, from the scheduled time to the last byte.
    pub answered: Latency,
    /// The ages of requests that timed out, or were unfinished when the run ended.
    pub unanswered: Latency,
    /// The times to the first byte, of responses whose first and last byte were received separately.
    pub first_apart: Latency,
    /// The times to the last byte of the responses in `first_apart`. For all others both times are equal, and only `answered`
    /// has them.
    pub last_apart: Latency,
    /// The times from the connection's establishment, or the scheduled time if later, to the last byte; detailed runs only.
    pub processing: Latency,
    /// The times from the start of `processing` to the first byte.
    pub waiting: Latency,
    /// The durations of connects.
    pub connect: Latency,
    /// The durations of TLS handshakes.
    pub tls: Latency,
    /// The send lag of scheduled requests.
    pub lag: Latency,
    /// The number of full TLS handshakes.
    pub full_handshakes: u64,
    /// The number of TLS handshakes that resumed a session.
    pub resumed_handshakes: u64,
    /// Of these, the number in which the server has taken requests before their end (0-RTT).
    pub early_handshakes: u64,
    /// The number of responses that failed each check, by the check's index.
    pub failed_checks: Vec<u64>,
    /// The times between consecutive requests of a schedule in nanoseconds; the first [`MAX_GAPS`].
    pub gaps: Vec<u64>,
    /// The number of responses by status code.
    pub status: Statuses,
    /// The number of responses with a status of 400 or more that the entry of a session expects: no errors.
    pub expected_statuses: u64,
    /// The failures by kind and cause.
    pub failures: Failures,
    /// The times of failures and of responses with a status of 400 or more.
    pub error_times: ErrorTimes,
    /// The outcomes in this interval of requests that began in the warm-up. No other field counts them.
    pub carried: Carried,
    /// The number of requests without a response when the run ended.
    pub unfinished: u64,
    /// The number of redirects followed.
    pub redirects: u64,
    /// The number of sessions of virtual users that ended.
    pub sessions: SessionsEnded,
    /// The events of streams, in a run whose responses are streams.
    pub streams: Option<Box<StreamTally>>,
    /// The counts of WebSocket connections, in a run over such.
    pub websocket: Option<Box<WebSocketTally>>,
    /// The counts of datagrams, in a run over QUIC.
    pub datagrams: DatagramTally,
    /// The number of bytes passed to the kernel.
    pub sent: u64,
    /// The number of bytes received.
    pub received: u64,
    /// The number of bytes received that are content.
    pub body: u64,
    /// The number of connections established.
    pub opened: u64,
    /// The number of reusable connections that the server closed or announced to close.
    pub closed_by_server: u64,
    /// The shortest lifetime in nanoseconds of a connection that the server closed without a request in flight.
    pub ended_idle: Option<u64>,
    /// The requests that met the close of an idle connection.
    pub idle_closes: IdleCloses,
    /// The kernel's statistics of sampled connections.
    pub sockets: SocketTally,
    /// The time in nanoseconds in which the thread waited for events.
    pub idle: u64,
    /// The times within the interval at which responses came.
    pub activity: Activity,
    /// The number of connections that were open at the interval's end. It adds up over threads, not over intervals.
    pub open: u64,
}

impl Sample {
    /// Counts a response that failed checks, given as a bit for each.
    #[cold]
    pub fn count_checks(&mut self, failed: u32) {
        let most = (u32::BITS - failed.leading_zeros()) as usize;
        self.failed_checks.resize(self.failed_checks.len().max(most), 0);
        self.failed_checks.iter_mut().enumerate().for_each(|(bit, count)| *count += u64::from(failed >> bit & 1));
    }

    /// Returns the response times of complete responses, and the ages of requests that timed out or are unfinished.
    pub fn latency(&self) -> Latency {
        let mut latency = self.answered.clone();
        latency.add(&self.unanswered);
        latency
    }

    /// Returns the number of responses completed in this interval, whenever their requests began; throughput counts these.
    pub fn completed(&self) -> u64 {
        self.answered.count() + self.carried.answered
    }

    /// Returns the number of complete responses with a status of 400 or more, without those that a session's entry expects.
    pub fn status_errors(&self) -> u64 {
        self.status.errors().saturating_sub(self.expected_statuses)
    }

    /// Returns the number of failed requests, responses with a status of 400 or more included, whenever they began.
    pub fn failed(&self) -> u64 {
        self.failures.total() + self.status_errors() + self.carried.failed + self.carried.response_errors
    }

    /// Returns the number of requests that have ended: with a complete response, or without one.
    pub fn ended(&self) -> u64 {
        self.completed() + self.failures.total() + self.carried.failed
    }

    /// Adds another sample.
    pub fn add(&mut self, other: &Self) {
        self.answered.add(&other.answered);
        self.unanswered.add(&other.unanswered);
        self.first_apart.add(&other.first_apart);
        self.last_apart.add(&other.last_apart);
        self.processing.add(&other.processing);
        self.waiting.add(&other.waiting);
        self.connect.add(&other.connect);
        self.redirects += other.redirects;
        self.sessions.add(other.sessions);
        if let Some(streams) = &other.streams {
            self.streams.get_or_insert_default().add(streams);
        }
        if let Some(websocket) = &other.websocket {
            self.websocket.get_or_insert_default().add(websocket);
        }
        self.datagrams.add(&other.datagrams);
        self.tls.add(&other.tls);
        self.full_handshakes += other.full_handshakes;
        self.resumed_handshakes += other.resumed_handshakes;
        self.early_handshakes += other.early_handshakes;
        self.failed_checks.resize(self.failed_checks.len().max(other.failed_checks.len()), 0);
        self.failed_checks.iter_mut().zip(&other.failed_checks).for_each(|(mine, theirs)| *mine += theirs);
        self.lag.add(&other.lag);
        self.gaps.extend_from_slice(&other.gaps[..other.gaps.len().min(MAX_GAPS.saturating_sub(self.gaps.len()))]);
        self.status.add(&other.status);
        self.expected_statuses += other.expected_statuses;
        self.failures.add(&other.failures);
        self.error_times.add(&other.error_times);
        self.carried.add(&other.carried);
        self.unfinished += other.unfinished;
        // Sums of bytes and times of other machines, whose parts are bounded, may be more than 64 bits have.
        self.sent = self.sent.saturating_add(other.sent);
        self.received = self.received.saturating_add(other.received);
        self.body = self.body.saturating_add(other.body);
        self.opened += other.opened;
        self.closed_by_server += other.closed_by_server;
        self.ended_idle = self.ended_idle.into_iter().chain(other.ended_idle).min();
        self.idle_closes.add(&other.idle_closes);
        self.sockets.add(&other.sockets);
        self.idle = self.idle.saturating_add(other.idle);
        self.activity.add(other.activity);
        self.open += other.open;
    }

    /// Returns an empty sample with this one's memory, for another interval. The page faults of a new sample would stall a
    /// thread for more than half a millisecond.
    #[must_use]
    pub fn cleared(self) -> Self {
        // Each field is named, so that the compiler reports a new one.
        let Self {
            mut answered,
            mut unanswered,
            mut first_apart,
            mut last_apart,
            mut processing,
            mut waiting,
            mut connect,
            mut tls,
            mut lag,
            mut gaps,
            mut failed_checks,
            mut status,
            expected_statuses: _,
            failures: _,
            error_times: _,
            carried: _,
            full_handshakes: _,
            resumed_handshakes: _,
            early_handshakes: _,
            redirects: _,
            sessions: _,
            streams,
            websocket,
            datagrams: _,
            unfinished: _,
            sent: _,
            received: _,
            body: _,
            opened: _,
            closed_by_server: _,
            ended_idle: _,
            idle_closes: _,
            sockets: _,
            idle: _,
            activity: _,
            open: _,
        } = self;
        let phases = [&mut processing, &mut waiting, &mut connect, &mut tls, &mut lag];
        let all = [&mut answered, &mut unanswered, &mut first_apart, &mut last_apart].into_iter().chain(phases);
        all.for_each(Latency::clear);
        gaps.clear();
        failed_checks.clear();
        status.clear();
        Self {
            answered,
            unanswered,
            first_apart,
            last_apart,
            processing,
            waiting,
            connect,
            tls,
            lag,
            gaps,
            failed_checks,
            status,
            expected_statuses: 0,
            failures: Failures::default(),
            error_times: ErrorTimes::default(),
            carried: Carried::default(),
            full_handshakes: 0,
            resumed_handshakes: 0,
            early_handshakes: 0,
            redirects: 0,
            sessions: SessionsEnded::default(),
            streams: streams.map(|streams| Box::new(streams.cleared())),
            websocket: websocket.map(|websocket| Box::new(websocket.cleared())),
            datagrams: DatagramTally::default(),
            unfinished: 0,
            sent: 0,
            received: 0,
            body: 0,
            opened: 0,
            closed_by_server: 0,
            ended_idle: None,
            idle_closes: IdleCloses::default(),
            sockets: SocketTally::default(),
            idle: 0,
            activity: Activity::default(),
            open: 0,
        }
    }

    /// Records the time in nanoseconds between two consecutive requests, up to [`MAX_GAPS`] times.
    #[inline]
    pub fn record_gap(&mut self, nanos: u64) {
        if self.gaps.len() < MAX_GAPS {
            self.gaps.push(nanos);
        }
    }
}

/// The outcomes within an interval of requests that began in the warm-up.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Carried {
    /// The number of complete responses.
    pub answered: u64,
    /// The number of complete responses that are errors: those with a status of 400 or more, and redirects that were not
    /// followed although they should have been.
    pub response_errors: u64,
    /// The number of requests that failed without a complete response.
    pub failed: u64,
    /// The number of bytes received.
    pub received: u64,
}

impl Carried {
    fn add(&mut self, other: &Self) {
        self.answered += other.answered;
        self.response_errors += other.response_errors;
        self.failed += other.failed;
        self.received = self.received.saturating_add(other.received);
    }
}

/// Failed requests by kind, and by cause up to a limit of distinct causes.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Failures {
    kinds: BTreeMap<FailureKind, u64>,
    #[serde(with = "crate::pairs")]
    causes: BTreeMap<Failure, u64>,
}

impl Failures {
    /// Counts a failed request.
    pub fn count(&mut self, failure: Failure) {
        self.count_many(failure, 1);
    }

    /// Counts requests that have failed in the same way.
    pub fn count_many(&mut self, failure: Failure, n: u64) {
        *self.kinds.entry(failure.kind).or_default() += n;
        if self.causes.len() < MAX_DISTINCT || self.causes.contains_key(&failure) {
            *self.causes.entry(failure).or_default() += n;
        }
    }

    /// Returns the number of failures of a kind.
    pub fn of(&self, kind: FailureKind) -> u64 {
        self.kinds.get(&kind).copied().unwrap_or(0)
    }

    /// Returns the number of failures of these kinds.
    pub fn of_any(&self, kinds: &[FailureKind]) -> u64 {
        kinds.iter().map(|kind| self.of(*kind)).sum()
    }

    /// Returns the number of all failures.
    pub fn total(&self) -> u64 {
        self.kinds.values().sum()
    }

    /// Returns the distinct causes with their counts.
    pub fn causes(&self) -> impl Iterator<Item = (&Failure, u64)> {
        self.causes.iter().map(|(failure, &count)| (failure, count))
    }

    fn add(&mut self, other: &Self) {
        for (failure, n) in other.causes() {
            self.count_many(failure.clone(), n);
        }
        for (&kind, &n) in &other.kinds {
            let by_cause: u64 = other.causes().filter(|(f, _)| f.kind == kind).map(|(_, n)| n).sum();
            *self.kinds.entry(kind).or_default() += n.saturating_sub(by_cause);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::FailureSide;

    #[test]
    fn a_cleared_sample_equals_a_new_one() {
        let mut used = Sample { sent: 1, received: 2, body: 3, opened: 4, closed_by_server: 5, ..Sample::default() };
        used.unfinished = 6;
        used.expected_statuses = 9;
        used.ended_idle = Some(8);
        used.idle_closes.record(1, std::time::Duration::from_secs(1));
        used.record_gap(7);
        used.status.count(200);
        used.failures.count(Failure::new(FailureKind::Read, FailureSide::Server, "gone"));
        let parts = [&mut used.answered, &mut used.unanswered, &mut used.first_apart];
        let more = [&mut used.last_apart, &mut used.connect, &mut used.lag, &mut used.tls];
        let detailed = [&mut used.processing, &mut used.waiting];
        parts.into_iter().chain(more).chain(detailed).for_each(|l| l.record(1000));
        used.count_checks(5);
        used.sockets.take(crate::sockets::SocketReading::default(), None);
        used.error_times.record(crate::error_times::ErrorClass::Status(503), 9);
        used.carried = Carried { answered: 1, response_errors: 2, failed: 3, received: 4 };
        (used.full_handshakes, used.resumed_handshakes, used.early_handshakes, used.redirects) = (1, 2, 1, 3);
        used.sessions = SessionsEnded { finished: 1, failed: 2 };
        (used.idle, used.open) = (1, 2);
        assert_eq!(format!("{:?}", used.cleared()), format!("{:?}", Sample::default()));
    }

    #[test]
    fn distinct_causes_are_bounded_and_all_failures_are_counted() {
        let (mut one, mut sum) = (Failures::default(), Failures::default());
        for n in 0..1000 {
            one.count(Failure::new(FailureKind::Read, FailureSide::Server, format!("cause {n}")));
        }
        sum.add(&one);
        sum.add(&one);
        assert_eq!((one.of(FailureKind::Read), sum.of(FailureKind::Read), sum.total()), (1000, 2000, 2000));
        assert_eq!(sum.causes().count(), MAX_DISTINCT);
    }
}
