//! The experiments that a finding rests on.

use crate::evidence::Evidence;
use crate::figures::Figures;
use crate::survey;
use torr_gauge::verdict::{ExperimentId, Finding};

/// Returns the experiments that a finding rests on, in their order: those that its rule has read since what was read was last taken,
/// and those without which the figures would let `again` find something else, or another reason for it.
pub fn experiments(
    evidence: &Evidence,
    finding: &Finding,
    again: &dyn Fn(&Evidence) -> Option<Finding>,
) -> Vec<ExperimentId> {
    let read = evidence.take_read();
    let mut decided: Vec<ExperimentId> = Vec::new();
    for id in evidence.observations().iter().map(|observation| observation.id) {
        if !decided.contains(&id) && (read.contains(&id) || matters(evidence, id, finding, again)) {
            decided.push(id);
        }
    }
    evidence.take_read();
    decided
}

/// Whether the figures without an experiment lead to another finding.
fn matters(
    evidence: &Evidence,
    id: ExperimentId,
    finding: &Finding,
    again: &dyn Fn(&Evidence) -> Option<Finding>,
) -> bool {
    // Other programs' use of the machine is that of all experiments.
    let weather = evidence.figures.weather;
    let figures = Figures { weather, ..survey::figures(&evidence.without(id)) };
    let other = again(&evidence.with_figures(figures));
    other.is_none_or(|other| {
        (other.factor, other.confidence, &other.because) != (finding.factor, finding.confidence, &finding.because)
    })
}
