//! The life of a run: the first pass of the script, setup, virtual users, teardown, summary.

mod control;
mod servers;
mod settings;
mod shared;
mod test;

pub use control::{Control, StopCause};
pub use settings::{RunSettings, ScriptSource, SummarySettings};
pub use shared::RunShared;
pub use test::{Test, TestEnd};
