//! What the program around a coordinator gives it.

use crate::load::Load;
use crate::message::IfLost;
use crate::nats::Nats;
use crate::subject::FleetName;
use std::time::Duration;
use torr_gauge::collector::Progress;

/// The settings of a run.
#[derive(Clone)]
pub struct RunSettings {
    /// The connection to NATS.
    pub nats: Nats,
    /// The fleet.
    pub fleet: FleetName,
    /// The number of agents; `None` for all that respond.
    pub agents: Option<usize>,
    /// How long agents are waited for.
    pub wait: Duration,
    /// What agents do if the coordinator is lost.
    pub if_lost: IfLost,
    /// The load that the agents share.
    pub load: Load,
}

/// Where a run's user sees it.
pub trait Watch {
    /// Notes a line.
    fn note(&mut self, line: &str);

    /// Takes the progress of a complete interval of all agents.
    fn progress(&mut self, progress: &Progress);
}
