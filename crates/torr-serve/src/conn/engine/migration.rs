//! Connections that hyper serves for a while, or to their end.

use super::Engine;
use super::connection::Connection;
use super::task::{Task, Work};
use crate::conn::handover::{ConnectionParts, HandedOver, Returned};
use crate::conn::http1::Http1;
use crate::conn::next::{HyperProtocol, Next};
use crate::conn::transport::Transport;
use crate::observe::metrics_table::Count;
use torr_net::{Token, clock};

impl<T: Transport> Engine<T> {
    /// Hands a connection over, with what has arrived on it.
    #[cold]
    pub(super) fn hand_over(&mut self, token: Token, protocol: HyperProtocol) {
        let Some(connection) = self.connections.remove(token) else { return };
        let Connection { socket, admission, transport, http, interest, expires, .. } = connection;
        if interest.is_some() && self.poller.remove(&socket).is_err() {
            return;
        }
        self.cx.worker.meter.add(Count::HandedOver, 1);
        let (client, served, input) = http.into_parts();
        let parts = ConnectionParts { socket, admission, tls: transport.into_tls(), input, client, served, expires };
        self.tasks.push(Task { token, work: Work::Connection(HandedOver { parts, protocol }) });
    }

    /// Takes a connection back that hyper has served for one request.
    pub fn take_back(&mut self, returned: Returned) {
        self.now = clock::coarse();
        let Returned { parts, is_kept_alive } = returned;
        let ConnectionParts { socket, admission, tls, input, client, served, expires } = parts;
        let (transport, http) = (T::resume(tls), Http1::resumed(client, served, input));
        // No event tells of what has arrived on the socket meanwhile.
        let mut connection = Connection::new(socket, admission, transport, http, self.now, true);
        connection.expires = expires;
        let token = self.connections.insert(connection);
        if is_kept_alive {
            self.again.push(token);
        } else {
            self.write(token, None, Next::Linger);
        }
    }
}
