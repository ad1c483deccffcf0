//! A comparison of the service with itself, with or without a difference, and what it found.

use std::fs;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use tempfile::TempDir;

use super::calibration::{CONNECTIONS, Calibration, arguments};
use super::order::Task;
use super::planted::Kind;
use crate::child::{ALL_CPUS, Beside};
use torr_test_support::disturbance::Disturbance;
use torr_test_support::error::Error;
use torr_test_support::neighbours::Neighbours;

/// The time that a comparison may take beyond its budget.
const OVERTIME: Duration = Duration::from_secs(60);
/// The mean length of a neighbour's visit, and of its absence: several turns of a comparison, and a small part of all of them.
const VISIT: Duration = Duration::from_secs(5);
/// The exit code of a comparison that cannot tell.
const CANNOT_TELL: i32 = 4;

/// A comparison that was made.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// The number of the round, from 0.
    pub round: usize,
    /// The difference in percent that was wanted.
    pub difference: u32,
    /// What was planted.
    pub kind: Kind,
    /// How many units of it.
    pub units: u32,
    /// The CPU time of a request of B as a multiple of A's, by the calibration.
    pub truth: f64,
    /// By how much that may be wrong.
    pub doubt: f64,
    /// The programs that came and went meanwhile.
    pub neighbours: usize,
    /// How many of them ran, on average.
    pub running: f64,
    /// The share of the machine's CPU time that other programs used.
    pub others: f64,
    /// The share that the hypervisor took.
    pub stolen: f64,
    /// The seed of the comparison.
    pub seed: u64,
    /// How long it took.
    pub seconds: f64,
    /// Blocks of A and B.
    pub blocks: usize,
    /// Blocks that were left out as invalid.
    pub left_out: usize,
    /// The smallest relative difference in CPU time that it could show.
    pub smallest: Option<f64>,
    /// What it found about each metric that was measured.
    pub found: Vec<Found>,
}

/// What a comparison found about a metric.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Found {
    /// The name of the metric.
    pub metric: String,
    /// `different`, `same` or `cannot_tell`.
    pub outcome: String,
    /// The ratio of B to A.
    pub ratio: Option<f64>,
    /// The 99% interval of the ratio.
    pub interval: Option<[f64; 2]>,
}

impl Entry {
    /// Returns what was found about CPU time.
    pub fn cpu(&self) -> Option<&Found> {
        self.found.iter().find(|found| found.metric == "cpu")
    }
}

/// What a comparison says itself.
#[derive(Debug, PartialEq)]
struct Report {
    seconds: f64,
    blocks: usize,
    left_out: usize,
    smallest: Option<f64>,
    found: Vec<Found>,
}

/// What all comparisons have in common.
pub struct Comparer<'c> {
    torr: &'c str,
    own: String,
    budget: Duration,
    neighbours: usize,
    folder: TempDir,
}

impl<'c> Comparer<'c> {
    /// Returns what comparisons need.
    pub fn new(torr: &'c str, budget: Duration, neighbours: usize) -> Result<Self, Error> {
        let own = std::env::current_exe()?.to_string_lossy().into_owned();
        if own.contains(char::is_whitespace) {
            return Err(Error::failed(format!("'{own}' has a space, which the commands of a comparison cannot have")));
        }
        Ok(Self { torr, own, budget, neighbours, folder: tempfile::tempdir()? })
    }

    /// Makes a comparison.
    pub fn compare(&self, task: &Task, calibration: &Calibration) -> Result<Entry, Error> {
        let units = calibration.units_of(task.difference);
        let file = self.folder.path().join("comparison.json");
        let _ = fs::remove_file(&file);
        let command = |units| format!("{} {}", self.own, arguments("127.0.0.1:{port}", task.kind, units));
        let [a, b] = if task.b_does_more { [0, units] } else { [units, 0] }.map(command);
        let (budget, seed) = (format!("{}ms", self.budget.as_millis()), task.seed.to_string());
        let connections = CONNECTIONS.to_string();
        let file_name = file.to_string_lossy();
        let words = ["compare", "--a", &a, "--b", &b, "--url", "http://127.0.0.1:{port}/", "--budget", &budget];
        let more = ["--seed", &seed, "-c", &connections, "-t", "1", "-q", "--json", &file_name];
        let arguments: Vec<String> = words.iter().chain(&more).map(|word| (*word).to_owned()).collect();

        let neighbours = Neighbours::start(self.neighbours, VISIT, task.seed);
        let (ended, disturbance) = Disturbance::during(|| {
            let compare = Beside::start_on(ALL_CPUS, "torr compare", self.torr, &arguments, self.folder.path())?;
            compare.finish(self.budget + OVERTIME)
        });
        let ran = neighbours.end();
        let (code, _, said) = ended?;
        if ![Some(0), Some(CANNOT_TELL)].contains(&code) {
            return Err(Error::failed(format!("torr compare: {said}")));
        }
        let text = fs::read_to_string(&file).map_err(Error::at("torr's comparison"))?;
        let report = serde_json::from_str(&text).map_err(Error::at("torr's comparison"))?;
        let ratio = calibration.ratio(units);
        let Report { seconds, blocks, left_out, smallest, found } =
            read(&report).ok_or_else(|| Error::failed("torr's comparison is of another kind"))?;
        Ok(Entry {
            round: task.round,
            difference: task.difference,
            kind: task.kind,
            units,
            truth: if task.b_does_more { ratio } else { 1.0 / ratio },
            doubt: calibration.doubt(units),
            neighbours: self.neighbours,
            running: ran.as_secs_f64() / seconds.max(1.0),
            others: disturbance.others,
            stolen: disturbance.stolen,
            seed: task.seed,
            seconds,
            blocks,
            left_out,
            smallest,
            found,
        })
    }
}

fn read(report: &Value) -> Option<Report> {
    let found = |finding: &Value| {
        Some(Found {
            metric: finding["metric"].as_str()?.to_owned(),
            outcome: finding["outcome"].as_str()?.to_owned(),
            ratio: finding["ratio"].as_f64(),
            interval: serde_json::from_value(finding["interval"].clone()).ok()?,
        })
    };
    let findings = report["findings"].as_array()?.iter().filter(|finding| finding["pairs"].as_u64() > Some(0));
    Some(Report {
        seconds: report["seconds"].as_f64()?,
        blocks: report["blocks"].as_array()?.len(),
        left_out: report["left_out"].as_u64()? as usize,
        smallest: report["smallest"]["cpu"].as_f64(),
        found: findings.map(found).collect::<Option<_>>()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_comparison_is_read() {
        let finding = |metric: &str, pairs: u32| json!({"metric": metric, "pairs": pairs, "ratio": 1.02, "interval": [1.01, 1.03], "outcome": "different"});
        let report = json!({
            "seconds": 30.5, "blocks": [{}, {}], "left_out": 1, "smallest": {"cpu": 0.008},
            "findings": [finding("cpu", 2), finding("p99_9", 0)],
        });
        let report = read(&report).expect("it is one");
        assert_eq!((report.blocks, report.left_out, report.smallest), (2, 1, Some(0.008)));
        assert_eq!(report.found.len(), 1, "what was not measured was not found");
        assert_eq!((report.found[0].metric.as_str(), report.found[0].interval), ("cpu", Some([1.01, 1.03])));
        assert_eq!(read(&json!({"schema": "torr.run/1"})), None);
    }
}
