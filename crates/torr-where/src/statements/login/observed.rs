//! What a login has shown of a database's statements.

use crate::statements::normalise::Text;
use crate::statements::place::MissingIndex;
use std::collections::HashMap;
use std::fmt;
use std::time::Duration;

/// The most statements that are distinguished.
const STATEMENTS: usize = 2000;

/// A statement with its values, which only the database that it comes from is given.
pub(super) struct Raw(pub(super) String);

impl fmt::Debug for Raw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Raw(..)")
    }
}

/// What was seen of one statement.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    /// The sum over all samples of the sessions that ran the statement, or time where the database counts that.
    pub(crate) active: f64,
    /// The part of `active` in which the session waited for a lock.
    pub(crate) blocked: f64,
    /// The sessions that held these locks: the statement, if known, and whether it was complete.
    pub(crate) blockers: HashMap<(Option<Text>, bool), u64>,
    /// The calls, microseconds and rows, if the database counts them.
    pub(crate) counted: Option<(u64, f64, u64)>,
    /// The table that the statement reads whole for want of an index.
    pub(crate) missing_index: Option<MissingIndex>,
    /// An example, to be explained.
    pub(super) example: Option<Raw>,
}

/// What was seen of all statements.
#[derive(Debug, Default)]
pub(crate) struct Observed {
    /// The samples in which any statement ran, or the calls where the database counts these.
    pub(crate) samples: f64,
    /// The time in which statements were sampled and counted.
    pub(crate) elapsed: Duration,
    /// The statements.
    pub(crate) statements: HashMap<Text, Seen>,
    /// The errors of single views, in the database's words.
    pub(crate) errors: Vec<String>,
}

impl Observed {
    /// Returns what was seen of a statement, unless there are too many.
    pub(crate) fn of(&mut self, text: Text) -> Option<&mut Seen> {
        if self.statements.len() >= STATEMENTS && !self.statements.contains_key(&text) {
            return None;
        }
        Some(self.statements.entry(text).or_default())
    }

    /// Returns the statements that took most, the first of them first.
    pub(super) fn top(&self, number: usize) -> Vec<Text> {
        let mut all: Vec<_> = self.statements.iter().filter(|(_, seen)| seen.active > 0.0).collect();
        all.sort_by(|a, b| b.1.active.total_cmp(&a.1.active).then_with(|| a.0.cmp(b.0)));
        all.into_iter().take(number).map(|(text, _)| text.clone()).collect()
    }

    /// Adds a session that runs a statement to the sample.
    pub(super) fn session(&mut self, text: Text, raw: &str, blockers: Option<Vec<(Option<Text>, bool)>>) {
        let Some(seen) = self.of(text) else { return };
        seen.active += 1.0;
        if seen.example.is_none() {
            seen.example = Some(Raw(raw.to_owned()));
        }
        if let Some(blockers) = blockers {
            seen.blocked += 1.0;
            for blocker in blockers {
                *seen.blockers.entry(blocker).or_default() += 1;
            }
        }
    }
}

/// Returns the sessions at the end of a chain of waits that begins with this session: those that wait for no other.
pub(super) fn roots(of: i64, waits: &HashMap<i64, Vec<i64>>) -> Vec<i64> {
    let mut roots = Vec::new();
    let mut seen = vec![of];
    let mut next = 0;
    while let Some(&session) = seen.get(next) {
        next += 1;
        match waits.get(&session) {
            Some(holders) => {
                for holder in holders {
                    if !seen.contains(holder) {
                        seen.push(*holder);
                    }
                }
            }
            None => roots.push(session),
        }
    }
    roots
}

#[cfg(test)]
mod tests {
    use super::roots;
    use std::collections::HashMap;

    #[test]
    fn roots_wait_for_no_session() {
        let waits = HashMap::from([(1, vec![2, 3]), (2, vec![3]), (4, vec![5]), (5, vec![4])]);
        assert_eq!(roots(1, &waits), [3]);
        assert_eq!(roots(4, &waits), Vec::<i64>::new());
        assert_eq!(roots(9, &waits), [9]);
    }
}
