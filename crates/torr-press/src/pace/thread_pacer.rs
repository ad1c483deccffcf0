//! The choice of a pacer for each thread of a run.

use super::Pace;
use super::closed::{Budget, ClosedLoop, Ramp};
use super::limited::Limited;
use super::open::OpenLoop;
use super::pacer::{Due, Pacer};
use super::steered::{SteeredClosed, SteeredOpen};
use crate::plan::Plan;
use std::ops::Range;
use torr_net::{Nanos, clock};

/// The pacer that a plan asks for. One type for all load models keeps the engine from being compiled for each; the branch
/// between them is always predicted.
#[derive(Debug)]
pub(crate) enum AnyPacer<'r> {
    Closed(ClosedLoop<'r>),
    Ramp(Ramp<'r>),
    Limited(Limited<ClosedLoop<'r>>),
    LimitedRamp(Limited<Ramp<'r>>),
    Open(OpenLoop),
    SteeredClosed(Box<SteeredClosed<'r, Self>>),
    SteeredOpen(SteeredOpen<'r>),
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
            Self::SteeredClosed(pacer) => pacer.next(now),
            Self::SteeredOpen(pacer) => pacer.next(now),
        }
    }

    fn take_overdue(&mut self, now: Nanos) -> Option<(Nanos, u64)> {
        match self {
            Self::Open(pacer) => pacer.take_overdue(now),
            Self::SteeredOpen(pacer) => pacer.take_overdue(now),
            // No request of a closed loop is due before it can be sent.
            Self::Closed(_) | Self::Ramp(_) | Self::Limited(_) | Self::LimitedRamp(_) | Self::SteeredClosed(_) => None,
        }
    }

    fn is_exhausted(&self, now: Nanos) -> bool {
        match self {
            Self::Closed(pacer) => pacer.is_exhausted(now),
            Self::Ramp(pacer) => pacer.is_exhausted(now),
            Self::Limited(pacer) => pacer.is_exhausted(now),
            Self::LimitedRamp(pacer) => pacer.is_exhausted(now),
            Self::Open(pacer) => pacer.is_exhausted(now),
            Self::SteeredClosed(pacer) => pacer.is_exhausted(now),
            Self::SteeredOpen(pacer) => pacer.is_exhausted(now),
        }
    }

    #[inline]
    fn request_ended(&mut self, now: Nanos) {
        match self {
            Self::Closed(pacer) => pacer.request_ended(now),
            Self::Ramp(pacer) => pacer.request_ended(now),
            Self::Limited(pacer) => pacer.request_ended(now),
            Self::LimitedRamp(pacer) => pacer.request_ended(now),
            Self::Open(pacer) => pacer.request_ended(now),
            Self::SteeredClosed(pacer) => pacer.request_ended(now),
            Self::SteeredOpen(pacer) => pacer.request_ended(now),
        }
    }
}

impl<'r> AnyPacer<'r> {
    /// Returns the pacer of thread `thread`, which has the connections of these numbers among the planned ones.
    pub fn new(plan: &'r Plan, thread: usize, budget: &'r Budget, connections: &Range<usize>) -> Self {
        let (warm_until, depth) = (clock::nanos(plan.warmup), usize::from(plan.depth));
        let part = (thread as u64, plan.thread_count() as u64);
        let closed = || ClosedLoop::new(budget, &(connections.start * depth..connections.end * depth), warm_until);
        let ramp = |schedule| Ramp::new(closed(), schedule, part, plan.depth);
        let pacer = match &plan.pace {
            Pace::Closed { connections: None, max_rate: None } => Self::Closed(closed()),
            Pace::Closed { connections: None, max_rate: Some(rate) } => {
                Self::Limited(Limited::new(closed(), *rate, part))
            }
            Pace::Closed { connections: Some(schedule), max_rate: None } => Self::Ramp(ramp(schedule)),
            Pace::Closed { connections: Some(schedule), max_rate: Some(rate) } => {
                Self::LimitedRamp(Limited::new(ramp(schedule), *rate, part))
            }
            Pace::Open(schedule, arrivals) => {
                let schedule = schedule.after(plan.warmup);
                let times = (warm_until, plan.deadline());
                let arrivals = (*arrivals, plan.coalesce);
                let pacer = OpenLoop::new(schedule, arrivals, plan.requests, times, part, fastrand::u64(..));
                Self::Open(pacer.later_by(plan.phase))
            }
        };
        match (pacer, plan.steering.as_deref()) {
            (Self::Open(open), Some(steering)) => Self::SteeredOpen(SteeredOpen::new(open, steering)),
            (closed, Some(steering)) => Self::SteeredClosed(Box::new(SteeredClosed::new(closed, steering, part))),
            (pacer, None) => pacer,
        }
    }
}
