//! The plan of a test: its scenarios, and how many virtual users they need.

use super::needs;
use super::ramp::Ramp;
use crate::options::{Executor, OptionError, Scenario, duration};
use std::time::Duration;

/// The largest number of changes of the number of virtual users in one scenario.
const MAX_CHANGES: u64 = 10_000_000;
/// The largest number of virtual users of a test.
const MAX_VUS: usize = 2_000_000;

/// The numbers of virtual users of a test.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct VuCounts {
    /// The number that exists before the test begins.
    pub planned: usize,
    /// The largest number.
    pub most: usize,
}

/// The plan of a test.
#[derive(Debug, Clone)]
pub struct ExecutionPlan {
    /// The scenarios, sorted by name.
    pub scenarios: Vec<Scenario>,
    /// The shortest time from an iteration's begin to the next one's.
    pub min_iteration: Duration,
    /// The numbers of virtual users.
    pub vus: VuCounts,
    /// The longest time that the scenarios take together.
    pub max_duration: Duration,
}

impl ExecutionPlan {
    /// Returns the plan of scenarios.
    ///
    /// # Errors
    /// If the test needs too many virtual users, or changes their number too often.
    pub fn new(scenarios: &[Scenario], min_iteration: Option<Duration>) -> Result<Self, OptionError> {
        for scenario in scenarios {
            if let Executor::RampingVus { start_vus, stages, .. } = &scenario.executor
                && Ramp::changes(*start_vus, stages) > MAX_CHANGES
            {
                let message = format!("must change the number of VUs at most {MAX_CHANGES} times");
                return Err(OptionError::new(format!("scenarios.{}.stages", scenario.name), message));
            }
        }
        let needs = needs::of(scenarios);
        if needs.most > MAX_VUS {
            let message = format!("must need at most {MAX_VUS} VUs at a time, found {}", needs.most);
            return Err(OptionError::new("scenarios", message));
        }
        Ok(Self {
            scenarios: scenarios.to_vec(),
            min_iteration: min_iteration.unwrap_or_default(),
            vus: VuCounts { planned: needs.planned, most: needs.most },
            max_duration: Duration::from_nanos(needs.end),
        })
    }

    /// Returns the plan in lines: how many scenarios, virtual users and how long, then a line for each scenario.
    #[must_use]
    pub fn description(&self) -> Vec<String> {
        let count = self.scenarios.len();
        let plural = if count == 1 { "" } else { "s" };
        let (vus, time) = (self.vus.most, duration::format(self.max_duration));
        let mut lines = vec![format!(
            "scenarios: (100.00%) {count} scenario{plural}, {vus} max VUs, {time} max duration (incl. graceful stop):"
        )];
        // Scenarios that begin first are listed first, those that begin together by name.
        let mut sorted: Vec<_> = self.scenarios.iter().collect();
        sorted.sort_by_key(|scenario| scenario.start_time);
        lines.extend(sorted.into_iter().map(|scenario| format!("* {}: {}", scenario.name, scenario.description())));
        lines
    }
}
