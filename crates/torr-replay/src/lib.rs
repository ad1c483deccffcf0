//! The requests of an access log as the users of a run, and the comparison of the run with the log.
//!
//! A thread of its own reads the log a little ahead of the load threads ([`Replay`] starts it). It gives each of them the
//! times at which requests are due, and the requests.
#![forbid(unsafe_code)]

mod bursts;
mod comparison;
mod mix;
mod path_table;
mod queue;
mod reading;
mod replay;
mod request;
mod segment;
mod sending;
mod shared;
mod user;

pub use mix::Mix;
pub use replay::{Replay, Settings, shown};
pub use request::RequestTemplate;
