//! From evidence to the one factor that limits a service.
//!
//! [`diagnose`] reads from top to bottom: experiments that are always made (`ward`), then rules in their order
//! (`factors`), each of which may make experiments of its own. [`passive`] judges a single run, with nothing varied.
#![forbid(unsafe_code)]

mod acks;
mod case;
pub mod compare;
mod contrast;
mod doctor;
mod factors;
mod gain;
mod invocation;
mod keep_alive;
mod laboratory;
mod ladder;
pub mod limit;
mod passive;
pub mod permission;
pub mod remote;
mod spread;
mod trail;
mod turns;
mod ward;
mod words;

pub use case::Case;
pub use doctor::{Diagnosis, Instruments, SCHEMA, diagnose};
pub use invocation::{Flag, Invocation, quoted};
pub use keep_alive::KeepAlive;
pub use laboratory::{Halt, Observer, Patient};
pub use passive::passive;
pub use trail::{Step, Trial};
pub use turns::Ratio;
