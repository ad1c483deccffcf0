//! The agents of a fleet as the load generators of a diagnosis.

use crate::fleet::{self, Step, Steps};
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use torr_doctor::{Agents, Halt, Request};
use torr_fleet::FleetError;
use torr_gauge::collector::Measurement;
use torr_gauge::{Failure, FailureKind, FailureSide};
use torr_press::{Plan, RunError};

/// The agents that were there when the diagnosis began.
pub struct FleetAgents(pub Steps);

impl Agents for FleetAgents {
    fn count(&self) -> usize {
        self.0.agents()
    }

    fn cpus(&self) -> usize {
        self.0.cpus
    }

    fn are_here(&self) -> bool {
        self.0.are_here
    }

    fn run(&self, plan: &Plan, request: Request, agents: Range<usize>, stop: &AtomicBool) -> Result<Measurement, Halt> {
        let run = self.0.run(&Step { plan, request, agents }, stop, &mut |_| {});
        run.map_err(|error| match error {
            _ if stop.load(Ordering::Relaxed) => Halt::Interrupted,
            FleetError::Unreachable(line) => {
                let failure = Failure::new(FailureKind::Connect, FailureSide::Server, line);
                Halt::Run(RunError::Unreachable { target: plan.target.host_and_port(), failure })
            }
            FleetError::Usage(line) => Halt::Command(line),
            error => Halt::Agents(fleet::line(&error)),
        })
    }
}
