//! Torr's commands as tools of the Model Context Protocol, over standard input and output.
//!
//! A call becomes a command line, which the program runs as a process of its own, so that a load ends with its call. What an assistant
//! may load, and how hard, the user says beforehand: [`Bounds`].
#![forbid(unsafe_code)]

mod bounds;
mod given;
mod process;
mod property;
mod server;
mod tools;

pub use bounds::{Allowed, Bounds};
pub use server::serve;
