//! `torr fleet list` and `torr fleet stop`.

use super::args::{ListArgs, NatsArgs, StopArgs, failed};
use crate::exit::CliError;
use crate::output;
use std::process::ExitCode;
use torr_fleet::message::Hello;
use torr_report::human;
use torr_report::table::align;

/// Prints the agents of a fleet.
pub fn list(args: &ListArgs) -> Result<ExitCode, CliError> {
    let agents =
        torr_fleet::fleet::list(&args.nats.server.connection(), &args.nats.fleet, args.wait).map_err(failed)?;
    if agents.is_empty() {
        output::note(&format!("{}: start one with '{}'", none(&args.nats), args.nats.agent()));
    } else {
        let names = ["agent", "torr", "CPUs", "requests/s", "may load", "run"].map(str::to_owned).to_vec();
        let rows: Vec<_> = std::iter::once(names).chain(agents.iter().map(row)).collect();
        output::print(&align(&rows));
    }
    Ok(ExitCode::SUCCESS)
}

fn row(agent: &Hello) -> Vec<String> {
    vec![
        agent.agent.to_string(),
        agent.torr.clone(),
        agent.cores.to_string(),
        human::rate(agent.ceiling),
        agent.allow.join(","),
        agent.run.as_ref().map_or_else(|| "-".into(), ToString::to_string),
    ]
}

fn none(nats: &NatsArgs) -> String {
    format!("no agent of fleet {} responded", nats.fleet)
}

/// Ends a run, or all of them.
pub fn stop(args: &StopArgs) -> Result<ExitCode, CliError> {
    let run = args.run.as_ref();
    let agents = torr_fleet::fleet::stop(&args.nats.server.connection(), &args.nats.fleet, run).map_err(failed)?;
    if agents.is_empty() {
        return Err(CliError::Failed(none(&args.nats)));
    }
    let ending =
        agents.iter().filter(|agent| agent.run.is_some() && run.is_none_or(|run| agent.run.as_ref() == Some(run)));
    match (ending.count(), run) {
        (0, Some(run)) => Err(CliError::Failed(format!("no agent that responded is running '{run}'"))),
        (0, None) => {
            output::note("no agent that responded is running a load");
            Ok(ExitCode::SUCCESS)
        }
        (ending, _) => {
            let agents = if ending == 1 {
                "1 agent is stopping its run".into()
            } else {
                format!("{ending} agents are stopping their runs")
            };
            output::note(&agents);
            Ok(ExitCode::SUCCESS)
        }
    }
}
