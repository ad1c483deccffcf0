//! When requests are due.

use crate::closed_loop::{ClosedLoop, Ramp};
use crate::limited::Limited;
use crate::open_loop::OpenLoop;
use torr_net::Nanos;

/// The pace of one thread.
pub trait Pacer {
    /// A connection is free: when is the next request due on it? Unless the answer lies in the future, that request is
    /// thereby begun and will not be asked for again.
    fn next(&mut self, now: Nanos) -> Due;

    /// Whether it is known already that no further request will be begun.
    fn is_exhausted(&self, _now: Nanos) -> bool {
        false
    }

    /// A place for a request that was begun is free again: the request has ended, and who sent it has thought.
    fn freed(&mut self, now: Nanos);
}

/// When the next request is due.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Due {
    /// As soon as it can be sent: its clock starts with the sending. This is what makes a closed loop.
    Free,
    /// At this time, past or future, whatever the service does: its clock starts then.
    At(Nanos),
    /// Not now; ask again at this time. Connections without a request are not needed until then.
    NotBefore(Nanos),
    /// Not now; ask again at this time, which is in the future. Connections are kept.
    Later(Nanos),
    /// Never: all requests have been begun.
    Never,
}

/// Whichever pacer a plan asks for. One type, so that one engine serves all: telling them apart costs a branch that is
/// always foreseen.
#[derive(Debug)]
pub(crate) enum AnyPacer<'r> {
    Closed(ClosedLoop<'r>),
    Ramp(Ramp<'r>),
    Limited(Limited<ClosedLoop<'r>>),
    LimitedRamp(Limited<Ramp<'r>>),
    Open(OpenLoop),
}

impl Pacer for AnyPacer<'_> {
    #[inline]
    fn next(&mut self, now: Nanos) -> Due {
        match self {
            Self::Closed(pacer) => pacer.next(now),
            Self::Ramp(pacer) => pacer.next(now),
            Self::Limited(pacer) => pacer.next(now),
            Self::LimitedRamp(pacer) => pacer.next(now),
            Self::Open(pacer) => pacer.next(now),
        }
    }

    fn is_exhausted(&self, now: Nanos) -> bool {
        match self {
            Self::Closed(pacer) => pacer.is_exhausted(now),
            Self::Ramp(pacer) => pacer.is_exhausted(now),
            Self::Limited(pacer) => pacer.is_exhausted(now),
            Self::LimitedRamp(pacer) => pacer.is_exhausted(now),
            Self::Open(pacer) => pacer.is_exhausted(now),
        }
    }

    #[inline]
    fn freed(&mut self, now: Nanos) {
        match self {
            Self::Closed(pacer) => pacer.freed(now),
            Self::Ramp(pacer) => pacer.freed(now),
            Self::Limited(pacer) => pacer.freed(now),
            Self::LimitedRamp(pacer) => pacer.freed(now),
            Self::Open(pacer) => pacer.freed(now),
        }
    }
}
