//! From the command line to what is examined.

use super::args::DoctorArgs;
use crate::again;
use crate::base::Base;
use crate::exit::CliError;
use crate::session;
use std::time::Duration;
use torr_doctor::remote::{RemoteError, RemoteWatch};
use torr_doctor::{Assignment, Invocation, StreamKind, quoted};
use torr_load::Load;
use torr_plan::target::{TargetKind, is_k6};
use torr_press::Plan;
use torr_press::request::Options;

/// The least in which experiments mean anything.
const LEAST_BUDGET: Duration = Duration::from_secs(5);

/// Returns the plan for a URL or a hurl file, if it may be loaded, for a comparison.
pub fn plan(args: &DoctorArgs, load: &Load) -> Result<(Plan, Options), CliError> {
    if load.script.is_some() {
        return Err(CliError::Usage("--script is not supported in a comparison: use a URL or hurl files".into()));
    }
    if let TargetKind::K6(path) = TargetKind::of(&load.targets)? {
        let path = path.display();
        return Err(CliError::Usage(format!("k6 scripts are not supported in a comparison: use 'torr doctor {path}'")));
    }
    let Base { plan, options, .. } = base(args, load)?;
    match StreamKind::of(&plan) {
        Some(_) => Err(CliError::Usage(
            "streams of events are not supported in a comparison by --sweep, --via, --tls or --paths: use 'torr doctor URL', or \
             'torr compare' with two URLs"
                .into(),
        )),
        None => Ok((plan, options)),
    }
}

/// Returns the plan for a target, if it may be loaded, with its script.
pub fn base(args: &DoctorArgs, load: &Load) -> Result<Base, CliError> {
    if load.request.urls.is_some() {
        return Err(CliError::Usage("torr doctor examines one URL at a time: drop --urls".into()));
    }
    let base = Base::permitted(load, args.i_own_this, "torr doctor")?.with_streams(load)?;
    let threads = args.threads.unwrap_or(base.plan.threads);
    Ok(Base { plan: Plan { connections: args.connections, threads, ..base.plan }, ..base })
}

/// Returns the user's command line, for the commands that are printed.
fn again(args: &DoctorArgs, agents: Option<usize>) -> Invocation {
    let mut again = again::invocation(&args.load());
    let flag = |name: &str, value: Option<String>| (name.to_owned(), value.map(|value| quoted(&value)));
    let threads = args.threads.map(|threads| flag("-t", Some(threads.to_string())));
    let limits = [
        args.no_keepalive.then(|| flag("--no-keepalive", None)),
        args.max_rate.map(|rate| flag("--max-rate", Some(rate.to_string()))),
    ];
    // A run of a script of k6 has them in the script's options.
    let (of_run, of_doctor) =
        if args.url.as_deref().is_some_and(is_k6) { (None, Some(limits)) } else { (Some(limits), None) };
    again.load = threads.into_iter().chain(of_run.into_iter().flatten().flatten()).collect();
    let budget = (args.budget != DoctorArgs::BUDGET).then(|| format!("{}s", args.budget.as_secs_f64()));
    let own = [
        budget.map(|budget| flag("--budget", Some(budget))),
        args.max_connections.map(|most| flag("--max-connections", Some(most.to_string()))),
        args.i_own_this.then(|| flag("--i-own-this", None)),
        args.watch
            .as_ref()
            .map(|address| ("--watch".to_owned(), Some(again.variables.get_mut().value("--watch", address)))),
    ];
    again.doctor = own.into_iter().chain(of_doctor.into_iter().flatten()).flatten().collect();
    if let Some(agents) = agents {
        args.through.press_again(agents, &mut again);
        args.through.doctor_again(agents, &mut again);
    }
    if let Some(token) = &args.watch_token {
        // The variable is looked at where the flag is not given.
        again.variables.get_mut().variable("TORR_WATCH_TOKEN", "--watch-token", token);
    }
    again
}

/// Finds what makes no diagnosis, before anything is sent.
///
/// # Errors
/// For a budget that is too short, and for limits that exclude each other.
pub fn check(args: &DoctorArgs) -> Result<(), CliError> {
    if args.budget < LEAST_BUDGET {
        return Err(CliError::Usage(format!("a budget of {:?} is too short: use at least 5s", args.budget)));
    }
    if args.max_connections.is_some_and(|most| most < args.connections) {
        return Err(CliError::Usage("--max-connections must not be below -c: lower -c too".into()));
    }
    Ok(())
}

/// Returns what is examined, by the load of so many agents of a fleet or of this program.
pub fn assignment(
    args: &DoctorArgs,
    plan: Plan,
    options: Options,
    agents: Option<usize>,
) -> Result<Assignment, CliError> {
    check(args)?;
    Ok(Assignment {
        again: Invocation { requests_each: session::requests_each(&plan), ..again(args, agents) },
        plan,
        options,
        budget: args.budget,
        max_rate: args.max_rate,
        max_connections: args.max_connections.unwrap_or(2 * args.connections),
    })
}

/// Returns the observer of a remote server's machine, if the user has given its address.
pub fn remote(args: &DoctorArgs, port: u16) -> Result<Option<RemoteWatch>, CliError> {
    let Some(address) = &args.watch else { return Ok(None) };
    let token = args.watch_token.clone().or_else(|| std::env::var("TORR_WATCH_TOKEN").ok());
    RemoteWatch::connect(address, token.as_deref(), port).map(Some).map_err(|error| match error {
        RemoteError::Address(_) => CliError::Usage(error.to_string()),
        error => CliError::Unreachable(error.to_string()),
    })
}
