//! The stages of a run on its first thread: setup, scenarios, teardown.

/// A stage of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stage {
    /// Threads create their virtual users.
    Starting,
    /// `setup` runs.
    Setup,
    /// Scenarios run.
    Scenarios,
    /// `teardown` runs.
    Teardown,
    /// All is done.
    Over,
}
