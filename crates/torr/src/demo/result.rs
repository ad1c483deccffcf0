//! The result of the demo.

use super::reference::Reference;
use serde::Serialize;
use torr_gauge::{Machine, RunResult, Verdict};
use torr_lab::disturbed::taken;
use torr_report::sentence;

/// The connections of loads on the database.
pub const QUERY_CONNECTIONS: usize = 100;

/// The result of the demo.
#[derive(Serialize)]
pub struct Demo {
    pub schema: &'static str,
    pub torr: &'static str,
    pub machine: Machine,
    pub workers: usize,
    /// The kind of the database, without its address and user.
    pub database: String,
    pub rows: Vec<Row>,
    /// The doctor's verdict of the page; the passive verdict of the first row if there was no time for that.
    pub verdict: Option<Verdict>,
}

/// What is pressed, and what the documents have for it.
#[derive(Serialize)]
pub struct Setting {
    pub name: String,
    pub path: String,
    pub connections: usize,
    pub keep_alive: bool,
    pub references: Vec<Reference>,
}

/// A setting and its measurements.
#[derive(Serialize)]
pub struct Row {
    #[serde(flatten)]
    pub setting: Setting,
    /// The measurement whose throughput is the median.
    pub run: RunResult,
    /// The number of measurements.
    pub rounds: usize,
    /// The smallest and the largest throughput of them.
    pub rps_range: [f64; 2],
    /// The sentence of what took CPU time from a measurement besides both sides.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub disturbed: Option<String>,
}

impl Row {
    /// Returns the row of a setting. `None` if nothing was measured.
    pub fn of(setting: Setting, mut runs: Vec<RunResult>) -> Option<Self> {
        runs.sort_by(|one, other| one.rps.total_cmp(&other.rps));
        let rps_range = [runs.first()?.rps, runs.last()?.rps];
        let disturbed = runs.iter().find_map(taken).as_ref().map(sentence::fact);
        let rounds = runs.len();
        Some(Self { setting, run: runs.swap_remove((rounds - 1) / 2), rounds, rps_range, disturbed })
    }

    /// Whether the ranges of this row and of another one overlap, so that neither is known to be faster.
    pub fn overlaps(&self, other: &Self) -> bool {
        let ([low, high], [other_low, other_high]) = (self.rps_range, other.rps_range);
        low <= other_high && other_low <= high
    }
}
