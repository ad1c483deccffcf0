//! Lines of a log, which are written when requests end, in the order in which the requests began.
//!
//! What is held is bounded in time and in number, so a request that was longer in flight than the window is late.

use crate::logged::{Line, LoggedRequest};
use crate::time::{SECOND, Stamp};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

/// The longest time for which a line is held, by the log's clock: longer than nearly all requests take.
const WINDOW: i64 = 10 * SECOND;
/// The number of lines that are held at most.
const MOST_HELD: usize = 100_000;
/// The number of bytes of bodies that are held at most, beside those of one request.
const MOST_BYTES: usize = 64 * 1024 * 1024;
/// The seconds for which lines of one second are gathered: workers write their lines in blocks.
const GATHERED: i64 = 2;

/// A request by the time at which it began, and by the order of lines.
#[derive(Debug)]
struct Held {
    at: i64,
    number: u64,
    request: LoggedRequest,
}

impl PartialEq for Held {
    fn eq(&self, other: &Self) -> bool {
        (self.at, self.number) == (other.at, other.number)
    }
}

impl Eq for Held {}

impl PartialOrd for Held {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Held {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (self.at, self.number).cmp(&(other.at, other.number))
    }
}

/// Requests that are put in order.
#[derive(Debug, Default)]
pub(crate) struct Ordered {
    /// Lines whose times are whole seconds, by second.
    seconds: BTreeMap<i64, Vec<Line>>,
    gathered: usize,
    heap: BinaryHeap<Reverse<Held>>,
    /// The bytes of the bodies in `heap`.
    bytes: usize,
    number: u64,
    /// The latest time that a line was written at.
    newest: i64,
    /// The time of the request that left last.
    last: Option<i64>,
    /// Whether lines had whole seconds.
    pub has_whole_seconds: bool,
    /// The number of requests that left later than they were due.
    pub late: u64,
}

impl Ordered {
    /// Takes a line.
    pub fn put(&mut self, line: Line, stamp: Stamp) {
        self.newest = self.newest.max(stamp.at);
        if !stamp.is_whole {
            return self.hold(line, stamp.at);
        }
        self.has_whole_seconds = true;
        self.gathered += 1;
        self.seconds.entry(stamp.at.div_euclid(SECOND)).or_default().push(line);
        let newest = self.newest.div_euclid(SECOND);
        while let Some((&second, _)) = self.seconds.first_key_value()
            && (second + GATHERED <= newest || self.gathered > MOST_HELD)
        {
            self.spread_first();
        }
    }

    /// Spreads the lines of the earliest second evenly over it.
    fn spread_first(&mut self) {
        let Some((second, lines)) = self.seconds.pop_first() else { return };
        self.gathered -= lines.len();
        let gap = SECOND / lines.len().max(1) as i64;
        for (line, number) in lines.into_iter().zip(0..) {
            self.hold(line, second * SECOND + number * gap);
        }
    }

    fn hold(&mut self, line: Line, written: i64) {
        let took = line.took.filter(|_| !line.is_start).and_then(|took| i64::try_from(took).ok()).unwrap_or(0);
        let at = written.saturating_sub(took);
        self.number += 1;
        let Line { method, target, host, status, took, fields, body, .. } = line;
        self.bytes += body.len();
        let request = LoggedRequest { at, method, target, host, status, took, fields, body };
        self.heap.push(Reverse(Held { at, number: self.number, request }));
    }

    /// Returns the next request once no earlier one is expected: at the end of the log, all in turn.
    pub fn take(&mut self, is_end: bool) -> Option<LoggedRequest> {
        while is_end && !self.seconds.is_empty() {
            self.spread_first();
        }
        let Reverse(first) = self.heap.peek()?;
        let is_full = self.heap.len() > MOST_HELD || self.bytes > MOST_BYTES;
        let is_settled = is_end || first.at + WINDOW <= self.newest || is_full;
        let Reverse(mut held) = if is_settled { self.heap.pop()? } else { return None };
        self.bytes -= held.request.body.len();
        // What left before cannot be preceded any more.
        if let Some(last) = self.last.filter(|last| held.at < *last) {
            self.late += 1;
            held.request.at = last;
        }
        self.last = Some(held.request.at);
        Some(held.request)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(target: &str, took: Option<u64>) -> Line {
        Line { method: "GET".into(), target: target.into(), took, ..Line::default() }
    }

    fn whole(second: i64) -> Stamp {
        Stamp { at: second * SECOND, offset: 0, is_whole: true }
    }

    fn exact(ms: i64) -> Stamp {
        Stamp { at: ms * 1_000_000, offset: 0, is_whole: false }
    }

    fn all(ordered: &mut Ordered) -> Vec<(String, i64)> {
        std::iter::from_fn(|| ordered.take(true)).map(|request| (request.target, request.at / 1_000_000)).collect()
    }

    #[test]
    fn requests_leave_in_the_order_in_which_they_began() {
        let mut ordered = Ordered::default();
        ordered.put(line("/short", Some(1_000_000)), exact(1000));
        ordered.put(line("/long", Some(900_000_000)), exact(1100));
        assert_eq!(ordered.take(false), None, "an earlier one may come");
        let expected = [("/long".to_owned(), 200), ("/short".to_owned(), 999)];
        assert_eq!(all(&mut ordered), expected);
    }

    #[test]
    fn lines_of_a_second_are_spread_over_it() {
        let mut ordered = Ordered::default();
        for second in [5, 5, 6, 5, 5] {
            ordered.put(line("/", None), whole(second));
        }
        assert_eq!(all(&mut ordered).into_iter().map(|(_, at)| at).collect::<Vec<_>>(), [5000, 5250, 5500, 5750, 6000]);
        assert!(ordered.has_whole_seconds);
    }

    #[test]
    fn what_is_held_is_bounded_in_time_and_number() {
        let mut ordered = Ordered::default();
        ordered.put(line("/a", None), exact(0));
        ordered.put(line("/b", None), exact(20_000));
        assert_eq!(ordered.take(false).map(|request| request.target), Some("/a".into()));
        assert_eq!(ordered.take(false), None);
        // One that took longer than the window begins when the one before it did, and is counted.
        ordered.put(line("/c", Some(60_000_000_000)), exact(40_000));
        let next = ordered.take(false).expect("it is due");
        assert_eq!((&*next.target, next.at, ordered.late), ("/c", 0, 1));
        let mut ordered = Ordered::default();
        for _ in 0..3 * MOST_HELD {
            ordered.put(line("/", None), whole(7));
            while ordered.take(false).is_some() {}
        }
        assert!(ordered.heap.len() + ordered.gathered <= 2 * MOST_HELD + 1);
    }
}
