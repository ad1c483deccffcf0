//! The bounds of what another machine reports: its counts are added up, and its texts are printed.
//!
//! A program's own measurements need no check. Those of another machine are checked where they are read, so that no sum
//! overflows, no list takes the memory of this machine, and no text acts on a terminal.

use crate::limits::{MOST_AGENTS, MOST_RATE};
use crate::redact;
use std::ops::RangeInclusive;
use thiserror::Error;

/// The limit of the length of a run of several machines in seconds: 30 days.
pub const LONGEST_S: u64 = 30 * 86_400;
/// The limit of a count of events in one interval of a second: more than the highest rate. The counts of all agents of a fleet over the
/// longest run, four of them together, fit into 64 bits.
pub const MOST_IN_A_SECOND: u64 = 1 << 30;
const _: () =
    assert!(MOST_IN_A_SECOND as f64 > MOST_RATE && MOST_IN_A_SECOND <= u64::MAX / 4 / MOST_AGENTS / LONGEST_S);
/// The limit of a count over a whole run: the highest rate for the longest time. The requests that are unanswered in one interval
/// may be all that were due since the run began.
pub const MOST_IN_A_RUN: u64 = MOST_RATE as u64 * LONGEST_S;
/// The limit of a time in nanoseconds: the longest run and an hour.
pub(crate) const LONGEST_NS: u64 = (LONGEST_S + 3600) * 1_000_000_000;
/// The bytes, or nanoseconds, of each counted event that a sum of them may have.
const UNITS_OF_EVENT: u64 = 1 << 30;
/// The limit of a text in bytes; the rest is cut.
const MOST_TEXT: usize = 2000;
/// What stands for the rest of a text that was cut.
const MARK: &str = "...";

/// A value is out of its bounds.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("'{field}' {must}")]
pub struct OutOfBounds {
    /// The name of the field.
    pub field: &'static str,
    /// What the field must be, and what it is.
    pub must: String,
}

/// What another machine reports.
pub trait Bounded {
    /// Checks each number and each list, and makes each text printable and no longer than a line of an error. `most` is the limit of
    /// a count: [`MOST_IN_A_SECOND`] or [`MOST_IN_A_RUN`].
    ///
    /// # Errors
    /// [`OutOfBounds`] for the first field that is out of its bounds.
    fn bound(&mut self, most: u64) -> Result<(), OutOfBounds>;
}

/// Demands that a number is within its bounds.
///
/// # Errors
/// [`OutOfBounds`].
pub fn within<N: PartialOrd + std::fmt::Debug>(
    field: &'static str,
    number: N,
    bounds: RangeInclusive<N>,
) -> Result<(), OutOfBounds> {
    match bounds.contains(&number) {
        true => Ok(()),
        false => {
            let must = format!("must be {:?} to {:?}, found {number:?}", bounds.start(), bounds.end());
            Err(OutOfBounds { field, must })
        }
    }
}

/// Demands that each of these numbers, and their sum, is at most `most`.
///
/// # Errors
/// [`OutOfBounds`].
pub fn at_most(field: &'static str, numbers: impl IntoIterator<Item = u64>, most: u64) -> Result<(), OutOfBounds> {
    let sum = numbers.into_iter().fold(0, u64::saturating_add);
    within(field, sum, 0..=most)
}

/// Returns the limit of bytes, or of nanoseconds, that `most` events may have together.
pub(crate) fn most_units(most: u64) -> u64 {
    most.saturating_mul(UNITS_OF_EVENT).min(1 << 62)
}

/// Demands that a list is no longer than `most`.
///
/// # Errors
/// [`OutOfBounds`].
pub fn no_longer(field: &'static str, length: usize, most: usize) -> Result<(), OutOfBounds> {
    match length <= most {
        true => Ok(()),
        false => Err(OutOfBounds { field, must: format!("must have at most {most} elements, found {length}") }),
    }
}

/// Makes a text printable, and cuts what is beyond the limit of a text.
pub fn text(text: &mut String) {
    cut(text, MOST_TEXT);
    if let std::borrow::Cow::Owned(printable) = redact::printable(text) {
        *text = printable;
    }
}

/// Makes a list of at most `most` texts printable, and cuts each.
///
/// # Errors
/// [`OutOfBounds`], if the list is longer.
pub fn texts(field: &'static str, all: &mut [String], most: usize) -> Result<(), OutOfBounds> {
    no_longer(field, all.len(), most)?;
    all.iter_mut().for_each(text);
    Ok(())
}

/// Cuts what is beyond `most` bytes of a text, which stays as it is otherwise.
pub(crate) fn cut(text: &mut String, most: usize) {
    if text.len() > most {
        let end = (0..=most - MARK.len()).rev().find(|&end| text.is_char_boundary(end));
        text.truncate(end.unwrap_or_default());
        text.push_str(MARK);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_cut_between_characters_and_printable() {
        let shown = |given: &str| {
            let mut shown = given.to_owned();
            text(&mut shown);
            shown
        };
        assert_eq!(shown("é \u{1b}[2J\n"), "é \\u{1b}[2J\\n");
        let long = shown(&"é".repeat(MOST_TEXT));
        assert!(long.len() <= MOST_TEXT && long.ends_with("é..."), "{} bytes", long.len());
    }

    #[test]
    fn a_sum_that_overflows_is_out_of_bounds() {
        let refused = at_most("failed", [u64::MAX, 1], 10).unwrap_err();
        assert_eq!(refused.to_string(), format!("'failed' must be 0 to 10, found {}", u64::MAX));
        assert!(within("part", f64::NAN, 0.0..=1.0).is_err() && within("part", 0.5, 0.0..=1.0).is_ok());
    }
}
