//! The steps of a number of virtual users that changes linearly in stages.

use crate::options::Stage;
use torr_net::Nanos;

/// A step: one virtual user more or less.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Step {
    /// The time since the beginning of the scenario.
    pub at: Nanos,
    /// The number of the virtual user within the scenario, from 0. Those with the highest numbers stop first.
    pub handle: usize,
    /// Whether the virtual user starts.
    pub is_start: bool,
}

/// The steps of all stages, in the order of time.
#[derive(Debug, Clone)]
pub(super) struct Ramp {
    /// The stages that come after the present one, as duration and target, in reverse.
    stages: Vec<(Nanos, u64)>,
    /// When the present stage began, and its duration.
    begin: Nanos,
    duration: Nanos,
    from: u64,
    to: u64,
    /// The number of steps of the present stage that were taken.
    taken: u64,
}

impl Ramp {
    /// Returns the steps of stages. The first ones start the virtual users of the beginning.
    pub(super) fn new(start: u64, stages: &[Stage]) -> Self {
        let mut stages: Vec<_> =
            stages.iter().map(|stage| (torr_net::clock::nanos(stage.duration), stage.target)).collect();
        stages.reverse();
        Self { stages, begin: 0, duration: 0, from: 0, to: start, taken: 0 }
    }

    /// Returns the number of all steps.
    pub(super) fn changes(start: u64, stages: &[Stage]) -> u64 {
        let targets = stages.iter().map(|stage| stage.target);
        let (changes, _) = targets.fold((start, start), |(sum, from), to| (sum + from.abs_diff(to), to));
        changes
    }
}

impl Iterator for Ramp {
    type Item = Step;

    fn next(&mut self) -> Option<Step> {
        while self.taken == self.from.abs_diff(self.to) {
            let (duration, target) = self.stages.pop()?;
            self.begin += self.duration;
            (self.duration, self.from, self.to, self.taken) = (duration, self.to, target, 0);
        }
        let is_start = self.to > self.from;
        let handle = if is_start { self.from + self.taken } else { self.from - self.taken - 1 };
        self.taken += 1;
        let share = u128::from(self.duration) * u128::from(self.taken) / u128::from(self.from.abs_diff(self.to));
        Some(Step { at: self.begin + share as Nanos, handle: handle as usize, is_start })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn steps(start: u64, stages: &[(u64, u64)]) -> Vec<(u64, usize, bool)> {
        let stage = |&(seconds, target): &(u64, u64)| Stage { duration: Duration::from_secs(seconds), target };
        let stages: Vec<_> = stages.iter().map(stage).collect();
        Ramp::new(start, &stages).map(|step| (step.at / 1_000_000, step.handle, step.is_start)).collect()
    }

    #[test]
    fn virtual_users_start_and_stop_at_equal_distances() {
        assert_eq!(steps(0, &[(4, 2)]), [(2_000, 0, true), (4_000, 1, true)]);
        assert_eq!(steps(1, &[(3, 4)]), [(0, 0, true), (1_000, 1, true), (2_000, 2, true), (3_000, 3, true)]);
        assert_eq!(steps(2, &[(4, 0)])[2..], [(2_000, 1, false), (4_000, 0, false)]);
    }

    #[test]
    fn a_stage_without_duration_jumps() {
        let found = steps(1, &[(5, 1), (0, 3), (2, 3), (0, 0)]);
        let jump = [(5_000, 1, true), (5_000, 2, true), (7_000, 2, false), (7_000, 1, false), (7_000, 0, false)];
        assert_eq!(found[1..], jump);
    }
}
