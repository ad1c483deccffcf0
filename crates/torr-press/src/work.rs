//! The requests of a run on their way to a connection: composed before the run, or decided by virtual users.

pub(crate) mod outgoing;
pub(crate) mod source;
pub mod users;
