//! Has Torr judge a subject that is up: by its doctor, or by a plain run.

use crate::environment::{Environment, Process};
use crate::error::Error;
use crate::subject::Subject;
use serde::Serialize;
use serde_json::Value;
use std::fs;
use std::time::{Duration, Instant};
use torr_gauge::{Confidence, Factor};

/// How long a plain run presses.
const PLAIN: &str = "5s";
/// What a judge may take beyond what it was given, before it is ended.
const PATIENCE: Duration = Duration::from_secs(60);

/// Who judges.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Judge {
    /// `torr doctor`, with this budget.
    Doctor(Duration),
    /// The verdict of `torr URL`.
    Passive,
}

/// What was said.
#[derive(Debug, Clone, Serialize)]
pub struct Finding {
    pub factor: Factor,
    pub confidence: Confidence,
    /// As the doctor counts them; of a plain run, those on the clock.
    pub seconds: f64,
    pub summary: String,
    /// All that the judge wrote.
    pub trail: Value,
}

impl Judge {
    /// Judges.
    ///
    /// # Errors
    /// If the judge fails, or does not end, or writes no verdict.
    pub fn examine(self, environment: &Environment, subject: &Subject, url: &str) -> Result<Finding, Error> {
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
        command.arg(url).args(subject.arguments).arg("--json").arg(&file).arg("-q").current_dir(environment.folder());
        let begin = Instant::now();
        let ended = Process::start("judge", &mut command, environment.folder())?.end(budget + PATIENCE)?;
        let seconds = begin.elapsed().as_secs_f64();
        let written = fs::read_to_string(&file)
            .map_err(|_| Error::failed(format!("torr wrote no finding ({}): {}", ended.status, ended.last_line)))?;
        let trail: Value = serde_json::from_str(&written).map_err(Error::at("torr's finding"))?;
        Finding::read(trail, seconds)
    }
}

impl Finding {
    fn read(trail: Value, seconds: f64) -> Result<Self, Error> {
        let verdict = &trail["verdict"];
        let part = |name: &str| verdict[name].clone();
        let (factor, confidence) = if verdict.is_null() {
            (Factor::Unknown, Confidence::Unknown)
        } else {
            let factor = serde_json::from_value(part("factor")).map_err(Error::at("the verdict's factor"))?;
            (factor, serde_json::from_value(part("confidence")).map_err(Error::at("the verdict's confidence"))?)
        };
        let summary = verdict["summary"].as_str().unwrap_or_default().to_owned();
        let seconds = trail["seconds"].as_f64().unwrap_or(seconds);
        Ok(Self { factor, confidence, seconds, summary, trail })
    }
}
