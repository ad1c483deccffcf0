//! What one thread saw in one interval.

use crate::error_times::ErrorTimes;
use crate::sockets::SocketTally;
use crate::{Failure, FailureKind, Latency};
use std::collections::BTreeMap;

/// Distinct failure texts that are told apart; further ones count under their kind alone.
const MAX_DISTINCT: usize = 32;
/// The most gaps between requests that are kept: enough to tell their distribution.
pub const MOST_GAPS: usize = 2000;

/// Counts and distributions of one interval. Its size does not depend on how much happens in it.
#[derive(Debug, Default)]
pub struct Sample {
    /// From due to last byte, of requests that were answered in full.
    pub answered: Latency,
    /// The age of requests that timed out or were unfinished when the run ended.
    pub unanswered: Latency,
    /// Of the answered, those whose first and last byte came apart: from due to first byte ...
    pub first_apart: Latency,
    /// ... and to last byte. Of all others the first byte's time *is* the last one's, and recorded once.
    pub last_apart: Latency,
    /// From the connection, or from due where that was later, to the last byte; only of detailed runs.
    pub processing: Latency,
    /// The same, to the first byte.
    pub waiting: Latency,
    /// How long connecting took.
    pub connect: Latency,
    /// How long TLS handshakes took.
    pub tls: Latency,
    /// On a schedule, how much later a request was sent than it could have been.
    pub lag: Latency,
    /// TLS handshakes with a key exchange of their own.
    pub full_handshakes: u64,
    /// TLS handshakes that resumed an earlier session.
    pub resumed_handshakes: u64,
    /// Answers that failed each check, by the check's number.
    pub failed_checks: Vec<u64>,
    /// On a schedule, times between requests that a thread really sent one after another, in nanoseconds; the first
    /// [`MOST_GAPS`] of them.
    pub gaps: Vec<u64>,
    /// Answers by status code.
    pub status: Statuses,
    /// Failures by kind and cause.
    pub failures: Failures,
    /// When failures and responses with a status of 400 or more happened.
    pub error_times: ErrorTimes,
    /// What became, in this interval, of requests that began while warming up. Nothing else here counts them.
    pub carried: Carried,
    /// Requests still unanswered when the run ended.
    pub unfinished: u64,
    /// Redirects that were followed.
    pub redirects: u64,
    /// Bytes sent, as given to the kernel.
    pub sent: u64,
    /// Bytes received.
    pub received: u64,
    /// Of those, content of bodies.
    pub body: u64,
    /// Connections that were established.
    pub opened: u64,
    /// Connections that would have been used again, but the server ended them or announced so.
    pub closed_by_server: u64,
    /// The shortest life, in nanoseconds, of a connection that the server ended while nothing was asked on it.
    pub ended_idle: Option<u64>,
    /// What the kernel told of some connections.
    pub sockets: SocketTally,
}

impl Sample {
    /// Counts an answer that failed checks: a bit for each.
    #[cold]
    pub fn count_checks(&mut self, failed: u32) {
        let most = (u32::BITS - failed.leading_zeros()) as usize;
        self.failed_checks.resize(self.failed_checks.len().max(most), 0);
        self.failed_checks.iter_mut().enumerate().for_each(|(bit, count)| *count += u64::from(failed >> bit & 1));
    }

    /// The response times of all requests that have one, or an age instead: answered, timed out, unfinished.
    pub fn latency(&self) -> Latency {
        let mut latency = self.answered.clone();
        latency.add(&self.unanswered);
        latency
    }

    /// Responses that were complete in this interval, whenever their requests began: what throughput is made of.
    pub fn completed(&self) -> u64 {
        self.answered.count() + self.carried.answered
    }

    /// Requests that failed in this interval, responses with a status of 400 or more included, whenever they began.
    pub fn failed(&self) -> u64 {
        self.failures.total() + self.status.errors() + self.carried.failed + self.carried.status_errors
    }

    /// Adds what another sample holds.
    pub fn add(&mut self, other: &Self) {
        self.answered.add(&other.answered);
        self.unanswered.add(&other.unanswered);
        self.first_apart.add(&other.first_apart);
        self.last_apart.add(&other.last_apart);
        self.processing.add(&other.processing);
        self.waiting.add(&other.waiting);
        self.connect.add(&other.connect);
        self.redirects += other.redirects;
        self.tls.add(&other.tls);
        self.full_handshakes += other.full_handshakes;
        self.resumed_handshakes += other.resumed_handshakes;
        self.failed_checks.resize(self.failed_checks.len().max(other.failed_checks.len()), 0);
        self.failed_checks.iter_mut().zip(&other.failed_checks).for_each(|(mine, theirs)| *mine += theirs);
        self.lag.add(&other.lag);
        self.gaps.extend_from_slice(&other.gaps[..other.gaps.len().min(MOST_GAPS.saturating_sub(self.gaps.len()))]);
        self.status.add(&other.status);
        self.failures.add(&other.failures);
        self.error_times.add(&other.error_times);
        self.carried.add(&other.carried);
        self.unfinished += other.unfinished;
        self.sent += other.sent;
        self.received += other.received;
        self.body += other.body;
        self.opened += other.opened;
        self.closed_by_server += other.closed_by_server;
        self.ended_idle = self.ended_idle.into_iter().chain(other.ended_idle).min();
        self.sockets.add(&other.sockets);
    }

