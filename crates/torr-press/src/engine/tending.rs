//! What is done now and then: samples, the end of the warm-up, time-outs, the end.

use super::*;

impl<'r, S: Protocol, P: Pacer, L: Link> Engine<'r, S, P, L> {
    /// Hands over the samples of intervals that have ended, before anything is received: it has come later.
    #[inline]
    pub(super) fn hand_over(&mut self, now: Nanos) {
        while now >= self.next_sample() && self.is_warm() {
            let sample = std::mem::replace(&mut self.sample, self.link.fresh_sample());
            self.link.sample(self.intervals, sample, false);
            self.intervals += 1;
        }
    }

    /// Frees places whose time has come, looks for time-outs, and at a connection.
    #[inline]
    pub(super) fn tend(&mut self, now: Nanos) {
        while self.later.peek().is_some_and(|Reverse(wait)| wait.until <= now) {
            match self.later.pop() {
                Some(Reverse(wait)) if wait.begun => self.set_free(wait.at as usize, now),
                Some(Reverse(wait)) => self.free.put(wait.at),
                None => {}
            }
        }
        if now >= self.next_sweep {
            self.next_sweep = now + SWEEP;
            self.time_out(now);
            self.look_at_next(now);
        }
    }

    /// From here on it counts. What comes of requests from before is kept apart.
    #[inline]
    pub(super) fn end_warmup(&mut self, now: Nanos) {
        if !self.is_warm() && now >= self.warm_until {
            self.warm = Some(Box::new(std::mem::replace(&mut self.sample, self.link.fresh_sample())));
            self.carried = self.open_now;
            self.peak = self.open_now;
            self.gathers = true;
        }
    }

    fn time_out(&mut self, now: Nanos) {
        let timeout = clock::nanos(self.plan.timeout);
        let is_late = |request: &Pending| now.saturating_sub(request.due) >= timeout;
        for at in 0..self.connections.len() {
            let connection = &self.connections[at];
            if !connection.requests.oldest().is_some_and(is_late) {
                // In whatever order they are answered, the oldest one is the first to be late.
                continue;
            }
            let failure = match connection.stage {
                Stage::Open => failures::no_answer_in_time(),
                _ => failures::no_connection_in_time(),
            };
            if S::MULTIPLEXES && connection.stage == Stage::Open {
                self.cancel_late(at, is_late, &failure, now);
            } else {
                for request in connection.requests.iter().copied().collect::<Vec<_>>() {
                    self.sample_of(&request).unanswered.record(now.saturating_sub(request.due));
                }
                self.lose(at, failure);
            }
        }
    }

    /// Gives up those requests alone that are late, if the protocol knows how.
    fn cancel_late(&mut self, at: usize, is_late: impl Fn(&Pending) -> bool, failure: &Failure, now: Nanos) {
        let connection = &self.connections[at];
        let written = connection.written();
        let late = connection.requests.iter().enumerate().filter(|(_, request)| is_late(request));
        let late: Vec<_> = late.map(|(place, request)| (place, *request)).collect();
        let mut closes = false;
        // From the youngest on, so that the places of the others stay what they are.
        for (place, request) in late.into_iter().rev() {
            self.sample_of(&request).unanswered.record(now.saturating_sub(request.due));
            let connection = &mut self.connections[at];
            if place >= written {
                // Of these the session knows nothing yet.
                connection.unwritten -= 1;
            } else {
                let start = self.out.len();
                closes |= !connection.session.cancel(&mut self.shared, request.key, &mut self.out);
                if self.out.len() > start {
                    self.say(at, start);
                }
            }
            self.fail_at(at, place, failure.clone());
        }
        if closes {
            self.server_closes(at);
        }
        self.send_all();
    }

    pub(super) fn end(mut self, now: Nanos) -> Ended {
        self.look_at_last(now);
        let first = self.connections.iter_mut().find_map(|connection| connection.session.first_response());
        for at in 0..self.connections.len() {
            while let Some(request) = self.connections[at].requests.take_oldest() {
                let sample = self.sample_of(&request);
                sample.unfinished += 1;
                sample.unanswered.record(now.saturating_sub(request.due));
            }
        }
        // Requests that were due, but never had a place, have waited for an answer like any other.
        while let Due::At(due) = self.pacer.next(now) {
            if due > now {
                break;
            }
            let warm = due < self.warm_until;
            self.asked += u64::from(!warm);
            let sample = self.sample_of(&Pending { due, key: 0, free: false, warm, is_head: false });
            sample.unfinished += 1;
            sample.unanswered.record(now - due);
        }
        // Who was stopped while warming up has measured nothing.
        let (warm, sample) = match self.warm {
            Some(warm) => (Some(*warm), self.sample),
            None if self.warm_until > 0 => (Some(self.sample), Sample::default()),
            None => (None, self.sample),
        };
        if let Some(warm) = warm {
            self.link.warmup(warm);
        }
        self.link.sample(self.intervals, sample, true);
        Ended {
            at: now.saturating_sub(self.warm_until),
            idle: Duration::from_nanos(self.idle),
            asked: self.asked,
            peak: self.peak,
            carried: self.carried,
            sources: self.sources.used(),
            secured: self.secured,
            first,
            failed_response: self.failed_response,
        }
    }
}
