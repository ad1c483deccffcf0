//! The iterations of a script as sessions of the load engine, for those who decide themselves how many virtual users there are, and for
//! how long: `torr doctor` and `torr limit`.
//!
//! A session is an iteration of one function. Nothing of executors, thresholds and the summary takes part in it. The requests of a virtual
//! user follow one another, those of `http.batch()` too: a user has one connection to each server, as in all sessions.

mod entries;
mod first_iteration;
mod script_sessions;
mod session_run;
mod session_users;
mod thread;
mod user;

pub use first_iteration::FirstIteration;
pub use script_sessions::{ScriptSessions, SessionsError};
