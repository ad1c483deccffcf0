//! The diagnosis of a subject that is up: by `torr doctor`, by a plain run, or by another tool.

use crate::case::Case;
use crate::environment::{Environment, Process};
use crate::finding::Finding;
use crate::given::GivenVerdict;
use serde_json::Value;
use std::fs;
use std::time::{Duration, Instant};
use torr_test_support::error::Error;

/// The duration of a plain run.
const PLAIN: &str = "5s";
/// The duration of a plain run at a given rate.
const KEPT_RATE: &str = "10s";
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

impl Judge {
    /// Has a URL diagnosed under the load that `arguments` describe.
    ///
    /// # Errors
    /// If `torr` does not end in time, or writes no verdict.
    pub fn examine(&self, environment: &Environment, case: &Case) -> Result<Finding, Error> {
        match self {
            // The doctor finds what limits throughput; a rate that is given and kept is judged by the run that keeps it.
            Self::Doctor(_) if case.load.rate.is_some() => {
                Self::by_torr(environment, case, &["-d", KEPT_RATE], Duration::ZERO)
            }
            Self::Doctor(budget) => {
                let budget_s = format!("{}s", budget.as_secs_f64());
                let permitted = environment.permitted.iter().map(String::as_str);
                let first: Vec<_> = ["doctor", "--budget", &budget_s].into_iter().chain(permitted).collect();
                Self::by_torr(environment, case, &first, *budget)
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
        let file = environment.folder().join("verdict.json");
        let _ = fs::remove_file(&file);
        let description = serde_json::to_string(case).map_err(Error::at("the case"))?;
        let mut command = environment.generator.command("sh");
        command.args(["-c", line]).env("URL", &case.url).env("CASE", description).env("VERDICT", &file);
        command.env("BUDGET_S", budget.as_secs_f64().to_string());
        let begin = Instant::now();
        let ended = Process::start("tool", &mut command, environment.folder())?.end(budget + OVERTIME)?;
        let took = begin.elapsed().as_secs_f64();
        let written = fs::read_to_string(&file)
            .map_err(|_| Error::failed(format!("the tool wrote no verdict ({}): {}", ended.status, ended.last_line)))?;
        Ok(GivenVerdict::parse(&written)?.finding(took))
    }
}
