//! Times in which no response came on any connection, much shorter than an interval of the series.

use serde::{Deserialize, Serialize};

/// The length of a slot as a power of two in nanoseconds: 8.4 ms.
const SLOT_SHIFT: u32 = 23;
/// The number of slots of an interval: a little more than a second.
const SLOTS: usize = 128;
/// The least length in seconds of a time without a response that is counted.
const LEAST_S: f64 = 0.1;

/// The slots of an interval in which a response came, a bit for each.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Activity([u64; SLOTS / 64]);

impl Activity {
    /// Notes a response so many nanoseconds after the interval began.
    #[inline]
    pub fn mark(&mut self, since_begin: u64) {
        let slot = (since_begin >> SLOT_SHIFT).min(SLOTS as u64 - 1) as usize;
        self.0[slot / 64] |= 1 << (slot % 64);
    }

    /// Adds the responses of another thread in the same interval.
    pub fn add(&mut self, other: Self) {
        self.0.iter_mut().zip(other.0).for_each(|(mine, theirs)| *mine |= theirs);
    }

    fn is_marked(&self, slot: usize) -> bool {
        self.0[slot / 64] >> (slot % 64) & 1 == 1
    }
}

/// The times of a tenth of a second or more in which no response came on any connection, after the first response and before the
/// last.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Stalls {
    /// The number of such times.
    pub count: u64,
    /// Their sum in seconds.
    pub total_s: f64,
    /// The longest one in seconds.
    pub longest_s: f64,
}

/// Finds stalls in intervals, given in the order of time.
#[derive(Debug, Default)]
pub(crate) struct StallFinder {
    found: Stalls,
    /// When the latest response came, in seconds. `None` before the first.
    latest_s: Option<f64>,
}

impl StallFinder {
    /// Adds an interval from `begin_s` to `end_s`. The time of one that is longer than its slots is unknown.
    pub fn push(&mut self, begin_s: f64, end_s: f64, activity: Activity) {
        let slot_s = (1u64 << SLOT_SHIFT) as f64 / 1e9;
        if end_s - begin_s > SLOTS as f64 * slot_s {
            self.latest_s = None;
            return;
        }
        for slot in (0..SLOTS).filter(|&slot| activity.is_marked(slot)) {
            let at_s = begin_s + slot as f64 * slot_s;
            let length_s = self.latest_s.map_or(0.0, |latest_s| at_s - latest_s);
            if length_s >= LEAST_S {
                self.found.count += 1;
                self.found.total_s += length_s;
                self.found.longest_s = self.found.longest_s.max(length_s);
            }
            self.latest_s = Some((at_s + slot_s).min(end_s));
        }
    }

    /// Returns the stalls so far. `None` without any.
    pub fn found(&self) -> Option<Stalls> {
        let round3 = crate::generator::round3;
        let Stalls { count, total_s, longest_s } = self.found;
        (count > 0).then(|| Stalls { count, total_s: round3(total_s), longest_s: round3(longest_s) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Finds the stalls of responses at these times in milliseconds, in intervals of a second.
    fn stalls(responses_ms: &[u64]) -> Option<Stalls> {
        let mut finder = StallFinder::default();
        for second in 0..=responses_ms.last().copied().unwrap_or(0) / 1000 {
            let mut activity = Activity::default();
            let (begin, end) = (second * 1000, second * 1000 + 1000);
            for ms in responses_ms.iter().filter(|ms| (begin..end).contains(*ms)) {
                activity.mark((ms - begin) * 1_000_000);
            }
            finder.push(begin as f64 / 1e3, end as f64 / 1e3, activity);
        }
        finder.found()
    }

    #[test]
    fn a_service_that_stops_now_and_then_has_stalls() {
        // A response each 5 ms, but for 0.3 s in each 1.3 s.
        let steady: Vec<_> = (0..4000).step_by(5).collect();
        assert_eq!(stalls(&steady), None);
        let stopped: Vec<_> = steady.iter().copied().filter(|ms| ms % 1300 < 1000).collect();
        let found = stalls(&stopped).expect("it stopped three times, once across the end of an interval");
        assert_eq!(found.count, 3);
        assert!((0.28..0.31).contains(&found.longest_s) && (0.84..0.93).contains(&found.total_s), "{found:?}");
        assert_eq!(stalls(&[]), None);
        assert_eq!(stalls(&[1500]), None, "before the first response nothing has stopped");
    }

    #[test]
    fn a_response_of_any_thread_ends_a_stall() {
        let (mut one, mut other) = (Activity::default(), Activity::default());
        [0, 900].into_iter().for_each(|ms| one.mark(ms * 1_000_000));
        (0..1000).step_by(50).for_each(|ms| other.mark(ms * 1_000_000));
        one.add(other);
        let mut finder = StallFinder::default();
        finder.push(0.0, 1.0, one);
        assert_eq!(finder.found(), None);
        // Long intervals are not looked into.
        finder.push(1.0, 11.0, Activity::default());
        finder.push(11.0, 12.0, one);
        assert_eq!(finder.found(), None);
    }
}
