//! How connections come about: connect, tunnel, handshake; and what is not sent at once.

use super::*;

impl<'r, S: Protocol, P: Pacer, L: Link> Engine<'r, S, P, L> {
    /// Opens a connection for the requests that wait for it.
    pub(super) fn connect(&mut self, at: usize, lag_from: Option<Nanos>) {
        let connection = &mut self.connections[at];
        let cold = &mut connection.cold;
        let address = &self.plan.addresses[cold.next_address % self.plan.addresses.len()];
        cold.next_address += 1;
        cold.opened_at = self.clock.now();
        cold.looked = None;
        cold.gathered = FailedResponseBuffer::default();
        cold.begun = connection.requests.len() as u64;
        if let Some(from) = lag_from {
            // What comes after this is the time that connecting takes.
            record_lag(&mut self.sample, &mut self.last_sent, from, cold.opened_at);
        }
        for request in connection.requests.iter_mut().filter(|request| request.free) {
            request.due = cold.opened_at;
            // In a closed loop the first connection of each place is part of the set-up, not of a request; any further
            // one is what a request has to wait for.
            request.free = !cold.used && self.plan.keep_alive;
        }
        match open(self.plan, &mut self.sources, address) {
            Ok(socket) => {
                connection.socket = Some(socket);
                connection.stage = Stage::Connecting;
                if address.connects_at_once() {
                    // It is connected by now, and no event is needed to say so.
                    self.speak_first(at);
                } else {
                    self.watch(at, Interest::ReadWrite);
                }
            }
            Err(error) => self.lose(at, failures::connect(&error)),
        }
    }

    /// Says what comes first on a connection: to the proxy, or to the server.
    fn speak_first(&mut self, at: usize) {
        match &self.plan.tunnel {
            Some(request) => {
                let start = self.out.len();
                self.out.extend_from_slice(request);
                self.say(at, start);
            }
            None => self.open_session(at),
        }
    }

    fn open_session(&mut self, at: usize) {
        let start = self.out.len();
        let session = &mut self.connections[at].session;
        session.open(&mut self.out);
        let is_securing = session.is_handshaking();
        if self.out.len() > start {
            self.say(at, start);
        }
        if !is_securing {
            self.write_requests(at, None);
        }
    }

    /// A socket can be written to: its connect has come to an end, or not everything was sent.
    #[inline]
    pub(super) fn go_on_sending(&mut self, token: Token) {
        let Some(connection) = current(&mut self.connections, token) else { return };
        if connection.stage == Stage::Connecting {
            self.end_connecting(token.index());
        } else if connection.sending {
            self.send_rest(token.index());
        }
    }

    fn end_connecting(&mut self, at: usize) {
        let Some(socket) = &self.connections[at].socket else { return };
        match socket::error(socket) {
            Ok(()) if self.connections[at].sending => {
                // The first words are there already.
                self.established(at);
                self.send_rest(at);
            }
            Ok(()) => {
                self.speak_first(at);
                self.established(at);
            }
            Err(error) => self.lose(at, failures::connect(&error)),
        }
    }

    /// There is a connection, on which the first words have been said or are about to be sent.
    fn established(&mut self, at: usize) {
        self.open_now += 1;
        self.peak = self.peak.max(self.open_now);
        self.sample.opened += 1;
        let now = self.clock.now();
        let connection = &mut self.connections[at];
        self.sample.connect.record(now.saturating_sub(connection.cold.opened_at));
        connection.cold.established_at = now;
        connection.cold.used = true;
        if let Some(socket) = connection.socket.as_ref().filter(|_| self.plan.quick_ack) {
            socket::acknowledge(socket);
        }
        connection.stage = match (&self.plan.tunnel, connection.session.is_handshaking()) {
            (Some(_), _) => Stage::Tunnelling,
            (None, true) => Stage::Securing,
            (None, false) => Stage::Open,
        };
        if connection.stage == Stage::Open {
            if connection.unwritten > 0 {
                connection.start_clocks(|| now);
            }
            self.reach();
        }
    }

    fn reach(&mut self) {
        if !self.reached {
            self.reached = true;
            self.link.reached();
        }
    }

