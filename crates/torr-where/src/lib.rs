//! The place in a service that limits it: the function, the lock or the statement, while a load runs.
//!
//! A [`Survey`] samples the server's processes for a few seconds and returns a [`Localisation`]: [`Place`]s with their share of the
//! saturated resource, and what could not be seen ([`Unseen`]). All of them are facts; sentences are made elsewhere.
#![deny(unsafe_code)]

pub mod native;
mod pace;
pub mod place;
pub mod runtime;
pub mod stack;
pub mod statements;
pub mod survey;
pub mod unseen;

pub use place::{Holder, Place};
pub use stack::{Frame, LockId, Stack, StackSample, WaitKind};
pub use survey::{Localisation, PreparedSurvey, Resource, Survey};
pub use torr_gauge::verdict::Estimate;
pub use torr_gauge::verdict::place::PlaceKind;
pub use unseen::{Remedy, Runtime, Unseen, UnseenReason};

/// The code of the README is compiled with the tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
