//! What Torr's tests, and the programs that measure Torr, have in common. Whatever goes wrong is a panic: the test has failed then.
//!
//! - Always: waiting ([`wait_until`]), measuring alone ([`alone`], [`beside`]), a process of a test's own ([`has_own_process`]), what
//!   a quiet machine is needed for ([`measured`]), tests that cannot run everywhere ([`required`]), limits of CPU time and memory
//!   ([`control_group`]), programs that disturb ([`neighbours`]), built examples ([`example`]), and how a program fails or is interrupted ([`error`], [`interrupt`]).
//! - Feature `program`: the program `torr` run from outside, and clients and servers for it.
//! - Feature `links`: links of packets with a delay and losses; with `program`, hosts at their ends.
//! - Feature `databases`: private servers of databases and caches.
#![forbid(unsafe_code)]
#![allow(missing_docs, reason = "a comment that repeats the name says nothing, and no other repository uses the crate")]

mod alone;
pub mod control_group;
pub mod disturbance;
pub mod error;
mod example;
pub mod interrupt;
pub mod measured;
pub mod neighbours;
mod own_process;
pub mod required;
mod waiting;

#[cfg(feature = "databases")]
pub mod databases;

#[cfg(feature = "links")]
pub mod link;
#[cfg(all(feature = "links", feature = "program"))]
pub mod network;

#[cfg(feature = "program")]
pub mod certificates;
#[cfg(feature = "program")]
pub mod client;
#[cfg(feature = "program")]
pub mod commands;
#[cfg(feature = "program")]
pub mod full_screen;
#[cfg(feature = "program")]
pub mod guide;
#[cfg(feature = "program")]
mod killed_at_end;
#[cfg(feature = "program")]
pub mod markdown;
#[cfg(feature = "program")]
pub mod metrics;
#[cfg(feature = "program")]
pub mod namespace;
#[cfg(feature = "program")]
pub mod nats;
#[cfg(feature = "program")]
pub mod nats_client;
#[cfg(feature = "program")]
pub mod program;
#[cfg(feature = "program")]
pub mod proxy;
#[cfg(feature = "program")]
pub mod result;
#[cfg(feature = "program")]
pub mod script;
#[cfg(feature = "program")]
pub mod servers;
#[cfg(feature = "program")]
pub mod supervised;
#[cfg(feature = "program")]
pub mod terminal;

pub use alone::{alone, beside};
pub use example::example;
#[cfg(feature = "program")]
pub use killed_at_end::KilledAtEnd;
pub use own_process::has_own_process;
pub use waiting::{PATIENCE, wait_until};
