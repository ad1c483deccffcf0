//! A comparison as it is written: its conclusion and the findings of its experiments with their sentences.

use super::sentences::{advice, fact, headline};
use crate::doctor::written::{WrittenObservation, written};
use serde::Serialize;
use torr_doctor::compare::{Comparison, ComparisonFact, Conclusion};

/// A comparison with its sentences.
#[derive(Serialize)]
pub struct WrittenComparison {
    #[serde(flatten)]
    pub comparison: Comparison,
    pub conclusion: WrittenConclusion,
    trail: Vec<WrittenObservation>,
}

impl WrittenComparison {
    /// Writes the sentences of a comparison.
    pub fn of(mut comparison: Comparison) -> Self {
        let trail = written(&mut comparison.trail, &[]);
        Self { conclusion: WrittenConclusion::of(&comparison.conclusion), trail, comparison }
    }
}

/// The conclusion as it is written.
#[derive(Serialize)]
pub struct WrittenConclusion {
    pub summary: String,
    pub because: Vec<String>,
    pub facts: Vec<ComparisonFact>,
    pub advice: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verify: Option<String>,
}

impl WrittenConclusion {
    /// Writes the sentences of a conclusion.
    pub fn of(conclusion: &Conclusion) -> Self {
        Self {
            summary: headline(&conclusion.headline),
            because: conclusion.because.iter().map(fact).collect(),
            facts: conclusion.because.clone(),
            advice: conclusion.advice.iter().map(advice).collect(),
            verify: conclusion.verify.clone(),
        }
    }
}
