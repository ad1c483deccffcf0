//! Counts of checks by their group, name and scenario, in the order in which checks first ran.

use std::collections::HashMap;
use std::sync::Arc;

/// The largest number of checks that are counted by name. A script that makes names of random texts would need memory without a
/// bound; the metric `checks` counts all of them.
const MAX_CHECKS: usize = 100_000;

/// What a check is counted by.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct CheckKey {
    /// The path of the groups, empty for none.
    pub group: Arc<str>,
    /// The name.
    pub name: Arc<str>,
    /// The scenario, empty for none.
    pub scenario: Arc<str>,
}

/// How often a check passed and failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckCount {
    /// What the check is counted by.
    pub key: CheckKey,
    /// How often the check passed.
    pub passes: u64,
    /// How often the check failed.
    pub fails: u64,
}

/// The counts of checks.
#[derive(Debug, Clone, Default)]
pub(super) struct Checks {
    counts: Vec<CheckCount>,
    by_key: HashMap<CheckKey, usize>,
}

impl Checks {
    /// Returns the position of a check among the counts, which it keeps; `None` if it is not counted by name.
    pub(super) fn position(&mut self, key: CheckKey) -> Option<usize> {
        if let Some(at) = self.by_key.get(&key) {
            return Some(*at);
        }
        let at = self.counts.len();
        if at >= MAX_CHECKS {
            return None;
        }
        self.by_key.insert(key.clone(), at);
        self.counts.push(CheckCount { key, passes: 0, fails: 0 });
        Some(at)
    }

    /// Counts outcomes of the check at a position.
    #[inline]
    pub(super) fn count(&mut self, at: usize, passes: u64, fails: u64) {
        self.counts[at].passes += passes;
        self.counts[at].fails += fails;
    }

    /// Adds all counts of another thread, and sets those to 0.
    pub(super) fn merge(&mut self, other: &mut Self) {
        for count in &mut other.counts {
            let (passes, fails) = (std::mem::take(&mut count.passes), std::mem::take(&mut count.fails));
            if passes + fails > 0
                && let Some(at) = self.position(count.key.clone())
            {
                self.count(at, passes, fails);
            }
        }
    }

    /// Returns the counts, in the order in which the checks first ran.
    pub(super) fn all(&self) -> &[CheckCount] {
        &self.counts
    }
}
