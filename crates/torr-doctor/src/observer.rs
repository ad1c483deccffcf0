//! What tells what the server's machine sees.

use crate::remote::RemoteWatch;
use torr_signals::{Reading, Watcher};

/// Something that tells what the server's machine sees.
pub trait Observer {
    /// Returns all counters at this moment. `None` if the machine does not respond.
    fn reading(&self) -> Option<Reading>;

    /// Whether it is this machine that it tells of.
    fn is_here(&self) -> bool;
}

impl Observer for Watcher {
    fn reading(&self) -> Option<Reading> {
        Some(Watcher::reading(self))
    }

    fn is_here(&self) -> bool {
        true
    }
}

impl Observer for RemoteWatch {
    fn reading(&self) -> Option<Reading> {
        RemoteWatch::reading(self).ok()
    }

    fn is_here(&self) -> bool {
        false
    }
}
