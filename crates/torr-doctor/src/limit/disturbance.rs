//! What others took of the machine's CPU over all steps of a search.

use super::reading::Reading;
use super::taken::Taken;
use serde::Serialize;

/// The disturbance of a search by other programs.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Disturbance {
    /// The most that was taken in any step.
    pub most: Taken,
    /// Steps in which it was enough to make a step fail.
    pub steps: usize,
    /// Of these, the steps that failed.
    pub failed: usize,
    /// All steps in which the machine was seen.
    pub of: usize,
}

impl Disturbance {
    /// Over all steps. `None` if nothing disturbed them.
    pub(super) fn over(steps: &[Reading]) -> Option<Self> {
        let seen = || steps.iter().filter_map(|step| Some((step, step.taken?)));
        let disturbed: Vec<_> = seen().filter(|(_, taken)| taken.disturbs()).collect();
        let most = |of: fn(&Taken) -> f64| disturbed.iter().map(|(_, taken)| of(taken)).fold(0.0, f64::max);
        (!disturbed.is_empty()).then(|| Self {
            most: Taken { others: most(|taken| taken.others), stolen: most(|taken| taken.stolen) },
            steps: disturbed.len(),
            failed: disturbed.iter().filter(|(step, _)| !step.kept).count(),
            of: seen().count(),
        })
    }
}
