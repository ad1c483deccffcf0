//! How requests and connections end other than by an answer.

use super::*;
use torr_gauge::error_times::ErrorClass;

impl<'r, S: Protocol, P: Pacer, L: Link> Engine<'r, S, P, L> {
    /// The server has ended its side.
    pub(super) fn server_ended(&mut self, at: usize, now: Nanos) {
        let connection = &mut self.connections[at];
        if connection.stage != Stage::Open {
            // The session may still be that of the connection before.
            return self.lose(at, failures::closed_unready());
        }
        let written = connection.written();
        match connection.session.server_closed() {
            // It says itself that no other can follow on this connection.
            Ok(Some(ProtocolEvent::Response(answer))) => self.answered(at, answer, now),
            Ok(Some(ProtocolEvent::Failed(_, failure))) => self.lose(at, failure),
            Ok(Some(ProtocolEvent::Unprocessed(key))) => {
                self.unprocessed(at, key);
                self.server_closes(at);
            }
            Ok(None) if written > 0 => self.lose(at, failures::closed_unanswered()),
            Ok(None) => {
                let lived = now.saturating_sub(connection.cold.established_at);
                self.sample.ended_idle = Some(self.sample.ended_idle.unwrap_or(lived).min(lived));
                self.server_closes(at);
            }
            Err(failure) => self.lose(at, failure),
        }
    }

    /// The server wants this connection to end. Requests that it has not looked at go on another.
    pub(super) fn server_closes(&mut self, at: usize) {
        if !self.is_spent(at) {
            self.sample.closed_by_server += 1;
        }
        self.close(at);
        if !self.connections[at].requests.is_empty() {
            self.connect(at, None);
        }
    }

    /// A connection that may not carry more requests ends with its last answer.
    #[inline]
    pub(super) fn retire(&mut self, at: usize) {
        if self.is_spent(at) && self.connections[at].requests.is_empty() {
            self.close(at);
        }
    }

    /// Lets a place wait for the end of a connection that may not carry more requests.
    #[inline]
    pub(super) fn park(&mut self, at: u32) -> bool {
        let spent = self.is_spent(at as usize);
        if spent {
            self.connections[at as usize].cold.parked += 1;
        }
        spent
    }

    fn is_spent(&self, at: usize) -> bool {
        let connection = &self.connections[at];
        let begun = match connection.stage {
            // What waits for the next one.
            Stage::Closed => connection.requests.len() as u64,
            _ => connection.cold.begun,
        };
        self.carries.is_some_and(|most| begun >= most)
    }

    /// Ends a connection that is of no more use, and its requests as failed. It is opened again after a while that grows
    /// with the number of failures in a row.
    #[cold]
    pub(super) fn lose(&mut self, at: usize, failure: Failure) {
        if self.connections[at].stage != Stage::Open && !self.reached {
            self.link.not_reached(&failure);
        }
        self.close(at);
        let connection = &mut self.connections[at];
        connection.session.discard_in_flight();
        if connection.requests.is_empty() {
            return;
        }
        connection.unwritten = 0;
        let until = self.back_off(at);
        self.connections[at].cold.rests_until = until;
        while let Some(request) = self.connections[at].requests.take_oldest() {
            self.count_failed(request, failure.clone());
            self.later.push(Reverse(Wait { until, at: at as u32, begun: true }));
        }
    }

    /// Lets a free slot of a connection that was lost wait until that may be opened again, like those in which requests
    /// failed.
    #[inline]
    pub(super) fn rests(&mut self, at: u32, now: Nanos) -> bool {
        let connection = &self.connections[at as usize];
        connection.failures > 0 && connection.stage == Stage::Closed && self.let_rest(at, now)
    }

    #[cold]
    fn let_rest(&mut self, at: u32, now: Nanos) -> bool {
        let until = self.connections[at as usize].cold.rests_until;
        if until > now {
            self.later.push(Reverse(Wait { until, at, begun: false }));
        }
        until > now
    }

