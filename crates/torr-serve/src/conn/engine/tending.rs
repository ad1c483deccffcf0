//! What is not done for every request: answers of handlers that were waited for, time-outs, leaving.

use super::*;

impl Engine {
    /// Handlers that were waited for have their answers.
    pub fn complete(&mut self, responses: impl IntoIterator<Item = (Token, Response)>) {
        self.now = clock::coarse();
        self.cx.stamp.refresh();
        for (token, response) in responses {
            let connection = self.connections.get_mut(token);
            let Some(connection) = connection.filter(|connection| connection.doing == Doing::Waiting) else {
                callbacks::dispose("a response", response);
                continue;
            };
            connection.doing = Doing::Receiving;
            connection.since = self.now;
            connection.waiter = None;
            self.cx.meter.took(clock::exact().saturating_sub(connection.asked), 1);
            let start = self.out.len();
            let next = connection.http.answer(response, &self.cx, &mut self.out);
            let next = connection.seal(&mut self.out, start, &mut self.plain, next);
            self.answers.push(Answers { token, bytes: start..self.out.len(), next });
        }
        self.cx.meter.take_answers();
        self.send();
        self.cx.meter.busy_until(clock::exact());
    }

    /// More of a body has come, or its end.
    pub fn resume(&mut self, token: Token, stream: Stream) {
        self.now = clock::coarse();
        let Some(connection) = self.connections.get_mut(token) else { return };
        if connection.doing != Doing::Streaming {
            return;
        }
        connection.doing = Doing::Receiving;
        connection.since = self.now;
        connection.waiter = None;
        connection.body = Some(Long::Stream(stream));
        self.send_rest(token);
    }

    /// Something is being waited for by a task that ends with its connection.
    pub fn hold(&mut self, token: Token, waiter: Running) {
        if let Some(connection) = self.connections.get_mut(token) {
            connection.waiter = Some(waiter);
        }
    }

    /// What is done now and then: ends connections whose time is up, accepts again after a pause.
    pub(super) fn tend(&mut self) -> io::Result<()> {
        self.now = clock::coarse();
        self.cx.stamp.refresh();
        self.accept_again();
        self.cx.visits.flush();
        let overdue: Vec<_> =
            self.connections.iter().filter(|(_, c)| self.is_overdue(c)).map(|(token, _)| token).collect();
        for token in overdue {
            self.time_out(token);
        }
        self.send();
        self.flow.end_stage(&self.cx.meter);
        Ok(())
    }

    /// Accepts again after a pause.
    fn accept_again(&mut self) {
        if self.accept_again.is_none_or(|at| at > self.now) {
            return;
        }
        let added = self.listener.as_ref().map(|listener| self.poller.add(listener, LISTENER, Interest::Level));
        match added {
            // What made the pause necessary may make this fail as well: there is another time.
            Some(Err(error)) if error.kind() != io::ErrorKind::AlreadyExists => {
                tracing::warn!(%error, "nothing is accepted for another while");
                self.accept_again = Some(self.now + clock::nanos(ACCEPT_PAUSE));
            }
            _ => self.accept_again = None,
        }
    }

    /// What is still to be done for connections, once the server was told to leave.
    pub fn remaining(&self) -> Remaining {
        let mut remaining = Remaining::default();
        for (_, connection) in self.connections.iter() {
            match connection.doing {
                Doing::Sending | Doing::Streaming if connection.endless => remaining.streams += 1,
                Doing::Sending | Doing::Streaming | Doing::Waiting => remaining.requests += 1,
                Doing::Receiving if connection.http.part() != Part::Nothing => remaining.requests += 1,
                Doing::Receiving | Doing::Ending(_) => {}
            }
        }
        remaining
    }

    /// Whether its response goes on for longer than responses of unknown length may.
    fn is_cut_off(&self, connection: &Connection) -> bool {
        connection.endless
            && matches!(connection.doing, Doing::Sending | Doing::Streaming)
            && self.cx.shutdown.streams_are_over()
    }

    pub(super) fn is_overdue(&self, connection: &Connection) -> bool {
        let (settings, mut since) = (&self.cx.settings, connection.since);
        let limit = match connection.doing {
            Doing::Sending => settings.write_timeout,
            Doing::Ending(_) => GENTLE_TIME,
            _ if connection.http.is_full() => Duration::MAX,
            Doing::Receiving if connection.is_handshaking() || connection.preamble.is_some() => settings.head_timeout,
            Doing::Receiving => match (connection.http.part(), self.leaving) {
                (Part::Body, _) => settings.body_timeout,
                (Part::Head, _) => settings.head_timeout,
                (Part::Nothing, Some(leaving)) if !self.stop_signal.is_draining() => {
                    since = since.max(leaving).max(self.stop_signal.stopped_at());
                    LEAVING_IDLE
                }
                (Part::Nothing, _) => settings.idle_timeout,
            },
            Doing::Waiting if connection.http.is_uninvited() => Duration::MAX,
            Doing::Waiting | Doing::Streaming if connection.http.is_taking() => settings.body_timeout,
            Doing::Waiting | Doing::Streaming => Duration::MAX,
        };
        let gone_by = |since: Nanos, limit| self.now.saturating_sub(since) >= clock::nanos(limit);
        gone_by(since, limit)
            || self.leaving.is_some_and(|since| gone_by(since, settings.stop_timeout) || self.is_cut_off(connection))
    }

