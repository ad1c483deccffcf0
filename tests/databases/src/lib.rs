//! Private database servers for tests and measurements, and somebody else who works on the same data.
//!
//! Whatever goes wrong is a panic: the test has failed then.
#![forbid(unsafe_code)]

mod outside;
mod server;

pub use outside::{Outside, runtime};
pub use server::{Make, PASSWORD, Server, shared, wait_until};
