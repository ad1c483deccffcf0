//! Streams of events: what limits is judged by the events per second of all streams, by gaps and by the wait for the first event. How long
//! a stream lasts is by design.

mod begin;
mod busy;
mod load;
mod pace;

pub use begin::{capped, few, refused};
pub use busy::{generator, link, quota};
pub use pace::paced;

use crate::evidence::Evidence;
use crate::experiment::Step;

/// The server is busy, lets no more streams have events, or holds events back.
pub fn busy(evidence: &Evidence) -> Step {
    for rule in [busy::cpu, begin::admitted, pace::held] {
        if let Some(finding) = rule(evidence)? {
            return Ok(Some(finding));
        }
    }
    Ok(None)
}
