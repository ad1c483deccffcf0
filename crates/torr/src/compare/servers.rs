//! Servers that are loaded in turns: two that run already, or two that commands start.

use super::CompareArgs;
use crate::doctor::Shown;
use crate::exit::CliError;
use crate::interrupt;
use crate::launch::{Launcher, free_port, no_start};
use crate::press::permission;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, SystemTime};
use torr_doctor::Halt;
use torr_gauge::redact;
use torr_lab::bench::{Server, Servers, Settings, compare as in_turns};
use torr_lab::block::Side;
use torr_lab::report::Report;
use torr_net::Address;
use torr_plan::url;
use torr_press::Plan;

/// The placeholder of the port.
const PORT: &str = "{port}";
/// The longest time that a server may take to respond after its start.
const PATIENCE: Duration = Duration::from_secs(30);

/// Compares two servers.
pub fn compare(args: &CompareArgs) -> Result<Result<Report, Halt>, CliError> {
    let commands = (!args.a.is_empty()).then(|| commands(args)).transpose()?;
    let names = match &commands {
        Some((commands, _)) => commands.clone().map(|command| redact::line(&command)),
        None => [0, 1].map(|side| redact::url(&args.versions[side]).into_owned()),
    };
    let settings = Settings {
        budget: args.budget,
        rate: args.rate,
        max_rate: args.max_rate,
        margin: args.difference,
        rules: args.rules(),
        seed: args.seed(),
        names,
        started_at: humantime::format_rfc3339_millis(SystemTime::now()).to_string(),
    };
    let (servers, stop) = match commands {
        Some((commands, url)) => {
            let launchers = [Launcher::parse("--a", &commands[0])?, Launcher::parse("--b", &commands[1])?];
            // Mistakes are reported before anything is started.
            plan(args, &url.replace(PORT, &free_port()?.to_string()))?;
            let stop = interrupt::flag()?;
            (started(args, launchers, url, Arc::clone(&stop)), stop)
        }
        None => {
            let plans = [plan(args, &args.versions[0])?, plan(args, &args.versions[1])?];
            (Servers::Standing(Box::new(plans.map(|plan| Server::new(plan, None)))), interrupt::flag()?)
        }
    };
    let shown = Shown::new(args.budget, !args.quiet);
    let found = in_turns(servers, &settings, &stop, &mut |step| shown.step(step));
    shown.clear();
    Ok(found)
}

fn started<'a>(args: &'a CompareArgs, launchers: [Launcher; 2], url: String, stop: Arc<AtomicBool>) -> Servers<'a> {
    Servers::Started(Box::new(move |side| {
        let port = free_port().map_err(no_start)?;
        let plan = plan(args, &url.replace(PORT, &port.to_string())).map_err(no_start)?;
        let addresses: Vec<SocketAddr> = plan.addresses.iter().filter_map(Address::tcp).collect();
        let launcher = &launchers[usize::from(side == Side::B)];
        let launched = launcher.start(&[(PORT, port.to_string())], &addresses)?;
        let launched = launched.until_it_responds(&plan, PATIENCE.min(args.budget / 2), &stop)?;
        Ok(Server::new(plan, Some(Box::new(launched))))
    }))
}

/// Returns both commands and the URL.
fn commands(args: &CompareArgs) -> Result<([String; 2], String), CliError> {
    let wrong = |what: &str| Err(CliError::Usage(what.into()));
    let ([a], [b]) = (&args.a[..], &args.b[..]) else {
        return wrong("--a and --b need one command each, or files: quote a command, as in --a './server --port 8080'");
    };
    let Some(url) = args.url.clone() else {
        return wrong(
            "--a and --b are commands, as no such files exist, and need --url: pass the URL of their servers",
        );
    };
    match url.contains(PORT) {
        true if !a.contains(PORT) || !b.contains(PORT) => wrong("both commands need '{port}', as --url has it"),
        false if a.contains(PORT) || b.contains(PORT) => wrong("--url needs '{port}', as a command has it"),
        _ => Ok(([a.clone(), b.clone()], url)),
    }
}

fn plan(args: &CompareArgs, url: &str) -> Result<Plan, CliError> {
    let load = args.load.to(Some(url), !args.no_keepalive);
    let may_get = |plan: &Plan| permission::ask(plan, args.i_own_this, "torr compare");
    let (plan, _) = url::base_and_options(&load, Some(url), &may_get)?;
    let plan = url::with_streams(&load, plan)?;
    if plan.events.is_some() && args.rate.is_some() {
        return Err(CliError::Usage("--rate is not supported with streams of events: -c is how many are open".into()));
    }
    may_get(&plan)?;
    let threads = args.threads.unwrap_or(plan.threads).min(args.connections);
    Ok(Plan { connections: args.connections, threads, ..plan })
}
