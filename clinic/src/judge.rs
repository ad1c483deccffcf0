//! The diagnosis of a subject that is up: by `torr doctor`, by a plain run, or by another tool.

use crate::answer::Answer;
use crate::case::Case;
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
#[derive(Clone, PartialEq, Eq)]
pub enum Judge {
    /// `torr doctor` with a budget.
    Doctor(Duration),
    /// The verdict of `torr URL`.
    Passive,
    /// A command for a shell, with a budget. It finds the case in its environment, and writes its verdict into a file.
    Tool(String, Duration),
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
    pub fn examine(&self, environment: &Environment, case: &Case) -> Result<Finding, Error> {
        match self {
            Self::Doctor(budget) => {
                let budget_s = format!("{}s", budget.as_secs_f64());
                Self::by_torr(environment, case, &["doctor", "--budget", &budget_s], *budget)
            }
            Self::Passive => Self::by_torr(environment, case, &["-d", PLAIN], Duration::ZERO),
            Self::Tool(line, budget) => Self::by_tool(environment, case, line, *budget),
        }
    }

    /// Returns the name of the judged one.
    pub fn name(&self) -> &str {
        match self {
            Self::Doctor(_) => "torr doctor",
            Self::Passive => "torr",
            Self::Tool(line, _) => line,
        }
    }

    fn by_torr(environment: &Environment, case: &Case, first: &[&str], budget: Duration) -> Result<Finding, Error> {
        let file = environment.folder().join("finding.json");
        let _ = fs::remove_file(&file);
        let mut command = environment.generator.command(environment.torr());
        command.args(first).arg(&case.url).args(&case.load.arguments).arg("--json").arg(&file).arg("-q");
        command.current_dir(environment.folder());
        let begin = Instant::now();
        let ended = Process::start("judge", &mut command, environment.folder())?.end(budget + OVERTIME)?;
        let seconds = begin.elapsed().as_secs_f64();
        let written = fs::read_to_string(&file)
            .map_err(|_| Error::failed(format!("torr wrote no finding ({}): {}", ended.status, ended.last_line)))?;
        let trail: Value = serde_json::from_str(&written).map_err(Error::at("torr's finding"))?;
        Finding::read(trail, seconds)
    }

    fn by_tool(environment: &Environment, case: &Case, line: &str, budget: Duration) -> Result<Finding, Error> {
        let file = environment.folder().join("answer.json");
        let _ = fs::remove_file(&file);
        let description = serde_json::to_string(case).map_err(Error::at("the case"))?;
        let mut command = environment.generator.command("sh");
        command.args(["-c", line]).env("URL", &case.url).env("CASE", description).env("ANSWER", &file);
        command.env("BUDGET_S", budget.as_secs_f64().to_string());
        let begin = Instant::now();
        let ended = Process::start("tool", &mut command, environment.folder())?.end(budget + OVERTIME)?;
        let took = begin.elapsed().as_secs_f64();
        let written = fs::read_to_string(&file)
            .map_err(|_| Error::failed(format!("the tool wrote no verdict ({}): {}", ended.status, ended.last_line)))?;
        Ok(Answer::parse(&written)?.finding(took))
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