    /// One request has failed, but not its connection.
    #[cold]
    pub(super) fn fail(&mut self, at: usize, key: u32, failure: Failure) {
        let place = self.connections[at].requests.iter().position(|request| request.key == key);
        if let Some(place) = place {
            self.fail_at(at, place, failure);
        }
    }

    /// The same, of the request that so many others are older than.
    pub(super) fn fail_at(&mut self, at: usize, place: usize, failure: Failure) {
        let Some(request) = self.connections[at].requests.remove(place) else { return };
        let until = self.back_off(at);
        self.count_failed(request, failure);
        self.later.push(Reverse(Wait { until, at: at as u32, begun: true }));
        if self.carries.is_some() {
            self.retire(at);
        }
    }

    fn count_failed(&mut self, request: Pending, failure: Failure) {
        self.under_way -= 1;
        self.sample.carried.failed += u64::from(self.is_carried(&request));
        let at = self.clock.now().saturating_sub(self.warm_until);
        let sample = self.sample_of(&request);
        sample.error_times.record(ErrorClass::Kind(failure.kind), at);
        sample.failures.count(failure);
    }

    /// A response with a status of 400 or more is complete: it tells when that happened, and the first one stays as a
    /// sample.
    #[cold]
    pub(super) fn status_failed(&mut self, at: usize, request: &Pending, status: u16, now: Nanos) {
        let since = now.saturating_sub(self.warm_until);
        self.sample.carried.status_errors += u64::from(self.is_carried(request));
        self.sample_of(request).error_times.record(ErrorClass::Status(status), since);
        if !self.gathers {
            return;
        }
        let gathered = std::mem::take(&mut self.connections[at].cold.gathered);
        if let Some(response) = gathered.response().filter(|_| !request.warm) {
            self.failed_response = Some(FailedResponse { at_s: since as f64 / 1e9, ..response });
            self.gathers = false;
            self.connections
                .iter_mut()
                .for_each(|connection| connection.cold.gathered = FailedResponseBuffer::default());
        }
    }

    /// Whether a request began while warming up, and has outlived that.
    fn is_carried(&self, request: &Pending) -> bool {
        request.warm && self.warm.is_some()
    }

    /// A request is to be written again, on another connection.
    #[cold]
    pub(super) fn unprocessed(&mut self, at: usize, key: u32) {
        let connection = &mut self.connections[at];
        if let Some(request) = connection.requests.take(key) {
            connection.requests.insert(connection.unwritten.into(), request);
            connection.unwritten += 1;
        }
    }

    /// Closes a connection. Its requests, if it has any, wait for the next one.
    pub(super) fn close(&mut self, at: usize) {
        let connection = &mut self.connections[at];
        if connection.socket.take().is_none() {
            return;
        }
        connection.generation = connection.generation.wrapping_add(1);
        self.open_now -= u64::from(connection.stage != Stage::Connecting);
        connection.stage = Stage::Closed;
        connection.watched = false;
        connection.unwritten = connection.requests.len() as u16;
        if std::mem::take(&mut connection.sending) {
            (connection.cold.unsent, connection.cold.sent) = (Vec::new(), 0);
        }
        if self.plan.tunnel.is_some() {
            connection.cold.tunnel.reset();
        }
        if self.carries.is_some() {
            let parked = std::mem::take(&mut connection.cold.parked);
            (0..parked).for_each(|_| self.free.put(at as u32));
        }
    }

    /// Closes the connections that have nothing to do.
    pub(super) fn close_idle(&mut self) {
        for n in 0..self.free.open().len() {
            let at = self.free.open()[n] as usize;
            if self.connections[at].requests.is_empty() {
                self.close(at);
            }
        }
    }

    /// Where what becomes of a request is recorded.
    pub(super) fn sample_of(&mut self, request: &Pending) -> &mut Sample {
        sample_of(&mut self.sample, &mut self.warm, request)
    }

    /// When a place may be used again, after one failure more in a row.
    fn back_off(&mut self, at: usize) -> Nanos {
        let connection = &mut self.connections[at];
        let wait = backoff::delay_after(connection.failures.into());
        connection.failures = connection.failures.saturating_add(1);
        self.clock.now() + wait
    }
}
