//! `torr fleet agent`.

use super::args::{AgentArgs, failed};
use super::load;
use crate::exit::CliError;
use crate::interrupt;
use crate::judge;
use crate::output;
use crate::own_server::{self, Server};
use crate::press;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use torr_fleet::{Agent, AgentSettings, AllowList, FleetName, LoadAndFiles};
use torr_gauge::machine::{cpus, host_name};
use torr_gauge::{RunResult, Verdict, redact};
use torr_press::Plan;

/// The length of the measurement of a machine's ceiling, and of the warm-up before it.
const CALIBRATION: Duration = Duration::from_millis(400);
const CALIBRATION_WARMUP: Duration = Duration::from_millis(200);
/// The number of connections of the measurement.
const CALIBRATION_CONNECTIONS: usize = 32;

/// Runs an agent until a signal ends it.
pub fn run(args: &AgentArgs) -> Result<ExitCode, CliError> {
    let stop = interrupt::flag()?;
    let settings = AgentSettings {
        nats: args.nats.server.connection(),
        fleet: args.nats.fleet.clone(),
        name: args.name.clone().unwrap_or_else(own_name),
        allow: AllowList::new(args.allow.clone()),
        ceiling: 0.0,
        cores: cpus(),
        longest: args.longest,
        scripts: args.scripts,
        trusts_nats: args.i_trust_this_nats,
    };
    settings.check().map_err(failed)?;
    let ceiling = args.ceiling.map_or_else(|| calibrated(&stop), Ok)?;
    torr_fleet::agent::run(AgentSettings { ceiling, ..settings }, Arc::new(Carrier { scripts: args.scripts }), &stop)
        .map_err(failed)?;
    Ok(ExitCode::SUCCESS)
}

/// Returns a name that no other agent has: the host's, and a random part.
fn own_name() -> FleetName {
    let host: String = host_name().unwrap_or_default().chars().take(48).collect();
    FleetName::of(&format!("{host}-{:04x}", fastrand::u16(..)))
}

/// Returns the requests per second that this machine makes against a server of its own.
fn calibrated(stop: &AtomicBool) -> Result<f64, CliError> {
    let server = Server::start(1, &[])?;
    let base = own_server::get(&server.url("/"), true).map_err(|error| CliError::Failed(error.to_string()))?;
    let plan = Plan {
        connections: CALIBRATION_CONNECTIONS,
        threads: cpus(),
        duration: Some(CALIBRATION),
        warmup: CALIBRATION_WARMUP,
        watch_server: false,
        ..base
    };
    let run = torr_press::run(&plan, stop, |_| {}).map_err(press::why_not)?;
    Ok(run.result.rps.max(1.0))
}

/// Carries out loads as this program carries out those of its own command line.
struct Carrier {
    scripts: bool,
}

impl Agent for Carrier {
    fn plan(&self, load: LoadAndFiles) -> Result<Plan, String> {
        load::sent(load, self.scripts).map_err(|stop| redact::line(&stop.into_line()))
    }

    fn judge(&self, result: &RunResult) -> Option<Verdict> {
        Some(judge::verdict(result))
    }

    fn note(&self, line: &str) {
        output::note(line);
    }
}
