//! Private servers of databases and caches for tests and measurements, and a second client of the same data.

mod folder;
mod make;
mod mariadb;
mod outside;
mod postgres;
mod processes;
mod program;
mod redis;
mod server;
mod url;

pub use make::Make;
pub use outside::{Outside, runtime};
pub use server::{Server, shared};
pub use url::PASSWORD;
