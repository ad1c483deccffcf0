//! The diagnosis of a subject that is up: by `torr doctor`, or by a plain run.

use crate::environment::{Environment, Process};
use serde::Serialize;
use serde_json::Value;
use std::fs;
use std::time::{Duration, Instant};
use torr_gauge::{Confidence, Factor, Gain, Verdict};
use torr_test_support::error::Error;

/// The duration of a plain run.
const PLAIN: &str = "5s";
/// The time that a diagnosis may take beyond its budget, before it is ended.
const OVERTIME: Duration = Duration::from_secs(60);

/// The source of verdicts.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Judge {
    /// `torr doctor` with a budget.
    Doctor(Duration),
    /// The verdict of `torr URL`.
    Passive,
}

/// A diagnosis.
#[derive(Debug, Clone, Serialize)]
pub struct Finding {
    pub factor: Factor,
    pub confidence: Confidence,
    /// The duration as the doctor counts it, or the wall-clock time of a plain run.
    pub seconds: f64,
    pub summary: String,
    /// The gain that the verdict promises.
    pub gain: Option<Gain>,
    /// The JSON of the diagnosis or of the plain run.
    pub trail: Value,
}

impl Judge {
    /// Has a URL diagnosed under the load that `arguments` describe.
    ///
    /// # Errors
    /// If `torr` does not end in time, or writes no verdict.
    pub fn examine(self, environment: &Environment, arguments: &[&str], url: &str) -> Result<Finding, Error> {
        let file = environment.folder().join("finding.json");
        let _ = fs::remove_file(&file);
        let mut command = environment.generator.command(environment.torr());
        let budget = match self {
            Self::Doctor(budget) => {
                command.args(["doctor", "--budget", &format!("{}s", budget.as_secs_f64())]);
                budget
            }
            Self::Passive => {
                command.args(["-d", PLAIN]);
                Duration::ZERO
            }
        };
        command.arg(url).args(arguments).arg("--json").arg(&file).arg("-q").current_dir(environment.folder());
        let begin = Instant::now();
        let ended = Process::start("judge", &mut command, environment.folder())?.end(budget + OVERTIME)?;
        let seconds = begin.elapsed().as_secs_f64();
        let written = fs::read_to_string(&file)
            .map_err(|_| Error::failed(format!("torr wrote no finding ({}): {}", ended.status, ended.last_line)))?;
        let trail: Value = serde_json::from_str(&written).map_err(Error::at("torr's finding"))?;
        Finding::read(trail, seconds)
    }
}

impl Finding {
    /// Reads the verdict from the JSON of a diagnosis or of a plain run.
    fn read(trail: Value, seconds: f64) -> Result<Self, Error> {
        let verdict = serde_json::from_value(trail["verdict"].clone()).map_err(Error::at("torr's verdict"))?;
        let none = || Verdict::new(Factor::Unknown, Confidence::Unknown, "");
        let Verdict { factor, confidence, summary, gain, .. } = Option::unwrap_or_else(verdict, none);
        let seconds = trail["seconds"].as_f64().unwrap_or(seconds);
        Ok(Self { factor, confidence, seconds, summary, gain, trail })
    }
}
