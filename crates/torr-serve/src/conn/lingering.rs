//! The times for which what a client still sends is discarded once its response has ended.
//!
//! A proxy sends the rest of a request's content as its own client does, and reports a failure of its own where it cannot; curl
//! before 8 forgets a response over HTTP/2 whose stream is reset before its upload ends. nginx has the same times
//! (`lingering_time`, `lingering_timeout`).

use std::time::Duration;

/// The time for which a client may still send, in all.
pub(crate) const LINGER_TIME: Duration = Duration::from_secs(30);
/// The time for which a client may send nothing.
pub(crate) const LINGER_PAUSE: Duration = Duration::from_secs(5);
