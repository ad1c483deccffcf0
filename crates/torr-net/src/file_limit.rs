//! The limit of open files, which is the limit of connections.

use rustix::process::{Resource, getrlimit, setrlimit};

/// Files that a program needs besides its connections.
const SPARE: u64 = 64;

/// Raises the limit of open files, as far as it may be, so that `connections` fit. Returns the number of connections
/// that do fit.
pub fn raise_for_connections(connections: u64) -> u64 {
    let limit = raise_to(connections.saturating_add(SPARE));
    limit.map_or(connections, |limit| limit.saturating_sub(SPARE).min(connections))
}

/// Raises the limit of open files to `files`, or as far as the hard limit allows. A limit that is higher stays. Returns the limit
/// that is in force then; `None` is no limit.
pub fn raise_to(files: u64) -> Option<u64> {
    let mut limit = getrlimit(Resource::Nofile);
    if limit.current.is_some_and(|now| now < files) {
        limit.current = Some(limit.maximum.map_or(files, |most| most.min(files)));
        // A refusal leaves the old limit, which is then what is reported.
        let _ = setrlimit(Resource::Nofile, limit);
    }
    getrlimit(Resource::Nofile).current
}
