//! From evidence to the one factor that limits a service.
#![forbid(unsafe_code)]

mod passive;
pub mod remote;

pub use passive::passive;
