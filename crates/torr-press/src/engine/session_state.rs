//! The state of a thread's virtual users, and the counts of their sessions.

use crate::work::users::Users;
use std::sync::Arc;
use torr_gauge::sessions::{EntryCounts, SessionCounts};
use torr_net::Nanos;

/// The sessions of one thread.
pub(super) struct Sessions {
    /// The counts of sessions and entries; `None` where results tell of requests only.
    pub counts: Option<SessionCounts>,
    /// The state of each user, by the number of the connection.
    pub users: Vec<UserState>,
    /// The number of sessions that have begun and not ended.
    pub running: usize,
    /// The latest certificate of the server, which connections share.
    certificate: Option<Arc<[u8]>>,
}

/// The state of a user in a session.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct UserState {
    /// The time at which the session should have begun.
    pub due: Nanos,
    /// The number of the entry whose request is next or in flight.
    pub entry: u32,
    /// The number of requests that are sent together.
    pub together: u16,
    pub in_session: bool,
    /// Whether the user waits for a time, at which its slot takes the next step.
    pub is_pausing: bool,
    /// Whether the session began during the warm-up.
    pub in_warmup: bool,
}

impl Sessions {
    pub fn new(count: usize, users: &dyn Users) -> Self {
        let counts = users.has_sessions().then(|| SessionCounts::new(&users.entries()));
        Self { counts, users: vec![UserState::default(); count], running: 0, certificate: None }
    }

    /// Returns the counts of an entry, if there are any.
    pub fn entry(&mut self, number: u32) -> Option<&mut EntryCounts> {
        self.counts.as_mut()?.entries.get_mut(number as usize)
    }

    /// Returns a certificate in memory that all connections share on which the server sends the same one.
    pub fn share(&mut self, certificate: &[u8]) -> Arc<[u8]> {
        match &self.certificate {
            Some(latest) if **latest == *certificate => Arc::clone(latest),
            _ => Arc::clone(self.certificate.insert(certificate.into())),
        }
    }
}
