//! Lua scripts as load: those of wrk, whole, and sessions of virtual users. The scripts decide what is sent and see what is
//! received; sockets and timers are the load engine's.
#![forbid(unsafe_code)]

mod address;
mod calls;
mod error;
mod facts;
mod fault;
mod file;
mod json;
mod loaded;
mod message;
mod modules;
mod native;
mod printing;
mod progress;
pub mod session;
mod state;
mod stats;
mod thread;
mod transfer;
pub mod wrk;

pub use error::ScriptError;
pub use facts::{Facts, Printing};
pub use file::{FileReader, ScriptFile};
pub use loaded::{LoadedScript, target};
pub use printing::divert;
pub use state::compile;
