//! The times by which agents and coordinators know of each other.

use std::time::Duration;

/// The time between two heartbeats of an agent, and of a coordinator.
pub(crate) const HEARTBEAT: Duration = Duration::from_secs(1);
/// The time without a heartbeat after which the other side is lost: three heartbeats, and a part of one for the way.
pub(crate) const LOST_AFTER: Duration = Duration::from_millis(3200);
/// How often a signal to stop is looked for.
pub(crate) const STOP_POLL: Duration = Duration::from_millis(20);
