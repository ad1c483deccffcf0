//! `--sweep workers`: a command that starts the server, with placeholders for the number of workers and the port.

use super::course::{Course, Found};
use crate::doctor::args::DoctorArgs;
use crate::doctor::assignment::{assignment, plan};
use crate::exit::CliError;
use crate::launch::{Launched, Launcher, free_port, no_start};
use std::net::SocketAddr;
use torr_doctor::compare::{Subject, Sweep, workers};
use torr_doctor::{Halt, Observer};
use torr_gauge::machine::cpus;
use torr_net::Address;

/// The placeholder of the number of workers.
const WORKERS: &str = "{n}";
/// The placeholder of the port.
const PORT: &str = "{port}";
/// The default URL of the server.
const URL: &str = "http://127.0.0.1:{port}/";

pub fn sweep(args: &DoctorArgs, command: &str, course: Course<'_>) -> Found {
    let url = args.url.as_deref().unwrap_or(URL);
    check(command, args.url.as_deref())?;
    let launcher = Launcher::parse("--command", command)?;
    let counts = (!args.compare.counts.is_empty()).then(|| {
        let mut counts = args.compare.counts.clone();
        counts.sort_unstable();
        counts.dedup();
        counts
    });
    if counts.as_ref().is_some_and(|counts| counts.len() < 2) {
        return Err(CliError::Usage("--counts needs at least two numbers of workers, as in --counts 1,2,4".into()));
    }
    let planned =
        |port: u16| plan(args, &args.load.to(Some(&url.replace(PORT, &port.to_string())), !args.no_keepalive));
    // Mistakes are reported before anything is started.
    let (first, options) = planned(free_port()?)?;
    let assignment = assignment(args, first, options, None)?;
    let patience = args.budget / 2;
    let stop = course.stop.clone();
    let mut start = |count: usize| -> Result<Subject, Halt> {
        let port = free_port().map_err(no_start)?;
        let (plan, _) = planned(port).map_err(no_start)?;
        let addresses: Vec<SocketAddr> = plan.addresses.iter().filter_map(Address::tcp).collect();
        let words = [(WORKERS, count.to_string()), (PORT, port.to_string())];
        let launched: Launched = launcher.start(&words, &addresses)?;
        let launched = launched.until_it_responds(&plan, patience, &stop)?;
        let observer = plan.watcher().map(|watcher| Box::new(watcher) as Box<dyn Observer>);
        Ok(Subject { plan, observer, running: Box::new(launched) })
    };
    let sweep = Sweep { start: &mut start, counts, cores: cpus(), command };
    Ok(workers(&assignment, sweep, &course.stop, course.tell))
}

/// Checks that the command and the URL have the placeholders that they need.
fn check(command: &str, url: Option<&str>) -> Result<(), CliError> {
    let wrong = |what: &str| Err(CliError::Usage(what.into()));
    match (command.contains(PORT), url) {
        _ if !command.contains(WORKERS) => wrong("--command needs '{n}' for the number of workers"),
        (true, Some(url)) if !url.contains(PORT) => wrong(
            "the URL needs '{port}', as --command has it: use http://127.0.0.1:{port}/ with your path, or drop the URL",
        ),
        (false, None) => wrong("--command has no '{port}': pass the URL of the server"),
        (false, Some(url)) if url.contains(PORT) => wrong("--command needs '{port}', as the URL has it"),
        _ => Ok(()),
    }
}
