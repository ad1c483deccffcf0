//! A process of a test's own, which does not outlive the test.

use std::process::Child;

/// A process that is killed when this value is dropped, if it still runs.
pub struct KilledAtEnd(pub Child);

impl Drop for KilledAtEnd {
    fn drop(&mut self) {
        // Where the process has ended already there is nothing to kill.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
