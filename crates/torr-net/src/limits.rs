//! The limit of open files, which is the limit of connections.

use rustix::process::{Resource, getrlimit, setrlimit};

/// Files that a program needs besides its connections.
const SPARE: u64 = 64;

/// Raises the limit of open files, as far as it may be, so that `connections` fit. Returns the number of connections
/// that do fit.
pub fn make_room_for(connections: u64) -> u64 {
    let wanted = connections.saturating_add(SPARE);
    let mut limit = getrlimit(Resource::Nofile);
    if limit.current.is_some_and(|now| now < wanted) {
        let raised = limit.maximum.map_or(wanted, |most| most.min(wanted));
        limit.current = Some(raised);
        // A refusal leaves the old limit, which is then what is reported.
        let _ = setrlimit(Resource::Nofile, limit);
    }
    getrlimit(Resource::Nofile).current.map_or(connections, |now| now.saturating_sub(SPARE).min(connections))
}
