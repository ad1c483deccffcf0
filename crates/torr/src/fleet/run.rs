//! `torr fleet run`.

use super::args::{RunArgs, failed};
use super::lines;
use super::load::FleetLoad;
use crate::exit::{self, CliError};
use crate::interrupt;
use crate::k6::K6Sessions;
use crate::output;
use crate::press;
use crate::press::live::Views;
use crate::press::outputs::Outputs;
use crate::script::Script;
use crate::session;
use std::borrow::Cow;
use std::io::IsTerminal;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use torr_fleet::{FleetError, LoadAndFiles, Members, RunEvent, RunSettings, Watch};
use torr_gauge::Factor;
use torr_gauge::collector::{Measurement, Progress};
use torr_gauge::redact;
use torr_gauge::verdict::Fact;
use torr_load::{Load, OutputPart};
use torr_press::{Plan, SoFar};
use torr_report::live::LiveProgress;
use torr_report::sentence::{self, caution};

/// How long agents are waited for whose number is known.
const WAIT: Duration = Duration::from_secs(30);
/// How long agents are waited for if all that respond take part.
const WAIT_FOR_ALL: Duration = Duration::from_secs(2);

/// Loads a URL from the machines of a fleet, and prints the report.
pub fn run(args: &RunArgs, load: Load) -> Result<ExitCode, CliError> {
    let given = load.clone();
    let FleetLoad { plan, load, teardown, script, k6 } = FleetLoad::of(load)?;
    let code = load_from_fleet(args, &given.output, &plan, load, script);
    // What the setup made is cleared away however the run ended.
    let cleared = session::tear_down(teardown, &given);
    let torn_down = k6.and_then(K6Sessions::finish);
    let code = code?;
    cleared?;
    Ok(torn_down.unwrap_or(code))
}

fn load_from_fleet(
    args: &RunArgs,
    output: &OutputPart,
    plan: &Plan,
    load: LoadAndFiles,
    script: Option<Script>,
) -> Result<ExitCode, CliError> {
    output.check(&press::entries(plan), plan.events.is_some()).map_err(CliError::Usage)?;
    let settings = RunSettings {
        nats: args.nats.server.connection(),
        fleet: args.nats.fleet.clone(),
        members: args.agents.map_or(Members::All, Members::Count),
        wait: args.wait.unwrap_or(if args.agents.is_some() { WAIT } else { WAIT_FOR_ALL }),
        if_lost: args.if_lost.into(),
        load,
    };
    let quiet = output.quiet;
    let mut outputs = Outputs::open(output)?;
    let stop = interrupt::flag()?;
    outputs.begin(&plan.target.shown())?;
    let (views, plan) = match Views::are_wanted(output) {
        true => {
            let plan = plan.clone().watched().0;
            (Some(Views::of(output, &plan, &stop)?), Cow::Owned(plan))
        }
        false => (None, Cow::Borrowed(plan)),
    };
    let has_screen = views.as_ref().is_some_and(Views::has_screen);
    let line = LiveProgress::new(plan.duration, !has_screen && !quiet && std::io::stderr().is_terminal());
    let mut screen = Screen { outputs: &mut outputs, line: &line, views: views.as_ref(), quiet, stop: &stop };
    let run = torr_fleet::coordinator::run(&settings, &plan, &stop, &mut screen);
    line.clear();
    let dashboard = views.and_then(Views::close);
    match run {
        Ok(mut run) => {
            judge(&mut run);
            let outcome = Script::outcome(&run);
            let code = outputs.finish(&mut run);
            if let Some(dashboard) = dashboard {
                dashboard.finish(run.result);
            }
            Ok(script.map(|script| script.finish(outcome)).transpose()?.flatten().unwrap_or(code))
        }
        Err(error @ (FleetError::NoResult(_) | FleetError::NoInterval(_))) if stop.load(Ordering::Relaxed) => {
            output::note(&lines::line(&error));
            Ok(exit::interrupted())
        }
        Err(error) => Err(outputs.give_up(&plan.target.shown(), failed(error))),
    }
}

/// Gives the result its verdict, which names each agent that was itself the limit, and the sentences of its findings.
fn judge(run: &mut Measurement) {
    let finding = torr_doctor::passive(&run.result);
    let agents = run.result.fleet.iter().flat_map(|fleet| &fleet.agents).filter(|agent| agent.was_limit);
    let limits: Vec<_> = match finding.factor {
        Factor::Generator => agents.map(|agent| Fact::AgentLimit { agent: agent.name.clone() }).collect(),
        _ => vec![],
    };
    run.result.verdict = Some(sentence::verdict(finding.because(limits)));
    run.result.validity.iter_mut().for_each(caution::write);
    run.result.fleet.iter_mut().for_each(sentence::fleet::write);
}

/// What the user sees while a run goes on.
struct Screen<'a> {
    outputs: &'a mut Outputs,
    line: &'a LiveProgress,
    views: Option<&'a Views>,
    quiet: bool,
    /// What ends the run.
    stop: &'a AtomicBool,
}

impl Screen<'_> {
    fn show(&self, line: &str, in_log: fn(&Views, &str)) {
        let line = redact::line(line);
        self.views.inspect(|views| in_log(views, &line));
        // Where there is a screen, a line would stand across it.
        if !self.quiet && !self.views.is_some_and(Views::has_screen) {
            output::note(&line);
        }
    }
}

impl Watch for Screen<'_> {
    fn begins(&mut self, line: &str) {
        self.show(line, Views::note);
        self.views.inspect(|views| views.begins());
    }

    fn event(&mut self, event: RunEvent<'_>) {
        self.show(&lines::event(event), Views::warn);
    }

    fn progress(&mut self, progress: &Progress, so_far: &SoFar<'_>) {
        self.line.progress(progress);
        self.outputs.progress(progress, so_far, self.stop);
        self.views.inspect(|views| views.update(progress, so_far));
    }
}
