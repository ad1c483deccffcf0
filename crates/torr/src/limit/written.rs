//! The outcome of a search as it is written: with the verdicts of its steps as sentences.

use serde::Serialize;
use torr_doctor::limit::{Outcome, Reading};
use torr_gauge::Verdict;
use torr_gauge::verdict::Finding;
use torr_report::sentence;

/// An outcome with its sentences.
#[derive(Serialize)]
pub struct WrittenOutcome<'o> {
    #[serde(flatten)]
    outcome: &'o Outcome,
    #[serde(skip_serializing_if = "Option::is_none")]
    verdict: Option<Verdict>,
    steps: Vec<WrittenReading<'o>>,
}

/// A step with its sentences.
#[derive(Serialize)]
struct WrittenReading<'o> {
    #[serde(flatten)]
    reading: &'o Reading,
    #[serde(skip_serializing_if = "Option::is_none")]
    verdict: Option<Verdict>,
}

impl<'o> WrittenOutcome<'o> {
    /// Writes the sentences of an outcome.
    pub fn of(outcome: &'o Outcome) -> Self {
        let verdict = |finding: &Option<Finding>| finding.clone().map(sentence::verdict);
        let step = |reading: &'o Reading| WrittenReading { reading, verdict: verdict(&reading.finding) };
        Self { outcome, verdict: verdict(&outcome.finding), steps: outcome.steps.iter().map(step).collect() }
    }
}
