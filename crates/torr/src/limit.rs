//! `torr limit URL`: from the command line to a search, and from its outcome to the screen.

mod args;
mod curve;
mod render;
mod spread;
mod verify;

use crate::base::{Base, BaseArgs};
use crate::exit::{self, CliError};
use crate::interrupt;
use crate::output;
use crate::press::{self, permission, servers};
use crate::report;
use crate::session;
use crate::sink::Sink;
pub use args::LimitArgs;
use std::io::IsTerminal;
use std::process::ExitCode;
use std::time::SystemTime;
use torr_doctor::limit::{About, Ask, Press, ResultKind, Settings, find};
use torr_gauge::collector::Progress;
use torr_press::{Arrivals, Plan};
use torr_report::live::LiveProgress;

/// Finds the limit and prints the report.
pub fn run(args: &LimitArgs) -> Result<ExitCode, CliError> {
    let (json, page) = report::open_beside(args.json.as_deref(), args.report.as_deref())?;
    let Base { plan: base, script, .. } = Base::of(&BaseArgs {
        target: args.url.as_deref(),
        script: args.script.script.as_deref(),
        arguments: &[],
        given: &args.given,
        variables: &args.variables,
        request: &args.request,
        transport: &args.transport,
        keep_alive: !args.no_keepalive,
    })?;
    args.slo.check(&press::entries(&base)).map_err(|error| CliError::Usage(format!("--slo {error}")))?;
    permission::ask(&base, args.i_own_this, "torr limit")?;
    servers::note(&base, "torr limit");
    let plan = Plan { connections: args.max_connections, threads: args.threads.unwrap_or(base.threads), ..base };
    let stop = interrupt::flag()?;
    let settings = Settings {
        slo: args.slo.clone(),
        budget: args.budget,
        max_rate: args.max_rate,
        max_connections: args.max_connections,
    };
    let arrivals = args.arrivals.into();
    let about = About {
        target: plan.target.url.clone(),
        started_at: humantime::format_rfc3339_millis(SystemTime::now()).to_string(),
        arrivals: if arrivals == Arrivals::Poisson { "poisson".into() } else { "constant".into() },
    };
    let live = LiveProgress::new(Some(args.budget), !args.quiet && std::io::stderr().is_terminal());
    let show = |ask: &Ask, begun: std::time::Duration, progress: Option<&Progress>| match progress {
        Some(progress) => live.within(begun.as_secs_f64(), &ask.why, progress),
        None => live.begin(begun.as_secs_f64(), &ask.why),
    };
    let outcome = find(&mut Press::new(&plan, arrivals, &stop, show), &settings, about);
    live.clear();
    if let Some(code) = Base::script_failed(script.as_ref()) {
        return Ok(code);
    }
    let outcome = outcome.map_err(press::why_not)?;
    if ![&json, &page].into_iter().flatten().any(Sink::takes_stdout) {
        output::report(&render::text(&outcome, &verify::commands(args, session::requests_each(&plan), &outcome)));
    }
    let written = json.map(|sink| match serde_json::to_string_pretty(&outcome) {
        Ok(text) => sink.put(&text),
        Err(error) => Err(sink.failed(&error)),
    });
    let page = page.map(|sink| report::put(&outcome, sink));
    let troubles: Vec<_> = [written, page].into_iter().flatten().filter_map(Result::err).collect();
    let failed = exit::failed(&troubles);
    Ok(match failed {
        _ if outcome.interrupted => exit::interrupted(),
        Some(code) => code,
        None if outcome.kind == ResultKind::Never => ExitCode::FAILURE,
        None => ExitCode::SUCCESS,
    })
}
