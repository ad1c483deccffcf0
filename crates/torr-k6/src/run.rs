//! The life of a run: the first pass of the script, setup, virtual users, teardown, summary.

mod settings;
mod shared;
mod stop;

pub use settings::{RunSettings, ScriptSource, SummarySettings};
pub use shared::RunShared;
pub use stop::StopRequest;
