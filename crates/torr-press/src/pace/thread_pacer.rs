//! The choice of a pacer for each thread of a run.

use super::Pace;
use super::closed::{Budget, ClosedLoop};
use super::limited::LimitedLoop;
use super::open::OpenLoop;
use super::open_pacer::OpenPacer;
use super::pacer::{Due, Pacer};
use crate::plan::Plan;
use std::ops::Range;
use torr_net::{Nanos, clock};

/// The pacer that a plan asks for. One type for all load models keeps the engine from being compiled for each; the branch
/// between them is always predicted.
#[derive(Debug)]
pub(crate) enum ThreadPacer<'r> {
    Closed(ClosedLoop<'r>),
    Limited(LimitedLoop<'r>),
    Open(OpenPacer<'r>),
}

impl Pacer for ThreadPacer<'_> {
    #[inline]
    fn next(&mut self, now: Nanos) -> Due {
        match self {
            Self::Closed(pacer) => pacer.next(now),
            Self::Limited(pacer) => pacer.next(now),
            Self::Open(pacer) => pacer.next(now),
        }
    }

    fn take_overdue(&mut self, now: Nanos) -> Option<(Nanos, u64)> {
        match self {
            Self::Open(pacer) => pacer.take_overdue(now),
            // No request of a closed loop is due before it can be sent.
            Self::Closed(_) | Self::Limited(_) => None,
        }
    }

    fn is_exhausted(&self, now: Nanos) -> bool {
        match self {
            Self::Closed(pacer) => pacer.is_exhausted(now),
            Self::Limited(pacer) => pacer.is_exhausted(now),
            Self::Open(pacer) => pacer.is_exhausted(now),
        }
    }

    #[inline]
    fn request_ended(&mut self, now: Nanos) {
        match self {
            Self::Closed(pacer) => pacer.request_ended(now),
            Self::Limited(pacer) => pacer.request_ended(now),
            Self::Open(pacer) => pacer.request_ended(now),
        }
    }
}

impl<'r> ThreadPacer<'r> {
    /// Returns the pacer of thread `thread`, which has the connections of these numbers among the planned ones.
    pub fn new(plan: &'r Plan, thread: usize, budget: &'r Budget, connections: &Range<usize>) -> Self {
        let (warm_until, depth) = (clock::nanos(plan.warmup), usize::from(plan.depth));
        let part = (thread as u64, plan.thread_count() as u64);
        let steering = plan.steering.as_deref();
        match &plan.pace {
            Pace::Closed { connections: schedule, max_rate } => {
                let slots = connections.start * depth..connections.end * depth;
                let requests = ClosedLoop::new(budget, &slots, warm_until);
                if schedule.is_none() && max_rate.is_none() && steering.is_none() {
                    return Self::Closed(requests);
                }
                let mut limited = LimitedLoop::new(requests, part);
                if let Some(rate) = max_rate {
                    limited = limited.with_rate(*rate);
                }
                if let Some(schedule) = schedule {
                    limited = limited.with_connections(schedule, warm_until, plan.depth);
                }
                if let Some(steering) = steering {
                    limited = limited.with_steering(steering);
                }
                Self::Limited(limited)
            }
            Pace::Open(schedule, arrivals) => {
                let schedule = schedule.after(plan.warmup);
                let times = (warm_until, plan.deadline());
                let arrivals = (*arrivals, plan.coalesce);
                let open = OpenLoop::new(schedule, arrivals, plan.requests, times, part, fastrand::u64(..));
                Self::Open(OpenPacer::new(open.later_by(plan.phase), steering))
            }
        }
    }
}
