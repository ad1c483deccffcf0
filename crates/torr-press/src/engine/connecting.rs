//! How connections come about, and requests that are not sent at once.

use super::*;

impl<'r, S: Session, P: Pacer, L: Link> Engine<'r, S, P, L> {
    /// Opens a connection for the request that waits for it.
    pub(super) fn connect(&mut self, at: usize, lag_from: Option<Nanos>) {
        let cold = &mut self.connections[at].cold;
        let address: SocketAddr = self.plan.addresses[cold.next_address % self.plan.addresses.len()];
        cold.next_address += 1;
        cold.opened_at = self.clock.now();
        let opened_at = cold.opened_at;
        if let Some(from) = lag_from {
            // What comes after this is the time that connecting takes.
            self.sample.lag.record(opened_at.saturating_sub(from));
        }
        match self.open(address) {
            Ok(socket) => {
                let connection = &mut self.connections[at];
                connection.socket = Some(socket);
                connection.connecting = true;
                if let Some(request) = &mut connection.request {
                    if request.free {
                        request.due = opened_at;
                    }
                    // In a closed loop the first connection of each place is part of the set-up, not of a request;
                    // any further one is what a request has to wait for.
                    request.free &= connection.cold.first && self.plan.keep_alive;
                }
                if address.ip().is_loopback() {
                    // There is no distance: it is connected by now, and no event is needed to say so.
                    self.write_request(at as u32, None);
                } else {
                    self.watch(at, Interest::ReadWrite);
                }
            }
            Err(error) => self.fail_to_connect(at, failures::connect(&error)),
        }
    }

    /// Begins to connect, from another source address where one has no port left.
    pub(super) fn open(&mut self, address: SocketAddr) -> io::Result<OwnedFd> {
        let sends_once = !self.plan.keep_alive && self.plan.request.largest_bytes() <= ONE_PACKET;
        let mut others = self.sources.len() - 1;
        loop {
            match socket::connect(address, self.sources.next(), sends_once) {
                Err(error) if error.kind() == io::ErrorKind::AddrNotAvailable && others > 0 => {
                    others -= 1;
                    self.sources.ran_short();
                }
                opened => return opened,
            }
        }
    }

    /// A socket can be written to: its connect has come to an end, or a request was not sent in full.
    #[inline]
    pub(super) fn go_on_sending(&mut self, token: Token) {
        let Some(connection) = current(&mut self.connections, token) else { return };
        match (connection.connecting, connection.sending) {
            (true, _) => self.end_connecting(token.index()),
            (_, true) => self.send_rest(token.index()),
            _ => {}
        }
    }

    pub(super) fn end_connecting(&mut self, at: usize) {
        let Some(socket) = &self.connections[at].socket else { return };
        match socket::error(socket) {
            Ok(()) => {
                self.established(at);
                self.write_request(at as u32, None);
            }
            Err(error) => self.fail_to_connect(at, failures::connect(&error)),
        }
    }

    pub(super) fn established(&mut self, at: usize) {
        if !self.reached {
            self.reached = true;
            self.link.reached();
        }
        self.open_now += 1;
        self.peak = self.peak.max(self.open_now);
        self.sample.opened += 1;
        let connection = &mut self.connections[at];
        self.sample.connect.record(self.clock.now().saturating_sub(connection.cold.opened_at));
        connection.connecting = false;
        connection.cold.first = false;
        connection.session.open();
    }

    /// The kernel took only part of a request, or the first on a connection.
    pub(super) fn sent_in_part_or_first(&mut self, at: usize, bytes: Range<usize>, sent: usize) {
        if self.connections[at].connecting {
            if sent == 0 {
                // Not connected yet: the request will be written again.
                let connection = &mut self.connections[at];
                if let Some(request) = &mut connection.request {
                    request.free = connection.cold.first && self.plan.keep_alive && self.plan.schedule.is_none();
                }
                return self.watch(at, Interest::ReadWrite);
            }
            self.established(at);
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
    pub(super) fn send_rest(&mut self, at: usize) {
        let connection = &mut self.connections[at];
        let Some(socket) = &connection.socket else { return };
        match socket::send(socket, &connection.cold.unsent) {
            Ok(sent) => {
                self.sample.sent += sent as u64;
                connection.cold.unsent.drain(..sent);
                connection.sending = !connection.cold.unsent.is_empty();
                if !connection.sending {
                    connection.cold.unsent = Vec::new();
                }
            }
            Err(error) => self.lose(at, failures::transfer(Kind::Write, &error)),
        }
    }

    pub(super) fn watch(&mut self, at: usize, interest: Interest) {
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
