//! The connections that are open at the end of a thread's part of a run.

use super::connection::{Connection, Sending, current};
use super::readiness::Readiness;
use crate::protocol::{InFlight, Protocol};
use std::time::{Duration, Instant};
use torr_net::{clock, socket};

/// The longest time to wait for servers to close connections whose end was announced.
const PATIENCE: Duration = Duration::from_secs(1);
/// The size of the buffer for what servers still send, in bytes.
const BUFFER: usize = 64 * 1024;

/// The connections of a thread behind its part of a run.
pub(crate) struct OpenConnections<P: Protocol> {
    connections: Vec<Connection<P>>,
    readiness: Readiness,
    protocol: P::ThreadState,
}

impl<P: Protocol> OpenConnections<P> {
    pub(super) fn new(connections: Vec<Connection<P>>, readiness: Readiness, protocol: P::ThreadState) -> Self {
        Self { connections, readiness, protocol }
    }

    /// Closes the connections. Where the protocol has a handshake for that, all servers get the first part of it, and a second in all for
    /// theirs: a socket that is closed before would discard what was sent.
    pub fn close(mut self) {
        if !P::HAS_LAST_BYTES {
            return;
        }
        let mut left = (0..self.connections.len()).filter(|&index| self.announce(index)).count();
        if P::DATAGRAMS {
            // A datagram that was sent is on its way, whatever happens to its socket.
            return;
        }
        let mut buffer = vec![0; BUFFER];
        let since = Instant::now();
        while let Some(patience) = PATIENCE.checked_sub(since.elapsed()).filter(|_| left > 0) {
            if self.readiness.wait(clock::nanos(patience)).is_err() {
                return;
            }
            for event in std::mem::take(&mut self.readiness.ready) {
                let Some(connection) = current(&mut self.connections, event.token) else { continue };
                if event.readable && Self::has_ended(connection, &mut self.protocol, &mut buffer) {
                    connection.socket = None;
                    left -= 1;
                }
            }
        }
    }

    /// Sends the last bytes of the protocol. Returns whether the server's are to come; the connection is closed otherwise.
    fn announce(&mut self, index: usize) -> bool {
        let connection = &mut self.connections[index];
        let is_open = connection.is_open();
        let socket = connection.socket.as_ref().filter(|socket| is_open && socket.sending == Sending::Free);
        let mut last = Vec::new();
        let is_announced = socket.is_some_and(|socket| {
            connection.protocol.close(&mut self.protocol, &mut last);
            !last.is_empty() && P::send(&mut self.protocol, socket, &last).is_ok_and(|sent| sent == last.len())
        });
        if !is_announced {
            connection.socket = None;
        }
        is_announced
    }

    /// Receives what the server sends, and returns whether nothing follows.
    fn has_ended(connection: &mut Connection<P>, protocol: &mut P::ThreadState, buffer: &mut [u8]) -> bool {
        let Some(socket) = &connection.socket else { return true };
        let mut replies = Vec::new();
        loop {
            let received = match socket::recv(socket, buffer) {
                Ok(Some(0)) | Err(_) => return true,
                Ok(None) => return false,
                Ok(Some(len)) => len,
            };
            let mut input = &mut buffer[..received];
            loop {
                let in_flight = InFlight { count: 0, oldest_is_head: false, failed_response: None };
                match connection.protocol.receive(protocol, input, 0, in_flight, &mut replies) {
                    Ok((used, Some(_))) => input = &mut input[used..],
                    Ok((_, None)) => break,
                    Err(_) => return true,
                }
            }
            // No reply follows the announcement.
            replies.clear();
            if connection.protocol.has_ended() {
                return true;
            }
        }
    }
}
