//! The client's store of sessions for resumption.

use rustls::NamedGroup;
use rustls::client::{ClientSessionStore, Tls12ClientSessionValue, Tls13ClientSessionValue};
use rustls::pki_types::ServerName;
use std::collections::VecDeque;
use std::sync::Mutex;

/// The limit of stored tickets.
const MAX_TICKETS: usize = 16 * 1024;

/// The sessions with one server. The store of `rustls` keeps 8 tickets, too few for hundreds of connections of which each
/// consumes one.
#[derive(Debug)]
pub(super) struct Tickets {
    /// Whether sessions are stored at all; false simulates a first-time visitor.
    resume: bool,
    sessions: Mutex<Sessions>,
}

#[derive(Debug, Default)]
struct Sessions {
    group: Option<NamedGroup>,
    session: Option<Tls12ClientSessionValue>,
    tickets: VecDeque<Tls13ClientSessionValue>,
}

impl Tickets {
    pub fn new(resume: bool) -> Self {
        Self { resume, sessions: Mutex::default() }
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
        let mut sessions = self.sessions();
        if self.resume && sessions.tickets.len() < MAX_TICKETS {
            sessions.tickets.push_back(ticket);
        }
    }

    fn take_tls13_ticket(&self, _name: &ServerName<'static>) -> Option<Tls13ClientSessionValue> {
        self.sessions().tickets.pop_front()
    }
}
