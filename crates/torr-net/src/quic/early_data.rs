//! Sessions of a server whose clients may send requests with their first datagrams (0-RTT): each is resumed once at most, so that what
//! others have recorded and send again is no request (RFC 8446, section 8.1).

use crate::tls::TlsAcceptor;
use rustls::ServerConfig;
use rustls::server::{ProducesTickets, ServerSessionMemoryCache, StoresServerSessions};
use std::sync::Arc;

/// The most sessions that are kept. Clients of others shake hands in full.
const SESSIONS: usize = 16_384;
/// The number of bytes of early data that a ticket permits: the flow control of QUIC limits them (RFC 9001, section 4.6.1).
const BYTES: u32 = u32::MAX;

/// The tickets that a client gets with each connection.
const TICKETS: usize = 2;

/// The sessions of all workers.
pub struct EarlySessions(Arc<dyn StoresServerSessions>);

impl EarlySessions {
    /// Returns an empty store, or `None` for settings without resumption. Clients that have to present certificates get none either:
    /// other authorities after a reload would not apply to sessions of before.
    pub fn of(acceptor: &TlsAcceptor) -> Option<Self> {
        let settings = acceptor.settings();
        let permits = settings.resumption && settings.client_roots.is_none();
        permits.then(|| Self(ServerSessionMemoryCache::new(SESSIONS)))
    }

    /// Has connections of these settings resume the sessions.
    pub fn apply(&self, config: &mut ServerConfig) {
        // `rustls` takes early data only if the server keeps the sessions, and tickets carry no state.
        config.ticketer = Arc::new(NoTickets);
        config.session_storage = Arc::clone(&self.0);
        config.max_early_data_size = BYTES;
        // A ticket is good for one connection, and one that ends with its first response gets none.
        config.send_tls13_tickets = TICKETS;
    }
}

/// Sessions are not carried by their tickets.
#[derive(Debug)]
struct NoTickets;

impl ProducesTickets for NoTickets {
    fn enabled(&self) -> bool {
        false
    }

    fn lifetime(&self) -> u32 {
        0
    }

    fn encrypt(&self, _plain: &[u8]) -> Option<Vec<u8>> {
        None
    }

    fn decrypt(&self, _cipher: &[u8]) -> Option<Vec<u8>> {
        None
    }
}
