//! The choice of a pacer for each thread of a run.

use super::Plan;
use crate::pace::Pace;
use crate::pace::closed::{Budget, ClosedLoop};
use crate::pace::fed::FedLoop;
use crate::pace::limited::LimitedLoop;
use crate::pace::open::{Arrivals, OpenLoop};
use crate::pace::open_pacer::OpenPacer;
use crate::pace::thread_pacer::ThreadPacer;
use std::ops::Range;
use torr_net::clock;

impl Plan {
    /// Returns the pacer of thread `thread`, which has the connections of these numbers among the planned ones.
    pub(crate) fn pacer<'r>(
        &'r self,
        thread: usize,
        budget: &'r Budget,
        connections: &Range<usize>,
    ) -> ThreadPacer<'r> {
        let (warm_until, depth) = (clock::nanos(self.warmup), usize::from(self.depth));
        let part = (thread as u64, self.thread_count() as u64);
        let steering = self.steering.as_deref().filter(|steering| steering.steerable().has_pauses());
        match &self.pace {
            Pace::Closed { connections: schedule, max_rate } => {
                let slots = connections.start * depth..connections.end * depth;
                let requests = ClosedLoop::new(budget, &slots, warm_until);
                if schedule.is_none() && max_rate.is_none() && steering.is_none() {
                    return ThreadPacer::Closed(requests);
                }
                let mut limited = LimitedLoop::new(requests, part);
                if let Some(rate) = max_rate {
                    limited = limited.with_rate(*rate);
                }
                if let Some(schedule) = schedule {
                    limited = limited.with_connections(schedule, warm_until, self.depth);
                }
                if let Some(steering) = steering {
                    limited = limited.with_steering(steering);
                }
                ThreadPacer::Limited(limited)
            }
            Pace::Fed(feed) => ThreadPacer::Fed(FedLoop::new(feed, thread, self.deadline())),
            Pace::Open(schedule, arrivals) => {
                let schedule = schedule.after(self.warmup);
                let times = (warm_until, self.deadline());
                let log = self.work.users().filter(|_| *arrivals == Arrivals::Logged).and_then(|users| users.logged());
                let arrivals = (*arrivals, self.coalesce);
                let open = OpenLoop::new(schedule, arrivals, self.requests, times, part, fastrand::u64(..));
                let open = match log {
                    Some((times, first)) => open.in_bursts(times, first),
                    None => open.later_by(self.phase),
                };
                ThreadPacer::Open(OpenPacer::new(open, steering))
            }
        }
    }
}
