//! The plan of a load whose requests are those of hurl files.

pub mod files;
pub mod plan;
pub mod transport;
