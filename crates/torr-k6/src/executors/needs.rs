//! How many virtual users scenarios need at which time.

use super::ramp::Ramp;
use crate::options::{Executor, Scenario};
use torr_net::Nanos;
use torr_net::clock::nanos;

/// A change of the number of virtual users that are needed. Sorted, those that become available come first at one time.
type Change = (Nanos, i64);

/// The virtual users that scenarios need.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Needs {
    /// The number that must exist before the test begins.
    pub planned: usize,
    /// The largest number at a time.
    pub most: usize,
    /// When the last virtual user is no longer needed.
    pub end: Nanos,
}

/// Returns what scenarios need together.
pub(super) fn of(scenarios: &[Scenario]) -> Needs {
    let (mut planned, mut most) = (Vec::new(), Vec::new());
    for scenario in scenarios {
        let begin = nanos(scenario.start_time);
        let end = nanos(scenario.latest_end());
        let constant = |changes: &mut Vec<Change>, vus: u64| {
            changes.push((begin, vus as i64));
            changes.push((end, -(vus as i64)));
        };
        match &scenario.executor {
            Executor::ConstantArrivalRate { arrival, .. } | Executor::RampingArrivalRate { arrival, .. } => {
                constant(&mut planned, arrival.pre_allocated_vus);
                constant(&mut most, arrival.max_vus);
            }
            Executor::RampingVus { .. } => {
                let changes = ramping(scenario);
                planned.extend_from_slice(&changes);
                most.extend(changes);
            }
            other => {
                constant(&mut planned, other.max_vus());
                constant(&mut most, other.max_vus());
            }
        }
    }
    let (planned, _) = highest(planned);
    let (most, end) = highest(most);
    Needs { planned, most, end }
}

/// Returns the largest sum of changes, and the time of the last one.
fn highest(mut changes: Vec<Change>) -> (usize, Nanos) {
    changes.sort_unstable();
    let (mut sum, mut most) = (0, 0);
    for (_, change) in &changes {
        sum += change;
        most = most.max(sum);
    }
    (most as usize, changes.last().map_or(0, |(at, _)| *at))
}

/// Returns the changes of a number that changes in stages: a virtual user that is no longer wanted is needed until its last
/// iteration has ended.
fn ramping(scenario: &Scenario) -> Vec<Change> {
    let Executor::RampingVus { start_vus, stages, graceful_ramp_down } = &scenario.executor else { return Vec::new() };
    let (begin, end) = (nanos(scenario.start_time), nanos(scenario.latest_end()));
    let ramp_down = nanos(*graceful_ramp_down);
    // When the virtual user of each handle is available again: the maximum while it is wanted, `None` before it ever was.
    let mut free: Vec<Option<Nanos>> = vec![None; scenario.executor.max_vus() as usize];
    let mut changes = Vec::new();
    for step in Ramp::new(*start_vus, stages) {
        let at = begin + step.at;
        let free = &mut free[step.handle];
        if !step.is_start {
            *free = Some(end.min(at.saturating_add(ramp_down)));
            continue;
        }
        match *free {
            Some(until) if until > at => {}
            was => {
                changes.extend(was.map(|until| (until, -1)));
                changes.push((at, 1));
            }
        }
        *free = Some(Nanos::MAX);
    }
    changes.extend(free.into_iter().flatten().map(|until| (until.min(end), -1)));
    changes
}
