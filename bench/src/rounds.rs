//! Rounds: in each, every candidate takes one short turn, and is compared with the reference's turn in the same round.
//!
//! A noisy machine so disturbs all alike, and what it does to one round leaves the median of the rounds alone.

use std::fmt::Display;

use serde::Serialize;

use crate::candidates::FLOOR;
use torr_test_support::error::Error;
use torr_test_support::interrupt;

/// One row of the raw figures.
#[derive(Serialize)]
pub struct Row<T> {
    /// Number of the round, from 1.
    pub round: u32,
    /// Who took the turn.
    pub candidate: &'static str,
    /// What came of it.
    #[serde(flatten)]
    pub turn: T,
}

/// A candidate that could not be measured.
#[derive(Serialize)]
pub struct Skipped {
    /// Who.
    pub candidate: &'static str,
    /// Why, in one line.
    pub reason: String,
}

impl Skipped {
    /// Paths in the reason are cut to their last part: where things are on one machine is no business of an archive.
    pub fn new(candidate: &'static str, reason: &str) -> Self {
        let without_folders =
            |word: &str| match word.find('/').filter(|start| *start <= 1 && word.matches('/').count() > 1) {
                Some(start) => format!("{}{}", &word[..start], &word[word.rfind('/').unwrap_or(start) + 1..]),
                None => word.to_owned(),
            };
        Skipped { candidate, reason: reason.split(' ').map(without_folders).collect::<Vec<_>>().join(" ") }
    }
}

/// What all rounds gave.
pub struct Taken<T> {
    /// Those that took part in every round.
    pub candidates: Vec<&'static str>,
    /// Those that dropped out.
    pub skipped: Vec<Skipped>,
    /// Every turn.
    pub rows: Vec<Row<T>>,
}

/// Runs the rounds of a scenario. A candidate that fails drops out of them, except the floor, without which there is no
/// comparison.
pub fn take<T: Display>(
    scenario: impl Display,
    rounds: u32,
    mut candidates: Vec<&'static str>,
    mut skipped: Vec<Skipped>,
    mut turn: impl FnMut(&'static str) -> Result<T, Error>,
) -> Result<Taken<T>, Error> {
    let mut rows = Vec::new();
    for round in 1..=rounds {
        let mut order = candidates.clone();
        if round % 2 == 0 {
            order.reverse();
        }
        for candidate in order {
            interrupt::check()?;
            let heading = format!("{scenario}: round {round}/{rounds}, {candidate}");
            match turn(candidate) {
                Ok(turn) => {
                    eprintln!("{heading}: {turn}");
                    rows.push(Row { round, candidate, turn });
                }
                Err(Error::Failed(reason)) if candidate != FLOOR => {
                    eprintln!("{heading}: skipped: {reason}");
                    candidates.retain(|c| *c != candidate);
                    skipped.push(Skipped::new(candidate, &reason));
                }
                Err(Error::Failed(reason)) => return Err(Error::failed(format!("{heading}: {reason}"))),
                Err(e) => return Err(e),
            }
        }
    }
    Ok(Taken { candidates, skipped, rows })
}

/// Median and range of one ratio over the rounds.
#[derive(Clone, Copy, Serialize)]
pub struct Ratio {
    /// Median over the rounds.
    pub median: f64,
    /// Least of the rounds.
    pub min: f64,
    /// Most of the rounds.
    pub max: f64,
}

impl Ratio {
    /// Of one candidate's figure to another's in the same round. Both took part in every round, so that the turns pair up.
    pub fn between<T>(rows: &[Row<T>], own: &str, other: &str, figure: impl Fn(&T) -> f64) -> Self {
        let pairs = turns(rows, own).zip(turns(rows, other));
        let rounds: Vec<f64> = pairs.map(|(own, other)| figure(own) / figure(other)).collect();
        let (min, max) = rounds.iter().fold((f64::MAX, f64::MIN), |(min, max), r| (min.min(*r), max.max(*r)));
        Ratio { median: median(rounds), min, max }
    }
}

/// One candidate's turns, in the order of the rounds.
pub fn turns<'r, T>(rows: &'r [Row<T>], of: &str) -> impl Iterator<Item = &'r T> {
    rows.iter().filter(move |row| row.candidate == of).map(|row| &row.turn)
}

/// Returns the middle value, or the mean of the two in the middle; 0 without values.
pub fn median(mut values: Vec<f64>) -> f64 {
    if values.is_empty() {
        return 0.0;
    }
    values.sort_by(f64::total_cmp);
    let (low, high) = (values[(values.len() - 1) / 2], values[values.len() / 2]);
    (low + high) / 2.0
}

#[cfg(test)]
mod tests {
    use super::{Skipped, median, take};
    use torr_test_support::error::Error;

    #[test]
    fn the_median_is_the_middle() {
        assert_eq!(median(vec![3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(vec![4.0, 1.0, 2.0, 3.0]), 2.5);
        assert_eq!(median(vec![7.0]), 7.0);
        assert_eq!(median(vec![]), 0.0);
    }

    #[test]
    fn every_other_round_is_in_reverse_and_who_fails_drops_out() {
        let mut turns = 0;
        let taken = take("a scenario", 3, vec!["a", "b", "c"], Vec::new(), |candidate| {
            turns += 1;
            if candidate == "b" && turns > 3 { Err(Error::failed("in /home/me/b: gone")) } else { Ok(turns) }
        });
        let taken = taken.expect("only a candidate has failed");
        let order: Vec<_> = taken.rows.iter().map(|row| (row.round, row.candidate)).collect();
        assert_eq!(order, [(1, "a"), (1, "b"), (1, "c"), (2, "c"), (2, "a"), (3, "a"), (3, "c")]);
        assert_eq!(taken.candidates, ["a", "c"]);
        assert_eq!((taken.skipped[0].candidate, &*taken.skipped[0].reason), ("b", "in b: gone"));
    }

    #[test]
    fn reasons_name_no_folders() {
        let reason = |text| Skipped::new("torr", text).reason;
        assert_eq!(reason("cannot start /home/me/torr: gone"), "cannot start torr: gone");
        assert_eq!(reason("in \"/tmp/x/y.conf\":3 GET / 1/2"), "in \"y.conf\":3 GET / 1/2");
    }
}
