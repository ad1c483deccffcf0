#![doc = include_str!("../README.md")]
//!
//! # How it is made
//!
//! [`diagnose`] asks the rules (`rules`) in their order. A rule is a pure function of the evidence (`evidence`): it gives a verdict,
//! passes, or asks for an experiment (`experiment`), which the driver (`driver`) has carried out by a runner (`runner`) before it asks again. The
//! runner is a real load on the service (`load_runner`), a simulation or a recording (`recording`). [`passive`] judges a single run, with no
//! experiments to be had.
#![forbid(unsafe_code)]

mod acks;
mod agents;
mod assignment;
mod below_errors;
mod calm;
pub mod compare;
mod contrast;
mod decisive;
mod diagnosis;
mod driver;
mod evidence;
mod experiment;
mod figures;
mod gain;
mod halt;
mod hypotheses;
mod invocation;
mod keep_alive;
mod ladder;
pub mod limit;
mod load_runner;
pub mod locate;
mod observation;
mod observer;
mod passive;
pub mod permission;
mod place_gain;
mod recording;
pub mod remote;
mod rules;
mod runner;
mod secret_variables;
mod setting;
mod settling;
mod shell;
#[cfg(test)]
mod simulation;
mod spread;
mod stops;
mod streams;
mod survey;
#[cfg(test)]
mod tables;
mod thresholds;
mod times;
mod turns;
mod weather;
mod witnesses;

pub use agents::Agents;
pub use assignment::Assignment;
pub use diagnosis::{Diagnosis, Instruments, SCHEMA, diagnose};
pub use experiment::{NullContent, Request};
pub use figures::Figures;
pub use halt::Halt;
pub use invocation::{Flag, Invocation};
pub use keep_alive::KeepAlive;
pub use load_runner::Watch;
pub use observation::{ExperimentStart, Observation};
pub use observer::Observer;
pub use passive::passive;
pub use recording::Recording;
pub use secret_variables::SecretVariables;
pub use setting::{Setting, StreamKind};
pub use shell::quoted;
pub use times::{Spread, Times};
pub use turns::Ratio;
