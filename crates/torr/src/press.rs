//! `torr URL`: runs a plan, from its outputs to the report on the screen.

pub mod dashboard;
mod interval_log;
pub mod live;
pub mod outputs;
pub mod permission;
pub mod ports;
pub mod servers;

use crate::exit::{self, CliError};
use crate::flags::unused;
use crate::interrupt;
use crate::judge::judge;
use crate::output;
use crate::script::{self, Script, ScriptSettings};
use crate::sink;
use live::WatchedRun;
use outputs::Outputs;
use std::io::IsTerminal;
use std::path::Path;
use std::process::ExitCode;
use std::sync::atomic::AtomicBool;
use torr_gauge::Machine;
use torr_gauge::collector::{Measurement, Progress};
use torr_gauge::sessions::EntryName;
use torr_load::Load;
use torr_plan::input::Input;
use torr_plan::transport::finder;
use torr_plan::url::{plan, with_load};
use torr_plan::{checks, request, variables};
use torr_press::request::token::Token;
use torr_press::{Plan, Requests, RunError, SoFar};
use torr_report::live::LiveProgress;
use torr_script::Printing;

/// Runs a plan and prints the report.
pub fn run(load: &Load, plan: &Plan) -> Result<ExitCode, CliError> {
    run_with(load, plan, None, Outputs::open(&load.output)?)
}

/// A run whose outputs are open and whose load is one that can be, before anything is sent for it.
pub struct ReadyRun<'a> {
    load: &'a Load,
    outputs: Outputs,
}

impl<'a> ReadyRun<'a> {
    /// Finds the mistakes of the load, whatever it is sent to, and opens the outputs.
    ///
    /// # Errors
    /// For flags that exclude each other, and outputs that cannot be written.
    pub fn of(load: &'a Load) -> Result<Self, CliError> {
        checks::inspection(&load.checks)?;
        Ok(Self { load, outputs: Outputs::open(&load.output)? })
    }

    /// Runs a plan, of which only how hard to press is left to say, and prints the report.
    pub fn run(self, base: Plan) -> Result<ExitCode, CliError> {
        let plan = with_load(self.load, base)?;
        run_with(self.load, &plan, None, self.outputs)
    }
}

/// Runs a plan whose requests a script makes, and prints the report.
pub fn run_script(load: &Load, plan: Plan, path: &Path) -> Result<ExitCode, CliError> {
    let given = &load.session.variables;
    let variables = variables::values(given, &mut Input::default())?.into_iter().collect();
    let outputs = Outputs::open(&load.output)?;
    let words = ScriptWords { path, variables, secrets: variables::secrets(given).collect(), printing: printing(load) };
    let (script, plan) = scripted(load, plan, words)?;
    run_with(load, &plan, Some(script), outputs)
}

/// What a script is given beside its load.
pub struct ScriptWords<'a> {
    pub path: &'a Path,
    pub variables: Vec<(String, String)>,
    /// Values that no output shows.
    pub secrets: Vec<String>,
    pub printing: Printing,
}

/// Returns a script, and the plan whose requests it makes.
///
/// # Errors
/// If the script ends in an error, or does not go with the plan.
pub fn scripted(load: &Load, plan: Plan, words: ScriptWords<'_>) -> Result<(Script, Plan), CliError> {
    let settings = ScriptSettings {
        path: words.path,
        files: &load.request.files,
        arguments: &load.arguments,
        variables: words.variables,
        secrets: words.secrets,
        feeder: request::records(&load.request)?,
        feeder_order: load.request.feeder_order(),
        printing: words.printing,
        stream: &load.stream,
        find: Box::new(finder(&load.transport)),
    };
    let script = Script::load(&plan, settings)?;
    let plan = script.plan(plan);
    if plan.work.users().is_some() && (plan.inspection.follow || !plan.inspection.checks.is_empty()) {
        let hint = "check responses in the script instead";
        return Err(CliError::Usage(format!("--follow and --expect-... cannot be used with this script ({hint})")));
    }
    Ok((script, plan))
}

