//! A diagnosis as it is written: its finding and its remarks as sentences.

use serde::Serialize;
use torr_doctor::{Diagnosis, KeepAlive, Observation};
use torr_gauge::Verdict;
use torr_gauge::verdict::Fact;
use torr_report::sentence::{self, caution};

/// A diagnosis with its sentences.
#[derive(Serialize)]
pub struct WrittenDiagnosis {
    #[serde(flatten)]
    pub diagnosis: Diagnosis,
    /// The verdict.
    pub verdict: Verdict,
    /// Observations that are not the limit.
    pub remarks: Vec<String>,
    keep_alive: Option<WrittenKeepAlive>,
}

/// The conditions of keep-alive with their sentences.
#[derive(Serialize)]
struct WrittenKeepAlive {
    #[serde(flatten)]
    found: KeepAlive,
    depends_on: Vec<String>,
}

impl WrittenDiagnosis {
    /// Writes the sentences of a diagnosis.
    pub fn of(mut diagnosis: Diagnosis) -> Self {
        write_findings(&mut diagnosis.trail);
        let sentences = |facts: &[Fact]| facts.iter().map(sentence::fact).collect();
        let keep_alive = diagnosis.keep_alive.clone();
        let keep_alive = keep_alive.map(|found| WrittenKeepAlive { depends_on: sentences(&found.depends_on), found });
        let verdict = sentence::verdict(diagnosis.finding.clone());
        Self { verdict, remarks: sentences(&diagnosis.remarks), keep_alive, diagnosis }
    }
}

/// Writes the sentences of what was found about the validity of each experiment.
pub fn write_findings(trail: &mut [Observation]) {
    trail.iter_mut().filter_map(|observation| observation.run.validity.as_mut()).for_each(caution::write);
}
