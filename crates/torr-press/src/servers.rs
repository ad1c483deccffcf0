//! Servers: their URLs, the ways to them, and those that a run learns of while it runs.

pub(crate) mod destination;
pub mod learnt;
mod renewal;
pub(crate) mod sources;
pub(crate) mod target;
pub(crate) mod url_parts;
