//! The lines about a run that goes on.

use crate::output;
use torr_fronts::k6::RunArgs;
use torr_fronts::k6::layout::{Progress, ScenarioProgress, fixed};
use torr_k6::executors::{Conductor, Status};
use torr_net::clock;

/// Whether banner and progress are printed.
pub struct Shown(bool);

impl Shown {
    /// Returns what a command line asks for: nothing if it is quiet, or if standard output belongs to samples.
    pub fn of(args: &RunArgs) -> Self {
        let to_stdout = |path: &str| path.is_empty() || path == "-";
        Self(!args.quiet && !args.outputs.iter().any(|output| output.kind == "json" && to_stdout(&output.argument)))
    }

    /// Prints a text.
    pub fn print(&self, text: &str) {
        if self.0 {
            output::print(text);
        }
    }
}

/// Returns where a run stands, in lines.
pub fn text(conductor: &Conductor) -> String {
    let (plan, counts, now) = (conductor.plan(), conductor.counts(), clock::exact());
    let elapsed = conductor.started().map_or(0, |started| now.saturating_sub(started));
    let scenarios = plan.scenarios.iter().enumerate().map(|(number, scenario)| {
        let progress = conductor.progress(number, now);
        let elapsed = fixed(progress.elapsed, plan.max_duration);
        let iterations =
            progress.iterations.map_or(String::new(), |all| format!("  {}/{all} iters", progress.complete));
        ScenarioProgress {
            name: scenario.name.clone(),
            is_done: progress.status == Status::Done && !progress.is_cut,
            share: progress.share,
            state: format!("{}/{} VUs  {elapsed}{iterations}", progress.active, progress.vus),
        }
    });
    let progress = Progress {
        elapsed: std::time::Duration::from_nanos(elapsed),
        longest: plan.max_duration,
        active: counts.active as u64,
        vus: counts.initialized as u64,
        complete: counts.complete,
        interrupted: counts.interrupted,
        scenarios: scenarios.collect(),
    };
    progress.text()
}
