//! The client's store of sessions for resumption.

use rustls::NamedGroup;
use rustls::client::{ClientSessionStore, Tls12ClientSessionValue, Tls13ClientSessionValue};
use rustls::pki_types::ServerName;
use std::cell::Cell;
use std::collections::VecDeque;
use std::sync::Mutex;

/// The limit of stored tickets, and the limit of their bytes: a server may send tickets of 64 KiB, with each of which `rustls` keeps a
/// copy of the server's certificates.
const MAX_TICKETS: usize = 16 * 1024;
const MAX_BYTES: usize = 64 * 1024 * 1024;
/// The number of bytes that a ticket takes apart from these.
const FIXED: usize = 512;

thread_local! {
    /// An upper bound of the bytes of a ticket among the bytes that the calling thread is processing. `rustls` does not tell the size
    /// of a ticket.
    static ARRIVED: Cell<usize> = const { Cell::new(0) };
    /// The bytes of the longest certificate chain that a server has sent to the calling thread.
    static CHAIN: Cell<usize> = const { Cell::new(0) };
}

/// Notes that a thread begins to process `arrived` bytes, on a connection whose handshake took `handshake` bytes.
#[inline]
pub(super) fn note_arrival(arrived: usize, handshake: usize) {
    ARRIVED.set(arrived + handshake.max(CHAIN.get()));
}

/// Notes the certificate chain of a server, which a resumed session has without it being sent.
pub(super) fn note_chain<'c>(chain: impl Iterator<Item = &'c [u8]>) {
    CHAIN.set(CHAIN.get().max(chain.map(<[u8]>::len).sum()));
}

/// The sessions with one server. The store of `rustls` keeps 8 tickets, too few for hundreds of connections of which each
/// consumes one.
#[derive(Debug)]
pub(super) struct Tickets {
    /// Whether sessions are stored at all; false simulates a first-time visitor.
    resume: bool,
    /// The limit of the bytes of all tickets.
    most_bytes: usize,
    sessions: Mutex<Sessions>,
}

#[derive(Debug, Default)]
struct Sessions {
    group: Option<NamedGroup>,
    session: Option<Tls12ClientSessionValue>,
    /// The tickets, each with the bytes that it counts for.
    tickets: VecDeque<(usize, Tls13ClientSessionValue)>,
    /// The bytes of all tickets.
    bytes: usize,
}

impl Tickets {
    pub fn new(resume: bool) -> Self {
        Self { resume, most_bytes: MAX_BYTES, sessions: Mutex::default() }
    }

    /// Returns a store of sessions for tickets of so many bytes together.
    #[cfg(test)]
    pub fn with_room(most_bytes: usize) -> Self {
        Self { most_bytes, ..Self::new(true) }
    }

    /// Returns the number of stored tickets and the bytes that they count for.
    #[cfg(test)]
    pub fn stored(&self) -> (usize, usize) {
        let sessions = self.sessions();
        (sessions.tickets.len(), sessions.bytes)
    }

    fn sessions(&self) -> std::sync::MutexGuard<'_, Sessions> {
        self.sessions.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

impl ClientSessionStore for Tickets {
    fn set_kx_hint(&self, _name: ServerName<'static>, group: NamedGroup) {
        self.sessions().group = Some(group);
    }

    fn kx_hint(&self, _name: &ServerName<'_>) -> Option<NamedGroup> {
        self.sessions().group
    }

    fn set_tls12_session(&self, _name: ServerName<'static>, session: Tls12ClientSessionValue) {
        if self.resume {
            self.sessions().session = Some(session);
        }
    }

    fn tls12_session(&self, _name: &ServerName<'_>) -> Option<Tls12ClientSessionValue> {
        self.sessions().session.clone()
    }

    fn remove_tls12_session(&self, _name: &ServerName<'static>) {
        self.sessions().session = None;
    }

    fn insert_tls13_ticket(&self, _name: ServerName<'static>, ticket: Tls13ClientSessionValue) {
        let (mut sessions, bytes) = (self.sessions(), ARRIVED.get() + FIXED);
        if self.resume && sessions.tickets.len() < MAX_TICKETS && sessions.bytes + bytes <= self.most_bytes {
            sessions.bytes += bytes;
            sessions.tickets.push_back((bytes, ticket));
        }
    }

    fn take_tls13_ticket(&self, _name: &ServerName<'static>) -> Option<Tls13ClientSessionValue> {
        let mut sessions = self.sessions();
        let (bytes, ticket) = sessions.tickets.pop_front()?;
        sessions.bytes -= bytes;
        Some(ticket)
    }
}
