//! The agents of a fleet, which send the load of experiments instead of this program.

use crate::experiment::Request;
use crate::halt::Halt;
use std::ops::Range;
use std::sync::atomic::AtomicBool;
use torr_gauge::collector::Measurement;
use torr_press::Plan;

/// The agents of a fleet. They are numbered, and carry out several experiments at a time if no agent is in two of them.
pub trait Agents: Sync {
    /// Returns the number of agents, at least 1.
    fn count(&self) -> usize;

    /// Returns the number of CPUs that all agents together may use.
    fn cpus(&self) -> usize;

    /// Whether all agents run on this machine.
    fn are_here(&self) -> bool;

    /// Carries out a plan, whose requests are the user's with the change that `request` names, by the agents of a range. Fewer agents
    /// take part where the plan has fewer connections or requests.
    ///
    /// # Errors
    /// [`Halt`]; if the agents cannot reach the service, [`torr_press::RunError::Unreachable`] in it.
    fn run(&self, plan: &Plan, request: Request, agents: Range<usize>, stop: &AtomicBool) -> Result<Measurement, Halt>;
}
