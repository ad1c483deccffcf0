//! The limit of open files (RLIMIT_NOFILE), which bounds the number of connections.

use rustix::process::{Resource, getrlimit, setrlimit};

/// The number of files that a program needs besides its connections.
const SPARE: u64 = 64;

/// Raises the limit of open files for `connections`, at most to the hard limit. Returns the number of connections that fit.
pub fn raise_for_connections(connections: u64) -> u64 {
    let limit = raise_to(connections.saturating_add(SPARE));
    limit.map_or(connections, |limit| limit.saturating_sub(SPARE).min(connections))
}

/// Raises the limit of open files to `files`, at most to the hard limit, and never lowers it. Returns the limit then in
/// force; `None` is unlimited.
pub fn raise_to(files: u64) -> Option<u64> {
    let mut limit = getrlimit(Resource::Nofile);
    if limit.current.is_some_and(|now| now < files) {
        limit.current = Some(limit.maximum.map_or(files, |most| most.min(files)));
        // A failure leaves the old limit, which is returned below.
        let _ = setrlimit(Resource::Nofile, limit);
    }
    getrlimit(Resource::Nofile).current
}