    /// The proxy has answered something.
    #[cold]
    pub(super) fn read_tunnel(&mut self, at: usize, input: &mut [u8], now: Nanos) {
        let connection = &mut self.connections[at];
        // As to a HEAD: what a tunnel carries is no body.
        match connection.cold.tunnel.read(input, true) {
            Ok((_, None)) => {}
            Ok((used, Some(answer))) if (200..300).contains(&answer.status) => {
                connection.cold.established_at = now;
                connection.stage = Stage::Securing;
                self.open_session(at);
                if used < input.len() {
                    self.read(at, &mut input[used..], now);
                } else {
                    self.go_on_opening(at, now);
                }
            }
            Ok((_, Some(answer))) => self.lose(at, failures::no_tunnel(answer.status)),
            Err(error) => self.lose(at, failures::protocol(error)),
        }
    }

    /// A connection with a handshake under way, or with requests that wait, has received something.
    #[cold]
    pub(super) fn go_on_opening(&mut self, at: usize, now: Nanos) {
        let connection = &mut self.connections[at];
        if connection.stage == Stage::Securing && !connection.session.is_handshaking() {
            connection.stage = Stage::Open;
            if let Some(secured) = connection.session.secured() {
                self.sample.tls.record(now.saturating_sub(connection.cold.established_at));
                match secured.resumed {
                    false => self.sample.full_handshakes += 1,
                    true => self.sample.resumed_handshakes += 1,
                }
                self.secured.get_or_insert(secured);
            }
            self.reach();
        }
        let connection = &mut self.connections[at];
        if connection.stage != Stage::Open {
            return;
        }
        if connection.session.is_draining() && connection.written() == 0 {
            return self.server_closes(at);
        }
        self.write_requests(at, None);
    }

    /// The kernel took only part of what was to be sent, or the first words on a connection.
    pub(super) fn sent_in_part_or_first(&mut self, at: usize, bytes: Range<usize>, sent: usize) {
        if self.connections[at].stage == Stage::Connecting {
            if sent == 0 {
                // Not connected yet: it will be said then.
                let (first, closed) = (!self.connections[at].cold.used, !self.plan.is_scheduled());
                let connection = &mut self.connections[at];
                let free = first && closed && self.plan.keep_alive;
                connection.requests.iter_mut().for_each(|request| request.free = free);
                connection.sending = true;
                connection.cold.unsent.extend_from_slice(&self.out[bytes]);
                return self.watch(at, Interest::ReadWrite);
            }
            self.established(at);
            if self.connections[at].stage == Stage::Open && self.connections[at].unwritten > 0 {
                self.write_requests(at, None);
            }
        }
        self.sample.sent += sent as u64;
        let connection = &mut self.connections[at];
        connection.sending = sent < bytes.len();
        connection.cold.unsent.extend_from_slice(&self.out[bytes.start + sent..bytes.end]);
        if connection.sending {
            self.watch(at, Interest::ReadWrite);
        } else if !connection.watched {
            self.watch(at, Interest::Read);
        }
    }

    #[cold]
    fn send_rest(&mut self, at: usize) {
        let connection = &mut self.connections[at];
        let Some(socket) = &connection.socket else { return };
        connection.requests.set_due(usize::from(connection.unwritten), || self.clock.now());
        match socket::send(socket, &connection.cold.unsent[connection.cold.sent..]) {
            Ok(sent) => {
                self.sample.sent += sent as u64;
                connection.cold.sent += sent;
                connection.sending = connection.cold.sent < connection.cold.unsent.len();
                if !connection.sending {
                    (connection.cold.unsent, connection.cold.sent) = (Vec::new(), 0);
                }
            }
            Err(error) => self.lose(at, failures::transfer(FailureKind::Write, &error)),
        }
    }

    fn watch(&mut self, at: usize, interest: Interest) {
        let connection = &mut self.connections[at];
        let Some(socket) = &connection.socket else { return };
        let token = Token::new(at as u32, connection.generation);
        let watched = match connection.watched {
            true => self.poller.modify(socket, token, interest),
            false => self.poller.add(socket, token, interest),
        };
        connection.watched = true;
        if let Err(error) = watched {
            self.lose(at, failures::connect(&error));
        }
    }
}

/// Begins to connect, from another source address where one has no port left.
fn open(plan: &Plan, sources: &mut Sources, address: &Address) -> io::Result<OwnedFd> {
    let mut others = sources.len() - 1;
    loop {
        match socket::connect(address, sources.next(), plan.sends_once()) {
            Err(error) if error.kind() == io::ErrorKind::AddrNotAvailable && others > 0 => {
                others -= 1;
                sources.ran_short();
            }
            opened => return opened,
        }
    }
}