    pub(super) fn time_out(&mut self, token: Token) {
        let Some(connection) = self.connections.get_mut(token) else { return };
        // Neither who has had its last answer, nor who has to leave with the server, has taken too long.
        if self.leaving.is_none() && !matches!(connection.doing, Doing::Ending(_)) {
            self.cx.meter.add(Count::TimedOut, 1);
        }
        tracing::debug!(doing = ?connection.doing, part = ?connection.http.part(), "a connection took too long");
        let start = self.out.len();
        let next = match (connection.doing, connection.http.part()) {
            _ if self.leaving.is_some() => None,
            (Doing::Waiting | Doing::Receiving, Part::Body) if connection.http.is_taking() => {
                connection.http.body_timed_out(&self.cx, &mut self.out)
            }
            (Doing::Receiving, Part::Head | Part::Body) => Some(connection.http.timed_out(&self.cx, &mut self.out)),
            _ => None,
        };
        match next {
            Some(next) => {
                connection.waiter = None;
                let next = connection.seal(&mut self.out, start, &mut self.plain, next);
                self.answers.push(Answers { token, bytes: start..self.out.len(), next });
            }
            None => {
                if connection.doing == Doing::Receiving {
                    connection.take_leave();
                }
                self.connections.remove(token);
            }
        }
    }

    /// Connections whose handlers have taken what there was of a body, or want it, or want no more of it.
    pub(super) fn read_mail(&mut self) {
        for token in self.cx.mailbox.empty() {
            let Some(connection) = self.connections.get_mut(token) else { continue };
            let start = self.out.len();
            // As long as there was no room, the client could not send: its time begins now.
            if !matches!(connection.doing, Doing::Sending | Doing::Ending(_)) {
                connection.since = self.now;
            }
            connection.http.invite(&mut self.out);
            let next = connection.seal(&mut self.out, start, &mut self.plain, Next::Stay);
            if connection.unread && !connection.http.is_full() {
                self.again.push(token);
            }
            self.answers.push(Answers { token, bytes: start..self.out.len(), next });
        }
        self.send();
    }

    /// Gives a connection away, with what has arrived on it.
    #[cold]
    pub(super) fn hand_over(&mut self, token: Token, to: To) {
        let Some(mut connection) = self.connections.remove(token) else { return };
        if connection.watched && self.poller.remove(&connection.socket).is_err() {
            return;
        }
        self.cx.meter.add(Count::HandedOver, 1);
        let (input, client) = (connection.http.take_input(), connection.http.client().clone());
        let Connection { socket, seat, secure, http, .. } = connection;
        let handed = Handed { socket, seat, secure, input, client, served: http.served(), to };
        self.tasks.push(Task { token, work: Work::HandOver(handed) });
    }

    /// Takes a connection back that was elsewhere for one request.
    pub fn take_back(&mut self, returned: Returned) {
        self.now = clock::coarse();
        let Returned { socket, seat, secure, input, client, served, persists } = returned;
        let token = self.connections.insert(Connection {
            socket,
            seat,
            watched: false,
            // Whatever has arrived on the socket meanwhile, no event tells of it.
            unread: true,
            ended: false,
            secure,
            preamble: None,
            http: Http1::resumed(client, served, input),
            doing: Doing::Receiving,
            since: self.now,
            unsent: Vec::new(),
            body: None,
            waiter: None,
            endless: false,
            asked: 0,
            after: After::GoOn,
        });
        self.connections.get_mut(token).into_iter().for_each(|connection| connection.http.call_it(token));
        if persists {
            self.again.push(token);
        } else {
            self.end_gently(token);
        }
    }

    /// Accepts what has connected so far, unless others go on accepting there, and nothing after it. From now on each
    /// answer ends its connection.
    pub(super) fn leave(&mut self) -> io::Result<()> {
        self.poller.remove(&self.stop_signal)?;
        self.leaving = Some(self.now);
        self.cx.leaving = true;
        self.ticker.set(TEND_LEAVING)?;
        // Those who come again as soon as they are answered would keep it here for ever.
        let until = clock::exact() + clock::nanos(LEAVING_IDLE);
        while !self.stop_signal.is_draining() && self.accept() && clock::exact() < until {
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
