//! Arrivals with the bursts of a log, at any mean rate.

use std::sync::Arc;

/// The times of the requests of a log, which follow one another over and over.
#[derive(Debug, Clone, PartialEq)]
pub struct LogTimes {
    /// Nanoseconds since the first request, in ascending order.
    since_first: Arc<[u64]>,
    /// The nanoseconds from the first request to the one that begins the log again: the mean gap after the last one.
    turn: f64,
}

impl LogTimes {
    /// Returns the times of requests in the order of the log, in nanoseconds since any time. `None` if they do not differ.
    pub fn new(times: impl IntoIterator<Item = i64>) -> Option<Self> {
        let mut times = times.into_iter();
        let first = times.next()?;
        let mut since_first = vec![0];
        let mut last = 0;
        for at in times {
            // One that the log has too late comes with the one before it.
            last = u64::try_from(at.saturating_sub(first)).unwrap_or(0).max(last);
            since_first.push(last);
        }
        let gaps = since_first.len() - 1;
        (last > 0).then(|| Self { since_first: since_first.into(), turn: last as f64 * (1.0 + 1.0 / gaps as f64) })
    }

    /// Returns the number of requests of the log.
    fn len(&self) -> u64 {
        self.since_first.len() as u64
    }

    /// Returns the time of a request in nanoseconds since the first one, counted over all repetitions of the log.
    fn at(&self, number: u64) -> f64 {
        let (turn, within) = (number / self.len(), number % self.len());
        turn as f64 * self.turn + self.since_first[within as usize] as f64
    }
}

/// The arrivals of a run: those of two parts of the log, which have as many requests as the warm-up and what follows it. So both have the
/// mean rate of the schedule.
#[derive(Debug, Clone)]
pub(crate) struct LoggedArrivals {
    times: LogTimes,
    warming: Part,
    /// After it this part begins again.
    measured: Part,
}

/// A part of a log.
#[derive(Debug, Clone)]
struct Part {
    /// The number of its first request in the log.
    first: u64,
    requests: u64,
    /// The time of the first request, and the requests of the schedule per nanosecond of the log.
    begin: f64,
    per_ns: f64,
}

impl Part {
    fn new(times: &LogTimes, first: u64, requests: u64) -> Self {
        let begin = times.at(first);
        // Where the next request has the time of the last one, the last one is still before it.
        let last = times.at(first + requests.saturating_sub(1));
        let end = times.at(first + requests).max(last + times.turn / times.len() as f64);
        Self { first, requests, begin, per_ns: requests as f64 / (end - begin) }
    }

    /// Returns how many requests of the part's share of the schedule are due before one of the part.
    fn before(&self, times: &LogTimes, number: u64) -> f64 {
        (times.at(self.first + number) - self.begin) * self.per_ns
    }
}

impl LoggedArrivals {
    /// Returns the arrivals from request `first` of the log on: so many while warming up, and then so many, or all of the log.
    pub fn new(times: LogTimes, first: u64, warming: u64, measured: Option<u64>) -> Self {
        let requests = measured.unwrap_or(times.len()).max(1);
        let (warming, measured) =
            (Part::new(&times, first, warming), Part::new(&times, first.saturating_add(warming), requests));
        Self { times, warming, measured }
    }

    /// Returns how many requests of the schedule are due before a request of the run.
    pub fn before(&self, number: u64) -> f64 {
        let Some(measured) = number.checked_sub(self.warming.requests) else {
            return self.warming.before(&self.times, number);
        };
        let within = measured % self.measured.requests;
        (number - within) as f64 + self.measured.before(&self.times, within)
    }

    /// Returns how many requests of the run are due before or with a request of the schedule, `before` of which are due before it.
    pub fn until(&self, before: f64) -> u64 {
        let warming = self.warming.requests;
        let (mut least, mut most) = match before < warming as f64 {
            true => (0, warming),
            false => {
                let turn = ((before - warming as f64) / self.measured.requests as f64) as u64;
                let begin = warming + turn * self.measured.requests;
                (begin, begin + self.measured.requests)
            }
        };
        while least < most {
            let middle = least.midpoint(most);
            if self.before(middle) <= before { least = middle + 1 } else { most = middle }
        }
        least
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(arrivals: &LoggedArrivals, count: u64) -> Vec<f64> {
        (0..count).map(|number| (arrivals.before(number) * 1000.0).round() / 1000.0).collect()
    }

    #[test]
    fn parts_of_the_log_have_the_rate_of_the_schedule_and_the_bursts_of_the_log() {
        // Three together, then a silence; the last one is of an earlier time.
        let times = LogTimes::new([100, 100, 100, 220, 190]).expect("they differ");
        assert_eq!(times.turn, 150.0);
        let whole = LoggedArrivals::new(times.clone(), 0, 0, None);
        assert_eq!(places(&whole, 7), [0.0, 0.0, 0.0, 4.0, 4.0, 5.0, 5.0]);
        let part = LoggedArrivals::new(times.clone(), 2, 0, Some(3));
        // 0, 120 and 120 of 150 ns.
        assert_eq!(places(&part, 5), [0.0, 2.4, 2.4, 3.0, 5.4]);
        let cut = LoggedArrivals::new(times.clone(), 0, 0, Some(2));
        assert_eq!(places(&cut, 4), [0.0, 0.0, 2.0, 2.0]);
        let warmed = LoggedArrivals::new(times, 0, 4, Some(3));
        // 0, 0, 0 and 120 of 150 ns; then 0, 30 and 30 of 60 ns.
        assert_eq!(places(&warmed, 8), [0.0, 0.0, 0.0, 3.2, 4.0, 5.5, 5.5, 7.0]);
    }

    #[test]
    fn requests_are_counted_as_they_are_due() {
        let times = LogTimes::new([0, 0, 5, 70, 71, 200]).expect("they differ");
        for (first, warming, measured) in [(0, 0, None), (4, 3, Some(9)), (1, 0, Some(1)), (0, 2, Some(2))] {
            let arrivals = LoggedArrivals::new(times.clone(), first, warming, measured);
            for number in 0..40 {
                let due = arrivals.before(number);
                let with = (number..).take_while(|&other| arrivals.before(other) <= due).last().expect("it is one");
                assert_eq!(arrivals.until(due), with + 1, "{number} of {first}, {warming}, {measured:?}");
            }
        }
    }

    #[test]
    fn times_that_do_not_differ_are_none() {
        assert_eq!(LogTimes::new([]), None);
        assert_eq!(LogTimes::new([7]), None);
        assert_eq!(LogTimes::new([7, 7, 3]), None);
    }
}
