//! What an operator can change about the load of a plan.

use super::Plan;
use crate::pace::Pace;
use crate::steering::{Steerable, Steering};
use std::sync::Arc;
use torr_net::file_limit;

/// The multiple of the planned connections to which a run may be raised.
const MORE_CONNECTIONS: usize = 4;

impl Plan {
    /// Returns the plan with a steering, and the steering.
    #[must_use]
    pub fn steered(self) -> (Self, Arc<Steering>) {
        let steering = Arc::new(Steering::new(self.steerable(), self.connections, self.warmup));
        (Self { steering: Some(Arc::clone(&steering)), ..self }, steering)
    }

    /// Returns the plan of a load that other machines make: its operator marks moments, and ends it.
    pub fn watched(self) -> (Self, Arc<Steering>) {
        let steering = Arc::new(Steering::new(Steerable::Remote, self.connections, self.warmup));
        (Self { steering: Some(Arc::clone(&steering)), ..self }, steering)
    }

    /// Returns the plan of a load whose users a script controls: its operator marks moments, and the script sees when it is to end.
    pub fn scripted(self) -> (Self, Arc<Steering>) {
        let steering = Arc::new(Steering::new(Steerable::Script, self.connections, self.warmup));
        (Self { steering: Some(Arc::clone(&steering)), ..self }, steering)
    }

    /// Returns what can be changed about the load beside pauses.
    fn steerable(&self) -> Steerable {
        match &self.pace {
            Pace::Open(schedule, _) => Steerable::Rate(schedule.constant_rate()),
            Pace::Fed(_) => Steerable::Times,
            // A highest rate goes to all connections in turn, which connections that can be lowered are not used in.
            Pace::Closed { connections: Some(_), .. } | Pace::Closed { max_rate: Some(_), .. } => Steerable::Nothing,
            // A user of a session has a connection of its own, so that there are no more of them than planned.
            Pace::Closed { .. } if self.depth == 1 && self.work.users().is_some() => {
                Steerable::Connections { planned: self.connections, least: self.thread_count(), most: self.connections }
            }
            Pace::Closed { .. } if self.depth == 1 => {
                let wanted = self.connections.saturating_mul(MORE_CONNECTIONS).min(MORE_CONNECTIONS * 16_384);
                let servers = 1 + self.further.len();
                let fit = file_limit::raise_for_connections((wanted * servers + self.thread_count()) as u64);
                let fit = usize::try_from(fit).unwrap_or(usize::MAX).saturating_sub(self.thread_count());
                let most = wanted.min(fit / servers);
                Steerable::Connections {
                    planned: self.connections,
                    least: self.thread_count(),
                    most: most.max(self.connections),
                }
            }
            Pace::Closed { .. } => Steerable::Nothing,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Requests, Schedule, Target};
    use std::time::Duration;

    #[test]
    fn what_can_be_changed_depends_on_the_load() {
        let target = Target::parse("http://127.0.0.1:1/").unwrap();
        let requests = Requests::get(&target, true).unwrap();
        let steerable = |pace, depth| {
            let plan = Plan::new(target.clone(), vec![], requests.clone());
            Plan { pace, depth, connections: 10, threads: 2, ..plan }.steered().1.steerable()
        };
        assert_eq!(steerable(Pace::closed(None), 1), Steerable::Connections { planned: 10, least: 2, most: 40 });
        assert_eq!(steerable(Pace::closed(None), 8), Steerable::Nothing);
        assert_eq!(steerable(Pace::closed(Some(100.0)), 1), Steerable::Nothing, "its connections are used in turn");
        let stages = Schedule::stages(&[(Duration::from_secs(1), 10.0)]).unwrap();
        let connections = Pace::Closed { connections: Some(stages.clone()), max_rate: None };
        assert_eq!(steerable(connections, 1), Steerable::Nothing);
        let arrivals = crate::Arrivals::Constant;
        assert_eq!(steerable(Pace::Open(stages, arrivals), 1), Steerable::Rate(None));
        let constant = Schedule::constant(1000.0).unwrap();
        assert_eq!(steerable(Pace::Open(constant, arrivals), 1), Steerable::Rate(Some(1000.0)));
    }
}
