//! The times at which the connections of a worker have something to do.

use std::collections::{BTreeSet, HashMap};
use std::time::Instant;

/// Timers by the key of their connection, one for each at most.
#[derive(Debug, Default)]
pub(super) struct Timers {
    order: BTreeSet<(Instant, usize)>,
    armed: HashMap<usize, Instant>,
}

impl Timers {
    /// Arms the timer of a connection, unless an earlier one is armed: that one finds what is due later.
    pub fn arm(&mut self, key: usize, at: Instant) {
        if self.armed.get(&key).is_none_or(|&armed| at < armed) {
            self.disarm(key);
            self.armed.insert(key, at);
            self.order.insert((at, key));
        }
    }

    pub fn disarm(&mut self, key: usize) {
        if let Some(at) = self.armed.remove(&key) {
            self.order.remove(&(at, key));
        }
    }

    /// Returns the earliest time.
    pub fn next(&self) -> Option<Instant> {
        self.order.first().map(|&(at, _)| at)
    }

    /// Removes a timer that is due by now, and returns the key of its connection.
    pub fn expire(&mut self, now: Instant) -> Option<usize> {
        let &(_, key) = self.order.first().filter(|&&(at, _)| at <= now)?;
        self.disarm(key);
        Some(key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn a_connection_has_one_timer_the_earliest() {
        let begin = Instant::now();
        let at = |seconds| begin + Duration::from_secs(seconds);
        let mut timers = Timers::default();
        for (key, seconds) in [(1, 60), (2, 30), (1, 20), (1, 40), (2, 25), (3, 1)] {
            timers.arm(key, at(seconds));
        }
        timers.disarm(3);
        assert_eq!((timers.order.len(), timers.next(), timers.expire(at(19))), (2, Some(at(20)), None));
        assert_eq!((timers.expire(at(25)), timers.expire(at(25)), timers.expire(at(99))), (Some(1), Some(2), None));
        assert!(timers.armed.is_empty());
    }
}
