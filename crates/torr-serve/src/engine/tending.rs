//! What is not done for every request: answers of handlers that were waited for, time-outs, leaving.

use super::*;

impl Engine {
    /// Handlers that were waited for have their answers.
    pub fn complete(&mut self, responses: impl IntoIterator<Item = (Token, Response)>) {
        self.now = clock::coarse();
        self.stamp.refresh();
        let cx = Context {
            app: &self.app,
            router: self.router.as_ref(),
            settings: &self.settings,
            stamp: &self.stamp,
            leaving: self.leaving.is_some(),
        };
        for (token, response) in responses {
            let Some(connection) = self.connections.get_mut(token) else { continue };
            connection.doing = Doing::Receiving;
            let start = self.out.len();
            let next = connection.http.answer(response, &cx, &mut self.out);
            self.answers.push(Answers { token, bytes: start..self.out.len(), next });
        }
        self.send();
    }

    /// More of a body has come, or its end.
    pub fn resume(&mut self, token: Token, stream: Stream) {
        self.now = clock::coarse();
        let Some(connection) = self.connections.get_mut(token) else { return };
        connection.doing = Doing::Receiving;
        connection.since = self.now;
        connection.waiter = None;
        connection.body = Some(Long::Stream(stream));
        self.send_rest(token);
    }

    /// A body is being waited for by a task that ends with its connection.
    pub fn hold(&mut self, token: Token, waiter: Running) {
        if let Some(connection) = self.connections.get_mut(token) {
            connection.waiter = Some(waiter);
        }
    }

    /// What is done now and then: ends connections whose time is up, accepts again after a pause.
    pub(super) fn tend(&mut self) -> io::Result<()> {
        self.now = clock::coarse();
        self.stamp.refresh();
        if self.accept_again.is_some_and(|at| at <= self.now) {
            self.accept_again = None;
            if let Some(listener) = &self.listener {
                self.poller.add(listener, LISTENER, Interest::Accept)?;
            }
        }
        let overdue: Vec<_> =
            self.connections.iter().filter(|(_, c)| self.is_overdue(c)).map(|(token, _)| token).collect();
        for token in overdue {
            self.time_out(token);
        }
        self.send();
        Ok(())
    }

    pub(super) fn is_overdue(&self, connection: &Connection) -> bool {
        let (settings, mut since) = (&self.settings, connection.since);
        let limit = match connection.doing {
            Doing::Receiving => match (connection.http.part(), self.leaving) {
                (Part::Body, _) => settings.body_timeout,
                (Part::Head, _) => settings.head_timeout,
                (Part::Nothing, Some(leaving)) if !self.bell.is_soft() => {
                    since = since.max(leaving).max(self.bell.rung_at());
                    LEAVING_IDLE
                }
                (Part::Nothing, _) => settings.idle_timeout,
            },
            Doing::Sending => settings.write_timeout,
            Doing::Ending(_) => GENTLE_TIME,
            Doing::Waiting | Doing::Streaming => Duration::MAX,
        };
        let gone_by = |since: Nanos, limit| self.now.saturating_sub(since) >= clock::nanos(limit);
        gone_by(since, limit) || self.leaving.is_some_and(|since| gone_by(since, settings.stop_timeout))
    }

    pub(super) fn time_out(&mut self, token: Token) {
        let Some(connection) = self.connections.get_mut(token) else { return };
        if self.leaving.is_some() || connection.doing != Doing::Receiving || connection.http.part() == Part::Nothing {
            self.connections.remove(token);
            return;
        }
        let cx = Context {
            app: &self.app,
            router: self.router.as_ref(),
            settings: &self.settings,
            stamp: &self.stamp,
            leaving: true,
        };
        let start = self.out.len();
        let next = http1::timed_out(&cx, &mut self.out);
        self.answers.push(Answers { token, bytes: start..self.out.len(), next });
    }

    /// Accepts what has connected so far, unless others go on accepting there, and nothing after it. From now on each
    /// answer ends its connection.
    pub(super) fn leave(&mut self) -> io::Result<()> {
        self.poller.remove(&self.bell)?;
        self.leaving = Some(self.now);
        self.ticker.set(TEND_LEAVING)?;
        while !self.bell.is_soft() && self.accept() {
            self.answer();
            self.send();
        }
        if let Some(listener) = self.listener.take() {
            // Where another process holds the same socket open, it would be watched even after this copy is closed.
            let _ = self.poller.remove(&listener);
        }
        Ok(())
    }
}
