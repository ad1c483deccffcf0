//! Private servers of databases and caches for tests and measurements, and a second client of the same data.

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
pub use server::{PASSWORD, Server, shared};
