//! `torr limit URL`: from the command line to a search, and from its outcome to the screen.

mod args;
mod curve;
mod render;
mod spread;
mod verify;

use crate::exit::{self, Stop};
use crate::flags::session::{check_sessions, check_url};
use crate::interrupt;
use crate::output;
use crate::press::{self, permission};
use crate::session;
use crate::sink::Sink;
use crate::target;
pub use args::LimitArgs;
use std::io::IsTerminal;
use std::process::ExitCode;
use std::time::SystemTime;
use torr_doctor::limit::{About, Answer, Ask, Press, Settings, find};
use torr_gauge::collector::Progress;
use torr_press::{Arrivals, Plan};
use torr_report::live::LiveProgress;

/// Finds the limit and prints the report.
pub fn run(args: &LimitArgs) -> Result<ExitCode, Stop> {
    let url = args.url.as_deref();
    let base = match target::hurl_file(url, "torr limit")? {
        Some(file) => {
            check_sessions(&args.given.flags)?;
            session::base(file, &args.variables, &args.request, &args.transport, !args.no_keepalive)?
        }
        None => {
            check_url(&args.given.flags)?;
            press::base(&args.request, &args.transport, url, !args.no_keepalive)?
        }
    };
    args.slo.check(&press::entries(&base)).map_err(|error| Stop::Usage(format!("--slo {error}")))?;
    permission::ask(&base, args.i_own_this, "torr limit")?;
    let plan = Plan { connections: args.max_connections, threads: args.threads.unwrap_or(base.threads), ..base };
    let json = args.json.as_deref().map(Sink::open).transpose()?;
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
    let outcome = outcome.map_err(press::why_not)?;
    if !json.as_ref().is_some_and(Sink::takes_stdout) {
        output::report(&render::text(&outcome, &verify::commands(args, session::requests_each(&plan), &outcome)));
    }
    let written = json.map(|sink| match serde_json::to_string_pretty(&outcome) {
        Ok(text) => sink.put(&text),
        Err(error) => Err(sink.failed(&error)),
    });
    let failed = exit::failed(&written.and_then(Result::err).into_iter().collect::<Vec<_>>());
    Ok(match failed {
        _ if outcome.interrupted => exit::interrupted(),
        Some(code) => code,
        None if outcome.answer == Answer::Never => ExitCode::FAILURE,
        None => ExitCode::SUCCESS,
    })
}
