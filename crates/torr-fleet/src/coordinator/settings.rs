//! What the program around a coordinator gives it.

use crate::load::LoadAndFiles;
use crate::members::Members;
use crate::message::IfLost;
use crate::nats::Nats;
use crate::subject::FleetName;
use std::time::Duration;
use torr_gauge::collector::Progress;
use torr_gauge::fleet::EarlyEnd;
use torr_press::SoFar;

/// The settings of a run.
#[derive(Clone)]
pub struct RunSettings {
    /// The connection to NATS.
    pub nats: Nats,
    /// The fleet.
    pub fleet: FleetName,
    /// The agents that take part.
    pub members: Members,
    /// How long agents are waited for.
    pub wait: Duration,
    /// What agents do if the coordinator is lost.
    pub if_lost: IfLost,
    /// The load that the agents share.
    pub load: LoadAndFiles,
}

/// An event of a run that its user hears of at once.
#[derive(Debug, Clone, Copy)]
pub enum RunEvent<'a> {
    /// An agent was lost.
    AgentLost {
        /// The agent's name.
        agent: &'a FleetName,
        /// The reason.
        why: &'a EarlyEnd,
    },
    /// `torr fleet stop` ended the run.
    StoppedByCommand,
}

/// Where a run's user sees it.
pub trait Watch {
    /// Notes, in a line, that the load is about to begin, and which agents make it.
    fn begins(&mut self, line: &str);

    /// Takes an event of the run.
    fn event(&mut self, event: RunEvent<'_>);

    /// Takes the progress of a complete interval of all agents, and what is complete so far.
    fn progress(&mut self, progress: &Progress, so_far: &SoFar<'_>);
}