    /// Empties it for another interval. Its memory is kept, since that of a new one costs more than half a millisecond to
    /// touch, in which a thread could do nothing else.
    #[must_use]
    pub fn cleared(self) -> Self {
        // Each field is named, so that none can be forgotten.
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
            failures: _,
            error_times: _,
            carried: _,
            full_handshakes: _,
            resumed_handshakes: _,
            redirects: _,
            unfinished: _,
            sent: _,
            received: _,
            body: _,
            opened: _,
            closed_by_server: _,
            ended_idle: _,
            sockets: _,
        } = self;
        let phases = [&mut processing, &mut waiting, &mut connect, &mut tls, &mut lag];
        let all = [&mut answered, &mut unanswered, &mut first_apart, &mut last_apart].into_iter().chain(phases);
        all.for_each(Latency::clear);
        gaps.clear();
        failed_checks.clear();
        status.0.fill(0);
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
            failures: Failures::default(),
            error_times: ErrorTimes::default(),
            carried: Carried::default(),
            full_handshakes: 0,
            resumed_handshakes: 0,
            redirects: 0,
            unfinished: 0,
            sent: 0,
            received: 0,
            body: 0,
            opened: 0,
            closed_by_server: 0,
            ended_idle: None,
            sockets: SocketTally::default(),
        }
    }

    /// Records the time in nanoseconds between two requests that were sent one after another, as long as there is room.
    #[inline]
    pub fn record_gap(&mut self, nanos: u64) {
        if self.gaps.len() < MOST_GAPS {
            self.gaps.push(nanos);
        }
    }
}

/// What became within an interval of requests that began while warming up.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Carried {
    /// Requests that were answered in full.
    pub answered: u64,
    /// Of those, with a status of 400 or more.
    pub status_errors: u64,
    /// Requests that failed without a whole response.
    pub failed: u64,
    /// Bytes received.
    pub received: u64,
}

impl Carried {
    fn add(&mut self, other: &Self) {
        self.answered += other.answered;
        self.status_errors += other.status_errors;
        self.failed += other.failed;
        self.received += other.received;
    }
}

/// Answers by status code.
#[derive(Debug)]
pub struct Statuses(Box<[u64; 1000]>);

impl Default for Statuses {
    fn default() -> Self {
        Self(Box::new([0; 1000]))
    }
}

impl Statuses {
    /// Counts an answer.
    #[inline]
    pub fn count(&mut self, status: u16) {
        self.0[usize::from(status).min(999)] += 1;
    }

    /// The codes that occurred, with their counts.
    pub fn iter(&self) -> impl Iterator<Item = (u16, u64)> {
        (0..).zip(self.0.iter().copied()).filter(|&(_, count)| count > 0)
    }

    /// Answers of 400 and more.
    pub fn errors(&self) -> u64 {
        self.0[400..].iter().sum()
    }

    fn add(&mut self, other: &Self) {
        self.0.iter_mut().zip(other.0.iter()).for_each(|(mine, theirs)| *mine += theirs);
    }
}

/// Failed requests by kind, and as far as there are not too many, by cause.
#[derive(Debug, Default)]
pub struct Failures {
    kinds: BTreeMap<FailureKind, u64>,
    causes: BTreeMap<Failure, u64>,
}

impl Failures {
    /// Counts a failed request.
    pub fn count(&mut self, failure: Failure) {
        self.count_many(failure, 1);
    }

    fn count_many(&mut self, failure: Failure, n: u64) {
        *self.kinds.entry(failure.kind).or_default() += n;
        if self.causes.len() < MAX_DISTINCT || self.causes.contains_key(&failure) {
            *self.causes.entry(failure).or_default() += n;
        }
    }

    /// How many of a kind.
    pub fn of(&self, kind: FailureKind) -> u64 {
        self.kinds.get(&kind).copied().unwrap_or(0)
    }

    /// How many in all.
    pub fn total(&self) -> u64 {
        self.kinds.values().sum()
    }

    /// The causes that were told apart, with their counts.
    pub fn causes(&self) -> impl Iterator<Item = (&Failure, u64)> {
        self.causes.iter().map(|(failure, &count)| (failure, count))
    }

    fn add(&mut self, other: &Self) {
        for (failure, n) in other.causes() {
            self.count_many(failure.clone(), n);
        }
        for (&kind, &n) in &other.kinds {
            let told_apart: u64 = other.causes().filter(|(f, _)| f.kind == kind).map(|(_, n)| n).sum();
            *self.kinds.entry(kind).or_default() += n - told_apart;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::FailureSide;

    #[test]
    fn a_cleared_sample_is_as_good_as_new() {
        let mut used = Sample { sent: 1, received: 2, body: 3, opened: 4, closed_by_server: 5, ..Sample::default() };
        used.unfinished = 6;
        used.ended_idle = Some(8);
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
        used.carried = Carried { answered: 1, status_errors: 2, failed: 3, received: 4 };
        (used.full_handshakes, used.resumed_handshakes, used.redirects) = (1, 2, 3);
        assert_eq!(format!("{:?}", used.cleared()), format!("{:?}", Sample::default()));
    }

    #[test]
    fn failures_of_endless_variety_are_all_counted_in_bounded_room() {
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
