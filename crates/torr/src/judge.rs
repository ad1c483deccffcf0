//! The verdict of a run by what was observed in it, with its sentences.

use torr_gauge::{RunResult, Verdict};
use torr_report::sentence;

/// Returns the verdict of a run.
pub fn judge(run: &RunResult) -> Verdict {
    sentence::verdict(torr_doctor::passive(run))
}
