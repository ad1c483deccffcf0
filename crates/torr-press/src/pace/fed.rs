//! An open loop whose times are learnt during the run, such as those of a log.

use super::pacer::{Due, Pacer};
use std::fmt::Debug;
use std::sync::Arc;
use torr_net::Nanos;

/// How long a thread waits before it looks again for a request whose time is not known yet.
const LOOK_AGAIN: Nanos = 1_000_000;

/// The times at which the requests of a run are due, which are learnt during the run. Each thread has requests of its own.
pub trait DueTimes: Debug + Send + Sync {
    /// Returns when the next request of a thread is due.
    fn next(&self, thread: usize) -> NextDue;

    /// Takes the request that [`next`](Self::next) is about: the thread begins it now, or the end of the run leaves it behind.
    fn take(&self, thread: usize);
}

/// When the next request of a thread is due.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NextDue {
    /// At this time of the run's clock, in nanoseconds.
    At(Nanos),
    /// The time is not known yet.
    Unknown,
    /// There are no more requests.
    Never,
}

/// Due times that all threads of a run share. Two are equal if they are the same.
#[derive(Debug, Clone)]
pub struct Feed(Arc<dyn DueTimes>);

impl Feed {
    /// Returns the feed of these times.
    pub fn new(times: Arc<dyn DueTimes>) -> Self {
        Self(times)
    }
}

impl PartialEq for Feed {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

/// One thread's part of a feed.
#[derive(Debug)]
pub(crate) struct FedLoop<'r> {
    times: &'r dyn DueTimes,
    thread: usize,
    deadline: Nanos,
}

impl<'r> FedLoop<'r> {
    /// Returns the part of a thread. What is due at the deadline or later is not sent.
    pub fn new(feed: &'r Feed, thread: usize, deadline: Nanos) -> Self {
        Self { times: &*feed.0, thread, deadline }
    }
}

impl Pacer for FedLoop<'_> {
    fn next(&mut self, now: Nanos) -> Due {
        match self.times.next(self.thread) {
            NextDue::At(due) if due >= self.deadline => Due::Later(self.deadline),
            NextDue::At(due) => {
                if due <= now {
                    self.times.take(self.thread);
                }
                Due::At(due)
            }
            NextDue::Unknown => Due::Later(now + LOOK_AGAIN),
            NextDue::Never => Due::Never,
        }
    }

    fn is_exhausted(&self, _now: Nanos) -> bool {
        self.times.next(self.thread) == NextDue::Never
    }

    fn request_ended(&mut self, _now: Nanos) {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::VecDeque;
    use std::sync::Mutex;

    #[derive(Debug)]
    struct Times(Mutex<VecDeque<NextDue>>);

    impl DueTimes for Times {
        fn next(&self, _thread: usize) -> NextDue {
            self.0.lock().unwrap().front().copied().unwrap_or(NextDue::Never)
        }

        fn take(&self, _thread: usize) {
            self.0.lock().unwrap().pop_front();
        }
    }

    fn feed(times: &[NextDue]) -> (Arc<Times>, Feed) {
        let times = Arc::new(Times(Mutex::new(times.iter().copied().collect())));
        (Arc::clone(&times), Feed::new(times))
    }

    #[test]
    fn a_request_is_begun_at_its_time_or_as_soon_as_it_is_known() {
        let (times, feed) = feed(&[NextDue::At(5), NextDue::At(9), NextDue::Unknown]);
        let mut pacer = FedLoop::new(&feed, 0, Nanos::MAX);
        assert_eq!((pacer.next(4), pacer.next(4)), (Due::At(5), Due::At(5)), "it stays until it is due");
        assert_eq!((pacer.next(20), pacer.next(20)), (Due::At(5), Due::At(9)));
        assert_eq!(pacer.next(20), Due::Later(20 + LOOK_AGAIN));
        assert!(!pacer.is_exhausted(20));
        times.take(0);
        assert_eq!((pacer.next(20), pacer.is_exhausted(20)), (Due::Never, true));
    }

    #[test]
    fn what_is_due_at_the_deadline_is_not_sent() {
        let (_, feed) = feed(&[NextDue::At(5), NextDue::At(10)]);
        let mut pacer = FedLoop::new(&feed, 0, 10);
        assert_eq!(pacer.take_overdue(7), Some((5, 1)));
        assert_eq!((pacer.take_overdue(20), pacer.next(20)), (None, Due::Later(10)));
    }
}
