//! The counters of a virtual user that `k6/execution` shows.

/// The iteration that a virtual user runs or has run last.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct IterationInfo {
    /// The number of the scenario among those of the run; `None` outside of scenarios.
    pub scenario: Option<usize>,
    /// The number of the iteration among all of the scenario, from 0, in the order of their beginnings.
    pub in_test: u64,
    /// The number of the iteration among those of the virtual user in the scenario, from 0.
    pub in_scenario: u64,
    /// The number of the iteration among all of the virtual user, from 0: what scripts see as `__ITER`. `None` before the first.
    pub in_instance: Option<u64>,
}
