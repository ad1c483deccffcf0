//! The outcome of a search as it is written: with facts, their sentences, and the verdicts of its steps.

use serde::Serialize;
use torr_doctor::limit::{Outcome, Reading, Sustained};
use torr_gauge::Verdict;
use torr_gauge::verdict::Fact;
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
    /// The reason, then what was observed beside the result.
    because: Vec<String>,
    facts: Vec<Fact>,
    steps: Vec<WrittenReading<'o>>,
}

/// A step with its sentences.
#[derive(Serialize)]
struct WrittenReading<'o> {
    #[serde(flatten)]
    reading: &'o Reading,
    why: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    failure: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    generator: Option<String>,
    /// The failure, and why the generator may have caused it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    facts: Vec<&'o Fact>,
    #[serde(skip_serializing_if = "Option::is_none")]
    verdict: Option<Verdict>,
}

impl<'o> WrittenReading<'o> {
    fn of(reading: &'o Reading) -> Self {
        let Reading { failure, generator, finding, why, .. } = reading;
        Self {
            reading,
            why: sentence::step(*why),
            failure: failure.as_ref().map(sentence::fact),
            generator: generator.as_ref().map(sentence::fact),
            facts: failure.iter().chain(generator).collect(),
            verdict: finding.clone().map(sentence::verdict),
        }
    }
}

impl<'o> WrittenOutcome<'o> {
    /// Writes the sentences of an outcome.
    pub fn of(outcome: &'o Outcome) -> Self {
        let failed = outcome.failed.as_ref().map(WrittenReading::of);
        let (failure, verdict) = failed.map_or((None, None), |failed| (failed.failure, failed.verdict));
        let reason = outcome.reason();
        let facts: Vec<_> = reason.iter().cloned().chain(outcome.observations()).collect();
        Self {
            outcome,
            summary: summary(outcome),
            reason: sentence::limit_reason(&reason),
            failure,
            verdict,
            because: facts.iter().map(sentence::fact).collect(),
            facts,
            steps: outcome.steps.iter().map(WrittenReading::of).collect(),
        }
    }
}

/// Returns the result in one sentence.
pub fn summary(outcome: &Outcome) -> String {
    let sustained = outcome.sustained.as_ref().map_or(0.0, Sustained::load);
    sentence::limit(outcome.kind, (sustained, outcome.unit), &outcome.slo, &outcome.reason())
}
