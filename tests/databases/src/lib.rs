//! Private servers of databases and caches for tests and measurements, and somebody else who works on the same data.
//!
//! Whatever goes wrong is a panic: the test has failed then.
#![forbid(unsafe_code)]

mod folder;
mod make;
mod mariadb;
mod outside;
mod postgres;
mod processes;
mod redis;
mod server;

pub use make::Make;
pub use outside::{Outside, runtime};
pub use processes::wait_until;
pub use server::{PASSWORD, Server, shared};
