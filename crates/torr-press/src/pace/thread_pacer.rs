//! The pacer of a thread, whatever the load model is.

use super::closed::ClosedLoop;
use super::fed::FedLoop;
use super::limited::LimitedLoop;
use super::open_pacer::OpenPacer;
use super::pacer::{Due, Pacer};
use torr_net::Nanos;

/// The pacer that a plan asks for. One type for all load models keeps the engine from being compiled for each; the branch
/// between them is always predicted.
#[derive(Debug)]
pub(crate) enum ThreadPacer<'r> {
    Closed(ClosedLoop<'r>),
    Limited(LimitedLoop<'r>),
    Open(OpenPacer<'r>),
    Fed(FedLoop<'r>),
}

impl Pacer for ThreadPacer<'_> {
    #[inline]
    fn next(&mut self, now: Nanos) -> Due {
        match self {
            Self::Closed(pacer) => pacer.next(now),
            Self::Limited(pacer) => pacer.next(now),
            Self::Open(pacer) => pacer.next(now),
            Self::Fed(pacer) => pacer.next(now),
        }
    }

    fn take_overdue(&mut self, now: Nanos) -> Option<(Nanos, u64)> {
        match self {
            Self::Open(pacer) => pacer.take_overdue(now),
            Self::Fed(pacer) => pacer.take_overdue(now),
            // No request of a closed loop is due before it can be sent.
            Self::Closed(_) | Self::Limited(_) => None,
        }
    }

    fn is_exhausted(&self, now: Nanos) -> bool {
        match self {
            Self::Closed(pacer) => pacer.is_exhausted(now),
            Self::Limited(pacer) => pacer.is_exhausted(now),
            Self::Open(pacer) => pacer.is_exhausted(now),
            Self::Fed(pacer) => pacer.is_exhausted(now),
        }
    }

    #[inline]
    fn request_ended(&mut self, now: Nanos) {
        match self {
            Self::Closed(pacer) => pacer.request_ended(now),
            Self::Limited(pacer) => pacer.request_ended(now),
            Self::Open(pacer) => pacer.request_ended(now),
            Self::Fed(pacer) => pacer.request_ended(now),
        }
    }
}
