//! The outcome of a search as it is written: with the verdicts of its steps as sentences.

use super::sentences;
use serde::Serialize;
use torr_doctor::limit::{Outcome, Reading};
use torr_gauge::Verdict;
use torr_report::sentence;

/// An outcome with its sentences.
#[derive(Serialize)]
pub struct WrittenOutcome<'o> {
    #[serde(flatten)]
    outcome: &'o Outcome,
    summary: String,
    reason: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    failure: Option<String>,
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
    failure: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    generator: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    verdict: Option<Verdict>,
}

impl<'o> WrittenOutcome<'o> {
    /// Writes the sentences of an outcome.
    pub fn of(outcome: &'o Outcome) -> Self {
        let step = |reading: &'o Reading| WrittenReading {
            reading,
            failure: reading.failure.as_ref().map(sentences::failure),
            generator: reading.generator.as_ref().map(sentences::generator),
            verdict: reading.finding.clone().map(sentence::verdict),
        };
        let failed = outcome.failed.as_ref().map(step);
        let (failure, verdict) = failed.map_or((None, None), |failed| (failed.failure, failed.verdict));
        Self {
            outcome,
            summary: sentences::summary(outcome),
            reason: sentences::reason(outcome),
            failure,
            verdict,
            steps: outcome.steps.iter().map(step).collect(),
        }
    }
}
