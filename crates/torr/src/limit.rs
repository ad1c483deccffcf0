//! `torr limit URL`: from the command line to a search, and from its outcome to the screen.

mod args;
mod curve;
mod render;
mod verify;
mod written;

use crate::base::Base;
use crate::command_line::Repeatable;
use crate::exit::{self, CliError};
use crate::fleet::{self, FleetOf, Step, StepLoad, Steps};
use crate::interrupt;
use crate::output;
use crate::press::{self, servers};
use crate::report;
use crate::session;
use crate::sink::Sink;
use crate::steps::StepViews;
pub use args::LimitArgs;
use std::io::IsTerminal;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError};
use std::time::SystemTime;
use torr_doctor::Request;
use torr_doctor::limit;
use torr_doctor::limit::{Ask, Load as Offered, Press, Settings, Slo, find};
use torr_gauge::collector::Progress;
use torr_gauge::verdict::{LimitKind, LoadUnit};
use torr_live::About;
use torr_load::{FileSource, FilesByPath, NO_TIMES};
use torr_plan::log;
use torr_press::{Arrivals, Plan, RunError};
use torr_report::human::{micros, plural, rate};
use torr_report::live::LiveProgress;
use torr_report::sentence;
use written::WrittenOutcome;

/// Finds the limit and prints the report.
pub fn run(mut args: LimitArgs) -> Result<ExitCode, CliError> {
    let kept = Arc::default();
    if args.through.fleet.is_some() {
        // What the load names is sent to the agents.
        args.load.take_files_from(&FileSource::Kept(Arc::clone(&kept)));
    }
    let args = &args;
    let fleet = args.through.fleet()?;
    let (json, page) = report::open_beside(args.json.as_deref(), args.report.as_deref())?;
    if fleet.is_some() {
        Steps::check(&args.load())?;
    }
    let base = Base::permitted(&args.load(), args.i_own_this, "torr limit")?.with_streams(&args.load())?;
    // Sessions may meet a stream among their responses, and what is searched is still a rate of sessions.
    let is_of_streams = base.plan.events.is_some() && base.plan.work.users().is_none();
    let slo = args.slo.clone().unwrap_or_else(|| default_slo(is_of_streams));
    slo.check(&press::entries(&base.plan), is_of_streams).map_err(|error| CliError::Usage(format!("--slo {error}")))?;
    if args.arrivals == Arrivals::Logged && base.plan.work.users().and_then(|users| users.logged()).is_none() {
        let why = if args.load().request.log.is_some() { log::SAME_TIME } else { NO_TIMES };
        return Err(CliError::Usage(why.into()));
    }
    servers::note(&base.plan, "torr limit");
    let steps = match &fleet {
        Some(fleet) => Some(steps(args, fleet, &base, kept.lock().unwrap_or_else(PoisonError::into_inner).clone())?),
        None => None,
    };
    let Base { plan: base, script, k6, .. } = base;
    let plan = Plan { connections: args.max_connections, threads: args.threads.unwrap_or(base.threads), ..base };
    let stop = interrupt::flag()?;
    let settings = Settings {
        unit: if is_of_streams { LoadUnit::Streams } else { LoadUnit::Requests },
        keeps_gaps: args.slo.is_none() && is_of_streams,
        slo,
        budget: args.budget,
        max_rate: args.max_rate,
        max_connections: args.max_connections,
        depth: u32::from(plan.depth),
    };
    let arrivals = args.arrivals;
    let about = limit::About {
        target: plan.target.shown().into_owned(),
        started_at: humantime::format_rfc3339_millis(SystemTime::now()).to_string(),
        arrivals: arrivals.name().into(),
    };
    let words = About {
        name: "the search",
        step: "step",
        target: about.target.clone(),
        words: format!(
            "a search for the highest sustained rate, at most {}; objectives: {}",
            micros(args.budget.as_secs_f64() * 1e6),
            settings.slo.texts().join(", ")
        ),
        budget_s: args.budget.as_secs_f64(),
    };
    let mut views = StepViews::open(&args.views, &words, &stop)?;
    let has_line = !args.quiet && !views.has_screen() && std::io::stderr().is_terminal();
    let live = LiveProgress::new(Some(args.budget), has_line);
    let show = |ask: &Ask, begun: std::time::Duration, progress: Option<&Progress>| {
        let why = sentence::step(ask.why);
        match progress {
            Some(progress) => {
                views.progress(progress);
                live.within(begun.as_secs_f64(), &why, progress);
            }
            None => {
                let (name, why) = named(ask, &why);
                views.begins(&name, why);
                live.begin(begun.as_secs_f64(), why);
            }
        }
    };
    let (press, mut lost) = (Press::new(&plan, arrivals, &stop, show), None);
    let outcome = match &steps {
        None => find(&mut { press }, &settings, about),
        Some(steps) => {
            let run = |plan: &Plan, stop: &AtomicBool, watch: &mut dyn FnMut(&Progress)| {
                let step = Step { plan, request: Request::Target, agents: 0..steps.agents() };
                steps.run(&step, stop, watch).map_err(|error| {
                    let failed = RunError::System(std::io::Error::other(error.to_string()));
                    lost = Some(error);
                    failed
                })
            };
            find(&mut press.by(run), &settings, about)
        }
    };
    views.close_screen();
    live.clear();
    if let Some(error) = lost {
        return if stop.load(Ordering::Relaxed) { Ok(exit::interrupted()) } else { Err(fleet::failed(error)) };
    }
    if let Some(code) = Base::scripts_failed(script.as_ref(), k6) {
        return Ok(code);
    }
    let outcome = outcome.map_err(press::why_not)?;
    if ![&json, &page].into_iter().flatten().any(Sink::takes_stdout) {
        output::report(&render::text(
            &outcome,
            &title(args, &plan),
            &verify::commands(args, steps.as_ref().map(Steps::agents), session::requests_each(&plan), &outcome),
        ));
    }
    let shown = WrittenOutcome::of(&outcome);
    let written = json.map(|sink| match Repeatable::new(&shown).json() {
        Ok(text) => sink.put(&text),
        Err(error) => Err(sink.failed(&error)),
    });
    let page = page.map(|sink| report::put(&shown, sink));
    let troubles: Vec<_> = [written, page].into_iter().flatten().filter_map(Result::err).collect();
    views.finish(&shown);
    let failed = exit::failed(&troubles);
    Ok(match failed {
        _ if outcome.interrupted => exit::interrupted(),
        Some(code) => code,
        None if outcome.kind == LimitKind::Never => ExitCode::FAILURE,
        None => ExitCode::SUCCESS,
    })
}