/// Runs a script that names its target itself, and prints the report.
pub fn run_script_file(load: &Load, path: &Path) -> Result<ExitCode, CliError> {
    let url = script::target(path, &load.request.files, printing(load))?;
    run_script(load, plan(load, Some(&url))?, path)
}

/// Returns where the text goes that a script prints.
pub fn printing(load: &Load) -> Printing {
    let takes_stdout = load.output.files().any(|(_, path)| sink::is_stdout(path));
    match takes_stdout {
        stderr if load.output.live && torr_live::is_possible() => Printing::Watched { stderr },
        true => Printing::Stderr,
        false => Printing::Stdout,
    }
}

fn run_with(load: &Load, plan: &Plan, script: Option<Script>, mut outputs: Outputs) -> Result<ExitCode, CliError> {
    load.output.check(&entries(plan), plan.events.is_some()).map_err(CliError::Usage)?;
    let stop = interrupt::flag()?;
    outputs.begin(&plan.target.shown())?;
    if let Some(requests) = plan.work.requests() {
        unused::note(load, plan, requests);
    }
    if !load.output.quiet {
        servers::note_users(plan);
    }
    ports::warn(plan);
    let watched = WatchedRun::start(&load.output, plan, &stop)?;
    let has_screen = watched.as_ref().is_some_and(WatchedRun::has_screen);
    let has_line = !has_screen && !load.output.quiet && std::io::stderr().is_terminal();
    let line = LiveProgress::new(plan.duration, has_line);
    let watch = |progress: &Progress, so_far: &SoFar<'_>| {
        line.progress(progress);
        outputs.progress(progress, so_far, &stop);
    };
    let run = match watched {
        Some(watched) => watched.press(&stop, watch).map_err(why_not),
        None => press_watched(plan, &stop, watch).map(|run| (run, None)),
    };
    line.clear();
    match run {
        Ok((mut run, dashboard)) => {
            if let Some(users) = plan.work.users() {
                users.complete(&mut run.result);
            }
            let token = plan.work.requests().and_then(Requests::token);
            if let Some(why) = token.and_then(Token::failure) {
                output::note(&format!("warning: the token was not renewed: {why}"));
            }
            let outcome = Script::outcome(&run);
            let code = outputs.finish(&mut run);
            if let Some(dashboard) = dashboard {
                dashboard.finish(run.result);
            }
            let failed = match script {
                Some(script) => script.finish(outcome)?,
                None => {
                    exit::failed(&plan.work.users().and_then(|users| users.error()).into_iter().collect::<Vec<_>>())
                }
            };
            Ok(failed.unwrap_or(code))
        }
        Err(stop) => Err(outputs.give_up(&plan.target.shown(), stop)),
    }
}

/// Returns the names of the entries of a plan, none for a URL.
pub fn entries(plan: &Plan) -> Vec<EntryName> {
    let users = plan.work.users().filter(|users| users.has_sessions());
    users.map_or_else(Vec::new, |users| users.entries())
}

/// One run with its verdict.
pub fn press(plan: &Plan, stop: &AtomicBool, mut watch: impl FnMut(&Progress)) -> Result<Measurement, CliError> {
    press_watched(plan, stop, |progress, _| watch(progress))
}

fn press_watched(
    plan: &Plan,
    stop: &AtomicBool,
    mut watch: impl FnMut(&Progress, &SoFar<'_>),
) -> Result<Measurement, CliError> {
    let run = torr_press::run_watched(plan, stop, |progress, so_far| watch(&progress, so_far));
    let mut run = run.map_err(why_not)?;
    judge(&mut run.result);
    run.result.machine = Some(Machine::this());
    Ok(run)
}

/// Why there was no run, to the user.
pub fn why_not(error: RunError) -> CliError {
    match error {
        RunError::Unreachable { .. } => CliError::Unreachable(error.to_string()),
        RunError::Files { .. } => CliError::Usage(error.to_string()),
        RunError::System(_) => CliError::Failed(error.to_string()),
    }
}
