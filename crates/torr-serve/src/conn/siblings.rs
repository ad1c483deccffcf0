//! The other workers of a process: whether one of them is held up by a handler, and its listener, from which others then accept.
//!
//! With a listener for each worker (SO_REUSEPORT) the kernel chooses the worker of a connection by a hash. A connection to a worker
//! whose handler blocks would wait for that handler while others are idle.

use crate::process::open_listener::Listener;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;
use torr_net::{Nanos, clock};

/// The time of a turn from which on its worker counts as held up: far longer than a turn under full load.
const HELD_UP: Duration = Duration::from_millis(20);
/// The number of siblings that a worker looks after at most. Each worker is looked after by as many others.
const MOST: usize = 64;

/// The time at which a worker began what it does now, 0 while it waits. Each worker writes its own.
#[derive(Debug, Default)]
#[repr(align(64))]
pub(crate) struct Pulse(AtomicU64);

impl Pulse {
    /// Notes that the worker begins a turn, by the coarse clock.
    #[inline]
    pub fn begin(&self, now: Nanos) {
        self.0.store(now, Ordering::Relaxed);
    }

    /// Notes that the worker waits.
    #[inline]
    pub fn rest(&self) {
        self.0.store(0, Ordering::Relaxed);
    }

    fn is_held_up(&self, now: Nanos) -> bool {
        let since = self.0.load(Ordering::Relaxed);
        since != 0 && now.saturating_sub(since) >= clock::nanos(HELD_UP)
    }
}

/// A worker as the others see it. Its listener is closed when it ends, unless another one accepts from there.
#[derive(Debug)]
pub(crate) struct Sibling {
    pub listener: Weak<Listener>,
    pub pulse: Arc<Pulse>,
}

/// The listener of a sibling that is held up, which another worker watches, too.
#[derive(Debug)]
pub(crate) struct StandIn {
    /// The number of the sibling.
    pub sibling: usize,
    pub listener: Arc<Listener>,
}

/// All workers of a process that have listeners of their own, as one of them sees them.
#[derive(Debug, Clone, Default)]
pub(crate) struct Siblings {
    all: Arc<[Sibling]>,
    own: usize,
}

impl Siblings {
    /// Returns the workers as the one of the number `own` sees them.
    pub fn new(all: Arc<[Sibling]>, own: usize) -> Self {
        Self { all, own }
    }

    /// Returns the numbers of the siblings that this worker looks after.
    fn numbers(&self) -> impl Iterator<Item = usize> + use<> {
        let (own, count) = (self.own, self.all.len());
        (1..count.min(MOST + 1)).map(move |step| (own + step) % count)
    }

    /// Calls `begin` with the number and the listener of each sibling that is held up and not among `served`, and `end` with the
    /// number of each of `served` that no longer is.
    pub fn look_after(
        &self,
        served: &[usize],
        mut begin: impl FnMut(usize, Arc<Listener>),
        mut end: impl FnMut(usize),
    ) {
        let now = clock::coarse();
        for number in self.numbers() {
            let sibling = &self.all[number];
            match (served.contains(&number), sibling.pulse.is_held_up(now)) {
                (false, true) => sibling.listener.upgrade().into_iter().for_each(|listener| begin(number, listener)),
                (true, false) => end(number),
                _ => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn siblings(count: usize, own: usize) -> Siblings {
        let sibling = |_| Sibling { listener: Weak::new(), pulse: Arc::default() };
        Siblings::new((0..count).map(sibling).collect(), own)
    }

    #[test]
    fn a_worker_looks_after_others_alone_and_after_a_bounded_number() {
        let numbers = |count, own| siblings(count, own).numbers().collect::<Vec<_>>();
        assert!(numbers(0, 0).is_empty());
        assert!(numbers(1, 0).is_empty());
        assert_eq!(numbers(4, 2), [3, 0, 1]);
        assert_eq!(numbers(1_000, 990).len(), MOST);
    }

    #[test]
    fn a_worker_that_waits_or_has_just_begun_is_not_held_up() {
        let (pulse, long) = (Pulse::default(), clock::nanos(HELD_UP));
        assert!(!pulse.is_held_up(10 * long), "it has never begun");
        pulse.begin(5 * long);
        assert!(!pulse.is_held_up(5 * long) && !pulse.is_held_up(6 * long - 1));
        assert!(pulse.is_held_up(6 * long));
        pulse.rest();
        assert!(!pulse.is_held_up(10 * long));
    }
}
