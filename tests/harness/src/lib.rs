//! What the programs and tests that try Torr as a whole have in common: how they fail, how they are interrupted, so that whatever
//! they started is ended with them, when a measurement may be made again, and what becomes of tests that cannot run.
#![forbid(unsafe_code)]

pub mod disturbance;
pub mod error;
pub mod interrupt;
pub mod required;
