//! What the programs that try Torr as a whole have in common: how they fail, and how they are interrupted, so that whatever they
//! started is ended with them.
#![forbid(unsafe_code)]

pub mod error;
pub mod interrupt;
