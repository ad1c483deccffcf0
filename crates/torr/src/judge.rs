//! What a run's result is given after the run: the verdict by what was observed in it, and the sentences of its findings.

use torr_gauge::{RunResult, Verdict};
use torr_report::sentence::{self, caution};

/// Gives a result its verdict and the sentences of its findings.
pub fn judge(run: &mut RunResult) {
    run.verdict = Some(verdict(run));
    run.validity.iter_mut().for_each(caution::write);
}

/// Returns the verdict of a run.
pub fn verdict(run: &RunResult) -> Verdict {
    sentence::verdict(torr_doctor::passive(run))
}
