//! The life of a run: the first pass of the script, setup, virtual users, teardown, summary.

mod shared;

pub use shared::RunShared;
