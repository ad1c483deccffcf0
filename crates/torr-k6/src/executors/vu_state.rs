//! The state of a virtual user: what it does, for which scenario.

use torr_net::Nanos;

/// What a virtual user does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Activity {
    /// Does not exist.
    Absent,
    /// Is being created for a scenario.
    Creating,
    /// Has no scenario.
    Pooled,
    /// Has a scenario, but no iteration.
    Idle,
    /// Waits for an iteration that is due at this time.
    Due(Nanos),
    /// Waits until its iteration has taken the shortest time.
    Padding,
    /// Runs an iteration.
    Running,
    /// Runs an iteration that is to be interrupted.
    Interrupting,
}

/// The state of a virtual user.
#[derive(Debug)]
pub(super) struct VuState {
    pub activity: Activity,
    pub scenario: usize,
    /// The number within the scenario.
    pub handle: usize,
    /// Grows with each change, so that timers of an earlier state are known.
    pub generation: u64,
    /// When the latest iteration began.
    pub begun: Nanos,
    /// The iterations since the virtual user got the scenario.
    pub iterations: u64,
    /// The iterations in each scenario.
    pub in_scenario: Vec<(usize, u64)>,
}

impl VuState {
    /// Returns the state of a virtual user that does not exist.
    pub(super) fn absent() -> Self {
        Self {
            activity: Activity::Absent,
            scenario: 0,
            handle: 0,
            generation: 0,
            begun: 0,
            iterations: 0,
            in_scenario: Vec::new(),
        }
    }

    /// Begins an iteration, and returns its number among those of the virtual user in the scenario.
    pub(super) fn begin(&mut self, now: Nanos) -> u64 {
        self.begun = now;
        self.iterations += 1;
        let known = self.in_scenario.iter().position(|(of, _)| *of == self.scenario);
        let known = known.unwrap_or_else(|| {
            self.in_scenario.push((self.scenario, 0));
            self.in_scenario.len() - 1
        });
        let number = self.in_scenario[known].1;
        self.in_scenario[known].1 += 1;
        number
    }
}
