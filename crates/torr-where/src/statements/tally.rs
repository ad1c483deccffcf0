//! Counts of a statement.

use super::wire::{Completed, StatementId};
use std::collections::HashMap;

/// Counts of one statement.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Tally {
    /// The calls.
    pub(super) calls: u64,
    /// The calls that follow another statement on their connection, or none.
    pub(super) runs: u64,
    /// The calls that the database refused.
    pub(super) failed: u64,
    /// The rows.
    pub(super) rows: u64,
    /// The time in nanoseconds.
    pub(super) time: f64,
    /// The sum of the times' squares.
    pub(super) time_squared: f64,
}

impl Tally {
    /// Adds counts of the same statement.
    pub(super) fn add(&mut self, other: &Self) {
        self.calls = self.calls.saturating_add(other.calls);
        self.runs = self.runs.saturating_add(other.runs);
        self.failed = self.failed.saturating_add(other.failed);
        self.rows = self.rows.saturating_add(other.rows);
        self.time += other.time;
        self.time_squared += other.time_squared;
    }
}

/// Counts of all statements of a connection, or of several.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Tallies {
    tallies: HashMap<StatementId, Tally>,
    /// The last statement of the connection.
    last: Option<StatementId>,
}

impl Tallies {
    /// Counts a statement that ended.
    pub(super) fn count(&mut self, completed: Completed) {
        let tally = self.tallies.entry(completed.statement).or_default();
        #[expect(clippy::cast_precision_loss, reason = "a time of some days is exact enough")]
        let time = completed.time as f64;
        tally.calls += u64::from(completed.is_call);
        tally.runs += u64::from(completed.is_call && self.last != Some(completed.statement));
        tally.failed += u64::from(completed.failed);
        // A packet may name any number.
        tally.rows = tally.rows.saturating_add(completed.rows);
        tally.time += time;
        tally.time_squared += time * time;
        self.last = Some(completed.statement);
    }

    /// Adds the counts of a connection, and leaves none there.
    pub(super) fn take(&mut self, other: &mut Self) {
        for (statement, tally) in other.tallies.drain() {
            self.tallies.entry(statement).or_default().add(&tally);
        }
        other.last = None;
    }

    /// Forgets all counts.
    pub(super) fn clear(&mut self) {
        self.tallies.clear();
        self.last = None;
    }

    /// Returns the counts of each statement.
    pub(super) fn iter(&self) -> impl Iterator<Item = (StatementId, &Tally)> {
        self.tallies.iter().map(|(&statement, tally)| (statement, tally))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_beyond_all_numbers_are_counted() {
        let completed =
            Completed { statement: StatementId::UNSEEN, is_call: true, time: 1, rows: u64::MAX, failed: false };
        let (mut one, mut all) = (Tallies::default(), Tallies::default());
        for _ in 0..2 {
            one.count(completed);
            one.count(completed);
            all.take(&mut one);
        }
        assert_eq!(all.iter().map(|(_, tally)| (tally.calls, tally.rows)).collect::<Vec<_>>(), [(4, u64::MAX)]);
    }
}
