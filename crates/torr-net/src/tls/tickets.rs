//! What a client keeps of sessions, to resume them.

use rustls::NamedGroup;
use rustls::client::{ClientSessionStore, Tls12ClientSessionValue, Tls13ClientSessionValue};
use rustls::pki_types::ServerName;
use std::collections::VecDeque;
use std::sync::Mutex;

/// The most tickets that are kept.
const MOST: usize = 16 * 1024;

/// The sessions with one server. The library's own store keeps 8 of them, which is too few where connections come by the
/// hundred, each of which uses one up.
#[derive(Debug)]
pub(super) struct Tickets {
    /// Whether they are given out again. A visitor who has never been here has none.
    resume: bool,
    kept: Mutex<Kept>,
}

#[derive(Debug, Default)]
struct Kept {
    group: Option<NamedGroup>,
    session: Option<Tls12ClientSessionValue>,
    tickets: VecDeque<Tls13ClientSessionValue>,
}

impl Tickets {
    pub fn new(resume: bool) -> Self {
        Self { resume, kept: Mutex::default() }
    }

    fn kept(&self) -> std::sync::MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

impl ClientSessionStore for Tickets {
    fn set_kx_hint(&self, _name: ServerName<'static>, group: NamedGroup) {
        self.kept().group = Some(group);
    }

    fn kx_hint(&self, _name: &ServerName<'_>) -> Option<NamedGroup> {
        self.kept().group
    }

    fn set_tls12_session(&self, _name: ServerName<'static>, session: Tls12ClientSessionValue) {
        if self.resume {
            self.kept().session = Some(session);
        }
    }

    fn tls12_session(&self, _name: &ServerName<'_>) -> Option<Tls12ClientSessionValue> {
        self.kept().session.clone()
    }

    fn remove_tls12_session(&self, _name: &ServerName<'static>) {
        self.kept().session = None;
    }

    fn insert_tls13_ticket(&self, _name: ServerName<'static>, ticket: Tls13ClientSessionValue) {
        let mut kept = self.kept();
        if self.resume && kept.tickets.len() < MOST {
            kept.tickets.push_back(ticket);
        }
    }

    fn take_tls13_ticket(&self, _name: &ServerName<'static>) -> Option<Tls13ClientSessionValue> {
        self.kept().tickets.pop_front()
    }
}
