//! The table of an archive: for each level and subject the figures of all rounds, and what they are limited by.

use crate::bench::{cpu_at_rate, failed_share, invalid};
use crate::block::InvalidReason;
use crate::disturbed::taken;
use crate::runs::{Archive, Entry, Header, Run};
use crate::stats::median;
use serde::Serialize;
use std::collections::BTreeMap;
use torr_gauge::verdict::{Fact, Factor};

/// The share of failed requests from which a cell says so.
const FAILED: f64 = 0.001;

/// The version of [`WholeTable`].
pub const SCHEMA: &str = "torr.lab-table/1";

/// A table with what all of its runs have in common.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct WholeTable<'a> {
    schema: &'static str,
    header: &'a Header,
    /// The table.
    pub table: Table,
}

impl<'a> WholeTable<'a> {
    /// Returns the table of an archive.
    pub fn of(archive: &'a Archive) -> Self {
        Self { schema: SCHEMA, header: &archive.header, table: Table::of(archive) }
    }
}

/// A table.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Table {
    /// The subjects: the columns.
    pub subjects: Vec<String>,
    /// Whose reference figures stand beside.
    pub references: Vec<String>,
    /// The levels.
    pub lines: Vec<Line>,
    /// The subjects that could not take part, with the reasons.
    pub absent: BTreeMap<String, String>,
    /// The versions of subjects.
    pub versions: BTreeMap<String, String>,
}

/// A level.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Line {
    /// Its name.
    pub level: String,
    /// A cell for each subject.
    pub cells: Vec<Cell>,
    /// Which subject is the fastest. `None` with fewer than two that were measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lead: Option<Lead>,
    /// The reference figures, in the order of [`Table::references`]; empty where there is none.
    pub references: Vec<String>,
}

/// A subject at a level.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Cell {
    /// Its figures.
    Measured(Figures),
    /// The subject is not here.
    Absent,
    /// The subject does not have what the level requests.
    NotOffered,
    /// It did not start, or a check failed; with the reason.
    Failed(String),
    /// It was not run yet.
    Missing,
}

/// The figures of all rounds.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Figures {
    /// Responses per second with a status below 400: the median.
    pub rps: f64,
    /// The smallest.
    pub least_rps: f64,
    /// The largest.
    pub most_rps: f64,
    /// The 99th percentile of response times in microseconds: the median.
    pub p99_us: Option<f64>,
    /// The server's CPU time in microseconds for each response: the median of the rounds that kept their rate.
    pub cpu_us: Option<f64>,
    /// The number of rounds.
    pub rounds: usize,
    /// What limited most rounds, by the passive verdict.
    pub limit: Option<Factor>,
    /// Why most rounds show something else than the subject, such as a saturated generator.
    pub invalid: Vec<InvalidReason>,
    /// The share of requests that failed, if it counts: the median.
    pub failed: Option<f64>,
    /// What took CPU time from a round besides the subject and the generator.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub disturbed: Option<Fact>,
}

/// What is known of the fastest subject of a line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Lead {
    /// Each round of this subject was faster than each of all others.
    Fastest(String),
    /// The rounds of these subjects overlap with those of the one with the highest median, which is the first.
    CannotTell(Vec<String>),
}

/// Returns which subject of a line is the fastest. `None` with fewer than two that were measured.
fn lead(subjects: &[String], cells: &[Cell]) -> Option<Lead> {
    let measured = subjects.iter().zip(cells).filter_map(|(subject, cell)| match cell {
        Cell::Measured(figures) => Some((subject, figures)),
        _ => None,
    });
    let mut measured: Vec<_> = measured.collect();
    measured.sort_by(|(_, one), (_, other)| other.rps.total_cmp(&one.rps));
    let [(first, best), others @ ..] = &measured[..] else { return None };
    // One round has no range, so it leaves open how much of a difference is noise.
    let is_near = |figures: &Figures| figures.rounds < 2 || best.rounds < 2 || figures.most_rps >= best.least_rps;
    let near: Vec<String> =
        others.iter().filter(|(_, figures)| is_near(figures)).map(|(name, _)| (*name).clone()).collect();
    match near.is_empty() {
        _ if others.is_empty() => None,
        true => Some(Lead::Fastest((*first).clone())),
        false => Some(Lead::CannotTell([vec![(*first).clone()], near].concat())),
    }
}

impl Table {
    /// Returns the table of an archive.
    pub fn of(archive: &Archive) -> Self {
        let header = &archive.header;
        let (mut absent, mut versions) = (BTreeMap::new(), BTreeMap::new());
        for entry in &archive.entries {
            match entry {
                Entry::Absent { subject, why } => _ = absent.insert(subject.clone(), why.clone()),
                Entry::Version { subject, version } => _ = versions.insert(subject.clone(), version.clone()),
                Entry::Run(run) => _ = absent.remove(&run.subject),
                Entry::NotOffered { .. } | Entry::Failed { .. } => {}
            }
        }
        let mut references: Vec<String> = header.references.values().flat_map(BTreeMap::keys).cloned().collect();
        references.sort();
        references.dedup();
        let line = |level: &String| {
            let cell = |subject: &String| cell(archive, subject, level, absent.contains_key(subject));
            let reference = |whose: &String| {
                header.references.get(level).and_then(|figures| figures.get(whose)).cloned().unwrap_or_default()
            };
            let cells: Vec<Cell> = header.subjects.iter().map(cell).collect();
            Line {
                level: level.clone(),
                lead: lead(&header.subjects, &cells),
                cells,
                references: references.iter().map(reference).collect(),
            }
        };
        let lines = header.levels.iter().map(line).collect();
        Self { subjects: header.subjects.clone(), references, lines, absent, versions }
    }

