//! From evidence to the one factor that limits a service.
#![forbid(unsafe_code)]

pub mod limit;
mod passive;
pub mod permission;

pub use passive::passive;
