//! The counts of one thread for sessions.

use super::entry::EntryCounts;
use super::name::EntryName;
use crate::Latency;
use crate::bounds::{Bounded, OutOfBounds, at_most};
use serde::{Deserialize, Serialize};

/// The counts of one thread for sessions and their entries. `started` = `finished` + `failed` + `unfinished` at the end of a
/// run.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct SessionCounts {
    /// The number of sessions begun.
    pub started: u64,
    /// The number of sessions that came to their end.
    pub finished: u64,
    /// The number of sessions that ended early at an entry.
    pub failed: u64,
    /// The number of sessions that were in progress when the run ended.
    pub unfinished: u64,
    /// The durations of finished sessions, from the scheduled time of the session to its end.
    pub durations: Latency,
    /// The counts of each entry, by its number. An agent of a fleet sends them one by one.
    #[serde(skip)]
    pub entries: Vec<EntryCounts>,
    /// The part of `finished` and `failed` that [`SessionCounts::take_ended`] has returned.
    #[serde(skip)]
    returned: SessionsEnded,
}

/// The number of sessions that ended in an interval, or since the run began.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionsEnded {
    /// The number of sessions that came to their end.
    pub finished: u64,
    /// The number of sessions that ended early at an entry.
    pub failed: u64,
}

impl SessionCounts {
    /// Creates counts of zero for these entries.
    pub fn new(entries: &[EntryName]) -> Self {
        let entries = entries.iter().map(|entry| EntryCounts::new(entry.asserts.len())).collect();
        Self { entries, ..Self::default() }
    }

    /// Makes sure that there are counts for the entry of this number: some entries are known only when they are come to.
    #[inline]
    pub fn make_room(&mut self, entry: usize) {
        if self.entries.len() <= entry {
            self.entries.resize_with(entry + 1, EntryCounts::default);
        }
    }

    /// Counts a session that begins.
    pub fn start(&mut self) {
        self.started += 1;
    }

    /// Counts a session that came to its end, with its duration in nanoseconds since its scheduled time.
    pub fn finish(&mut self, nanos: u64) {
        self.finished += 1;
        self.durations.record(nanos);
    }

    /// Counts a session that ended early at the entry of this number. `why` is the reason unless it was a failed assert, which
    /// the entry counts by itself; the text must not hold secrets.
    pub fn fail(&mut self, entry: usize, why: Option<&str>) {
        self.failed += 1;
        if let Some(entry) = self.entries.get_mut(entry) {
            entry.sessions_failed += 1;
            why.into_iter().for_each(|why| entry.count_cause(why, 1));
        }
    }

    /// Counts a session that is in progress when the run ends.
    pub fn leave_unfinished(&mut self) {
        self.unfinished += 1;
    }

    /// Counts sessions that were due before the end of the run, but never had a user.
    pub fn never_begin(&mut self, count: u64) {
        self.started += count;
        self.unfinished += count;
    }

    /// Counts sessions that were due, and failed since no user was available for them in time.
    pub fn abandon(&mut self, count: u64) {
        self.started += count;
        self.failed += count;
    }

    /// Returns the number of sessions that ended since the previous call, for the sample of an interval.
    pub fn take_ended(&mut self) -> SessionsEnded {
        let all = SessionsEnded { finished: self.finished, failed: self.failed };
        let before = std::mem::replace(&mut self.returned, all);
        SessionsEnded { finished: all.finished - before.finished, failed: all.failed - before.failed }
    }

    /// Adds the counts of another thread in a run of the same entries.
    pub fn merge(&mut self, other: &Self) {
        self.started += other.started;
        self.finished += other.finished;
        self.failed += other.failed;
        self.unfinished += other.unfinished;
        self.durations.add(&other.durations);
        if self.entries.len() < other.entries.len() {
            self.entries.resize_with(other.entries.len(), EntryCounts::default);
        }
        self.entries.iter_mut().zip(&other.entries).for_each(|(mine, theirs)| mine.merge(theirs));
    }
}

impl Bounded for SessionCounts {
    fn bound(&mut self, most: u64) -> Result<(), OutOfBounds> {
        let Self { started, finished, failed, unfinished, durations, entries: _, returned: _ } = self;
        for (field, count) in
            [("started", *started), ("finished", *finished), ("failed", *failed), ("unfinished", *unfinished)]
        {
            at_most(field, [count], most)?;
        }
        at_most("durations", durations.counts().map(|(_, count)| count), most)
    }
}

impl Bounded for SessionsEnded {
    fn bound(&mut self, most: u64) -> Result<(), OutOfBounds> {
        let &mut Self { finished, failed } = self;
        at_most("sessions", [finished], most)?;
        at_most("sessions", [failed], most)
    }
}

impl SessionsEnded {
    /// Adds the sessions of another thread or interval.
    pub fn add(&mut self, other: Self) {
        self.finished += other.finished;
        self.failed += other.failed;
    }
}