    /// Returns whether all cells have been run, or cannot be.
    pub fn is_whole(&self) -> bool {
        self.lines.iter().flat_map(|line| &line.cells).all(|cell| *cell != Cell::Missing)
    }

    /// Returns whether a cell has failed.
    pub fn has_failed(&self) -> bool {
        self.lines.iter().flat_map(|line| &line.cells).any(|cell| matches!(cell, Cell::Failed(_)))
    }
}

fn cell(archive: &Archive, subject: &str, level: &str, is_absent: bool) -> Cell {
    let runs: Vec<&Run> = archive.runs(subject, level).collect();
    if !runs.is_empty() {
        return Cell::Measured(figures(&runs));
    }
    // What was said last counts: a suite that goes on tries again.
    let last = archive.entries.iter().rev().find_map(|entry| match entry {
        Entry::Failed { subject: s, level: l, why } if s == subject && l == level => Some(Cell::Failed(why.clone())),
        Entry::NotOffered { subject: s, level: l } if s == subject && l == level => Some(Cell::NotOffered),
        _ => None,
    });
    last.unwrap_or(if is_absent { Cell::Absent } else { Cell::Missing })
}

fn figures(runs: &[&Run]) -> Figures {
    let rates: Vec<f64> = runs.iter().map(|run| run.result.good_rps()).collect();
    let of = |figure: &dyn Fn(&Run) -> Option<f64>| {
        let figures: Vec<f64> = runs.iter().filter_map(|run| figure(run)).collect();
        (!figures.is_empty()).then(|| median(&figures))
    };
    let failed = of(&|run| Some(failed_share(&run.result))).filter(|&share| share >= FAILED);
    Figures {
        rps: median(&rates),
        least_rps: rates.iter().copied().fold(f64::INFINITY, f64::min),
        most_rps: rates.iter().copied().fold(0.0, f64::max),
        p99_us: of(&|run| run.result.latency_us.as_ref().and_then(|summary| summary.p99).map(|us| us as f64)),
        cpu_us: of(&|run| run.result.signals.as_ref().and_then(|seen| cpu_at_rate(seen, &run.result))),
        rounds: runs.len(),
        limit: in_most(runs, |run| run.result.verdict.iter().map(|verdict| verdict.factor).collect()).pop(),
        invalid: in_most(runs, |run| invalid(&run.result)),
        failed,
        disturbed: runs.iter().find_map(|run| taken(&run.result)),
    }
}

/// Returns what holds for more than half of the runs.
fn in_most<T: PartialEq + Clone>(runs: &[&Run], of: impl Fn(&Run) -> Vec<T>) -> Vec<T> {
    let all: Vec<Vec<T>> = runs.iter().map(|run| of(run)).collect();
    let mut found: Vec<T> = Vec::new();
    for value in all.iter().flatten() {
        let holds = all.iter().filter(|values| values.contains(value)).count();
        if 2 * holds > runs.len() && !found.contains(value) {
            found.push(value.clone());
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cell([least, median, most]: [f64; 3], rounds: usize) -> Cell {
        Cell::Measured(Figures {
            rps: median,
            least_rps: least,
            most_rps: most,
            p99_us: None,
            cpu_us: None,
            rounds,
            limit: None,
            invalid: Vec::new(),
            failed: None,
            disturbed: None,
        })
    }

    #[test]
    fn ranges_that_overlap_have_no_order() {
        let subjects = ["noisy", "slow", "steady"].map(str::to_owned);
        let lead = |cells: &[Cell]| lead(&subjects, cells);
        let (slow, steady) = (cell([9_000.0, 9_500.0, 9_900.0], 3), cell([30_000.0, 30_500.0, 31_000.0], 3));
        // As a subject that was disturbed in two rounds of three.
        let noisy = cell([22_671.0, 27_478.0, 111_356.0], 3);
        let both = ["steady", "noisy"].map(str::to_owned).to_vec();
        assert_eq!(lead(&[noisy, slow.clone(), steady.clone()]), Some(Lead::CannotTell(both)));
        assert_eq!(lead(&[Cell::Absent, slow.clone(), steady]), Some(Lead::Fastest("steady".to_owned())));
        let once = |rps: f64| cell([rps; 3], 1);
        assert!(matches!(lead(&[once(9.0), once(10.0), once(99.0)]), Some(Lead::CannotTell(all)) if all.len() == 3));
        assert_eq!(lead(&[Cell::Missing, slow, Cell::NotOffered]), None);
    }
}
