//! The beginning of an iteration: the counters and the tags of its virtual user, and its cookies.

use crate::api::http::HttpState;
use crate::options::Scenario;
use crate::shared::RunShared;
use crate::user::{IterationTask, Task, Vu};
use std::collections::BTreeMap;
use std::rc::Rc;

/// An iteration that begins.
pub(crate) struct Beginning<'s> {
    /// The scenario.
    pub scenario: &'s Scenario,
    /// The number of the scenario, in the order of names.
    pub scenario_number: usize,
    /// The exported function.
    pub function: Rc<str>,
    /// The number of the iteration among all of the scenario, from 0.
    pub in_test: u64,
    /// The number of the iteration among those of the virtual user in the scenario, from 0.
    pub in_scenario: u64,
    /// The number of the iteration among all of the virtual user, from 0.
    pub in_instance: u64,
}

impl Beginning<'_> {
    /// Prepares a virtual user for the iteration, and returns its task.
    pub fn task(self, run: &RunShared, vu: &Vu) -> Task {
        let empty = BTreeMap::new();
        let run_tags = run.options.get().and_then(|all| all.options.tags.as_ref()).unwrap_or(&empty);
        {
            let mut info = vu.iteration.borrow_mut();
            let mut tags = vu.tags.borrow_mut();
            if info.scenario != Some(self.scenario_number) {
                tags.begin_scenario(run_tags, &self.scenario.name, &self.scenario.tags);
            }
            tags.begin_iteration(vu.id, self.in_instance);
            info.scenario = Some(self.scenario_number);
            info.in_test = self.in_test;
            info.in_scenario = self.in_scenario;
            info.in_instance = Some(self.in_instance);
        }
        HttpState::begin_iteration(vu);
        Task::Iteration(IterationTask {
            function: self.function,
            number: self.in_instance,
            scenario: self.scenario_number,
        })
    }
}
