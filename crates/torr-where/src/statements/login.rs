//! What a database shows of its statements to a client with a login.

mod condition;
mod environment;
mod mysql;
mod observed;
mod postgres;
mod redis;
mod url;
mod view;
mod watcher;

pub use environment::logins_of;
pub(super) use observed::{Observed, Seen};
pub use url::{Login, LoginError};
pub(super) use watcher::Watcher;