/// Returns the objectives of a search for which the user has none.
fn default_slo(is_of_streams: bool) -> Slo {
    let default = if is_of_streams { Slo::OF_STREAMS } else { Slo::DEFAULT };
    Slo::parse(default).expect("the defaults are objectives")
}

/// Returns what is loaded: a URL, or a file of sessions and its server, as their requests have several URLs.
fn title(args: &LimitArgs, plan: &Plan) -> String {
    let has_sessions = plan.work.users().is_some_and(|users| users.has_sessions());
    let file = args.url.as_ref().filter(|_| has_sessions && args.load.script.is_none());
    let origin = plan.origins().into_iter().next().unwrap_or_default();
    file.map_or_else(|| plan.target.shown().into_owned(), |file| format!("{file} at {origin}"))
}

/// Returns the name of a step, which is its load, and its reason.
fn named<'w>(ask: &Ask, why: &'w str) -> (String, &'w str) {
    match (ask.load, why.split_once(": ")) {
        (Offered::Rate(per_s), _) => (format!("{}/s", rate(per_s)), why),
        (Offered::Connections(_) | Offered::Streams(_), Some((load, question))) => (load.to_owned(), question),
        (Offered::Connections(connections), None) => (plural(connections as u64, "connection"), why),
        (Offered::Streams(streams), None) => (plural(streams as u64, "stream"), why),
    }
}

/// Returns the runs over a fleet that the search makes.
fn steps(args: &LimitArgs, fleet: &FleetOf<'_>, base: &Base, files: FilesByPath) -> Result<Steps, CliError> {
    let load = StepLoad { load: args.load(), base, files, threads: args.threads };
    Steps::of(fleet, load)
}
