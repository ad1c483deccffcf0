//! What the run's responses are beside those of the log.

use crate::path_table::{Ended, PathTable};
use std::collections::BTreeMap;
use torr_gauge::latency::Latency;
use torr_gauge::replay::{Replay, StatusPair};
use torr_logs::LoggedRequest;

/// The number of pairs of statuses that are counted each.
const MOST_PAIRS: usize = 500;

/// What the run's responses are beside those of the log.
#[derive(Debug, Default)]
pub(crate) struct Comparison {
    paths: PathTable,
    statuses: BTreeMap<(u16, u16), u64>,
    compared: u64,
    changed: u64,
    then: Latency,
}

impl Comparison {
    /// Records the end of a request: the status and the response time in nanoseconds, `None` if it failed.
    pub fn record(&mut self, request: &LoggedRequest, now: Option<(u16, u64)>) {
        let then = request.status;
        let pair = then.zip(now.map(|(status, _)| status));
        let is_changed = pair.is_some_and(|(then, now)| then != now);
        if let Some(pair) = pair {
            self.compared += 1;
            self.changed += u64::from(is_changed);
            if self.statuses.len() < MOST_PAIRS || self.statuses.contains_key(&pair) {
                *self.statuses.entry(pair).or_default() += 1;
            }
        }
        if let Some(took) = request.took {
            self.then.record(took);
        }
        let ended = Ended { then: request.took, now: now.map(|(_, took)| took), is_changed };
        self.paths.record(&request.method, &request.target, ended);
    }

    /// Adds the comparison to a result.
    pub fn complete(&self, replay: &mut Replay) {
        let pairs = self.statuses.iter().map(|(&(then, now), &count)| StatusPair { then, now, count });
        replay.statuses = pairs.collect();
        replay.statuses.sort_by_key(|pair| std::cmp::Reverse(pair.count));
        (replay.compared, replay.changed) = (self.compared, self.changed);
        replay.then_us = self.then.summary();
        replay.paths = self.paths.paths();
    }
}
