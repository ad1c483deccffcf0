//! The wish of a script that its run stops or fails.

use std::sync::OnceLock;

/// What scripts have said about the whole run. The first one counts.
#[derive(Debug, Default)]
pub struct StopRequest {
    aborted: OnceLock<String>,
    failed: OnceLock<String>,
}

impl StopRequest {
    /// Stops the run: iterations are interrupted, `teardown` runs, and the exit code is 108.
    pub fn abort(&self, reason: String) {
        let _ = self.aborted.set(reason);
    }

    /// Marks the run as failed: it goes on, and the exit code is 110.
    pub fn fail(&self, reason: String) {
        let _ = self.failed.set(reason);
    }

    /// Returns the reason why the run stops, if a script has stopped it.
    pub fn aborted(&self) -> Option<&str> {
        self.aborted.get().map(String::as_str)
    }

    /// Returns the reason why the run has failed, if a script has marked it.
    pub fn failed(&self) -> Option<&str> {
        self.failed.get().map(String::as_str)
    }
}
