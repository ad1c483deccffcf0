//! The coordinator: gathers agents, gives each a share and a time to begin, and merges what they measure.

mod begin;
mod outcome;
mod settings;
mod watching;

use crate::error::FleetError;
use crate::fleet::block_on;
use crate::message::Message;
use crate::nats;
use begin::Begun;
use std::sync::atomic::AtomicBool;
use torr_gauge::collector::Measurement;
use torr_net::Clock;
use torr_press::Plan;
use watching::Watching;

pub use settings::{RunSettings, Watch};

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
    if plan.length().is_none() {
        let line = "a run over a fleet needs an end that every agent knows: give -d beside -n";
        return Err(FleetError::Usage(line.into()));
    }
    let run = format!("{:012x}", fastrand::u64(..1 << 48));
    block_on(async {
        let client = settings.nats.connect(&format!("torr fleet run {run}"), None).await?;
        let clock = Clock::start();
        let begun = Begun::of(settings, plan, (&client, clock), run.clone(), stop, watch).await;
        let end = match begun {
            Ok(begun) => Watching::new(settings, plan, (&client, clock), begun).until_the_end(stop, watch).await,
            Err(error) => Err(error),
        };
        if end.is_err() {
            // Agents that are ready, or begin, are not left alone with it.
            let stop = Message::Stop { run: Some(run.clone()) };
            nats::send(&client, settings.fleet.to_all(&run), &stop).await;
        }
        let _ = tokio::time::timeout(nats::TIMEOUT, client.flush()).await;
        end
    })
}
