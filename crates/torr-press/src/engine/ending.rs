//! How requests, connections and the run end other than by an answer; and what is done now and then.

use super::*;

impl<'r, S: Session, P: Pacer, L: Link> Engine<'r, S, P, L> {
    /// The server has ended its side.
    pub(super) fn server_ended(&mut self, at: usize, now: Nanos) {
        let connection = &mut self.connections[at];
        match connection.session.end() {
            Ok(Some(answer)) => {
                self.answered(at, answer, now);
                self.close(at);
            }
            Ok(None) if connection.request.is_some() => self.lose(at, failures::closed_unanswered()),
            Ok(None) => {
                self.sample.closed_by_server += 1;
                self.close(at);
            }
            Err(error) => self.lose(at, failures::protocol(error)),
        }
    }

    #[cold]
    pub(super) fn fail_to_connect(&mut self, at: usize, failure: Failure) {
        if !self.reached {
            self.link.not_reached(&failure);
        }
        self.lose(at, failure);
    }

    /// Ends a connection that is of no more use, and its request as failed. It is opened again after a while that
    /// grows with the number of failures in a row.
    #[cold]
    pub(super) fn lose(&mut self, at: usize, failure: Failure) {
        self.close(at);
        let connection = &mut self.connections[at];
        if connection.request.take().is_none() {
            return;
        }
        self.under_way -= 1;
        let now = self.clock.now();
        self.pacer.ended(now);
        self.sample.failures.count(failure);
        let wait = backoff::wait_after(connection.failures.into());
        connection.failures = connection.failures.saturating_add(1);
        self.retries.push(Reverse((now + wait, at as u32)));
    }

    pub(super) fn close(&mut self, at: usize) {
        let connection = &mut self.connections[at];
        if connection.socket.take().is_some() {
            connection.generation = connection.generation.wrapping_add(1);
            self.open_now -= u64::from(!connection.connecting);
            connection.connecting = false;
            connection.watched = false;
            if std::mem::take(&mut connection.sending) {
                connection.cold.unsent = Vec::new();
            }
        }
    }

    /// What is done now and then: hand over a sample, reopen connections, look for time-outs.
    #[inline]
    pub(super) fn tend(&mut self, now: Nanos) {
        while now >= self.next_sample() {
            let sample = std::mem::replace(&mut self.sample, self.link.fresh_sample());
            self.link.sample(self.intervals, sample, false);
            self.intervals += 1;
        }
        while self.retries.peek().is_some_and(|Reverse((at, _))| *at <= now) {
            self.free.extend(self.retries.pop().map(|Reverse((_, at))| at));
        }
        if now >= self.next_sweep {
            self.next_sweep = now + SWEEP;
            self.time_out(now);
        }
    }

    pub(super) fn time_out(&mut self, now: Nanos) {
        let timeout = clock::nanos(self.plan.timeout);
        for at in 0..self.connections.len() {
            let connection = &self.connections[at];
            let Some(request) = connection.request else { continue };
            let age = now.saturating_sub(request.due);
            if age < timeout {
                continue;
            }
            self.sample.unanswered.record(age);
            if connection.connecting {
                self.fail_to_connect(at, failures::no_connection_in_time());
            } else {
                self.lose(at, failures::no_answer_in_time());
            }
        }
    }

    pub(super) fn end(mut self, now: Nanos) -> Ended {
        for connection in &self.connections {
            if let Some(request) = connection.request {
                self.sample.unfinished += 1;
                self.sample.unanswered.record(now.saturating_sub(request.due));
            }
        }
        // Requests that were due, but never had a place, have waited for an answer like any other.
        while let Due::At(due) = self.pacer.next(now) {
            if due > now {
                break;
            }
            self.asked += 1;
            self.sample.unfinished += 1;
            self.sample.unanswered.record(now - due);
        }
        self.link.sample(self.intervals, self.sample, true);
        Ended {
            at: now,
            idle: Duration::from_nanos(self.idle),
            asked: self.asked,
            peak: self.peak,
            sources: self.sources.used(),
        }
    }
}
