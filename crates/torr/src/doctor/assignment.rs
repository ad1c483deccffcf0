//! From the command line to what is examined.

use super::args::DoctorArgs;
use crate::again;
use crate::exit::Stop;
use crate::flags::session::{check_sessions, check_url};
use crate::flags::transport::TransportArgs;
use crate::press::{base_and_options, permission};
use crate::session;
use crate::target;
use std::time::Duration;
use torr_doctor::remote::RemoteWatch;
use torr_doctor::{Assignment, Invocation, quoted};
use torr_press::Plan;
use torr_press::request::Options;

/// The least in which experiments mean anything.
const LEAST_BUDGET: Duration = Duration::from_secs(5);

/// How a URL is loaded, if it may be.
pub fn plan(
    args: &DoctorArgs,
    transport: &TransportArgs,
    url: &str,
    keep_alive: bool,
) -> Result<(Plan, Options), Stop> {
    if args.request.urls.is_some() {
        return Err(Stop::Usage("torr doctor examines one URL at a time: leave out --urls".into()));
    }
    let (plan, options) = match target::hurl_file(Some(url), "torr doctor")? {
        Some(file) => {
            check_sessions(&args.given.flags)?;
            (session::base(file, &args.variables, &args.request, transport, keep_alive)?, Options::default())
        }
        None => {
            check_url(&args.given.flags)?;
            base_and_options(&args.request, transport, Some(url), keep_alive)?
        }
    };
    permission::ask(&plan, args.i_own_this, "torr doctor")?;
    let threads = args.threads.unwrap_or(plan.threads);
    Ok((Plan { connections: args.connections, threads, ..plan }, options))
}

/// What was given, for the commands that are printed.
fn again(args: &DoctorArgs) -> Invocation {
    let mut again = again::invocation(&args.given, args.url.as_deref());
    let flag = |name: &str, value: Option<String>| (name.to_owned(), value.map(|value| quoted(&value)));
    let load = [
        args.threads.map(|threads| flag("-t", Some(threads.to_string()))),
        args.no_keepalive.then(|| flag("--no-keepalive", None)),
        args.max_rate.map(|rate| flag("--max-rate", Some(rate.to_string()))),
    ];
    again.load = load.into_iter().flatten().collect();
    let budget = (args.budget != DoctorArgs::BUDGET).then(|| format!("{}s", args.budget.as_secs_f64()));
    let own = [
        budget.map(|budget| flag("--budget", Some(budget))),
        args.max_connections.map(|most| flag("--max-connections", Some(most.to_string()))),
        args.i_own_this.then(|| flag("--i-own-this", None)),
        args.watch.as_ref().map(|address| flag("--watch", Some(address.clone()))),
    ];
    again.doctor = own.into_iter().flatten().collect();
    if args.watch_token.is_some() {
        // The variable is looked at where the flag is not given.
        again.variables.push(("TORR_WATCH_TOKEN".into(), "--watch-token".into()));
    }
    again
}

pub fn assignment(args: &DoctorArgs, plan: Plan, options: Options) -> Result<Assignment, Stop> {
    if args.budget < LEAST_BUDGET {
        return Err(Stop::Usage(format!(
            "a budget of {:?} is too short to tell anything: give at least 5s",
            args.budget
        )));
    }
    if args.max_connections.is_some_and(|most| most < args.connections) {
        return Err(Stop::Usage("--max-connections is below -c: lower -c as well".into()));
    }
    Ok(Assignment {
        again: Invocation { requests_each: session::requests_each(&plan), ..again(args) },
        plan,
        options,
        budget: args.budget,
        max_rate: args.max_rate,
        max_connections: args.max_connections.unwrap_or(2 * args.connections),
    })
}

/// The server's machine, where the user says how it is asked.
pub fn remote(args: &DoctorArgs, port: u16) -> Result<Option<RemoteWatch>, Stop> {
    let Some(address) = &args.watch else { return Ok(None) };
    let token = args.watch_token.clone().or_else(|| std::env::var("TORR_WATCH_TOKEN").ok());
    RemoteWatch::connect(address, token.as_deref(), port)
        .map(Some)
        .map_err(|error| Stop::Unreachable(error.to_string()))
}
