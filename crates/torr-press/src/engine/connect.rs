//! The way of a connection to its first request: connect, proxy tunnel, handshake.

use super::Engine;
use super::connection::Stage;
use super::coordinator::Coordinator;
use crate::failures;
use crate::pace::pacer::Pacer;
use crate::protocol::Protocol;
use crate::response::failed::FailedResponseBuffer;
use torr_net::tls::NegotiatedTls;
use torr_net::{Interest, Nanos, socket};

impl<P: Protocol, A: Pacer, C: Coordinator> Engine<'_, P, A, C> {
    /// Opens a connection for the requests that wait for it.
    pub(super) fn connect(&mut self, index: usize, lag_from: Option<Nanos>) {
        let destination = self.destination_of(index);
        let connection = &mut self.connections[index];
        let cold = &mut connection.cold;
        let address = self.connector.address(destination, cold.next_address);
        cold.next_address += 1;
        cold.address = Some(address.clone());
        cold.certificate = None;
        cold.opened_at = self.clock.now();
        cold.snapshot = None;
        cold.failed_response = FailedResponseBuffer::default();
        cold.begun = connection.requests.len() as u64;
        if let Some(from) = lag_from {
            // The time after this is that of connecting, and not this side's lag.
            self.recorder.send_lag(from, cold.opened_at);
        }
        for request in connection.requests.iter_mut().filter(|request| request.clock_pending) {
            request.due = cold.opened_at;
            // In a closed loop the first connection of each slot is part of the set-up and not of a request. A request
            // has to wait for any further one.
            request.clock_pending = !cold.was_connected && self.plan.keep_alive;
        }
        match self.connector.connect(&address, P::DATAGRAMS) {
            Ok(socket) => {
                connection.connects(socket, &mut self.connector.opening);
                if P::DATAGRAMS || address.connects_at_once() {
                    // It is connected already, and no event is needed to tell.
                    self.send_first_bytes(index);
                } else {
                    self.register(index, Interest::ReadWrite);
                }
            }
            Err(error) => self.fail_connection(index, failures::connect(&error)),
        }
    }

    /// Sends the first bytes on a connection: to the proxy, or to the server.
    fn send_first_bytes(&mut self, index: usize) {
        match self.servers.tunnel(self.destination_of(index)) {
            Some(request) => {
                let start = self.batch.out.len();
                self.batch.out.extend_from_slice(request);
                self.batch.send_from(start, index, self.connections[index].generation);
            }
            None => self.open_protocol(index),
        }
    }

    fn open_protocol(&mut self, index: usize) {
        let start = self.batch.out.len();
        let connection = &mut self.connections[index];
        connection.protocol.open(&mut self.batch.out);
        let is_handshaking = connection.protocol.is_handshaking();
        self.batch.send_from(start, index, connection.generation);
        if P::DATAGRAMS {
            self.arm_timer(index);
        }
        if !is_handshaking {
            self.write_requests(index, None);
        }
    }

    /// Handles the completion of a connect.
    pub(super) fn finish_connect(&mut self, index: usize) {
        let Some(socket) = &self.connections[index].socket else { return };
        match socket::error(socket) {
            Ok(()) if self.connections[index].has_unsent() => {
                // The first bytes have been written already.
                self.established(index);
                self.send_unsent(index);
            }
            Ok(()) => {
                self.send_first_bytes(index);
                self.established(index);
            }
            Err(error) => self.fail_connection(index, failures::connect(&error)),
        }
    }

    /// Notes that a connection is established, on which the first bytes have been or are about to be sent.
    pub(super) fn established(&mut self, index: usize) {
        let (now, destination) = (self.clock.now(), self.destination_of(index));
        let connection = &mut self.connections[index];
        // Without a handshake of the kernel's there is nothing to wait for.
        let took = (!P::DATAGRAMS).then(|| now.saturating_sub(connection.cold.opened_at));
        self.recorder.connected(took);
        connection.cold.established_at = now;
        connection.cold.was_connected = true;
        if let Some(socket) = connection.socket.as_ref().filter(|_| self.plan.quick_ack) {
            socket::acknowledge(socket);
        }
        let stage = match (self.servers.tunnel(destination), connection.protocol.is_handshaking()) {
            (Some(_), _) => Stage::Tunnelling,
            (None, true) => Stage::Handshaking,
            (None, false) => Stage::Open,
        };
        connection.set_stage(stage, &mut self.connector.opening);
        if connection.is_open() {
            connection.cold.ready_at = now;
            if connection.unwritten > 0 {
                connection.start_clocks_of_unwritten(|| now);
            }
            self.connected();
        }
    }

    fn connected(&mut self) {
        if !self.connector.has_connected {
            self.connector.has_connected = true;
            self.coordinator.connected();
        }
    }

    /// Reads the proxy's response.
    #[cold]
    pub(super) fn read_tunnel(&mut self, index: usize, input: &mut [u8], now: Nanos) {
        let connection = &mut self.connections[index];
        // Like the response to a HEAD, it has no content: the bytes behind it are the tunnel's.
        match connection.cold.tunnel.read(input, true) {
            Ok((_, None)) => {}
            Ok((used, Some(response))) if (200..300).contains(&response.status) => {
                connection.cold.established_at = now;
                connection.set_stage(Stage::Handshaking, &mut self.connector.opening);
                self.open_protocol(index);
                if used < input.len() {
                    self.read(index, &mut input[used..], now);
                } else {
                    self.resume_writing(index, now);
                }
            }
            Ok((_, Some(response))) => self.fail_connection(index, failures::no_tunnel(response.status)),
            Err(error) => self.fail_connection(index, failures::protocol(error)),
        }
    }

    /// Writes the requests that have waited for the handshake or for room, as far as that has come about.
    #[cold]
    pub(super) fn resume_writing(&mut self, index: usize, now: Nanos) {
        let connection = &mut self.connections[index];
        let is_handshaking = connection.protocol.is_handshaking();
        if P::HAS_HANDSHAKES {
            self.upgrade(index, is_handshaking, now);
        } else if connection.stage() == Some(Stage::Handshaking) && !is_handshaking {
            connection.set_stage(Stage::Open, &mut self.connector.opening);
            connection.cold.ready_at = now;
            if let Some(secured) = connection.protocol.secured() {
                self.secured(index, secured, now);
            }
            let connection = &mut self.connections[index];
            if let Some(sessions) = &mut self.sessions {
                connection.cold.certificate = connection.protocol.certificate().map(|der| sessions.share(der));
            }
            self.connected();
        }
        let connection = &mut self.connections[index];
        if !connection.is_open() {
            return;
        }
        if connection.protocol.is_draining() && connection.written() == 0 {
            return self.close_for_server(index);
        }
        self.write_requests(index, None);
    }

    /// Notes a complete handshake of TLS.
    pub(super) fn secured(&mut self, index: usize, secured: NegotiatedTls, now: Nanos) {
        let cold = &mut self.connections[index].cold;
        cold.tls = self.may_park.then(|| Box::new(secured.clone()));
        self.recorder.secured(secured, now.saturating_sub(cold.established_at));
    }

    /// Begins the stream of a connection whose handshakes are complete: its events, and its end, may come with the handshake's last
    /// bytes.
    pub(super) fn begin_stream(&mut self, index: usize, now: Nanos) {
        let connection = &self.connections[index];
        if connection.unwritten > 0 && !connection.protocol.is_handshaking() {
            self.upgrade(index, false, now);
            self.write_requests(index, None);
        }
    }

    /// Notes how far the handshakes of a connection have come: that of TLS, if there is one, and that of the protocol.
    fn upgrade(&mut self, index: usize, is_handshaking: bool, now: Nanos) {
        let connection = &mut self.connections[index];
        if connection.stage() == Some(Stage::Handshaking) {
            connection.cold.ready_at = connection.cold.established_at;
            if let Some(secured) = connection.protocol.secured() {
                self.recorder.secured(secured, now.saturating_sub(connection.cold.established_at));
                connection.set_stage(Stage::Upgrading, &mut self.connector.opening);
                connection.cold.ready_at = now;
            }
        }
        if !is_handshaking && matches!(connection.stage(), Some(Stage::Handshaking | Stage::Upgrading)) {
            connection.set_stage(Stage::Open, &mut self.connector.opening);
            self.recorder.upgraded(now.saturating_sub(connection.cold.ready_at));
            connection.cold.ready_at = now;
            self.connected();
        }
    }

    /// Registers a connection's socket for events.
    pub(super) fn register(&mut self, index: usize, interest: Interest) {
        let interest = match interest {
            // One receive takes one train, behind which others may have arrived.
            Interest::Read if P::DATAGRAMS => Interest::Level,
            Interest::ReadWrite if P::DATAGRAMS => Interest::LevelReadWrite,
            interest => interest,
        };
        if let Err(error) = self.readiness.register(&mut self.connections[index], index, interest) {
            self.fail_connection(index, failures::connect(&error));
        }
    }
}
