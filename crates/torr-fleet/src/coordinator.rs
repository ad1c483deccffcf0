//! The coordinator: gathers agents, gives each a share and a time to begin, and merges what they measure.

mod begin;
mod outcome;
mod settings;
mod watching;

use crate::error::FleetError;
use crate::fleet::block_on;
use crate::heartbeat::STOP_POLL;
use crate::limits::{LONGEST, MOST_AGENTS, MOST_CONNECTIONS};
use crate::message::Message;
use crate::nats;
use crate::subject::FleetName;
use begin::Begun;
use std::sync::atomic::{AtomicBool, Ordering};
use torr_gauge::bounds::MOST_IN_A_RUN;
use torr_gauge::collector::Measurement;
use torr_net::Clock;
use torr_press::Plan;
use watching::Watching;

pub use settings::{RunEvent, RunSettings, Watch};

/// Runs a plan over a fleet. `stop` ends the run early, with a result.
///
/// # Errors
/// If the fleet does not come together, refuses the plan, or has no result.
pub fn run(
    settings: &RunSettings,
    plan: &Plan,
    stop: &AtomicBool,
    watch: &mut dyn Watch,
) -> Result<Measurement, FleetError> {
    settings.nats.addresses()?;
    check(plan)?;
    let run = FleetName::of(&format!("{:012x}", fastrand::u64(..1 << 48)));
    block_on(async {
        let client = settings.nats.connect(&format!("torr fleet run {run}"), None).await?;
        let clock = Clock::start();
        // Agents that take their time, or do not respond, do not delay Ctrl-C.
        let begun = tokio::select! {
            biased;
            () = stopped(stop) => Err(FleetError::NoResult("interrupted before the run began".into())),
            begun = Begun::of(settings, plan, (&client, clock), run.clone(), watch) => begun,
        };
        let end = match begun {
            Ok(begun) => Watching::new(settings, plan, (&client, clock), begun).until_the_end(stop, watch).await,
            Err(error) => Err(error),
        };
        let are_left = |measured: &Measurement| measured.result.fleet.iter().any(|fleet| fleet.cut.is_some());
        if end.as_ref().map_or(true, are_left) {
            // Agents that are ready, or begin, or were taken for lost, do not load the target any longer.
            let stop = Message::Stop { run: Some(run.clone()) };
            nats::send(&client, settings.fleet.to_all(&run), &stop).await;
        }
        let _ = tokio::time::timeout(nats::TIMEOUT, client.flush()).await;
        end
    })
}

/// Waits until `stop` is set.
async fn stopped(stop: &AtomicBool) {
    while !stop.load(Ordering::Relaxed) {
        tokio::time::sleep(STOP_POLL).await;
    }
}

/// Demands that several machines can carry out a plan.
///
/// # Errors
/// [`FleetError::Usage`].
fn check(plan: &Plan) -> Result<(), FleetError> {
    let most = MOST_AGENTS * MOST_CONNECTIONS;
    let line = match plan.length() {
        None => "a run over a fleet needs a duration: add -d to -n".into(),
        Some(length) if length > LONGEST => {
            format!("a run over a fleet must take at most {}", humantime::format_duration(LONGEST))
        }
        Some(_) if plan.connections > most => format!("a run over a fleet must have at most {most} connections"),
        Some(_) if plan.requests.is_some_and(|requests| requests > MOST_IN_A_RUN) => {
            format!("a run over a fleet must have at most {MOST_IN_A_RUN} requests")
        }
        Some(_) => return Ok(()),
    };
    Err(FleetError::Usage(line))
}
