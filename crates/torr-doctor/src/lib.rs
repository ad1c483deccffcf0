//! From evidence to the one factor that limits a service.
//!
//! [`diagnose`] reads from top to bottom: experiments that are always made (`ward`), then rules in their order
//! (`factors`), each of which may make experiments of its own. [`passive`] judges a single run, with nothing varied.
#![forbid(unsafe_code)]

mod acks;
pub mod compare;
mod contrast;
mod doctor;
mod factors;
mod figures;
mod gain;
mod invocation;
mod keep_alive;
mod laboratory;
mod ladder;
pub mod limit;
mod observation;
mod passive;
pub mod permission;
pub mod remote;
mod spread;
mod turns;
mod ward;
mod words;

pub use doctor::{Diagnosis, Instruments, SCHEMA, diagnose};
pub use figures::Figures;
pub use invocation::{Flag, Invocation, quoted};
pub use keep_alive::KeepAlive;
pub use laboratory::{Assignment, Halt, Observer};
pub use observation::{ExperimentStart, Observation};
pub use passive::passive;
pub use turns::Ratio;
