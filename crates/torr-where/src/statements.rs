//! Statements of databases: which one takes the time, how many a request sends, and what it waits for.

mod backends;
mod capture;
mod conversation;
mod database;
mod login;
mod login_places;
#[cfg(test)]
mod login_tests;
mod normalise;
mod packet;
mod place;
mod shares;
mod stream;
mod tally;
#[cfg(test)]
mod tests;
mod tracker;
#[cfg(test)]
mod tracker_tests;
mod watch;
mod wire;
mod wire_places;

pub use database::Database;
pub use login::{Login, LoginError, logins_of};
pub use place::{Blocker, MissingIndex, REPEATED, Source, StatementPlace};
pub use watch::{Endpoint, Setup, Statements, Watch};
