//! Where the virtual users of a thread are, and what has been counted of their sessions.

use torr_gauge::sessions::{EntryName, SessionCounts};
use torr_net::Nanos;

/// The sessions of one thread.
pub(super) struct Sessions {
    pub counts: SessionCounts,
    /// Where each user is, by the number of the connection.
    pub users: Vec<UserState>,
    /// The number of sessions that have begun and not ended.
    pub running: usize,
}

/// Where a user is.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct UserState {
    /// When the session should have begun.
    pub due: Nanos,
    /// The number of the entry whose request is next or in flight.
    pub entry: u32,
    /// The number of requests that are sent together.
    pub together: u16,
    pub in_session: bool,
    /// Whether the session began during the warm-up.
    pub in_warmup: bool,
}

impl Sessions {
    pub fn new(users: usize, entries: &[EntryName]) -> Self {
        Self { counts: SessionCounts::new(entries), users: vec![UserState::default(); users], running: 0 }
    }
}
